"""Counting broken bounds."""

from __future__ import annotations

import numpy as np
from queryplan.eval.head_answers import Answer, RowAnswers
from queryplan.eval.resample_bound import resample


def invented(rows: int, seed: int = 0) -> list[RowAnswers]:
    rng = np.random.default_rng(seed)
    certain = rng.random(rows)
    right = rng.random(rows) >= 0.4 * (1 - certain)
    return [
        RowAnswers(f"r{n}", f"c{n}", {"relevance": Answer(float(c), bool(r))}, ("relevance",))
        for n, (c, r) in enumerate(zip(certain, right, strict=True))
    ]


def test_of_two_hundred_draws_twenty_eight_may_break_a_bound_of_ninety_percent() -> None:
    found = resample("invented", invented(400), draws=200)
    assert found.allowed in (28, 29)
    assert found.abstained == 0
    assert 0 < found.coverage < 1
    assert found.holds == (found.broken <= found.allowed)


def test_too_few_conversations_abstain_in_every_draw_and_break_nothing() -> None:
    found = resample("few", invented(60), draws=20)
    assert (found.abstained, found.broken, found.coverage) == (20, 0, 0.0)


def test_the_same_seed_gives_the_same_count() -> None:
    assert resample("a", invented(200), draws=20) == resample("a", invented(200), draws=20)
