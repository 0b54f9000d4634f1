"""Fitting how decisions are read."""

from __future__ import annotations

import json
import random
from typing import Any

import dspy
import numpy as np
import pytest
from queryplan.errors import DataError
from queryplan.optimizers.thresholds import (
    Evidence,
    choose,
    evidence_of,
    fit_fields,
    fit_output,
    fit_scaling,
    grouped_folds,
    plateau_rule,
    scaled_rule,
)
from queryplan.signatures.seam import DecisionState, choice_of, yes_no

LABELS = ("a", "b", "c", "never")


def noul_evidence(p: list[float] | np.ndarray, gold: list[int] | np.ndarray, groups: int = 10**6) -> Evidence:
    chances = np.column_stack([1 - np.asarray(p, float), np.asarray(p, float)])
    names = tuple(str(i % groups) for i in range(len(chances)))
    return Evidence(chances, np.asarray(gold, int), names, ("false", "true"), True)


def choice_evidence(chances: np.ndarray, gold: np.ndarray) -> Evidence:
    labels = LABELS[: chances.shape[1]]
    return Evidence(chances, gold, tuple(str(i // 2) for i in range(len(gold))), labels, False)


def biased_noul(n: int = 80, bias: float = -3.0, seed: int = 0) -> Evidence:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 2, n)
    odds = bias + 2.0 * (2 * gold - 1) + rng.normal(0, 1, n)
    return noul_evidence(1 / (1 + np.exp(-odds)), gold)


def biased_choice(n: int = 120, seed: int = 0) -> Evidence:
    """Three labels that occur, and one that never does and yet draws most of the probability."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 3, n)
    logs = 2.0 * np.eye(4)[gold] + rng.normal(0, 0.5, (n, 4)) + np.array([0.0, 0.0, 0.0, 2.5])
    return choice_evidence(np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True), gold)


def test_a_biased_noul_gains() -> None:
    fitted = fit_output("x", biased_noul())
    assert fitted.accuracy_before < 0.8
    assert fitted.accuracy_after > 0.9
    assert fitted.method in ("logistic", "plateau")
    assert 0 < fitted.config["threshold"] < 0.3


def test_a_biased_choice_gains_and_survives_a_label_that_never_occurs() -> None:
    fitted = fit_output("x", biased_choice())
    assert fitted.accuracy_before < 0.5
    assert fitted.accuracy_after > 0.9
    weights = fitted.config["weights"]
    assert set(weights) == set(LABELS)
    assert weights["never"] == min(weights.values()) > 0


@pytest.mark.parametrize("seed", range(8))
def test_fitting_never_hurts_in_cross_validation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    two = fit_output("x", noul_evidence(rng.random(30), rng.integers(0, 2, 30)), seed)
    many = fit_output("x", choice_evidence(rng.dirichlet(np.ones(4), 30), rng.integers(0, 4, 30)), seed)
    for fitted in (two, many):
        assert fitted.accuracy_after >= fitted.accuracy_before
        assert bool(fitted.config) == (fitted.accuracy_after > fitted.accuracy_before)


def test_a_client_that_needs_nothing_is_left_alone() -> None:
    gold = np.arange(40) % 2
    fitted = fit_output("x", noul_evidence(np.where(gold, 0.9, 0.1), gold))
    assert (fitted.method, fitted.config, fitted.accuracy_after) == ("keep", {}, 1.0)


@pytest.mark.parametrize(
    ("p", "gold", "groups", "why"),
    [
        ([], [], 9, "fewer than 5"),
        ([0.1, 0.9, 0.2, 0.8], [0, 1, 0, 1], 9, "fewer than 5"),
        ([0.1] * 8, [1] * 8, 9, "all labels are the same"),
        ([0.1, 0.2] * 4, [0, 1] * 4, 1, "one conversation"),
    ],
)
def test_too_little_to_fit_is_said_and_kept(p: list[float], gold: list[int], groups: int, why: str) -> None:
    fitted = fit_output("x", noul_evidence(p, gold, groups))
    assert (fitted.method, fitted.config) == ("keep", {})
    assert why in fitted.note


def test_five_rows_with_probabilities_of_zero_and_one_are_fitted() -> None:
    fitted = fit_output("x", noul_evidence([0.0, 1.0, 0.0, 1.0, 0.3], [0, 1, 0, 1, 1]))
    assert fitted.accuracy_after >= fitted.accuracy_before
    sure = np.eye(3)[[0, 1, 2, 0, 1]]
    assert fit_output("x", choice_evidence(sure, np.array([0, 1, 2, 0, 2]))).accuracy_after >= 0.8


def test_a_client_that_always_says_the_same_is_survived() -> None:
    fitted = fit_output("x", noul_evidence([0.0] * 20, [0, 1, 1, 1] * 5))
    assert fitted.accuracy_after >= fitted.accuracy_before


def test_the_plateau_lies_between_rows_and_not_on_one() -> None:
    evidence = noul_evidence([0.1, 0.2, 0.6, 0.7], [0, 0, 1, 1])
    rule = plateau_rule(evidence, np.ones(2))
    threshold = rule[0] / rule.sum()
    assert 0.25 < threshold < 0.5
    assert threshold == pytest.approx(np.sqrt(0.25 * 1.5) / (1 + np.sqrt(0.25 * 1.5)))


def test_of_two_plateaus_the_one_near_the_anchor_is_taken() -> None:
    # Reading at 0.15 and at 0.8 are equally right.
    evidence = noul_evidence([0.1, 0.3, 0.5, 0.9], [0, 1, 0, 1])
    low = plateau_rule(evidence, np.array([0.15, 0.85]))
    high = plateau_rule(evidence, np.array([0.8, 0.2]))
    assert low[0] / low.sum() < 0.3
    assert high[0] / high.sum() > 0.5


def test_a_threshold_is_never_carried_far_from_what_was_seen() -> None:
    evidence = noul_evidence([0.4, 0.45, 0.5, 0.55, 0.6] * 4, [1] * 19 + [0])
    for rule in (scaled_rule(evidence, 0.3), plateau_rule(evidence, np.ones(2))):
        odds = np.log(rule[0] / rule[1])
        assert np.log(0.4 / 0.6) - 1.001 <= odds <= np.log(0.6 / 0.4) + 1.001


def test_weights_choose_what_the_scaled_probabilities_choose() -> None:
    evidence = biased_choice()
    slope, bias = fit_scaling(evidence, 1.0)
    scaled = (slope * evidence.logs + bias).argmax(axis=1)
    assert (choose(evidence.chances, scaled_rule(evidence, 1.0), False) == scaled).all()


def test_a_strong_prior_is_the_identity() -> None:
    slope, bias = fit_scaling(biased_choice(), 1e9)
    assert slope == pytest.approx(1, abs=1e-3)
    assert np.abs(bias).max() < 1e-3


def test_folds_split_no_conversation_and_hold_every_row_once() -> None:
    groups = [str(i // 3) for i in range(31)]
    folds = grouped_folds(groups, 0)
    assert sorted(np.concatenate(folds).tolist()) == list(range(31))
    homes = [{groups[i] for i in fold} for fold in folds]
    assert all(not a & b for n, a in enumerate(homes) for b in homes[n + 1 :])
    assert max(map(len, folds)) - min(map(len, folds)) <= 3


def test_folds_are_the_same_for_the_same_seed() -> None:
    groups = [str(i) for i in range(20)]
    first, again, other = (grouped_folds(groups, seed) for seed in (1, 1, 2))
    assert [f.tolist() for f in first] == [f.tolist() for f in again]
    assert [f.tolist() for f in first] != [f.tolist() for f in other]


class Both(dspy.Signature):
    """Decide twice."""

    query: str = dspy.InputField()
    good: yes_no("good", "bad") = dspy.OutputField(desc="Is it good?")  # type: ignore[valid-type]
    kind: choice_of([("a", "first", "1"), ("b", "second", "2")]) = dspy.OutputField(desc="Which?")  # type: ignore[valid-type]


def _answers(seed: int = 0, n: int = 60) -> list[tuple[dspy.Example, dict[str, Any]]]:
    rng = random.Random(seed)
    made = []
    for i in range(n):
        good, kind = rng.random() < 0.5, rng.choice("ab")
        p, q = 0.35 * good + 0.3 * rng.random(), 0.25 * (kind == "a") + 0.3 * rng.random()
        answers = {"good": {"noul": p}, "kind": {"probabilities": {"a": q, "b": 1 - q}, "confidence": 0.5}}
        made.append((dspy.Example(good=good, kind=kind, conversation=str(i // 2)), answers))
    return made


def _decoded(fields: dict[str, Any], answers: dict[str, Any]) -> dict[str, Any]:
    return DecisionState(Both, fields)._decode(answers)


def test_dspy_reads_fitted_fields_as_they_were_fitted() -> None:
    answers = _answers()
    pairs = [(example, dspy.Prediction(**_decoded({}, given))) for example, given in answers]
    fields, fitted = fit_fields(Both, pairs)
    json.dumps(fields)
    assert set(fields) == {"good", "kind"}
    for output in ("good", "kind"):
        evidence = evidence_of(output, DecisionState(Both, {}).types[output], pairs)
        read = [_decoded(fields, given)[output].value for _, given in answers]
        right = sum(value == example[output] for value, (example, _) in zip(read, answers, strict=True))
        assert right / len(evidence.gold) >= next(f.accuracy_after for f in fitted if f.output == output) - 0.05
        assert right / len(evidence.gold) > next(f.accuracy_before for f in fitted if f.output == output)


def test_fitting_twice_gives_the_same() -> None:
    pairs = [(example, dspy.Prediction(**_decoded({}, given))) for example, given in _answers()]
    assert fit_fields(Both, pairs, 3) == fit_fields(Both, pairs, 3)


def test_only_labelled_outputs_are_evidence() -> None:
    pairs = [
        (e.without("kind") if i % 2 else e, dspy.Prediction(**_decoded({}, a))) for i, (e, a) in enumerate(_answers())
    ]
    assert len(evidence_of("kind", DecisionState(Both, {}).types["kind"], pairs).gold) == 30


def test_a_label_that_the_signature_lacks_is_named() -> None:
    example, answers = _answers(n=1)[0]
    pairs = [(example.copy(kind="zebra"), dspy.Prediction(**_decoded({}, answers)))]
    with pytest.raises(DataError, match="kind: the label 'zebra' is not one of a, b"):
        fit_fields(Both, pairs)
