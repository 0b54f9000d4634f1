"""A rejection needs two looks that agree: what is withheld, how the level is found, and that it survives saving."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.program.explaining import explain
from queryplan.program.heads.client import HeadClient
from queryplan.program.heads.file import load_heads, settings_of, tensors_of
from queryplan.program.heads.heads import HeadAnswer, Heads
from queryplan.program.heads.learning import Learning, train_looks
from queryplan.program.heads.looks import (
    FEWEST,
    MEANING,
    QUOTA,
    TAIL,
    WITHHELD,
    WORDS,
    agree,
    each_agrees,
    level,
    together,
)
from queryplan.program.planner import QueryPlanner
from queryplan.program.settle import Combination, head_alone, label_probabilities, settle
from queryplan.program.stages import stage_specs

SHARES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=400)
REJECTED = HeadAnswer("false", {"false": 0.7, "true": 0.3})
WITHHELD_ANSWER = HeadAnswer("true", {"false": 0.7, "true": 0.3}, withheld=True)


def doubting(heads: Heads, below: float) -> Heads:
    """The same heads with another level of their looks."""
    looks = {name: replace(head, below=below) for name, head in heads.looks.items()}
    return Heads({**heads.heads, **looks}, heads.features, heads.joint)


def without_looks(heads: Heads) -> Heads:
    return Heads(heads.heads, heads.features, heads.joint)


@settings(deadline=None)
@given(SHARES)
def test_the_level_lies_among_the_lowest_tenth_of_ours(ours: list[float]) -> None:
    assert sum(share < level(ours) - 1e-5 for share in ours) <= TAIL * len(ours)
    assert level(ours) >= min(ours) - 1e-5


@settings(deadline=None)
@given(SHARES, st.randoms())
def test_the_order_of_the_rows_does_not_matter(ours: list[float], random: Any) -> None:
    shuffled = list(ours)
    random.shuffle(shuffled)
    assert level(shuffled) == level(ours)


@settings(deadline=None)
@given(st.lists(st.floats(0.01, 0.9), min_size=10, max_size=60), st.floats(0.001, 1.0))
def test_the_level_lies_with_the_rows(ours: list[float], factor: float) -> None:
    assert level([share * factor for share in ours]) <= level(ours) + 1e-9


def test_where_the_tail_is_exponential_the_level_is_the_quantile() -> None:
    odds = -np.random.default_rng(0).exponential(size=100_000)
    found = level((1 / (1 + np.exp(-odds))).tolist())
    assert math.log(found / (1 - found)) == pytest.approx(math.log(QUOTA), abs=0.05)


def exponential(rows: int, seed: int = 0) -> list[float]:
    """What looks might say of rows of ours: log-odds with an exponential tail."""
    odds = -np.random.default_rng(seed).exponential(size=rows)
    return (1 / (1 + np.exp(-odds))).tolist()


def test_a_dozen_rows_put_the_level_at_the_lowest_of_them() -> None:
    assert level([0.4]) == pytest.approx(0.4)
    assert level([0.4, 0.2, 0.9]) == pytest.approx(0.2)
    assert level([0.02 * n for n in range(1, 20)]) == pytest.approx(0.02)


def test_twenty_rows_put_it_above_two_of_them() -> None:
    assert level([0.02 * n for n in range(1, 21)]) == pytest.approx(0.06)


def test_of_few_rows_the_share_asked_for_is_two_of_them() -> None:
    others = exponential(2000, seed=99)
    for rows in (40, 100, 150):
        below = np.mean([(np.array(others) < level(exponential(rows, seed))).mean() for seed in range(60)])
        assert FEWEST / rows < below < 2 * FEWEST / rows


def test_one_odd_row_among_few_does_not_decide_alone() -> None:
    usual = exponential(40)
    odd = [1e-4, *sorted(usual)[1:]]
    assert 0.25 * level(usual) < level(odd) < level(usual)
    assert level(odd) > 10 * min(odd)


def test_from_some_hundred_rows_on_it_is_the_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = exponential(math.ceil(FEWEST / QUOTA))
    many, fewer = level(ours), level(ours[:100])
    monkeypatch.setattr("queryplan.program.heads.looks.FEWEST", 0)
    assert level(ours) == many
    assert level(ours[:100]) < fewer


def test_what_looks_say_together_lies_between_them() -> None:
    assert together([0.2, 0.2]) == pytest.approx(0.2)
    assert together([0.1, 0.9]) == pytest.approx(0.5)
    assert 0.1 < together([0.1, 0.4]) < 0.25
    assert 0.0 < together([0.0, 1e-9]) < 1e-5
    assert together([0.0, 1.0]) == pytest.approx(0.5)


def test_a_look_that_is_in_doubt_is_outweighed_and_one_that_is_sure_of_ours_is_not() -> None:
    assert agree([[0.1, 0.4]], below=0.3)
    assert agree([[0.05, 0.6]], below=0.3)
    assert not agree([[0.05, 0.9]], below=0.3)
    assert not agree([[0.31, 0.31]], below=0.3)


def test_every_text_of_a_query_must_be_rejected() -> None:
    assert agree([[0.1, 0.4], [0.2, 0.2]], below=0.3)
    assert not agree([[0.1, 0.4], [0.2, 0.8]], below=0.3)


def test_a_program_of_before_rejects_where_each_look_does(trained: Heads) -> None:
    assert each_agrees([[0.1, 0.4]], below=0.5)
    assert not each_agrees([[0.01, 0.6]], below=0.5)
    assert not each_agrees([[0.1, 0.4], [0.1, 0.5]], below=0.5)
    settings = settings_of(trained)
    for look in trained.looks:
        settings[look]["below"] = settings[look].pop("together_below")
    before = load_heads(tensors_of(trained), settings, trained.features)
    assert {head.each_below for head in before.looks.values()} == {head.below for head in trained.looks.values()}
    assert settings_of(before) == settings
    strangers = ["What is the weather in Leeds?", "who won the football last night", "book me a table for two"]
    rejecting, now = ([h.of_query(q)["is_relevant"].label for q in strangers].count("false") for h in (before, trained))
    assert rejecting <= now


def test_looks_are_trained_beside_the_heads_and_decide_nothing_by_themselves(trained: Heads) -> None:
    assert set(trained.looks) == {MEANING, WORDS}
    assert not set(trained.heads) & set(trained.looks)
    assert not set(trained.of_query("What is the weather in Leeds?")) & set(trained.looks)
    assert len({head.below for head in trained.looks.values()}) == 1


def test_one_look_sees_the_meaning_alone_and_one_the_words_alone(trained: Heads) -> None:
    assert not trained.looks[MEANING].linear.any()
    assert not trained.looks[WORDS].dual.any()


def test_a_rejection_on_which_they_do_not_agree_is_withheld(trained: Heads, rows: Callable[[str], Any]) -> None:
    plain, never, always = without_looks(trained), doubting(trained, 0.0), doubting(trained, 1.1)
    queries = [row.labels.standalone_query for row in rows("dev")]
    rejected = [q for q in queries if (a := plain.of_query(q)) and a["is_relevant"].label == "false"]
    assert len(rejected) > 5
    for query in rejected:
        before, after = plain.of_query(query)["is_relevant"], never.of_query(query)["is_relevant"]
        assert (after.label, after.withheld) == ("true", True)
        assert after.probabilities == pytest.approx(before.probabilities, abs=1e-5)
        assert after.confidence < 0.5
        assert after.likeliest == "false"
        assert always.of_query(query)["is_relevant"].label == "false"


def test_what_is_accepted_is_accepted_whatever_the_looks_say(trained: Heads, rows: Callable[[str], Any]) -> None:
    plain, never = without_looks(trained), doubting(trained, 0.0)
    for row in rows("dev")[:60]:
        said = plain.of_query(row.labels.standalone_query)
        if said and said["is_relevant"].label == "true":
            assert never.of_query(row.labels.standalone_query)["is_relevant"].withheld is False


def test_fewer_good_queries_are_rejected_and_most_strangers_still_are(
    trained: Heads, rows: Callable[[str], Any]
) -> None:
    known = [r for r in rows("dev") if trained.of_query(r.labels.standalone_query)]
    ours = np.array([r.labels.is_relevant for r in known])

    def rejected(heads: Heads) -> np.ndarray:
        said = [heads.of_query(r.labels.standalone_query)["is_relevant"].label for r in known]
        return np.array(said) == "false"

    plain, looked = rejected(without_looks(trained)), rejected(trained)
    assert not (looked & ~plain).any()
    assert looked[ours].mean() <= 0.03
    assert looked[~ours].mean() >= 0.35


def test_the_level_comes_back_with_a_program(trained: Heads) -> None:
    again = load_heads(tensors_of(trained), settings_of(trained), trained.features, trained.joint)
    assert {n: h.below for n, h in again.looks.items()} == {n: h.below for n, h in trained.looks.items()}
    for query in ("What is the weather in Leeds?", "why does the market charge you for needing to be sure"):
        assert again.of_query(query)["is_relevant"] == trained.of_query(query)["is_relevant"]


def test_a_program_from_before_there_were_looks_rejects_as_it_did(trained: Heads) -> None:
    settings = {name: kept for name, kept in settings_of(trained).items() if name in trained.heads}
    again = load_heads(tensors_of(trained), settings, trained.features)
    assert again.looks == {}
    query = "write me a sorting function in Rust"
    found = again.of_query(query)["is_relevant"]
    assert found.withheld is False
    assert found.probabilities == pytest.approx(trained.of_query(query)["is_relevant"].probabilities, abs=1e-5)


def test_rows_of_one_label_teach_no_looks(rows: Callable[[str], Any], card: Any, trained: Heads) -> None:
    ours = [row for row in rows("train") if row.labels.is_relevant][:40]
    assert train_looks(Learning(ours, card, trained.features)) == {}
    assert train_looks(Learning(rows("train")[:5], card, trained.features)) == {}


def test_a_withheld_rejection_is_said_in_the_trace(bench: Any, trained: Heads) -> None:
    heads = doubting(trained, 0.0)
    for mode in ("off", "best-effort"):
        plan = bench.planner(None, heads, mode=mode).plan("write me a sorting function in Rust")
        decision = plan.trace.decision("relevance")
        assert plan.is_relevant
        assert decision.value is True
        assert decision.confidence < 0.5
        assert WITHHELD in decision.reason


def test_an_explanation_says_what_would_have_rejected_it(bench: Any, trained: Heads) -> None:
    planner = bench.planner(None, doubting(trained, 0.0))
    routes = {route.stage: route for route in explain(planner, "write me a sorting function in Rust").routes}
    assert "both looks" in routes["relevance"].change


@pytest.mark.parametrize("combination", [None, head_alone(("true", "false"))])
def test_where_the_head_decides_its_word_is_taken_withheld_or_not(combination: Combination | None) -> None:
    for answer, label in ((REJECTED, "false"), (WITHHELD_ANSWER, "true")):
        found = settle(None, answer, combination)
        assert found is not None
        assert (found.label, found.probabilities) == (label, answer.probabilities)


@pytest.mark.parametrize(("probability", "rejects"), [(0.01, True), (0.4, True), (0.99, False)])
def test_a_withheld_rejection_stays_withheld_where_a_model_is_weighed_too(probability: float, rejects: bool) -> None:
    both = Combination(lm_weight=1.0, head_weight=1.0, bias={"true": 0.0, "false": 0.0})
    said = type("Said", (), {"probability": probability, "value": probability > 0.5})()
    for head, label in ((WITHHELD_ANSWER, "true"), (REJECTED, "false" if rejects else "true")):
        found = settle(said, head, both)
        assert found is not None
        assert (found.label, found.by) == (label, "lm")
        assert (WITHHELD in found.reason) == head.withheld
        assert found.probabilities == both.probabilities(label_probabilities(said), head.probabilities)


def test_behind_the_decision_seam_a_withheld_rejection_is_no_rejection(trained: Heads, card: Any) -> None:
    import dspy

    predict = dspy.Predict(stage_specs(card)["relevance"].signature)
    query = "write me a sorting function in Rust"
    assert predict(lm=HeadClient(without_looks(trained)), query=query).is_relevant.value is False
    assert predict(lm=HeadClient(doubting(trained, 0.0)), query=query).is_relevant.value is True


def test_a_saved_planner_keeps_its_looks(bench: Any, trained: Heads, tmp_path: Path) -> None:
    bench.planner(None, trained).save(tmp_path / "program")
    heads = QueryPlanner.load(tmp_path / "program", lm=None).heads
    assert heads is not None
    assert set(heads.looks) == {MEANING, WORDS}
