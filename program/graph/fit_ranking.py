"""Learning to rank plans from labelled questions: first what every schema shares, then a domain's own edges.

The shared part is fitted with the domains' own elements left out, so that it has to explain the plans by
what carries over; a domain's elements are then fitted on top of it. Candidates are pruned by what
has been learned so far, so both are fitted twice.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...signatures.graph_steps import GraphPlan, GraphSchema
from ..encoder import Encoder
from .evidence import DENSE, ROLES, SHARED, Parts, Shape, dense_of, element_name
from .gold import Gold, read_gold
from .hypotheses import SPAN, plain_counts, runs_outside, span_features
from .linking import Mention, NameIndex
from .loglinear import Problem, fit
from .paths import NOTHING, PathTable
from .ranking import Ranked, Ranker, Weights, gram_norm
from .sketch import canonical
from .view import Hypothesis
from .words import fold, words_of

EPSILON = 0.002
"""A share of questions below which a word counts as not occurring: one question in five hundred."""
MOST_TRAINED = 5
MOST_CANDIDATES = 250
HOLD_DENSE = 0.02
HOLD_SHARED = 0.5
HOLD_DOMAIN = 0.1
MIN_COUNT = 2


@dataclass(frozen=True)
class Question:
    """A labelled question.

    Attributes:
        plan: None where the schema cannot say what is asked.
    """

    text: str
    plan: GraphPlan | None
    group: str = ""


@dataclass(frozen=True)
class Source:
    """A labelled domain: its schema, its names, and questions."""

    name: str
    schema: GraphSchema
    index: NameIndex
    questions: tuple[Question, ...]


def starting_weights(common: Mapping[str, float]) -> Weights:
    """What is believed before any label is seen: plans should cover the question's words and be short."""
    dense = dict.fromkeys(DENSE, 0.0)
    dense |= {"covered": 6.0, "edge names": 2.0, "edge texts": 1.0, "end name": 2.0, "prior": 1.0, "bounce without back": -1}
    dense |= {f"hops {n}": -0.5 * n for n in range(1, 6)}
    span = dict.fromkeys(SPAN, 0.0)
    span |= {"bias": -0.5, "as written": 1.0, "weight": 2.0, "inside": -2.0, "schema word": -1.0, "plain before": -1.0}
    return Weights(common, {}, np.array(list(span.values())), np.array(list(dense.values())))


def common_words(questions: Iterable[Sequence[str]]) -> dict[str, float]:
    """How much each word says, 0 to 1: little if it is frequent in the questions of every domain.

    Args:
        questions: for each domain, its questions with their names taken out.
    """
    shares = [_shares(texts) for texts in questions]
    words = {word for share in shares for word in share}
    floor = math.log(EPSILON)
    logs = {w: sum(math.log(share.get(w, 0.0) + EPSILON) for share in shares) / len(shares) for w in words}
    return {word: round(min(1.0, value / floor), 4) for word, value in sorted(logs.items())}


def _shares(texts: Sequence[str]) -> dict[str, float]:
    counts = Counter(word for text in texts for word in {w.text for w in words_of(text)})
    return {word: count / max(1, len(texts)) for word, count in counts.items()}


# -- examples ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """A question with its candidates, and which of them are right."""

    ranked: list[Ranked]
    right: list[np.ndarray]


def examples_of(source: Source, ranker: Ranker, common: frozenset[str]) -> list[Example]:
    """The questions that have a right candidate."""
    found = []
    for question in source.questions:
        if question.plan is None:
            continue
        example = _example(question.text, read_gold(question.plan), source.index.mentions(question.text, common), ranker)
        if any(right.any() for right in example.right):
            found.append(example)
    return found


def _example(text: str, gold: Gold, mentions: Sequence[Mention], ranker: Ranker) -> Example:
    tried = ranker.hypotheses(text, mentions)
    meant = [h for h in tried if is_meant(h, gold)]
    some = [*meant[:2], *[h for h in tried if not is_meant(h, gold)]][:MOST_TRAINED]
    ranked = [r for h in some for r in ranker.of(text, h)]
    return Example(ranked, [right_ones(r, gold, ranker.table) for r in ranked])


def is_meant(hypothesis: Hypothesis, gold: Gold) -> bool:
    """Whether the names are those that the labelled plan starts from."""
    named = {(r.name.casefold(), r.type) for r in hypothesis.readings}
    return named == {(a.name.casefold(), a.type) for a in gold.anchors}


def right_ones(ranked: Ranked, gold: Gold, table: PathTable) -> np.ndarray:
    """Which candidates are the labelled plan, its final step and conditions aside; shape (n,)."""
    right = np.zeros(len(ranked.pool), dtype=bool)
    if not is_meant(ranked.hypothesis, gold):
        return right
    wanted = {(h.edge.name, h.direction): i for i, h in enumerate(table.hops)}
    if any(edge not in wanted for edge in gold.edges):
        return right
    places = np.array(sorted(wanted[edge] for edge in gold.edges))
    for i in np.flatnonzero(_same_edges(ranked.pool.hops, places)):
        right[i] = canonical(ranked.pool.sketch(int(i), table).to_plan()) == gold.core
    return right


def _same_edges(hops: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    inside = np.isin(hops, wanted) | (hops == NOTHING)
    every = [(hops == place).any(axis=1) for place in wanted]
    return inside.all(axis=1) & (np.all(every, axis=0) if every else True)


# -- mentions ------------------------------------------------------------------------------------


def fit_span(sources: Sequence[Source], rankers: Mapping[str, Ranker], start: np.ndarray, common: frozenset[str]) -> np.ndarray:
    """Weights of a mention's features: logistic regression of "a labelled plan starts there"."""
    from sklearn.linear_model import LogisticRegression

    features, meant, weight = [], [], []
    for source in sources:
        plain = plain_of(source)
        for question in source.questions:
            rows, targets = _spans_of(source, question, rankers[source.name], plain, common)
            features += rows
            meant += targets
            weight += [1.0] * len(targets)
    if len(set(meant)) < 2:
        return start
    model = LogisticRegression(C=3.0, fit_intercept=False, max_iter=1000)
    model.fit(np.array(features), np.array(meant), sample_weight=np.array(weight))
    return model.coef_[0].astype(np.float64)


def _spans_of(
    source: Source, question: Question, ranker: Ranker, plain: Mapping[str, int], common: frozenset[str]
) -> tuple[list[np.ndarray], list[bool]]:
    mentions = source.index.mentions(question.text, common)
    if question.plan is None or not mentions:
        return [], []
    anchors = read_gold(question.plan).anchors
    names = {(a.name.casefold(), a.type) for a in anchors}
    # A row must not be told by its own words what it is to learn.
    own = runs_outside(question.text, _named(mentions, names))
    others = {text: max(0, plain.get(text, 0) - (text in own)) for text in {fold(m.text) for m in mentions}}
    rows = span_features(question.text, mentions, ranker.weights.common, others, frozenset(ranker.words.vocabulary))
    meant = [any((r.name.casefold(), r.type) in names for r in m.readings) for m in mentions]
    inside = [m and not any(mentions[i].inside(mentions[j]) and meant[j] for j in range(len(mentions))) for i, m in enumerate(meant)]
    return list(rows), inside


def _named(mentions: Sequence[Mention], names: set[tuple[str, str]]) -> set[str]:
    return {fold(m.text) for m in mentions if any((r.name.casefold(), r.type) in names for r in m.readings)}


def plain_of(source: Source) -> dict[str, int]:
    """How often texts stand in a domain's questions without being a name; only those that could be one."""
    questions = [q for q in source.questions if q.plan is not None]
    texts, names = [q.text for q in questions], []
    for question in questions:
        anchors = {(a.name.casefold(), a.type) for a in read_gold(question.plan).anchors} if question.plan else set()
        names.append(_named(source.index.mentions(question.text, frozenset()), anchors) if anchors else set())
    counts = plain_counts(texts, names)
    return {text: count for text, count in counts.items() if source.index.knows(text)}


# -- the whole -------------------------------------------------------------------------------------


def problem_of(examples: Sequence[Example], ranker: Ranker, rows: Mapping[str, int], columns: Mapping[int, int]) -> Problem:
    """Examples as arrays."""
    from scipy.sparse import csr_matrix

    parts = Parts(ranker.table, dict(rows))
    dense, elements, segment, question, right = [], [], [], [], []
    indices: list[np.ndarray] = []
    values: list[np.ndarray] = []
    for number, example in enumerate(examples):
        for ranked, is_right in zip(example.ranked, example.right, strict=True):
            kept = _kept(ranked.scores, is_right)
            shape = Shape(ranked.pool, ranker.table)
            dense.append(dense_of(ranked.pool, shape, ranked.view, ranked.hypothesis.log_prior)[kept])
            elements.append(parts.of(ranked.pool, shape)[kept])
            segment.append(np.full(len(kept), len(indices)))
            question.append(np.full(len(kept), number))
            right.append(is_right[kept])
            known = [columns[int(g)] for g in ranked.view.grams if int(g) in columns]
            indices.append(np.array(known, dtype=np.int64))
            values.append(np.full(len(known), 1 / gram_norm(len(ranked.view.grams))))
    pointers = np.concatenate([[0], np.cumsum([len(i) for i in indices])])
    grams = csr_matrix((_joined(values), _joined(indices), pointers), shape=(len(indices), len(columns)))
    width = max((e.shape[1] for e in elements), default=1)
    padded = [np.pad(e, ((0, 0), (0, width - e.shape[1])), constant_values=NOTHING) for e in elements]
    rows_of = np.concatenate(padded)
    return Problem(
        np.concatenate(dense),
        np.where(rows_of == NOTHING, len(rows), rows_of),
        np.concatenate(segment),
        np.concatenate(question),
        np.concatenate(right),
        grams,
    )


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(0)


def _kept(scores: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Right candidates, and the likeliest of the others."""
    order = np.argsort(-np.where(right, np.inf, scores), kind="stable")
    return np.sort(order[:MOST_CANDIDATES])


def merged(problems: Sequence[Problem], rows: int, columns: int) -> Problem:
    """Problems of several schemas as one; they share rows and columns."""
    from scipy.sparse import vstack

    width = max(p.elements.shape[1] for p in problems)
    questions = np.cumsum([0, *[int(p.question.max()) + 1 for p in problems]])
    segments = np.cumsum([0, *[p.grams.shape[0] for p in problems]])
    return Problem(
        np.concatenate([p.dense for p in problems]),
        np.concatenate(
            [np.pad(p.elements, ((0, 0), (0, width - p.elements.shape[1])), constant_values=rows) for p in problems]
        ),
        np.concatenate([p.segment + s for p, s in zip(problems, segments, strict=False)]),
        np.concatenate([p.question + q for p, q in zip(problems, questions, strict=False)]),
        np.concatenate([p.right for p in problems]),
        vstack([p.grams for p in problems]).tocsr(),
    )


def gram_counts(examples: Iterable[Example]) -> Counter[int]:
    """In how many questions each n-gram occurs, the names as labelled."""
    counts: Counter[int] = Counter()
    for example in examples:
        views = [r.view for r, right in zip(example.ranked, example.right, strict=True) if right.any()]
        counts.update(int(g) for g in set(views[0].grams.tolist()))
    return counts


def element_names(schema: GraphSchema) -> list[str]:
    """The elements of one schema."""
    ways = {"out", "in"}
    hops = [
        element_name(edge.name, way, role)
        for edge in schema.edges
        for way in (sorted(ways | {"any"}) if edge.source == edge.target else sorted(ways))
        for role in ROLES
    ]
    return [*hops, *(f"end:{node.name}" for node in schema.nodes)]


def fit_shared(sources: Sequence[Source], encoder: Encoder, common: Mapping[str, float], rounds: int = 2) -> Weights:
    """What carries over from labelled domains to any schema."""
    weights = starting_weights(common)
    plain_words = frozenset(word for word, weight in common.items() if weight < 1)
    for _ in range(rounds):
        rankers = {s.name: Ranker(PathTable(s.schema), encoder, weights) for s in sources}
        weights = replace(weights, span=fit_span(sources, rankers, weights.span, plain_words))
        rankers = {
            s.name: Ranker(PathTable(s.schema), encoder, replace(weights, plain=plain_of(s))) for s in sources
        }
        examples = {s.name: examples_of(s, rankers[s.name], plain_words) for s in sources}
        weights = _fit_rows(weights, examples, rankers, list(SHARED), HOLD_SHARED, starting_weights(common).dense)
    return weights


def fit_domain(shared: Weights, source: Source, encoder: Encoder, hold: float = HOLD_DOMAIN, rounds: int = 2) -> Weights:
    """What a domain's own labels add: its edges, its types, and which of its words are no names."""
    plain_words = frozenset(word for word, weight in shared.common.items() if weight < 1)
    weights = replace(shared, plain=plain_of(source))
    table = PathTable(source.schema)
    for _ in range(rounds):
        ranker = Ranker(table, encoder, weights)
        examples = {source.name: examples_of(source, ranker, plain_words)}
        if not examples[source.name]:
            return weights
        own = [*SHARED, *element_names(source.schema)]
        weights = _fit_rows(weights, examples, {source.name: ranker}, own, hold, shared.dense)
    return weights


def _fit_rows(
    weights: Weights,
    examples: Mapping[str, Sequence[Example]],
    rankers: Mapping[str, Ranker],
    names: Sequence[str],
    hold: float,
    dense: np.ndarray,
) -> Weights:
    """Fit the named elements and the numbers; other elements stay as they are."""
    counted = gram_counts(e for found in examples.values() for e in found)
    grams = sorted({int(g) for g in weights.grams} | {g for g, count in counted.items() if count >= MIN_COUNT})
    elements = list(dict.fromkeys([*weights.elements, *names]))
    rows = {name: i for i, name in enumerate(elements)}
    columns = {gram: i for i, gram in enumerate(grams)}
    table = np.zeros((len(elements), len(grams)))
    table[np.ix_([rows[n] for n in weights.elements], [columns[int(g)] for g in weights.grams])] = weights.table
    free = np.array([name in set(names) for name in elements])
    problems = [problem_of(found, rankers[name], rows, columns) for name, found in examples.items() if found]
    fitted = fit(
        merged(problems, len(elements), len(grams)), dense, table, hold_dense=HOLD_DENSE, hold_table=hold, rows=free
    )
    return replace(
        weights,
        dense=fitted.dense,
        elements=tuple(elements),
        grams=np.array(grams, dtype=np.uint32),
        table=fitted.table.astype(np.float32),
    )
