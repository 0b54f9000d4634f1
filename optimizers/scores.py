"""Scores one answer of a stage in [0, 1]: what an optimizer maximises.

A stage that decides is scored by a proper score and not by accuracy at 0.5, because thresholds are fitted afterwards:
what matters is how well the probabilities tell right from wrong.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import dspy
import numpy as np

from ..eval.text import token_f1
from ..eval.written_metrics import depends_alike, paired_sub_queries, sub_query_similarity
from ..program.retrieval.placeholders import REFERENCE
from ..program.stages import StageSpec
from ..signatures.types import SubQuery
from .base import Metric

# A decomposition with every text right and every dependency wrong scores three quarters.
DEPENDENCY_SHARE = 0.25


def stage_metric(spec: StageSpec) -> Metric:
    """The metric of a stage, by whether it decides or writes.

    Raises:
        ValueError: the stage writes and has no metric.
    """
    if spec.kind == "decide":
        return decision_metric(tuple(spec.signature.output_fields))
    writing: dict[str, Metric] = {"rewrite": rewrite_score, "decompose": decompose_score, "graph": steps_score}
    if spec.name not in writing:
        raise ValueError(f"stage {spec.name!r} has no metric")
    return writing[spec.name]


def decision_metric(outputs: Sequence[str]) -> Metric:
    """One minus the Brier score, averaged over those of ``outputs`` that the example has a label for.

    With a ``trace``, that is, if the answer may become a demonstration, it is the worst output's score instead: at 0.75
    every right label then has the highest probability, which a mean over three outputs would not ensure.
    """

    def metric(example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
        scores = [1.0 - brier(prediction.get(name), example[name]) for name in outputs if name in example]
        if not scores:
            raise ValueError(f"the example has no label for any of {', '.join(outputs)}")
        return min(scores) if trace is not None else sum(scores) / len(scores)

    return metric


def brier(decision: Any, label: Any) -> float:
    """Half the squared distance between probabilities and label (Brier 1950), between 0 and 1.

    For a ``Noul`` this equals ``(p - y) ** 2``. A missing decision scores 1.
    """
    if decision is None:
        return 1.0
    if hasattr(decision, "probability"):
        return (float(decision.probability) - bool(label)) ** 2
    chances = dict.fromkeys([str(label)], 0.0) | dict(decision.probabilities)
    return sum((p - (name == str(label))) ** 2 for name, p in chances.items()) / 2


def rewrite_score(example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
    """Token F1 of the written standalone query with gold's; 0 when none was written."""
    written = prediction.get("standalone_query")
    return token_f1(written, example["standalone_query"]) if isinstance(written, str) else 0.0


def decompose_score(example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
    """How well the written sub-queries match gold's, one to one.

    Similarities of the best assignment (Kuhn 1955) are summed and divided by the larger of the two counts, so that a
    sub-query too many costs as much as one too few. The share `DEPENDENCY_SHARE` of the result depends on the
    dependencies: on the F1 of the pairs of sub-queries of which one needs the other, matched by the assignment.
    """
    gold, written = (_sub_queries(source.get("sub_queries")) for source in (example, prediction))
    if not gold or not written:
        return float(len(gold) == len(written))
    similarity, partner = _assign(gold, written)
    texts = similarity / max(len(gold), len(written))
    needs = {(g.id, d) for g in gold for d in g.depends_on}
    found = {(partner.get(w.id, -w.id), partner.get(d, -d)) for w in written for d in w.depends_on}
    return texts * (1 - DEPENDENCY_SHARE + DEPENDENCY_SHARE * _set_f1(needs, found))


def decompose_right(example: dspy.Example, prediction: dspy.Prediction) -> bool:
    """Whether the written sub-queries are gold's, one to one, with the same dependencies, and may enter a plan."""
    gold, written = (_sub_queries(source.get("sub_queries")) for source in (example, prediction))
    pairs = paired_sub_queries(gold, written)
    return len(pairs) == len(gold) == len(written) and all(depends_alike(g, w, pairs) for g, w in pairs)


def steps_score(example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
    """F1 of the written steps against gold's, ignoring references to other steps.

    Where there is a graph, answers are compared instead (see ``graph_metric``).
    """
    gold, written = (Counter(map(_step, source.get("steps") or ())) for source in (example, prediction))
    shared = sum((gold & written).values())
    return 2 * shared / (gold.total() + written.total()) if shared else 0.0


def _step(step: Any) -> str:
    """A step as JSON, without its references to other steps."""
    said = {key: value for key, value in _fields(step).items() if key not in ("start", "inputs", "without")}
    return json.dumps(said, sort_keys=True, default=str)


def _assign(gold: tuple[SubQuery, ...], written: tuple[SubQuery, ...]) -> tuple[float, dict[int, int]]:
    """The total similarity of the best assignment, and the id of gold's partner by the id of each written sub-query."""
    from scipy.optimize import linear_sum_assignment

    similarity = np.clip(sub_query_similarity(gold, written), 0.0, 1.0)
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    partner = {written[int(c)].id: gold[int(r)].id for r, c in zip(rows, columns, strict=True)}
    return float(similarity[rows, columns].sum()), partner


def _sub_queries(items: Any) -> tuple[SubQuery, ...]:
    """Sub-queries numbered by position, as an LM writes them; empty texts are left out.

    A placeholder ``{n}`` is a dependency, also where the list does not say so.
    """
    made = []
    for number, item in enumerate(items or (), start=1):
        fields = _fields(item)
        text = str(fields.get("text") or "").strip()
        needs = {int(n) for n in REFERENCE.findall(text)} | {int(d) for d in fields.get("depends_on") or ()}
        if re.search(r"\w", text):
            made.append(SubQuery(id=number, text=text, depends_on=tuple(sorted(needs))))
    return tuple(made)


def _fields(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    return value.model_dump() if hasattr(value, "model_dump") else {}


def _set_f1(gold: set[tuple[int, int]], found: set[tuple[int, int]]) -> float:
    return 2 * len(gold & found) / (len(gold) + len(found)) if gold or found else 1.0
