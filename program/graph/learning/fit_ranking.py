"""Fits the ranking of paths to labelled questions: first what every schema shares, then a domain's own edges.

The shared part is fitted without the domains' own elements, so that it has to explain the plans by what carries over to
other schemas. A domain's elements are then fitted on top of it. A question's candidates are pruned by the weights so
far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....signatures.graph_steps import GraphSchema
from ...heads.encoder import Encoder
from ...processes import mapped
from ..names.hypotheses import SPAN
from ..names.linking import Mention
from ..question.view import VIEWS, View
from ..ranking.evidence import DENSE, MEASURES
from ..ranking.loglinear import ITERATIONS, Problem, fit, sparse_rows
from ..ranking.paths import NOTHING, PathTable
from ..ranking.ranking import VECTOR, VECTOR_SCALE, Ranked, Ranker, Weights, gram_norm
from ..ranking.shape import ROLES, SHARED, element_name
from ..sketch import canonical
from .fit_names import MIN_COUNT, combines_of, fit_roles, fit_span, plain_of
from .gold import Gold, is_meant, read_gold
from .labelled import Question, Source

MOST_TRAINED = 3
MOST_CANDIDATES = 60
HOLD_DENSE = 0.3
HOLD_SHARED = 0.5
HOLD_DOMAIN = 0.1
DOMAIN_ITERATIONS = 40
"""Iterations of the fit to a domain's own rows; with 60 as many plans were right on other rows."""
HOLD_PLACED = 3.0
"""How much more strongly the elements of an edge in one role are regularised than those of the edge in any role.

So an edge is first of all taken to mean the same wherever it stands in a plan, which chains that nobody labelled need.
"""


def starting_weights(common: Mapping[str, float]) -> Weights:
    """The weights before any label is seen: plans should cover the question's words and be short."""
    dense = dict.fromkeys(DENSE, 0.0)
    dense |= {"covered": 2.0, "covered share": 4.0, "hops told": 2.0, "end told": 1.0, "meaning": 2.0, "prior": 1.0}
    dense |= {
        "missed": -0.5,
        "bounce without back": -1.0,
        "taken later": 1.0,
        "edges in order": 0.3,
        "types in order": 0.3,
    }
    dense |= {f"hops {n}": -1.2 * n for n in range(1, 6)}
    span = dict.fromkeys(SPAN, 0.0)
    span |= {"bias": -3.0, "as written": 1.5, "weight": 3.0, "least weight": 2.0, "words": 1.0, "inside": -4.0}
    span |= {"schema word": -2.0, "plain before": -2.0, "case clash": -2.0, "fuzzy": -1.0, "fuzzy distance": -8.0}
    span |= {"capital": 1.0, "alias": 0.5, "id": 3.0, "one short word": -1.0}
    span |= {"value": -2.0, "value alone": 2.0}
    return Weights(common, {}, np.array(list(span.values())), np.array(list(dense.values())))


@dataclass(frozen=True)
class Example:
    """A question with its likeliest candidates, and which of them are right.

    Attributes:
        views: the question under each hypothesis.
        which: the place of each candidate's view, shape (n,).
        dense, elements, right: the candidates' numbers and elements, and which of them are right.
    """

    views: list[View]
    which: np.ndarray
    dense: np.ndarray
    elements: np.ndarray
    right: np.ndarray


def examples_of(source: Source, ranker: Ranker) -> list[Example]:
    """An example for each question that has a right candidate."""
    asked = [question for question in source.questions if question.plan is not None]
    found = [example_of(question, source.index.mentions(question.text, ranker.ordinary), ranker) for question in asked]
    return [example for example in found if example is not None]


def example_of(question: Question, mentions: Sequence[Mention], ranker: Ranker) -> Example | None:
    """A question's candidates; None where none is right."""
    assert question.plan is not None
    gold = read_gold(question.plan)
    tried = ranker.hypotheses(question.text, mentions)
    meant = [h for h in tried if is_meant(h, gold)]
    some = [*meant[:2], *[h for h in tried if not is_meant(h, gold)]][:MOST_TRAINED]
    ranked = [r for h in some for r in ranker.of(question.text, h)] if meant else []
    right = [right_ones(r, gold, ranker.table) for r in ranked]
    return _example(ranked, right) if any(r.any() for r in right) else None


def _example(ranked: Sequence[Ranked], right: Sequence[np.ndarray]) -> Example:
    is_right = np.concatenate(right)
    scores = np.where(is_right, np.inf, np.concatenate([r.scores for r in ranked]))
    kept = np.zeros(len(scores), dtype=bool)
    kept[np.argsort(-scores, kind="stable")[:MOST_CANDIDATES]] = True
    ends = np.cumsum([len(r.scores) for r in ranked])
    views: list[View] = []
    which, dense, elements = [], [], []
    for one, mask in zip(ranked, np.split(kept, ends[:-1]), strict=True):
        if not any(one.view is view for view in views):
            views.append(one.view)
        dense.append(one.dense[mask])
        elements.append(one.elements[mask])
        which.append(np.full(int(mask.sum()), next(i for i, view in enumerate(views) if view is one.view)))
    return Example(views, np.concatenate(which), np.concatenate(dense), stacked(elements), is_right[kept])


def stacked(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays of shape (candidates, elements) stacked into one; the narrower ones are filled up with ``NOTHING``."""
    width = max((r.shape[1] for r in rows), default=1)
    return np.concatenate([np.pad(r, ((0, 0), (0, width - r.shape[1])), constant_values=NOTHING) for r in rows])


def right_ones(ranked: Ranked, gold: Gold, table: PathTable) -> np.ndarray:
    """Which candidates are the labelled plan, apart from its final step and conditions; shape (n,), bool."""
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


def problem_of(examples: Sequence[Example], rows: int, columns: Mapping[int, int]) -> Problem:
    """The examples as arrays.

    Args:
        rows: the number of elements.
        columns: the column of each n-gram, by its hash.
    """
    from scipy.sparse import csr_matrix, hstack

    views = [view for example in examples for view in example.views]
    known = [[columns[int(g)] for g in view.grams if int(g) in columns] for view in views]
    values = np.repeat([1 / gram_norm(len(view.grams)) for view in views], [len(k) for k in known])
    before = np.cumsum([0, *(len(example.views) for example in examples)])
    elements = stacked([example.elements for example in examples])
    vectors = VECTOR_SCALE * np.stack([view.vector for view in views])
    return Problem(
        np.concatenate([example.dense for example in examples]),
        np.where(elements == NOTHING, rows, elements),
        np.concatenate([example.which + before[i] for i, example in enumerate(examples)]),
        np.repeat(np.arange(len(examples)), [len(example.right) for example in examples]),
        np.concatenate([example.right for example in examples]),
        hstack([sparse_rows(known, values, len(columns)), csr_matrix(vectors)]).tocsr(),
    )


def gram_counts(examples: Iterable[Example]) -> Counter[int]:
    """The number of questions in which each n-gram occurs, with the labelled names masked."""
    counts: Counter[int] = Counter()
    for example in examples:
        meant = example.views[int(example.which[np.argmax(example.right)])]
        counts.update(set(meant.grams.tolist()))
    return counts


def element_names(schema: GraphSchema) -> list[str]:
    """The names of a schema's own elements."""
    hops = [
        element_name(edge, way, role)
        for edge in schema.edges
        for way in (("any", "in", "out") if edge.source == edge.target else ("in", "out"))
        for role in ROLES
    ]
    return [*hops, *(f"end:{node.name}" for node in schema.nodes)]


def fit_shared(sources: Sequence[Source], encoder: Encoder, common: Mapping[str, float]) -> Weights:
    """The weights that carry over from labelled domains to any schema."""
    start = starting_weights(common)
    rankers = {s.name: Ranker(PathTable(s.schema), encoder, start) for s in sources}
    weights = _with_rows(replace(start, span=fit_span(sources, rankers, start.span)), SHARED, ())
    weights = replace(weights, roles=fit_roles(sources, weights, encoder))
    examples = _examples(sources, weights, encoder)
    combines, twofold = combines_of(sources, weights, encoder)
    fitted = _fit_rows(weights, examples, SHARED, HOLD_SHARED) if examples else weights
    return replace(fitted, combines=combines, twofold=twofold)


def fit_domain(
    shared: Weights, schema: GraphSchema, sources: Sequence[Source], encoder: Encoder, hold: float = HOLD_DOMAIN
) -> Weights:
    """The weights for one schema: the shared ones, fitted further with its own edges and types.

    Args:
        sources: domains that have some of its edges; the schema's own comes first, if it has labels.
    """
    own = element_names(schema)
    plain = plain_of(sources[0]) if sources else {}
    rankers = {s.name: Ranker(PathTable(s.schema), encoder, shared) for s in sources}
    weights = _with_rows(replace(shared, span=fit_span(sources, rankers, shared.span)), own, ())
    examples = _examples(sources, weights, encoder)
    fitted = _fit_rows(weights, examples, (*SHARED, *own), hold, DOMAIN_ITERATIONS) if examples else weights
    return replace(fitted, plain=plain)


def related(schema: GraphSchema, sources: Iterable[Source]) -> list[Source]:
    """The domains that share an edge type with the schema, its own domain first."""
    own = {(e.name, e.source, e.target) for e in schema.edges}
    found = [s for s in sources if own & {(e.name, e.source, e.target) for e in s.schema.edges}]
    return sorted(found, key=lambda s: s.schema != schema)


def ranker_of(source: Source, paths: Weights, encoder: Encoder) -> Ranker:
    """A ranker for a domain's questions that knows which of its texts are often no names."""
    return Ranker(PathTable(source.schema), encoder, replace(paths, plain=plain_of(source)))


def _examples(sources: Sequence[Source], weights: Weights, encoder: Encoder) -> list[Example]:
    def of(source: Source) -> list[Example]:
        return examples_of(source, ranker_of(source, weights, encoder))

    return [example for found in mapped(of, sources, (Example, *VIEWS)) for example in found]


def _with_rows(weights: Weights, names: Iterable[str], grams: Iterable[int]) -> Weights:
    """The weights with rows and columns of zeros for further elements and n-grams."""
    elements = list(dict.fromkeys([*weights.elements, *names]))
    columns = np.array(sorted({*weights.grams.tolist(), *grams}), dtype=np.uint32)
    table = np.zeros((len(elements), len(columns) + VECTOR))
    old = [*np.searchsorted(columns, weights.grams), *range(len(columns), len(columns) + VECTOR)]
    table[np.ix_(np.arange(len(weights.elements)), old)] = weights.table
    return replace(weights, elements=tuple(elements), grams=columns, table=table)


def _fit_rows(
    weights: Weights, examples: Sequence[Example], names: Sequence[str], hold: float, iterations: int = ITERATIONS
) -> Weights:
    """Fit the named elements and the numbers; other elements stay as they are."""
    found = (g for g, count in gram_counts(examples).items() if count >= MIN_COUNT)
    weights = _with_rows(weights, (), found)
    columns = {int(gram): i for i, gram in enumerate(weights.grams)}
    wanted = set(names)
    free = np.array([name in wanted for name in weights.elements])
    problem = problem_of(examples, len(weights.elements), columns)
    placed = np.array([not name.endswith("@any") and "@" in name for name in weights.elements])
    fitted = fit(
        problem,
        weights.dense,
        weights.table,
        hold_dense=HOLD_DENSE,
        hold_table=hold * np.where(placed, HOLD_PLACED, 1.0),
        rows=free,
        bounds=list(MEASURES.values()),
        iterations=iterations,
    )
    return replace(weights, dense=fitted.dense, table=fitted.table.astype(np.float32))
