"""Recall of queries out of domain at a share of false rejects, against a count by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.eval.cascade.rejecting import recall_at
from queryplan.eval.metrics import score_case
from queryplan.eval.row_table import RowResult
from queryplan.program.plan import Decision, PlanTrace

from ..conftest import make_plan, make_row

Make = Callable[..., Any]


def results(ours: Sequence[float], theirs: Sequence[float]) -> list[RowResult]:
    """Rows in and out of domain with these rejection probabilities, three to a conversation."""
    found = []
    for i, (p, inside) in enumerate([*((p, True) for p in ours), *((p, False) for p in theirs)]):
        row = make_row("q?", f"r{i}", f"c{i // 3}", is_relevant=inside)
        rejected = p >= 0.5
        made = Decision(stage="relevance", value=not rejected, decided_by="head", confidence=p if rejected else 1 - p)
        changes = {"is_relevant": not rejected, "intent": "factual", "trace": PlanTrace(decisions=(made,))}
        plan = make_plan(row, **changes)
        found.append(RowResult.of(row, plan, score_case(row, plan)))
    return found


def by_hand(ours: Sequence[float], theirs: Sequence[float], share: float) -> float:
    """The best recall of any threshold that rejects no more than the share of ours."""
    best = 0.0
    for threshold in {*ours, *theirs}:
        if np.mean([p >= threshold for p in ours]) <= share + 1e-9:
            best = max(best, float(np.mean([p >= threshold for p in theirs])))
    return best


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=40),
    st.lists(st.integers(0, 20), min_size=1, max_size=15),
    st.sampled_from([0.0, 0.02, 0.05, 0.3]),
)
def test_recall_is_that_of_the_best_allowed_threshold(ours: list[int], theirs: list[int], share: float) -> None:
    inside, outside = ([p / 20 for p in side] for side in (ours, theirs))
    found = recall_at(results(inside, outside), share)
    assert found is not None
    assert found.recall.value == pytest.approx(by_hand(inside, outside, share))
    assert 0 <= found.recall.low <= found.recall.high <= 1


def test_the_threshold_does_what_it_says() -> None:
    rng = np.random.default_rng(0)
    ours, theirs = rng.beta(1, 4, 200).tolist(), rng.beta(4, 2, 60).tolist()
    found = recall_at(results(ours, theirs), 0.05)
    assert found is not None
    assert np.mean([p >= found.threshold for p in ours]) <= 0.05
    assert np.mean([p >= found.threshold for p in theirs]) == pytest.approx(found.recall.value)
    assert found.recall.low < found.recall.value < found.recall.high


def test_more_false_rejects_never_lower_the_recall() -> None:
    rows = results([0.1, 0.2, 0.6, 0.7] * 10, [0.3, 0.65, 0.9] * 5)
    found = [recall_at(rows, share) for share in (0.0, 0.02, 0.25, 0.5, 1.0)]
    recalls = [one.recall.value for one in found if one is not None]
    assert recalls == sorted(recalls)
    assert recalls[-1] == 1.0


def test_without_both_kinds_of_rows_there_is_no_recall() -> None:
    assert recall_at(results([0.1], []), 0.02) is None
    assert recall_at(results([], [0.9]), 0.02) is None
    assert recall_at([], 0.02) is None
