"""Baseline planners with the same ``plan()`` as a compiled one: the majority class, and TF-IDF.

A compiled program that does not beat these is not worth its cost, and the report says so.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..data.domain import rows_hash
from ..data.rows import LabelledRow
from ..errors import DataError
from ..program.plan import Decision, Degraded, PlanTrace, QueryPlan, RetrievalStrategy
from ..signatures.types import Complexity, Frozen, Intent, Turn

if TYPE_CHECKING:
    import numpy as np
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

History = Sequence[Mapping[str, Any] | Turn] | None
Said = tuple[Any, float]
"""A label and its probability."""

_KIND = "outside the domain"
_LABELS = {
    "follow_up": ("is_follow_up",),
    "relevance": ("is_relevant",),
    "complexity": ("complexity", "intent", "needs_decomposition"),
}
_BATCH = 1000


class Decided(Frozen):
    """The labels that a rival decides; it writes nothing.

    Attributes:
        sure: the probability of each label that was not decided by form, by its name.
    """

    is_follow_up: bool
    is_relevant: bool
    rejection_kind: str | None
    complexity: Complexity
    intent: Intent
    needs_decomposition: bool
    sure: dict[str, float] = {}


class ConstantPlanner:
    """Gives every query the most frequent label of the training rows, stage by stage.

    Raises:
        DataError: there are no training rows.
    """

    def __init__(self, rows: Sequence[LabelledRow]) -> None:
        self._usual = _majorities(rows)
        self.program_version = f"constant-{rows_hash(rows)}"

    def plan(self, query: str, history: History = None, session: Mapping[str, Any] | None = None) -> QueryPlan:
        """A plan from the most frequent labels; without history a query is never a follow-up, as in the guide."""
        start = time.perf_counter()
        return plan_of(query, _decided(self._usual, history), self.program_version, start)


class TfidfPlanner:
    """TF-IDF of words and of characters with logistic regression, one for each label.

    Words of one and two, characters of two to five within words (scikit-learn's ``char_wb``);
    ``C=10`` and the rest scikit-learn's defaults. Follow-up sees the query, and the query with the
    last message; the other labels see the query. Complexity, intent and decomposition learn from
    rows in the domain, the kind of rejection from those outside.

    Raises:
        DataError: there are no training rows.
    """

    def __init__(self, rows: Sequence[LabelledRow]) -> None:
        self._usual = _majorities(rows)
        self._models = {
            "is_follow_up": _fit([r for r in rows if r.history], "is_follow_up"),
            "is_relevant": _fit(rows, "is_relevant"),
            "rejection_kind": _fit([r for r in rows if not r.labels.is_relevant], "rejection_kind"),
        }
        inside = [r for r in rows if r.labels.is_relevant]
        for label in ("complexity", "intent", "needs_decomposition"):
            self._models[label] = _fit(inside, label)
        self.program_version = f"tfidf-{rows_hash(rows)}"
        self._known: dict[tuple[str, str, str], Said] = {}

    def foresee(self, rows: Sequence[LabelledRow]) -> TfidfPlanner:
        """Predict every label of these rows at once, for ``plan`` to look up: 20 times as fast, without valid times.

        Returns self.
        """
        pairs = list(dict.fromkeys((row.query, _last_turn(row.history)) for row in rows))
        for name, model in self._models.items():
            for start in range(0, len(pairs) if model is not None else 0, _BATCH):
                some = pairs[start : start + _BATCH]
                found = _predicted(model, some) if model is not None else ()
                self._known.update({(name, *pair): said for pair, said in zip(some, found, strict=True)})
        return self

    def plan(self, query: str, history: History = None, session: Mapping[str, Any] | None = None) -> QueryPlan:
        """The most probable label of each stage."""
        start = time.perf_counter()
        said = {name: self._say(name, query, history) for name in ("is_follow_up", "is_relevant")}
        names = ("complexity", "intent", "needs_decomposition") if said["is_relevant"][0] else ("rejection_kind",)
        said |= {name: self._say(name, query, history) for name in names}
        return plan_of(query, _decided({**self._usual, **said}, history), self.program_version, start)

    def _say(self, name: str, query: str, history: History) -> Said:
        model = self._models[name]
        if model is None:
            return self._usual[name]
        last = _last_turn(history)
        label, probability = self._known.get((name, query, last)) or _predicted(model, [(query, last)])[0]
        return label == "True" if name in ("is_follow_up", "is_relevant", "needs_decomposition") else label, probability


def _decided(said: Mapping[str, Said], history: History) -> Decided:
    """Decide by form that a query without history is no follow-up."""
    labels = {name: label for name, (label, _) in said.items()}
    sure = {name: probability for name, (_, probability) in said.items() if history or name != "is_follow_up"}
    return Decided.model_validate({**labels, "is_follow_up": bool(history and labels["is_follow_up"]), "sure": sure})


def plan_of(query: str, decided: Decided, version: str, start: float) -> QueryPlan:
    """A complete plan from labels alone; missing written parts are named in ``degraded``."""
    inside = decided.is_relevant
    searches = inside and decided.intent != "greeting"
    return QueryPlan(
        query=query,
        standalone_query=query,
        is_follow_up=decided.is_follow_up,
        is_relevant=inside,
        rejection_kind=None if inside else decided.rejection_kind or _KIND,
        rejection_reason=None if inside else "This is outside what the domain covers.",
        complexity=decided.complexity if inside else "simple",
        intent=decided.intent if inside else "out_of_scope",
        needs_decomposition=inside and decided.needs_decomposition,
        retrieval_strategy=RetrievalStrategy(use_rag=searches, use_kg=False, direct_answer=not searches),
        trace=_trace(decided, (time.perf_counter() - start) * 1000),
        degraded=_unwritten(decided),
        program_version=version,
    )


def _trace(decided: Decided, milliseconds: float) -> PlanTrace:
    stages = {
        "follow_up": decided.is_follow_up,
        "relevance": decided.is_relevant,
        "complexity": {
            "complexity": decided.complexity,
            "intent": decided.intent,
            "needs_decomposition": decided.needs_decomposition,
        },
    }
    if not decided.is_relevant:
        del stages["complexity"]
    made = tuple(Decision.model_validate({**_decision(s, decided.sure), "value": v}) for s, v in stages.items())
    return PlanTrace(decisions=made, milliseconds=milliseconds)


def _decision(stage: str, sure: Mapping[str, float]) -> dict[str, Any]:
    """The decision of a stage, with the confidence of its least certain label."""
    known = [sure[label] for label in _LABELS[stage] if label in sure]
    by = {"decided_by": "head", "confidence": min(known)} if known else {"decided_by": "rule", "confidence": 1.0}
    return {"stage": stage, "reason": "baseline", **by}


def _unwritten(decided: Decided) -> tuple[Degraded, ...]:
    why = "a baseline decides labels and writes nothing"
    found = []
    if decided.is_follow_up:
        found.append(Degraded(what="rewrite", why=why, instead="the query as typed"))
    if decided.is_relevant and decided.needs_decomposition:
        found.append(Degraded(what="decompose", why=why, instead="one search for the whole query"))
    return tuple(found)


def _majorities(rows: Sequence[LabelledRow]) -> dict[str, Said]:
    """The most frequent value of each label and its share, among the rows to which it applies; the first of equals."""
    if not rows:
        raise DataError("a baseline needs training rows: give a train.jsonl with at least one labelled query")
    inside = [r.labels for r in rows if r.labels.is_relevant]
    outside = [r.labels for r in rows if not r.labels.is_relevant]
    return {
        "is_follow_up": _most([r.labels.is_follow_up for r in rows if r.history], False),
        "is_relevant": _most([r.labels.is_relevant for r in rows], True),
        "rejection_kind": _most([labels.rejection_kind for labels in outside], None),
        "complexity": _most([labels.complexity for labels in inside], "simple"),
        "intent": _most([labels.intent for labels in inside], "factual"),
        "needs_decomposition": _most([labels.needs_decomposition for labels in inside], False),
    }


def _most(values: Sequence[object], otherwise: object) -> Said:
    ((value, count),) = Counter(values).most_common(1) or [(otherwise, 0)]
    return value, count / max(len(values), 1)


def _last_turn(history: History) -> str:
    if not history:
        return ""
    last = history[-1]
    return last.content if isinstance(last, Turn) else str(last["content"])


def _columns(pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    """Query, and query with the last message: shape (rows, 2), of objects."""
    import numpy as np

    return np.array([(query, f"{query}\n{last}") for query, last in pairs], dtype=object).reshape(-1, 2)


def _predicted(model: Pipeline, pairs: Sequence[tuple[str, str]]) -> list[Said]:
    """The most probable label of each pair of query and last message, with its probability."""
    probabilities = model.predict_proba(_columns(pairs))
    labels = model.classes_[probabilities.argmax(axis=1)]
    return [(str(label), float(p)) for label, p in zip(labels, probabilities.max(axis=1), strict=True)]


def _fit(rows: Sequence[LabelledRow], label: str) -> Pipeline | None:
    """A fitted scikit-learn pipeline; None if the rows have fewer than two different labels."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    wanted = [str(getattr(row.labels, label)) for row in rows]
    if len(set(wanted)) < 2:
        return None
    model = make_pipeline(_features(label == "is_follow_up"), LogisticRegression(C=10, max_iter=1000))
    return model.fit(_columns([(row.query, _last_turn(row.history)) for row in rows]), wanted)


def _features(with_context: bool) -> ColumnTransformer:
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import TfidfVectorizer

    columns = (0, 1) if with_context else (0,)
    words = [
        (f"words{c}", TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b", sublinear_tf=True), c)
        for c in columns
    ]
    characters = [
        (f"characters{c}", TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True), c)
        for c in columns
    ]
    return ColumnTransformer([*words, *characters])
