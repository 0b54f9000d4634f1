"""Learning how plans end, and when the first plan is right, from labelled questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..encoder import Encoder
from .check import answer_type
from .endings import DENSE, ELEMENTS, Ending, EndingParts, Values, endings, numbers_in
from .fit_ranking import Source, is_meant
from .gold import Gold, read_gold
from .loglinear import Problem, fit
from .ranking import Ranker, gram_norm
from .store import EndingWeights
from .view import View

HOLD_NUMBERS = 0.1
HOLD_GRAMS = 0.1
MIN_COUNT = 2
STARTING = {"property named": 2.0, "edge named": 1.0, "value said": 1.0, "number left": -0.5, "filtered": -1.0}


@dataclass(frozen=True)
class Case:
    """A question as endings are ranked for it."""

    view: View
    dense: np.ndarray
    elements: np.ndarray
    right: np.ndarray


def cases_of(source: Source, values: Values, ranker: Ranker, encoder: Encoder, common: frozenset[str]) -> list[Case]:
    """The questions whose labelled ending is among the candidates."""
    parts = EndingParts(source.schema, encoder)
    found = [
        case
        for question in source.questions
        if question.plan is not None
        and (case := _case(question.text, read_gold(question.plan), source, values, ranker, parts, common)) is not None
    ]
    return [case for case in found if case.right.any()]


def _case(
    text: str, gold: Gold, source: Source, values: Values, ranker: Ranker, parts: EndingParts, common: frozenset[str]
) -> Case | None:
    mentions = source.index.mentions(text, common)
    meant = next((h for h in ranker.hypotheses(text, mentions) if is_meant(h, gold)), None)
    kind = answer_type(gold.plan, source.schema)
    if meant is None or kind is None:
        return None
    view = ranker.view(text, meant)
    numbers = numbers_in(text, view, [(m.start, m.end) for m in meant.mentions])
    found = endings(source.schema, values, kind, sorted({edge for edge, _ in gold.edges}), text, numbers)
    dense, elements = parts.of(found, view, numbers, {name: i for i, name in enumerate(ELEMENTS)})
    return Case(view, dense, elements, np.array([is_gold(ending, gold) for ending in found]))


def is_gold(ending: Ending, gold: Gold) -> bool:
    """Whether an ending is the labelled one."""
    where = (ending.where[1],) if ending.where else ()
    wanted = gold.final
    same = (ending.final.kind, ending.final.key) == (wanted.kind, wanted.key)
    ordered = wanted.kind in ("set", "count") or (ending.final.descending, ending.final.limit) == (
        wanted.descending,
        wanted.limit,
    )
    return same and ordered and ending.final.filters == wanted.filters and where == tuple(dict.fromkeys(gold.where))


def fit_endings(cases: Sequence[Case]) -> EndingWeights:
    """Weights of numbers and of elements times n-grams."""
    from scipy.sparse import csr_matrix

    start = np.array([STARTING.get(name, 0.0) for name in DENSE])
    counts = Counter(int(g) for case in cases for g in case.view.grams)
    grams = sorted(g for g, count in counts.items() if count >= MIN_COUNT)
    if not cases or not grams:
        return EndingWeights(start)
    columns = {gram: i for i, gram in enumerate(grams)}
    known = [[columns[int(g)] for g in case.view.grams if int(g) in columns] for case in cases]
    values = np.concatenate(
        [np.full(len(k), 1 / gram_norm(len(c.view.grams))) for k, c in zip(known, cases, strict=True)]
    )
    pointers = np.concatenate([[0], np.cumsum([len(k) for k in known])])
    places = np.repeat(np.arange(len(cases)), [len(case.right) for case in cases])
    problem = Problem(
        np.concatenate([case.dense for case in cases]),
        np.concatenate([case.elements for case in cases]),
        places,
        places,
        np.concatenate([case.right for case in cases]),
        csr_matrix((values, np.concatenate(known), pointers), shape=(len(cases), len(grams))),
    )
    table = np.zeros((len(ELEMENTS), len(grams)))
    fitted = fit(problem, start, table, hold_dense=HOLD_NUMBERS, hold_table=HOLD_GRAMS)
    return EndingWeights(fitted.dense, np.array(grams, dtype=np.uint32), fitted.table.astype(np.float32))
