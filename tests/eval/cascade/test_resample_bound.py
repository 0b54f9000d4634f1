"""Counting broken bounds, and the sets that they are counted on."""

from __future__ import annotations

import os

import numpy as np
import pytest
from queryplan.eval.cascade import bound_sets
from queryplan.eval.cascade.bound_sets import mixed, resample_sets, skipped
from queryplan.eval.cascade.head_answers import Answer, RowAnswers
from queryplan.eval.cascade.resample_bound import only, resample

real = pytest.mark.skipif(
    not os.environ.get("QUERYPLAN_BENCHMARKS"), reason="QUERYPLAN_BENCHMARKS names no folder with the public sets"
)


def invented(rows: int, seed: int = 0, each: int = 1) -> list[RowAnswers]:
    """Certainties that are drawn evenly and more often right the higher they are, ``each`` to a conversation."""
    rng = np.random.default_rng(seed)
    certain = rng.random(rows)
    right = rng.random(rows) >= 0.4 * (1 - certain)
    return [
        RowAnswers(f"r{n}", f"c{n // each}", {"relevance": Answer(float(c), bool(r))}, ("relevance",))
        for n, (c, r) in enumerate(zip(certain, right, strict=True))
    ]


def hopeless(rows: int) -> list[RowAnswers]:
    """Quite certain, and half of them wrong."""
    answers = [{"relevance": Answer(0.999, n % 2 == 0)} for n in range(rows)]
    return [RowAnswers(f"r{n}", f"c{n}", answer, ("relevance",)) for n, answer in enumerate(answers)]


def test_of_two_hundred_draws_twenty_nine_may_break_a_bound_of_ninety_percent() -> None:
    found = resample("invented", invented(300), draws=200)
    assert found.allowed == 29
    assert (found.fitted, found.measured, found.abstained) == (150, 150, 0)
    assert 0 < found.coverage < 1
    assert 0 < found.wrong < 0.05
    assert found.holds


def test_rows_of_one_conversation_are_never_on_both_sides_and_weigh_as_one() -> None:
    found = resample("talks", invented(600, each=5), draws=20)
    assert found.fitted + found.measured == 120


def test_too_few_conversations_abstain_in_every_draw_and_break_nothing() -> None:
    found = resample("few", invented(60), draws=20)
    assert (found.abstained, found.broken, found.coverage, found.wrong) == (20, 0, 0.0, 0.0)
    assert found.supports > 0.05


def test_a_head_that_is_wrong_whatever_its_certainty_abstains() -> None:
    found = resample("wrong", hopeless(400), draws=20)
    assert found.abstained == 20


@pytest.mark.parametrize(("fit", "count"), [(0.25, 50), (120, 120), (500, 199)])
def test_how_many_conversations_fit_is_a_share_or_a_number(fit: float, count: int) -> None:
    assert resample("a", invented(200), draws=2, fit=fit).fitted == count


def test_the_same_seed_gives_the_same_count_and_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    one = resample("a", invented(200), draws=20, progress=lambda done, total: told.append((done, total)))
    assert one == resample("a", invented(200), draws=20)
    assert one != resample("a", invented(200), draws=20, seed=1)
    assert told[0] == (0, 20)
    assert told[-1] == (20, 20)


def test_several_lists_take_turns() -> None:
    both = resample("a", [invented(200), hopeless(200)], draws=20)
    assert both.abstained == 10


def test_of_a_set_that_labels_one_stage_nothing_else_is_counted() -> None:
    answers = {"relevance": Answer(0.9, True), "complexity": Answer(0.9, False)}
    (kept,) = only([RowAnswers("r", "c", answers, ("relevance", "complexity"))], ("relevance",))
    assert kept.arises == ("relevance",)
    assert kept.whole(0.8)
    assert not kept.wrong(0.8)


def test_without_the_public_sets_the_podcast_alone_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUERYPLAN_BENCHMARKS", raising=False)
    monkeypatch.setattr(bound_sets, "podcast_answers", lambda seed: invented(200))
    assert [found.name for found in resample_sets(draws=2)] == ["podcast"]
    assert [why.split(":")[0] for why in skipped()] == ["clinc150", "trec_cast"]


@real
def test_a_public_set_is_drawn_with_the_share_that_is_asked() -> None:
    card, rows = bound_sets.converted("clinc150", domain="banking")
    drawn = mixed(rows, 100, 0.3, np.random.default_rng(0))
    assert sum(row.labels.is_relevant for row in drawn) == 30
    assert len({row.id for row in drawn}) == 100
    assert card.name == "clinc150-banking"


@real
@pytest.mark.slow
def test_relevance_on_clinc150_covers_four_of_five_queries_within_its_bound() -> None:
    found = resample("clinc150", bound_sets.clinc_answers(trainings=1), draws=20, fit=200)
    assert found.coverage > 0.8
    assert found.wrong < 0.05
