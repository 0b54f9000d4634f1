"""What the words give away: nothing where they are noise, everything where they are the label."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from queryplan.data.rows import LabelledRow
from queryplan.eval import giveaway as module
from queryplan.eval.giveaway import _Ranking, giveaway, measured_rows


def row(query: str, conversation: str, turn: int, greeting: bool, follow: bool = False) -> LabelledRow:
    labels: dict[str, Any] = {"is_follow_up": follow, "standalone_query": f"{query}!" if follow else query,
                              "is_relevant": True, "complexity": "simple", "needs_decomposition": False,
                              "intent": "greeting" if greeting else "factual"}  # fmt: skip
    history = [{"role": "user", "content": "before"}] * (turn - 1)
    made = {"id": f"{conversation}.{turn}", "conversation": conversation, "turn": turn, "query": query}
    return LabelledRow.model_validate({**made, "history": history, "labels": labels})


@pytest.fixture(scope="module")
def rows() -> list[LabelledRow]:
    """Intent stands in the words; whether it is a follow-up does not."""
    draw = random.Random(0)
    made = []
    for n in range(60):
        for turn in (1, 2):
            greeting = draw.random() < 0.4
            words = draw.choices("apple pear plum fig".split(), k=3) + (["hello"] if greeting else ["which"])
            made.append(row(" ".join(words), f"c{n}", turn, greeting, turn > 1 and draw.random() < 0.5))
    return made


def test_words_that_are_the_label_give_it_away(rows: list[LabelledRow]) -> None:
    found = {one.label: one for one in giveaway({"train": rows})}
    assert set(found) == {"is_follow_up", "intent"}, "the others have one value"
    intent, follow = found["intent"], found["is_follow_up"]
    assert intent.tfidf.value == 1.0
    assert 0.5 < intent.majority.value < 0.75
    assert intent.later_rows == follow.later_rows == 60
    assert intent.auroc is not None
    assert follow.auroc is not None
    assert follow.balanced_accuracy is not None
    assert (intent.auroc.value, follow.tfidf.n, intent.tfidf.n) == (1.0, 60, 120)
    assert follow.auroc.low < 0.5 < follow.auroc.high
    assert follow.balanced_accuracy.low < 0.5 < follow.balanced_accuracy.high


def test_the_history_is_never_seen(rows: list[LabelledRow]) -> None:
    other = [r.model_copy(update={"history": tuple(t.model_copy(update={"content": str(r.labels.is_follow_up)})
                                                   for t in r.history)}) for r in rows]  # fmt: skip
    assert giveaway({"train": other}) == giveaway({"train": rows})


def test_test_and_calibration_rows_are_not_measured(rows: list[LabelledRow]) -> None:
    assert measured_rows({"train": rows[:4], "test": rows[4:], "calibrate": rows}) == rows[:4]
    assert measured_rows({"log": rows}) == rows


def test_many_rows_are_sampled_by_conversation(rows: list[LabelledRow], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ROWS", 50)
    (intent,) = giveaway({"train": rows}, ["intent"])
    assert intent.tfidf.n == 50
    assert intent.tfidf.clusters == 25


@pytest.mark.parametrize("count", [0, 1, 6])
def test_few_rows_are_left_out(rows: list[LabelledRow], count: int) -> None:
    assert giveaway({"train": rows[:count]}) == ()


def test_areas_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import roc_auc_score

    draw = np.random.default_rng(0)
    scores, truth = draw.integers(0, 6, 40) / 6, draw.random(40) < 0.4
    weights = draw.integers(0, 3, (5, 40)).astype(float)
    expected = [roc_auc_score(truth, scores, sample_weight=w) for w in weights]
    assert _Ranking(scores, truth).areas(weights) == pytest.approx(expected)
