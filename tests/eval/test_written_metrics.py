"""Rewrites, sub-queries and candidates, part by part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from queryplan.eval.metrics import score_case
from queryplan.eval.written_metrics import paired_sub_queries, score_candidates, score_rewrite, score_sub_queries
from queryplan.program.plan import QueryCandidate
from queryplan.signatures.types import SubQuery

Make = Callable[..., Any]


def subs(*texts: str, after: dict[int, tuple[int, ...]] | None = None) -> tuple[SubQuery, ...]:
    """Sub-queries counted from 1, with what each depends on."""
    return tuple(SubQuery(id=i, text=t, depends_on=(after or {}).get(i, ())) for i, t in enumerate(texts, 1))


@pytest.fixture
def follow_up(row: Make) -> Any:
    """A follow-up whose standalone form has an entity, a number, a negation and a date."""
    return row(
        "and not those?",
        is_follow_up=True,
        standalone_query="Which 3 books did Rick Rubin not recommend in March 2024?",
        entities=["Rick Rubin"],
    )


@pytest.mark.parametrize(
    ("written", "lost"),
    [
        ("Which three books did Rick Rubin not recommend in 3/2024 March 2024?", set()),
        ("Which 3 books did Rick not recommend in March 2024?", {"kept_entities"}),
        ("Which books did Rick Rubin not recommend in March 2024?", {"kept_numbers"}),
        ("Which 3 books did Rick Rubin recommend in March 2024?", {"kept_negations"}),
        ("Which 3 books, of 2024, did Rick Rubin not recommend?", {"kept_dates"}),
    ],
)
def test_each_thing_that_a_rewrite_must_keep_is_scored_by_itself(
    follow_up: Any, plan: Make, written: str, lost: set[str]
) -> None:
    score = score_rewrite(follow_up, plan(follow_up, standalone_query=written))
    kept = ("kept_entities", "kept_numbers", "kept_negations", "kept_dates")
    assert {name for name in kept if getattr(score, name) is False} == lost
    assert score.rewrite_kept == (not lost - {"kept_dates"})


def test_recall_counts_golds_words_and_not_what_was_added(row: Make, plan: Make) -> None:
    gold = row("and he?", is_follow_up=True, standalone_query="one two three four")
    assert score_rewrite(gold, plan(gold, standalone_query="one two and more besides")).rewrite_recall == 0.5
    assert score_rewrite(gold, plan(gold, standalone_query="four three two one zero")).rewrite_recall == 1.0


def test_what_gold_does_not_have_is_not_asked(row: Make, plan: Make) -> None:
    plain = row("and he?", is_follow_up=True, standalone_query="compare it with henriks", entities=["henrik"])
    score = score_rewrite(plain, plan(plain))
    assert (score.kept_entities, score.kept_numbers, score.kept_negations, score.kept_dates) == (None,) * 4
    assert score.rewrite_right is True


def test_a_query_that_stands_alone_is_left_alone_or_not(row: Make, plan: Make) -> None:
    gold = row("What is focus? ")
    assert score_rewrite(gold, plan(gold, standalone_query="What is focus?")).left_alone is True
    assert score_rewrite(gold, plan(gold, standalone_query="what is focus?")).left_alone is False
    assert score_rewrite(gold, plan(gold)).rewrite_f1 is None


GOLD = subs("Who was the guest of episode 12?", "Which books did {1} recommend?", after={2: (1,)})


@pytest.mark.parametrize(
    ("planned", "right", "recall", "precision", "dependencies"),
    [
        (GOLD, True, 1.0, 1.0, 1.0),
        (GOLD[:1], False, 0.5, 1.0, 1.0),
        ((), False, 0.0, None, None),
        (subs(GOLD[0].text, "Which books did {1} recommend?"), False, 1.0, 1.0, 0.5),
        ((*GOLD, SubQuery(id=3, text="Is it raining in Lille?")), False, 1.0, 2 / 3, 1.0),
        (subs("Is it raining?", "What is the price of bitcoin?"), False, 0.0, 0.0, None),
    ],
)
def test_sub_queries_are_paired_and_what_is_left_over_counts(
    row: Make,
    plan: Make,
    planned: tuple[SubQuery, ...],
    right: bool,
    recall: float,
    precision: float | None,
    dependencies: float | None,
) -> None:
    gold = row("q?", sub_queries=[s.model_dump() for s in GOLD])
    score = score_sub_queries(gold.labels, plan(gold, sub_queries=planned))
    assert score.sub_queries_right == right
    assert (score.sub_queries_recall, score.sub_queries_precision) == (recall, precision)
    assert score.dependencies_right == dependencies
    assert score.over_decomposed == (len(planned) > 2)
    assert score.under_decomposed == (len(planned) < 2)


def test_dependencies_follow_the_partners_and_not_the_numbers(row: Make, plan: Make) -> None:
    gold = row("q?", sub_queries=[s.model_dump() for s in GOLD])
    turned = (SubQuery(id=1, text="Which books did {2} recommend?", depends_on=(2,)), SubQuery(id=2, text=GOLD[0].text))
    assert score_sub_queries(gold.labels, plan(gold, sub_queries=turned)).sub_queries_right is True


def test_splitting_what_needs_none_is_too_much_and_out_of_domain_nothing_is_asked(row: Make, plan: Make) -> None:
    score = score_case(row(), plan(row(), sub_queries=GOLD))
    assert (score.over_decomposed, score.sub_queries_right) == (True, None)
    outside = row("rain?", is_relevant=False)
    assert score_case(outside, plan(outside)).over_decomposed is None


def test_candidates_cover_the_sub_queries_or_the_standalone_form(row: Make, plan: Make) -> None:
    def of(*texts: str) -> tuple[QueryCandidate, ...]:
        return tuple(QueryCandidate(query=text, stage="s", label="l") for text in texts)

    whole, parts = row("What is flow state?"), row("q?", sub_queries=[s.model_dump() for s in GOLD])
    assert score_candidates(whole.labels, plan(whole)).candidates_recall is None
    found = score_candidates(whole.labels, plan(whole, candidates=of("How is flow state defined?", "weather")))
    assert (found.candidates, found.candidates_recall) == (2, 1.0)
    assert score_candidates(parts.labels, plan(parts, candidates=of(GOLD[0].text))).candidates_recall == 0.5


def test_two_pairs_that_are_alike_are_worth_more_than_one_that_is_more_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    similar = np.array([[0.79, 0.82], [0.82, 0.99]])
    monkeypatch.setattr("queryplan.eval.written_metrics.sub_query_similarity", lambda *_: similar)
    pairs = paired_sub_queries(subs("a", "b"), subs("c", "d"))
    assert [(gold.text, planned.text) for gold, planned in pairs] == [("a", "d"), ("b", "c")]
    monkeypatch.setattr("queryplan.eval.written_metrics.sub_query_similarity", lambda *_: similar + 0.01)
    pairs = paired_sub_queries(subs("a", "b"), subs("c", "d"))
    assert [(gold.text, planned.text) for gold, planned in pairs] == [("a", "c"), ("b", "d")]
