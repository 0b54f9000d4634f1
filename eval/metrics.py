"""The metrics of one case: a plan against the labels of its row, as the annotation guide defines them."""

from __future__ import annotations

import re

import numpy as np

from ..data.rows import LabelledRow
from ..program.encoder import Encoder, default_encoder
from ..program.plan import QueryPlan
from ..signatures.types import Frozen, Labels, SubQuery
from .text import contains_phrase, negations, normalise, numbers, token_f1

REWRITE_F1 = 0.8

SUB_QUERY_SIMILARITY = 0.8
"""Cosine of static vectors from which two sub-queries ask the same.

Fixed once, after a look at 31 pairs written for it (they are in ``tests/eval/test_metrics.py``), run
through `normalise`: of 15 honest paraphrases 13 reach 0.8 (the others 0.73 and 0.75); of 16 pairs
that differ in one name, object or verb 3 do: another number (0.95), "which" against "how many"
(0.95), "recommend" against "write" (0.81). At 0.7 it would be 6; at 0.85 it would be 2, and one more
paraphrase lost. Numbers and negations, to which mean vectors are nearly deaf, are therefore
compared by themselves.
"""

_PLACEHOLDER = re.compile(r"\{\d+\}")


class LabelScore(Frozen):
    """Which of the five labels equal gold; None for the last three when gold is out of domain."""

    follow_up_right: bool
    relevance_right: bool
    complexity_right: bool | None
    intent_right: bool | None
    decomposition_right: bool | None

    @classmethod
    def of(cls, gold: Labels, plan: QueryPlan) -> LabelScore:
        """Compare the labels of ``plan`` with ``gold``."""
        inside = gold.is_relevant
        return cls(
            follow_up_right=plan.is_follow_up == gold.is_follow_up,
            relevance_right=plan.is_relevant == gold.is_relevant,
            complexity_right=plan.complexity == gold.complexity if inside else None,
            intent_right=plan.intent == gold.intent if inside else None,
            decomposition_right=plan.needs_decomposition == gold.needs_decomposition if inside else None,
        )


class CaseScore(LabelScore):
    """How right one plan is, and what it cost.

    None means that the question does not arise: complexity, intent and decomposition of a gold
    row out of domain, the kind of rejection of one in domain, the rewrite of a query that is no
    follow-up, the sub-queries of one that needs no decomposition.

    Attributes:
        labels_right: the five labels equal gold; of a row out of domain only the first two count.
        rewrite_f1: token F1 of the standalone query with gold's.
        rewrite_kept: every gold entity, number and negation is in the planned standalone query.
        sub_queries_right: see `sub_queries_match`.
        plan_right: labels right, and rewrite and sub-queries right where they arise.
        degraded: the plan names something that it could not do.
        lm_calls: requests to a language model.
        rounds: sets of requests in flight together.
        milliseconds: wall clock from asking to the plan.
    """

    rejection_kind_right: bool | None
    labels_right: bool
    rewrite_f1: float | None
    rewrite_kept: bool | None
    sub_queries_right: bool | None
    plan_right: bool
    degraded: bool
    lm_calls: int
    tokens: int
    rounds: int
    milliseconds: float


def score_case(
    row: LabelledRow, plan: QueryPlan, *, milliseconds: float | None = None, encoder: Encoder | None = None
) -> CaseScore:
    """Score ``plan`` against the labels of ``row``.

    Args:
        milliseconds: the caller's own measurement; without it the plan's trace is believed.
        encoder: measures the similarity of sub-queries; the shipped static vectors if not given.
    """
    gold, written = row.labels, plan.standalone_query
    labels = LabelScore.of(gold, plan)
    f1 = token_f1(written, gold.standalone_query) if gold.is_follow_up else None
    kept = rewrite_keeps(gold, written) if gold.is_follow_up else None
    asked = sub_queries_match(gold.sub_queries, plan.sub_queries, encoder) if gold.needs_decomposition else None
    right = all(value is not False for _, value in labels)
    return CaseScore(
        **dict(labels),
        rejection_kind_right=None if gold.is_relevant else plan.rejection_kind == gold.rejection_kind,
        labels_right=right,
        rewrite_f1=f1,
        rewrite_kept=kept,
        sub_queries_right=asked,
        plan_right=right and (f1 is None or (f1 >= REWRITE_F1 and kept is True)) and asked is not False,
        degraded=bool(plan.degraded),
        lm_calls=plan.trace.requests,
        tokens=plan.trace.tokens,
        rounds=plan.trace.rounds,
        milliseconds=plan.trace.milliseconds if milliseconds is None else milliseconds,
    )


def rewrite_keeps(gold: Labels, planned: str) -> bool:
    """Whether ``planned`` has every entity, number and negation of gold's standalone query.

    A number or negation that gold has twice must be there twice. More of them is not wrong here:
    the token F1 pays for what was added.
    """
    text = gold.standalone_query
    return (
        all(contains_phrase(planned, entity) for entity in gold.entities)
        and numbers(text) <= numbers(planned)
        and negations(text) <= negations(planned)
    )


def sub_queries_match(
    gold: tuple[SubQuery, ...], planned: tuple[SubQuery, ...], encoder: Encoder | None = None
) -> bool:
    """Whether ``planned`` asks the same as ``gold``: one to one, same dependencies, none left over.

    The pairing is the assignment of the highest total similarity (Kuhn 1955, as
    ``scipy.optimize.linear_sum_assignment``); every pair of it must reach `SUB_QUERY_SIMILARITY`.
    """
    from scipy.optimize import linear_sum_assignment

    if len(gold) != len(planned) or not gold:
        return len(gold) == len(planned)
    similarity = sub_query_similarity(gold, planned, encoder)
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    if (similarity[rows, columns] < SUB_QUERY_SIMILARITY).any():
        return False
    partner = {gold[int(r)].id: planned[int(c)] for r, c in zip(rows, columns, strict=True)}
    return all({partner[d].id for d in g.depends_on} == set(partner[g.id].depends_on) for g in gold)


def sub_query_similarity(
    gold: tuple[SubQuery, ...], planned: tuple[SubQuery, ...], encoder: Encoder | None = None
) -> np.ndarray:
    """Cosines, shape (gold, planned); 0 where the two differ in numbers or in negations.

    A placeholder ``{n}`` reads "that": its number is compared through the dependencies.
    """
    encoder = encoder or default_encoder()
    left, right = ([_PLACEHOLDER.sub("that", s.text) for s in side] for side in (gold, planned))
    same = np.array([[_same_facts(a, b) for b in right] for a in left])
    cosine = encoder.encode([normalise(t) for t in left]) @ encoder.encode([normalise(t) for t in right]).T
    return np.where(same, cosine, 0.0)


def _same_facts(left: str, right: str) -> bool:
    return numbers(left) == numbers(right) and negations(left) == negations(right)
