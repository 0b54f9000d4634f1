"""Fits the ranking of endings to labelled questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...heads.encoder import Encoder
from ...processes import mapped
from ..check import answer_type
from ..names.linking import Mention
from ..question.alike import ValueWords
from ..question.said_numbers import said_numbers
from ..question.view import VIEWS, View
from ..ranking.endings import DENSE, ELEMENTS, VECTOR, Ending, EndingParts, EndingWeights, endings
from ..ranking.evidence import DENSE as PATH_NUMBERS
from ..ranking.loglinear import Problem, fit, sparse_rows
from ..ranking.ranking import Ranked, Ranker, Weights, gram_norm
from ..values import Values
from .fit_ranking import ranker_of
from .gold import Gold, is_meant, read_gold
from .labelled import Labelled, Source

COVERED = PATH_NUMBERS.index("covered share")
HOLD_NUMBERS = 0.1
HOLD_GRAMS = 0.03
MIN_COUNT = 2
STARTING = {
    "property named": 2.0,
    "edge named": 1.0,
    "counted named": 1.0,
    "value said": 1.0,
    "number left": -0.5,
    "filtered": -1.0,
    "value near": 1.0,
    "unsayable": 1.0,
}


@dataclass(frozen=True)
class Case:
    """A question, and the numbers and elements of its endings, with which of them are right."""

    view: View
    dense: np.ndarray
    elements: np.ndarray
    right: np.ndarray


def cases_of_all(
    sources: Sequence[Labelled],
    paths: Weights,
    encoder: Encoder,
    some: Callable[[Source], Source] = lambda source: source,
) -> list[Case]:
    """The cases of all domains, found on several cores.

    Args:
        some: gives a domain with the questions that are used. What of its texts are no names is counted in all.
    """

    def of(one: Labelled) -> list[Case]:
        source, values = one
        return cases_of(some(source), values, ranker_of(source, paths, encoder), encoder)

    return [case for found in mapped(of, sources, (Case, *VIEWS)) for case in found]


def cases_of(source: Source, values: Values, ranker: Ranker, encoder: Encoder) -> list[Case]:
    """A case for each question whose labelled ending is among the candidates."""
    looking = EndingParts(source.schema, encoder), ValueWords(values.texts.values(), encoder, values.words)
    found = []
    for question in source.questions:
        gold = read_gold(question.plan) if question.plan is not None else None
        best = _best(question.text, gold, source.index.mentions(question.text, ranker.ordinary), ranker)
        if best is not None:
            found.append(_case(question.text, gold, *best, source, values, ranker, *looking))
    return [case for case in found if case.right.any()]


def _best(text: str, gold: Gold | None, mentions: Sequence[Mention], ranker: Ranker) -> tuple[Ranked, int] | None:
    """The likeliest path, as a candidate's place, from the labelled names if the question has a plan; None without."""
    tried = ranker.hypotheses(text, mentions)
    meant = [h for h in tried if gold is None or is_meant(h, gold)][:1]
    ranked = [r for h in meant for r in ranker.of(text, h) if len(r.scores)]
    best = max(ranked, key=lambda r: float(r.scores.max()), default=None)
    return None if best is None else (best, int(np.argmax(best.scores)))


def _case(
    text: str,
    gold: Gold | None,
    best: Ranked,
    place: int,
    source: Source,
    values: Values,
    ranker: Ranker,
    parts: EndingParts,
    words: ValueWords,
) -> Case:
    view, table = best.view, ranker.table
    spans = [(m.start, m.end) for m in best.hypothesis.mentions]
    numbers, pieces = said_numbers(text, spans), parts.pieces(text, spans, view)
    kind = answer_type(gold.plan, source.schema) if gold is not None else table.types[int(best.pool.end[place])]
    edges = sorted({edge for edge, _ in gold.edges}) if gold is not None else []
    alike = words.unsaid(view, text)
    found = endings(source.schema, values, kind or "", edges, text, numbers, alike, pieces)
    rows = {name: i for i, name in enumerate(ELEMENTS)}
    dense, elements = parts.of(found, view, numbers, float(best.dense[place, COVERED]), rows, kind or "", alike, pieces)
    right = [ending.none if gold is None else not ending.none and is_gold(ending, gold) for ending in found]
    return Case(view, dense, elements, np.array(right))


def is_gold(ending: Ending, gold: Gold) -> bool:
    """Whether an ending is the labelled one."""
    where = ending.where[1] if ending.where else ()
    wanted = gold.final
    same = (ending.final.kind, ending.final.key) == (wanted.kind, wanted.key)
    ordered = wanted.kind in ("set", "count") or (ending.final.descending, ending.final.limit) == (
        wanted.descending,
        wanted.limit,
    )
    return same and ordered and set(ending.final.filters) == set(wanted.filters) and set(where) == set(gold.where)


def fit_endings(cases: Sequence[Case], start: EndingWeights | None = None, hold: float = 1.0) -> EndingWeights:
    """Fit the weights of the endings' numbers, and of elements by n-grams.

    Args:
        start: weights learned elsewhere, towards which the fit is regularised; by default those before any label.
        hold: the strength of that, as a multiple of the usual one.
    """
    counts = Counter(int(g) for case in cases for g in case.view.grams)
    start = _with_columns(start or starting_endings(), [g for g, count in counts.items() if count >= MIN_COUNT])
    if not cases or not len(start.grams):
        return start
    from scipy.sparse import csr_matrix, hstack

    columns = {int(gram): i for i, gram in enumerate(start.grams)}
    sounds = np.stack([case.view.sound for case in cases])
    known = [[columns[int(g)] for g in case.view.grams if int(g) in columns] for case in cases]
    values = np.repeat([1 / gram_norm(len(case.view.grams)) for case in cases], [len(k) for k in known])
    places = np.repeat(np.arange(len(cases)), [len(case.right) for case in cases])
    problem = Problem(
        np.concatenate([case.dense for case in cases]),
        np.concatenate([case.elements for case in cases]),
        places,
        places,
        np.concatenate([case.right for case in cases]),
        hstack([sparse_rows(known, values, len(start.grams)), csr_matrix(sounds)]).tocsr(),
    )
    fitted = fit(problem, start.dense, start.table, hold_dense=hold * HOLD_NUMBERS, hold_table=hold * HOLD_GRAMS)
    return EndingWeights(fitted.dense, start.grams, fitted.table.astype(np.float32))


def starting_endings() -> EndingWeights:
    """The weights before any label is seen."""
    return EndingWeights(np.array([STARTING.get(name, 0.0) for name in DENSE]))


def _with_columns(weights: EndingWeights, grams: Sequence[int]) -> EndingWeights:
    """The weights with columns of zeros for further n-grams."""
    wider = np.array(sorted({*weights.grams.tolist(), *grams}), dtype=np.uint32)
    table = np.zeros((len(ELEMENTS), len(wider) + VECTOR), dtype=np.float32)
    width = len(weights.grams)
    table[:, np.searchsorted(wider, weights.grams)] = weights.table[:, :width]
    table[:, len(wider) :] = weights.table[:, width:]
    return EndingWeights(weights.dense, wider, table)
