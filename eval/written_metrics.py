"""Metrics of the written parts of a plan: the rewrite, the sub-queries, and the query candidates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..data.rows import LabelledRow
from ..program.heads.encoder import Encoder, default_encoder
from ..program.plan import QueryPlan
from ..signatures.types import Frozen, Labels, SubQuery
from .dates import dates
from .text import contains_phrase, negations, normalise, numbers, token_f1, tokens

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


class RewriteScore(Frozen):
    """The scores of the standalone form; None where they do not apply.

    Attributes:
        rewrite_f1: token F1 with gold's, of a gold follow-up.
        rewrite_recall: share of gold's tokens that are there (ROUGE-1 recall, Lin 2004).
        kept_entities: every gold entity is there, word by word; None if gold's form spells none.
        kept_numbers: every number of gold is there, as often; None if gold has none.
        kept_negations: gold's negations are there, as many; None if gold has none.
        kept_dates: every date of gold is there, in whatever form; None if gold has none.
        rewrite_kept: entities, numbers and negations are all there.
        rewrite_right: F1 of at least 0.8, and all kept.
        left_alone: of a query that stands alone: it was left exactly as typed, but for white space around it.
    """

    rewrite_f1: float | None = None
    rewrite_recall: float | None = None
    kept_entities: bool | None = None
    kept_numbers: bool | None = None
    kept_negations: bool | None = None
    kept_dates: bool | None = None
    rewrite_kept: bool | None = None
    rewrite_right: bool | None = None
    left_alone: bool | None = None


class SubQueryScore(Frozen):
    """How right the sub-queries are; None where the question does not arise.

    Attributes:
        sub_queries_right: of a row that needs decomposition: paired one to one, same dependencies, none left over.
        sub_queries_recall: share of gold's that are paired.
        sub_queries_precision: share of the planned ones that are paired; None if none was planned.
        dependencies_right: share of the paired ones that depend on the partners of what gold's depend on.
        over_decomposed: of a row in domain: more sub-queries than gold.
        under_decomposed: of a row in domain: fewer.
    """

    sub_queries_right: bool | None = None
    sub_queries_recall: float | None = None
    sub_queries_precision: float | None = None
    dependencies_right: float | None = None
    over_decomposed: bool | None = None
    under_decomposed: bool | None = None


class CandidateScore(Frozen):
    """What the query candidates cover; None out of domain and where a plan has none.

    Attributes:
        candidates: how many there are.
        candidates_recall: share of what gold asks, its sub-queries or the standalone form, that some candidate asks.
    """

    candidates: int | None = None
    candidates_recall: float | None = None


def score_rewrite(row: LabelledRow, plan: QueryPlan) -> RewriteScore:
    """Compare the standalone form of ``plan`` with gold's."""
    gold, written = row.labels, plan.standalone_query
    if not gold.is_follow_up:
        return RewriteScore(left_alone=written.strip() == row.query.strip())
    text = gold.standalone_query
    f1, kept = token_f1(written, text), rewrite_keeps(gold, written)
    said = tokens(text)
    return RewriteScore(
        rewrite_f1=f1,
        rewrite_recall=(Counter(said) & Counter(tokens(written))).total() / len(said) if said else None,
        kept_entities=all(contains_phrase(written, name) for name in names) if (names := spelled(gold)) else None,
        kept_numbers=numbers(text) <= numbers(written) if numbers(text) else None,
        kept_negations=negations(text) <= negations(written) if negations(text) else None,
        kept_dates=dates(text) <= dates(written) if dates(text) else None,
        rewrite_kept=kept,
        rewrite_right=f1 >= REWRITE_F1 and kept,
    )


def spelled(gold: Labels) -> list[str]:
    """The gold entities that gold's standalone form has word by word; "henrik" is not in "compare with henriks"."""
    return [name for name in gold.entities if contains_phrase(gold.standalone_query, name)]


def rewrite_keeps(gold: Labels, planned: str) -> bool:
    """Whether ``planned`` has every entity, number and negation that gold's standalone query spells.

    A number or negation that gold has twice must be there twice. More of them is not wrong here:
    the token F1 pays for what was added.
    """
    text = gold.standalone_query
    return (
        all(contains_phrase(planned, name) for name in spelled(gold))
        and numbers(text) <= numbers(planned)
        and negations(text) <= negations(planned)
    )


def score_sub_queries(gold: Labels, plan: QueryPlan, encoder: Encoder | None = None) -> SubQueryScore:
    """Compare the sub-queries of ``plan`` with gold's, by the best assignment."""
    if not gold.is_relevant:
        return SubQueryScore()
    wanted, planned = gold.sub_queries, plan.sub_queries
    counts = {"over_decomposed": len(planned) > len(wanted), "under_decomposed": len(planned) < len(wanted)}
    if not wanted:
        return SubQueryScore(**counts)
    pairs = paired_sub_queries(wanted, planned, encoder)
    followed = [depends_alike(g, p, pairs) for g, p in pairs]
    return SubQueryScore(
        **counts,
        sub_queries_right=len(pairs) == len(wanted) == len(planned) and all(followed),
        sub_queries_recall=len(pairs) / len(wanted),
        sub_queries_precision=len(pairs) / len(planned) if planned else None,
        dependencies_right=sum(followed) / len(followed) if followed else None,
    )


Pairs = list[tuple[SubQuery, SubQuery]]


def paired_sub_queries(gold: Sequence[SubQuery], planned: Sequence[SubQuery], encoder: Encoder | None = None) -> Pairs:
    """Which planned sub-query asks what a gold one asks, one to one; only pairs that are alike enough.

    As many pairs as can reach `SUB_QUERY_SIMILARITY`, and of those assignments the one of the highest total
    similarity (Kuhn 1955, as ``scipy.optimize.linear_sum_assignment``).
    """
    from scipy.optimize import linear_sum_assignment

    if not gold or not planned:
        return []
    similarity = sub_query_similarity(gold, planned, encoder)
    alike = similarity >= SUB_QUERY_SIMILARITY
    # A pair more outweighs whatever the others may gain, for each gains less than one.
    rows, columns = linear_sum_assignment(np.where(alike, len(gold) + similarity, 0.0), maximize=True)
    return [(gold[int(r)], planned[int(c)]) for r, c in zip(rows, columns, strict=True) if alike[r, c]]


def depends_alike(gold: SubQuery, planned: SubQuery, pairs: Pairs) -> bool:
    """Whether a planned sub-query needs just the partners of those that gold's needs."""
    partner = {g.id: p.id for g, p in pairs}
    return {partner.get(needed) for needed in gold.depends_on} == set(planned.depends_on)


def sub_query_similarity(
    gold: Sequence[SubQuery], planned: Sequence[SubQuery], encoder: Encoder | None = None
) -> np.ndarray:
    """Cosines, shape (gold, planned); 0 where the two differ in numbers or in negations.

    A placeholder ``{n}`` reads "that": its number is compared through the dependencies.
    """
    return text_similarity([s.text for s in gold], [s.text for s in planned], encoder)


def text_similarity(gold: Sequence[str], planned: Sequence[str], encoder: Encoder | None = None) -> np.ndarray:
    """As `sub_query_similarity`, of texts."""
    encoder = encoder or default_encoder()
    left, right = ([_PLACEHOLDER.sub("that", text) for text in side] for side in (gold, planned))
    facts = [[(numbers(text), negations(text)) for text in side] for side in (left, right)]
    same = np.array([[a == b for b in facts[1]] for a in facts[0]])
    vectors = encoder.encode([normalise(text) for text in (*left, *right)])
    return np.where(same, vectors[: len(left)] @ vectors[len(left) :].T, 0.0)


def score_candidates(gold: Labels, plan: QueryPlan, encoder: Encoder | None = None) -> CandidateScore:
    """Which of gold's questions the candidates of ``plan`` ask."""
    if not gold.is_relevant or not plan.candidates:
        return CandidateScore()
    wanted = [s.text for s in gold.sub_queries] or [gold.standalone_query]
    best = text_similarity(wanted, [c.query for c in plan.candidates], encoder).max(axis=1)
    recall = float((best >= SUB_QUERY_SIMILARITY).mean())
    return CandidateScore(candidates=len(plan.candidates), candidates_recall=recall)
