"""Ranks candidate paths with a log-linear model whose shared parts also work on a schema that nobody labelled.

The score of a path is a weighted sum of numbers that mean the same in every schema, plus what the question's n-grams
say for each of its elements. Every element is learned from all plans that contain it, so that a chain of edges that
nobody labelled is scored by its single edges. The elements that every schema has (how sets are combined, how many hops)
and the numbers are learned over all labelled domains; on an unseen schema nothing else is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...heads.encoder import DIMENSIONS, Encoder
from ..names.hypotheses import hypotheses, span_features
from ..names.linking import Mention
from ..names.roles import ROLES, RoleWeights
from ..question.twofold import may_be_twofold, twofold_scores
from ..question.view import Hypothesis, View, gram_columns, view_of
from .candidates import candidate_pools
from .combining import COUNTS, CombineWeights, log_chances, said_of, ways_of
from .evidence import Sight, dense_of
from .paths import PathTable
from .pool import Pool
from .schema_words import SchemaWords
from .shape import Parts, Shape

MOST_HYPOTHESES = 5
TYPICAL_GRAMS, LONGER = 60, 0.2
OUTRIGHT = 0.95
"""The least probability that a short name is meant if the word for its type or property stands beside it."""
VECTOR = DIMENSIONS
VECTOR_SCALE = 1.0
"""The length of a question's vector (what its words mean together) beside its n-grams."""


@dataclass(frozen=True)
class Weights:
    """Everything learned.

    Attributes:
        common: the weight of each word that is common in questions, 0 to 1; others weigh 1.
        plain: how often a text stood in labelled questions without being a name.
        span: weights of a mention's features, shape (len(SPAN),).
        dense: weights of a path's numbers, shape (len(DENSE),).
        elements: the names of the learned elements, in the order of the rows of ``table``.
        grams: the sorted hashes of the n-grams, in the order of the first columns of ``table``.
        table: weights of each element, shape (elements, grams + VECTOR): for n-grams, then for the question's vector.
        scale: multiplies a score before the softmax.
        roles: weights that tell the role of each name.
        combines: weights that tell how the sets of several names are combined.
        twofold: weights that tell whether, and how, two paths from a single name are combined.
    """

    common: Mapping[str, float]
    plain: Mapping[str, int]
    span: np.ndarray
    dense: np.ndarray
    elements: tuple[str, ...] = ()
    grams: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.uint32))
    table: np.ndarray = field(default_factory=lambda: np.zeros((0, VECTOR), dtype=np.float32))
    scale: float = 1.0
    roles: RoleWeights = field(default_factory=RoleWeights)
    combines: CombineWeights = field(default_factory=CombineWeights)
    twofold: CombineWeights = field(default_factory=CombineWeights)


@dataclass(frozen=True)
class Ranked:
    """The candidates of one hypothesis and layout, with their scores.

    Attributes:
        scores: log-scores, not normalised, shape (n,).
        dense: the numbers of each candidate, shape (n, len(DENSE)).
        elements: the rows of its elements, shape (n, m); ``NOTHING`` where there is none.
        told: what the question's n-grams say for its elements, summed, shape (n,).
    """

    hypothesis: Hypothesis
    view: View
    pool: Pool
    scores: np.ndarray
    dense: np.ndarray
    elements: np.ndarray
    told: np.ndarray


class Ranker:
    """Scores plans for the questions of one schema."""

    def __init__(self, table: PathTable, encoder: Encoder, weights: Weights) -> None:
        self.table, self.encoder, self.weights = table, encoder, weights
        self.words = _schema_words(table, encoder, weights.common)
        self.parts = Parts(table, {name: row for row, name in enumerate(weights.elements)})
        self._schema_vocabulary = frozenset(self.words.vocabulary)
        # Transposed, so that an n-gram's weights are contiguous: gathering columns takes five times as long.
        self._by_gram = np.ascontiguousarray(weights.table[:, : len(weights.grams)].T)
        self.ordinary = _ordinary_words(weights, self.words.vocabulary)
        self._edge_places = {edge.name: place for place, edge in enumerate(table.schema.edges)}
        self._looks: dict[tuple[object, ...], tuple[Shape, np.ndarray]] = {}

    def hypotheses(self, question: str, mentions: Sequence[Mention]) -> list[Hypothesis]:
        """The likeliest choices of which mentions are meant, and as what; at most ``MOST_HYPOTHESES``."""
        if not mentions:
            return []
        return hypotheses(mentions, self.meant(question, mentions))[:MOST_HYPOTHESES]

    def meant(self, question: str, mentions: Sequence[Mention]) -> list[float]:
        """For each mention, the probability that it is meant to name a node."""
        found = span_features(question, mentions, self.weights.common, self.weights.plain, self._schema_vocabulary)
        chances = (1 / (1 + np.exp(-(found @ self.weights.span)))).tolist()
        return [max(p, OUTRIGHT) if one.outright else p for p, one in zip(chances, mentions, strict=True)]

    def edge_place(self, name: str) -> int:
        """The column of an edge type in the similarities of a view (``View.near``)."""
        return self._edge_places[name]

    def rank(self, question: str, mentions: Sequence[Mention]) -> list[Ranked]:
        """Every candidate of every hypothesis, with its score."""
        return [
            ranked for hypothesis in self.hypotheses(question, mentions) for ranked in self.of(question, hypothesis)
        ]

    def of(self, question: str, hypothesis: Hypothesis) -> list[Ranked]:
        """The candidates of one hypothesis."""
        view = self.view(question, hypothesis)
        said, sight = self._said(view), Sight(view, self.told(view))
        combined = self.combined(view, hypothesis)
        scored: dict[int, Ranked] = {}

        def ranked(pool: Pool) -> Ranked:
            if id(pool) not in scored:  # a pool is kept with its scores, so that no other object gets its id
                whole = None if pool.part_of is None else scored.get(id(pool.part_of[0]))
                scored[id(pool)] = (
                    self._ranked(pool, sight, said, combined, hypothesis) if whole is None else _part(whole, pool)
                )
            return scored[id(pool)]

        twofold = combined is not None and len(view.names) == 1
        pools = candidate_pools(hypothesis, self.table, lambda pool: ranked(pool).scores, twofold)
        return [ranked(pool) for pool in pools]

    def alone(self, question: str, hypothesis: Hypothesis, pool: Pool) -> Ranked:
        """The scored candidates of one pool that is not among those of the hypothesis."""
        view = self.view(question, hypothesis)
        return self._ranked(pool, Sight(view, self.told(view)), self._said(view), None, hypothesis)

    def look(self, pool: Pool) -> tuple[Shape, np.ndarray]:
        """A pool's shape and the rows of its elements; cached if the pool depends on the schema alone."""
        if pool.key is not None and pool.key in self._looks:
            return self._looks[pool.key]
        shape = Shape(pool, self.table)
        found = shape, self.parts.of(shape)
        if pool.key is not None:
            self._looks[pool.key] = found
        return found

    def view(self, question: str, hypothesis: Hypothesis) -> View:
        """The question under a hypothesis."""
        return view_of(question, hypothesis, self.words, self.weights.common)

    def told(self, view: View) -> np.ndarray:
        """The log-probability of each role for each mention, shape (mentions, roles); uniform if none was learned."""
        roles = self.weights.roles
        scores = np.zeros((len(view.names), len(ROLES)))
        for place, context in enumerate(view.contexts):
            scores[place] = roles.table[:, gram_columns(context, roles.grams)].sum(axis=1) / gram_norm(len(context))
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def combined(self, view: View, hypothesis: Hypothesis) -> np.ndarray | None:
        """The log-probability of each way to combine sets, shape (len(WAYS),).

        None where nothing was learned, and for a single name where two paths from it are unlikely.
        """
        several = len(view.names) > 1
        weights = self.weights.combines if several else self.weights.twofold
        if not view.names or not len(weights.grams):
            return None
        chances = log_chances(said_of(view, [one.type for one in hypothesis.readings]), weights)
        return chances if several or may_be_twofold(chances) else None

    def _said(self, view: View) -> np.ndarray:
        """What the question's n-grams and vector say for each element, shape (elements + 1,).

        The last one, 0, is for no element.
        """
        table, width = self.weights.table, len(self.weights.grams)
        columns = gram_columns(view.grams, self.weights.grams)
        sums = self._by_gram[columns].sum(axis=0) / gram_norm(len(view.grams))
        return np.append(sums + table[:, width:] @ (VECTOR_SCALE * view.vector), 0.0)

    def _ranked(
        self, pool: Pool, sight: Sight, said: np.ndarray, combined: np.ndarray | None, hypothesis: Hypothesis
    ) -> Ranked:
        shape, elements = self.look(pool)
        dense = dense_of(pool, shape, sight, hypothesis.log_prior)
        told = said[elements.T].sum(axis=0)
        scores = self.weights.scale * (dense @ self.weights.dense + told)
        if combined is not None:
            scores = scores + COUNTS * combined[ways_of(pool)]
            if pool.twofold:
                scores = scores + twofold_scores(pool, shape, sight)
        return Ranked(hypothesis, sight.view, pool, scores, dense, elements, told)


def _part(whole: Ranked, pool: Pool) -> Ranked:
    """The candidates of a pool that is a part of one already scored."""
    assert pool.part_of is not None
    rows = pool.part_of[1]
    arrays = (whole.scores[rows], whole.dense[rows], whole.elements[rows], whole.told[rows])
    return Ranked(whole.hypothesis, whole.view, pool, *arrays)


def _ordinary_words(weights: Weights, schema: Iterable[str]) -> frozenset[str]:
    """The words that are common in questions of all domains and of this one, and its schema's in either number."""
    common = (word for word, weight in weights.common.items() if weight < 1)
    plain = (text for text in weights.plain if " " not in text)
    inflected = (form for word in schema for form in (word, f"{word}s", f"{word}es", word.removesuffix("s")))
    return frozenset((*common, *plain, *inflected))


def gram_norm(count: int) -> float:
    """What the sum over a question's ``count`` n-grams is divided by; it grows slowly, as count ** 0.2.

    A "not" says hardly less in a long question than in a short one. With the square root of the count the log loss on
    questions that nothing had learned from was 1.57, with this it is 1.44.
    """
    return float(TYPICAL_GRAMS**0.5 * (max(1, count) / TYPICAL_GRAMS) ** LONGER)


def _schema_words(table: PathTable, encoder: Encoder, common: Mapping[str, float]) -> SchemaWords:
    return SchemaWords(table.schema, encoder, dict(common))
