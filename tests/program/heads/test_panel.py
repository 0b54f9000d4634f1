"""Heads asked together answer as they do one by one; what they cannot read they leave alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import KnownName
from queryplan.program.artifact.folder import load_program
from queryplan.program.heads.features import Seen
from queryplan.program.heads.file import IDF, SHARED, load_heads, settings_of, tensors_of
from queryplan.program.heads.heads import Head, Heads
from queryplan.program.heads.ngrams import Grams
from queryplan.program.heads.panel import Panel
from queryplan.program.planner import QueryPlanner
from queryplan.program.text.linker import Linker
from queryplan.program.text.words import is_unspaced

STRANGE = ("ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "ሰላም", "𓀀𓂀", "🎵🎵")
FACT = {"is_relevant": 0.9, "complexity": "simple", "intent": "factual"}


def test_together_they_answer_as_one_by_one(trained: Heads, rows: Callable[[str], Any]) -> None:
    for row in rows("dev")[:40]:
        seen = trained.features.of_query(trained.greetings.rest(row.query))
        for name, answer in trained.of_query(row.query).items():
            alone = trained.heads[name].probabilities(seen)
            np.testing.assert_allclose(list(answer.probabilities.values()), alone, atol=2e-5)


def test_support_vectors_that_heads_share_are_kept_once_and_come_back(trained: Heads) -> None:
    tensors = tensors_of(trained)
    assert {f"{SHARED['query']}.vectors", f"{SHARED['turn']}.vectors"} <= set(tensors)
    assert not any(name.endswith(".support") for name in tensors)
    size = sum(t.nbytes for t in tensors.values())
    assert size < 2_000_000
    again = load_heads(tensors, settings_of(trained), trained.features)
    for name, head in trained.heads.items():
        assert np.array_equal(again.heads[name].support, head.support)


def test_a_program_whose_heads_have_support_vectors_of_their_own_still_loads(old_program: Any) -> None:
    tensors = load_program(old_program).heads
    assert IDF in tensors
    assert any(name.endswith(".support") for name in tensors)
    assert QueryPlanner.load(old_program, lm=None).plan("Who is Nell?").is_relevant


@pytest.mark.parametrize("text", STRANGE)
def test_a_script_that_the_encoder_does_not_know_gets_no_guess(bench: Any, trained: Heads, text: str) -> None:
    assert trained.of_query(text) == {}
    assert trained.of_turn(text, ()) is None
    plan = bench.planner(None, trained).plan(text)
    assert plan.is_relevant
    assert "none of its words or script" in plan.degraded[0].why
    assert {d.decided_by for d in plan.trace.decisions} == {"rule", "fallback"}


@pytest.mark.parametrize("mode", ["off", "bounded", "best-effort"])
def test_what_heads_cannot_read_the_model_is_asked_even_where_it_has_no_say(
    bench: Any, trained: Heads, mode: Any
) -> None:
    from queryplan.program.settle import head_alone

    lm = bench.lm(FACT)
    alone = {name: head_alone(head.labels) for name, head in trained.heads.items()}
    plan = bench.planner(lm, trained, weigh=alone, mode=mode).plan(STRANGE[0])
    assert {d.stage: d.decided_by for d in plan.trace.decisions}["relevance"] == "lm"
    assert plan.degraded[0].instead == "the model decided"


@pytest.mark.parametrize("text", ["日本語で眠りの負債について", "你好，谁是 Nell", "Wer ist Nell?"])
def test_scripts_that_it_knows_are_read(trained: Heads, text: str) -> None:
    assert trained.of_query(text)


NAMES = ("Nell", "Nell Ó Brien", "flow", "Cone Ten", "C++", ".NET", "#42", "a_b", "O'Hara", "ten", "睡眠")


@given(st.lists(st.sampled_from([*NAMES, " ", ", ", "x", "-", "nell", "TEN", "é", "_"]), max_size=12).map("".join))
def test_the_linker_finds_what_one_pattern_of_all_names_would(text: str) -> None:
    names = [KnownName(name=name, type="thing") for name in NAMES]
    pattern = "|".join(re.escape(name) for name in sorted(NAMES, key=len, reverse=True))
    wanted = dict[str, tuple[str, int]]()
    for match in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.IGNORECASE):
        key = next(name for name in NAMES if name.casefold() == match.group().casefold())
        wanted.setdefault(key, (match.group(), match.start()))
    # Inside what is written without spaces names are found that a pattern of whole words does not find.
    found = {link.name.name: (link.surface, link.start) for link in Linker(names, inside=False).links(text)}
    assert found == wanted
    if not is_unspaced(text):
        assert Linker(names).links(text) == Linker(names, inside=False).links(text)


def test_a_planner_takes_over_the_linker_of_its_heads_if_it_knows_the_same_names(bench: Any, trained: Heads) -> None:
    planner = bench.planner(None, trained)
    assert planner._linker is trained.features.linker
    other = planner.card.model_copy(update={"names": planner.card.names[:1]})
    assert bench.planner(None, trained, card=other)._linker.names == other.names


def test_a_head_that_knows_one_label_says_it() -> None:
    head = Head("x", ("only",), np.zeros((1, 2)), np.zeros((1, 0)), np.zeros((4, 0)), 1.0, 1.0)
    grams = Grams(np.array([1], dtype=np.int32), np.ones(1, dtype=np.float32))
    assert Panel([head]).probabilities(Seen(np.ones(2, dtype=np.float32), grams)) == [[1.0]]
