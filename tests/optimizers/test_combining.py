"""How model and head are weighed: the head as it is, or both pooled where held-out conversations prefer it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import dspy
import numpy as np
import pytest
from queryplan.optimizers import opinions as gathering
from queryplan.optimizers.combining import MIN_ROWS, Opinions, _clearly_better, _Held, fit_combination
from queryplan.optimizers.opinions import fit_combinations
from queryplan.program.heads.heads import HeadAnswer
from queryplan.program.lm.decider import UnansweredError
from queryplan.program.settle import head_alone, settle

ROWS = 80
RNG = np.random.default_rng(0)
GOLD = RNG.integers(2, size=ROWS)
LABELS = ("false", "true")


def said(right: float, seed: int) -> np.ndarray:
    """Probabilities of two labels that favour the right one in such a share of rows."""
    rng = np.random.default_rng(seed)
    sure = np.where(rng.random(ROWS) < right, 1.0, -1.0) * rng.uniform(0.5, 2.0, ROWS)
    true = 1 / (1 + np.exp(-np.where(GOLD == 1, sure, -sure)))
    return np.stack([1 - true, true], axis=1)


def opinions(lm: np.ndarray, head: np.ndarray, rows: int = ROWS) -> Opinions:
    groups = tuple(f"conversation {i // 2}" for i in range(rows))
    return Opinions("is_relevant", LABELS, lm[:rows], head[:rows], GOLD[:rows], groups)


def test_a_head_that_the_model_does_not_help_is_taken_exactly_as_it_is() -> None:
    fitted = fit_combination(opinions(said(0.5, 7), said(0.95, 1)))
    assert fitted is not None
    assert fitted.combination == head_alone(LABELS)
    assert "the head alone" in fitted.sentence


def test_no_bias_is_put_on_a_head_alone_even_where_dev_leans_to_a_label() -> None:
    leaning = said(0.85, 2) * [0.75, 0.25]
    leaning /= leaning.sum(axis=1, keepdims=True)
    fitted = fit_combination(opinions(said(0.5, 7), leaning))
    assert fitted is not None
    if not fitted.combination.lm_weight:
        assert not any(fitted.combination.bias.values())


def test_a_rejection_that_was_withheld_stays_withheld() -> None:
    fitted = fit_combination(opinions(said(0.5, 7), said(0.95, 1)))
    assert fitted is not None
    withheld = HeadAnswer("true", {"false": 0.7, "true": 0.3}, withheld=True)
    settled = settle(None, withheld, fitted.combination)
    assert settled is not None
    assert settled.truth


def test_a_model_that_knows_more_gets_a_weight() -> None:
    fitted = fit_combination(opinions(said(0.95, 3), said(0.7, 4)))
    assert fitted is not None
    assert fitted.combination.lm_weight > 0
    assert fitted.accuracy["both"] > fitted.accuracy["head"]
    assert fitted.loss["both"] < fitted.loss["head"]
    assert set(fitted.accuracy) == {"head", "lm", "both"}


def test_the_head_is_scored_by_its_own_probabilities() -> None:
    head = said(0.8, 5)
    fitted = fit_combination(opinions(said(0.6, 6), head))
    assert fitted is not None
    assert fitted.accuracy["head"] == pytest.approx((head.argmax(axis=1) == GOLD).mean())
    assert fitted.loss["head"] == pytest.approx(-np.log(head[np.arange(ROWS), GOLD]).mean())


@pytest.mark.parametrize("rows", [0, MIN_ROWS - 1])
def test_too_few_rows_tell_nothing(rows: int) -> None:
    assert fit_combination(opinions(said(0.9, 1), said(0.9, 2), rows)) is None


def test_a_model_that_helps_by_less_than_a_standard_error_gets_no_weight() -> None:
    asked = [fit_combination(opinions(said(0.55, seed), said(0.95, 1))) for seed in range(20, 30)]
    assert sum(one.combination.lm_weight > 0 for one in asked if one is not None) <= 3


def test_rows_that_the_model_did_not_answer_weigh_nothing(
    specs: Any, make_rows: Any, card: Any, make_decider: Any, make_lm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_: Any) -> Any:
        raise UnansweredError("the fake model gave none of the answers")

    monkeypatch.setattr(make_decider, "_answer", silent)
    heads: Any = SimpleNamespace(heads={"is_follow_up": None})
    predictors = {name: dspy.Predict(spec.signature) for name, spec in specs.items()}
    assert fit_combinations(specs, predictors, heads, make_rows(40), card, make_lm(make_decider())) == []


def test_the_head_is_weighed_by_what_a_plan_has_from_it(
    specs: Any, make_rows: Any, card: Any, make_decider: Any, make_lm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So with a closer look and withheld rejections, and without rows that heads cannot read."""
    seen: list[Opinions] = []
    monkeypatch.setattr(gathering, "fit_combination", lambda opinions, seed: seen.append(opinions))
    rows = make_rows(40)
    unread = {row.labels.standalone_query for row in rows[:3]}

    class Closer:
        heads: ClassVar[dict[str, Any]] = {"is_relevant": None}

        def of_query(self, query: str, typed: str | None = None) -> dict[str, Any]:
            answer = SimpleNamespace(probabilities={"true": 0.75, "false": 0.25})
            return {} if query in unread else {"is_relevant": answer}

    predictors = {name: dspy.Predict(spec.signature) for name, spec in specs.items()}
    heads: Any = Closer()
    assert fit_combinations(specs, predictors, heads, rows, card, make_lm(make_decider())) == []
    (opinions,) = seen
    assert len(opinions.gold) == len([row for row in rows if row.labels.standalone_query not in unread])
    assert {tuple(sorted(zip(opinions.labels, said, strict=True))) for said in opinions.head.tolist()} == {
        (("false", 0.25), ("true", 0.75))
    }


def test_a_gain_in_rows_of_one_conversation_counts_once() -> None:
    right, groups = np.ones(40, dtype=bool), [f"conversation {i // 10}" for i in range(40)]
    other = _Held(right, np.repeat([1.9, 1.0, 1.0, 0.9], 10))
    one = _Held(right, np.repeat([1.0, 1.0, 1.1, 1.0], 10))
    assert not _clearly_better(one, other, groups)
    assert _clearly_better(one, other, [str(i) for i in range(40)])
    assert not _clearly_better(one, other, ["the only one"] * 40)
