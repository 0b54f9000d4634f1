"""Fits which mentions are meant, and which role each name plays, from labelled questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from ...heads.encoder import Encoder
from ...processes import mapped
from ..names.hypotheses import plain_counts, runs_outside, span_features
from ..names.linking import Mention
from ..names.roles import ROLES, RoleWeights
from ..question.twofold import TWOFOLD
from ..question.view import Hypothesis
from ..question.words import fold
from ..ranking.combining import CombineWeights, Said, fit_combines, said_of, way_of
from ..ranking.loglinear import Problem, fit, sparse_rows
from ..ranking.paths import PathTable
from ..ranking.ranking import Ranker, Weights, gram_norm
from .gold import is_meant, parts_of, read_gold
from .labelled import Question, Source

HOLD_SPAN = 1.0
HOLD_ROLES = 0.1
MIN_COUNT = 2


def fit_span(sources: Sequence[Source], rankers: Mapping[str, Ranker], start: np.ndarray) -> np.ndarray:
    """The weights of a mention's features, shape (SPAN,): a logistic regression on whether a gold plan starts from it.

    They are ``start`` where the questions show nothing, as all of their mentions are meant, or none.
    """
    count_plain(sources)

    def of(source: Source) -> list[tuple[list[np.ndarray], list[bool]]]:
        plain = plain_of(source)
        return [_spans_of(source, question, rankers[source.name], plain) for question in source.questions]

    every = [one for found in mapped(of, sources) for one in found]
    features, meant = [row for rows, _ in every for row in rows], [target for _, targets in every for target in targets]
    if len(set(meant)) < 2:
        return start
    return fit_logistic(np.array(features), np.array(meant), start, HOLD_SPAN)


def fit_logistic(features: np.ndarray, targets: np.ndarray, start: np.ndarray, hold: float) -> np.ndarray:
    """The weights of a logistic regression, regularised towards ``start``, so that what no row shows stays the same.

    Args:
        features: shape (rows, features).
        targets: what is to be told, shape (rows,), bool.
        start: the weights to stay near, shape (features,).
        hold: how strongly they are held there.
    """
    from scipy.optimize import minimize

    signs = np.where(targets, 1.0, -1.0)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * (features @ w)
        away = w - start
        slope = -signs / (1 + np.exp(np.clip(margins, -50, 50)))
        return float(np.logaddexp(0, -margins).sum() + hold / 2 * away @ away), features.T @ slope + hold * away

    return minimize(loss, start.astype(np.float64), jac=True, method="L-BFGS-B").x


def _spans_of(
    source: Source, question: Question, ranker: Ranker, plain: Mapping[str, int]
) -> tuple[list[np.ndarray], list[bool]]:
    mentions = source.index.mentions(question.text, ranker.ordinary)
    if question.plan is None or not mentions:
        return [], []
    anchors = read_gold(question.plan).anchors
    names = {(a.name.casefold(), a.type) for a in anchors}
    # The question itself is left out of the counts, since they would tell it which of its words are no names.
    own = runs_outside(question.text, _named(mentions, names))
    others = {text: max(0, plain.get(text, 0) - (text in own)) for text in {fold(m.text) for m in mentions}}
    rows = span_features(question.text, mentions, ranker.weights.common, others, frozenset(ranker.words.vocabulary))
    meant = [any((r.name.casefold(), r.type) in names for r in m.readings) for m in mentions]
    inside = [
        m and not any(mentions[i].inside(mentions[j]) and meant[j] for j in range(len(mentions)))
        for i, m in enumerate(meant)
    ]
    return list(rows), inside


def _named(mentions: Sequence[Mention], names: set[tuple[str, str]]) -> set[str]:
    return {fold(m.text) for m in mentions if any((r.name.casefold(), r.type) in names for r in m.readings)}


_PLAIN: WeakKeyDictionary[Source, Mapping[str, int]] = WeakKeyDictionary()
"""The counts of each source, cached: every step of learning needs them, and counting links all questions."""


def plain_of(source: Source) -> Mapping[str, int]:
    """How often a text stands in a domain's questions without being a name: spellings of names, and frequent words."""
    if source not in _PLAIN:
        _PLAIN[source] = _plain_of(source)
    return _PLAIN[source]


def count_plain(sources: Sequence[Source]) -> None:
    """Count what ``plain_of`` gives of all sources, on several cores."""
    new = [source for source in sources if source not in _PLAIN]
    _PLAIN.update(zip(new, mapped(_plain_of, new), strict=True))


def _plain_of(source: Source) -> dict[str, int]:
    questions = [q for q in source.questions if q.plan is not None] if source.counted else []
    texts, names = [q.text for q in questions], []
    for question in questions:
        anchors = {(a.name.casefold(), a.type) for a in read_gold(question.plan).anchors} if question.plan else set()
        names.append(_named(source.index.mentions(question.text, frozenset()), anchors) if anchors else set())
    counts = plain_counts(texts, names)
    return {text: n for text, n in counts.items() if source.index.knows(text) or (n >= MIN_COUNT and " " not in text)}


def fit_roles(sources: Sequence[Source], weights: Weights, encoder: Encoder) -> RoleWeights:
    """The weights by which the words around a name tell its role, from questions with several names."""

    def of(source: Source) -> list[tuple[np.ndarray, int]]:
        ranker = Ranker(PathTable(source.schema), encoder, weights)
        return [one for question in source.questions for one in _roles_of(question, source, ranker)]

    every = [one for found in mapped(of, sources) for one in found]
    contexts, parts = [context for context, _ in every], [part for _, part in every]
    counts = Counter(int(g) for context in contexts for g in context)
    grams = sorted(g for g, count in counts.items() if count >= MIN_COUNT)
    if not grams:
        return RoleWeights()
    columns = {gram: i for i, gram in enumerate(grams)}
    known = [[columns[int(g)] for g in context if int(g) in columns] for context in contexts]
    values = np.repeat([1 / gram_norm(len(context)) for context in contexts], [len(k) for k in known])
    each = np.repeat(np.arange(len(contexts)), len(ROLES))
    places = np.tile(np.arange(len(ROLES)), len(contexts))
    problem = Problem(
        np.zeros((len(each), 1)),
        places[:, None],
        each,
        each,
        places == np.repeat(parts, len(ROLES)),
        sparse_rows(known, values, len(grams)),
    )
    table = np.zeros((len(ROLES), len(grams)))
    fitted = fit(problem, np.zeros(1), table, hold_dense=1.0, hold_table=HOLD_ROLES)
    return RoleWeights(np.array(grams, dtype=np.uint32), fitted.table.astype(np.float32))


def combines_of(sources: Sequence[Source], weights: Weights, encoder: Encoder) -> tuple[CombineWeights, CombineWeights]:
    """The weights that tell how sets are combined, from questions with several names, and from those with one."""

    def of(source: Source) -> list[tuple[Said, str, bool]]:
        ranker, found = Ranker(PathTable(source.schema), encoder, weights), []
        for question in source.questions:
            meant = _meant(question, source, ranker)
            if meant is None or question.plan is None:
                continue
            said = said_of(ranker.view(question.text, meant), [one.type for one in meant.readings])
            found.append((said, way_of(question.plan), len(meant.mentions) > 1))
        return found

    every = [one for found in mapped(of, sources, (Said,)) for one in found]
    several = [(said, way) for said, way, more in every if more]
    single = [(said, way if way in TWOFOLD else "alone") for said, way, more in every if not more]
    return fit_combines(several), fit_combines(single)


def _meant(question: Question, source: Source, ranker: Ranker) -> Hypothesis | None:
    """The hypothesis with the labelled names; None if it is not among the likeliest, or there is no plan."""
    if question.plan is None:
        return None
    gold, mentions = read_gold(question.plan), source.index.mentions(question.text, ranker.ordinary)
    return next((h for h in ranker.hypotheses(question.text, mentions) if is_meant(h, gold)), None)


def _roles_of(question: Question, source: Source, ranker: Ranker) -> list[tuple[np.ndarray, int]]:
    """The context and the role (its place in ``ROLES``) of each name of a question with several."""
    meant = _meant(question, source, ranker)
    if question.plan is None or meant is None or len(meant.mentions) < 2:
        return []
    parts = parts_of(read_gold(question.plan).plan)
    names = [(r.name.casefold(), r.type) for r in meant.readings]
    view = ranker.view(question.text, meant)
    return [(c, ROLES.index(parts[n])) for c, n in zip(view.contexts, names, strict=True) if n in parts]
