"""Learning which edit is meant, choosing it, and keeping what was learned as plain data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from queryplan.data.card import DomainCard
from queryplan.data.rows import LabelledRow
from queryplan.program.rewriting.edits import edits
from queryplan.program.rewriting.fit import MIN_FOLLOW_UPS, merits, train_rewriter
from queryplan.program.rewriting.lexicon import learned_lexicon
from queryplan.program.rewriting.parallel import paralleled
from queryplan.program.rewriting.rewriter import Rewriter, load_rewriter
from queryplan.program.text.linker import Linker

from .conftest import said

BEFORE = said("what does Hana say about tides?", "That they turn, as Goran says.")


@pytest.fixture(scope="session")
def rewriter(rows: list[LabelledRow], card: DomainCard, linker: Linker) -> Rewriter:
    made = train_rewriter(rows, card, linker)
    assert made is not None
    return made


def test_rows_show_which_words_point(rows: list[LabelledRow]) -> None:
    lexicon = learned_lexicon([rows])
    assert "he" in lexicon.pointing
    assert "it" not in lexicon.pointing
    assert "what" in lexicon.common


@pytest.mark.parametrize(
    ("query", "standalone", "move"),
    [
        ("when did he write it down?", "when did Hana write it down?", "put"),
        ("and wages?", "what does Hana say about wages?", "turn"),
    ],
)
def test_what_rows_taught_is_done_with_other_names(
    query: str, standalone: str, move: str, rewriter: Rewriter, linker: Linker
) -> None:
    found = rewriter.rewrite(query, BEFORE, "", linker)
    assert (found.text, found.move) == (standalone, move)
    assert 0 < found.certainty <= 1
    assert found.referent.casefold() in found.reason.casefold()


@given(
    query=st.lists(st.sampled_from("and he what Hana tides? the wool did Ada".split()), max_size=7).map(" ".join),
    before=st.lists(st.sampled_from("Ada Bruno salt roads he the say wool 1984 says".split()), max_size=9).map(
        " ".join
    ),
    shown=st.sampled_from(("", "Emil", "wool")),
)
def test_the_choice_is_the_best_of_all_edits(
    query: str, before: str, shown: str, rewriter: Rewriter, linker: Linker
) -> None:
    turns = said(before, "That Goran and Hana tell of tides.")
    assume(paralleled(query, before, rewriter.lexicon, linker) is None)  # no edit is chosen then
    found = edits(query, turns, shown, rewriter.lexicon, linker)
    scores = [sum(rewriter.weights.get(name, 0.0) * size for name, size in edit.traits()) for edit in found]
    chosen = rewriter.rewrite(query, turns, shown, linker)
    best = [edit for edit, score in zip(found, scores, strict=True) if score > max(scores) - 1e-9]
    assume(chosen.move == best[0].move or best[0].move in ("keep", "add"))  # others may be no sentence
    assert (chosen.move, chosen.referent) in {(edit.move, edit.referent.text if edit.referent else "") for edit in best}
    shares = np.exp(np.array(scores) - max(scores))
    assert chosen.certainty == pytest.approx(1 / shares.sum())


def test_a_loaded_rewriter_says_the_same_as_the_trained_one(rewriter: Rewriter, linker: Linker) -> None:
    loaded = load_rewriter(rewriter.tensors())
    assert loaded is not None
    assert loaded.lexicon == rewriter.lexicon
    assert loaded.weights == rewriter.weights
    for query in ("and wages?", "when did he write it down?", "why?"):
        assert loaded.rewrite(query, BEFORE, "Emil", linker) == rewriter.rewrite(query, BEFORE, "Emil", linker)


def test_a_program_of_before_has_none() -> None:
    assert load_rewriter({"is_relevant.dual": np.zeros((1, 1))}) is None


def test_training_twice_gives_the_same(
    rows: list[LabelledRow], card: DomainCard, linker: Linker, rewriter: Rewriter
) -> None:
    again = train_rewriter(rows, card, linker)
    assert again is not None
    assert again.weights == rewriter.weights


def test_too_few_follow_ups_teach_nothing(rows: list[LabelledRow], card: DomainCard, linker: Linker) -> None:
    assert train_rewriter(rows[: MIN_FOLLOW_UPS - 1], card, linker) is None


def test_a_text_is_the_better_the_nearer_it_is_to_gold_and_more_so_where_it_is_right() -> None:
    exact, near, far = merits(["what does Ada say?", "what does he say", "maps"], "What does Ada say")
    assert (exact, near, far) == (1.5, 0.75, 0.0)


def test_gold_forms_with_nothing_in_them_are_survived(
    rows: list[LabelledRow], card: DomainCard, linker: Linker
) -> None:
    odd = [row.model_copy(update={"query": "?"}) for row in rows]
    made = train_rewriter(odd, card, linker)
    assert made is not None
    assert made.rewrite("?", BEFORE, "", linker).text == "?"
