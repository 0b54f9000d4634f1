"""A plan in one sentence for a language model: read from right to left, in the words of the schema's descriptions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...signatures.graph_steps import (
    NUMBER,
    AnchorStep,
    CountStep,
    DifferenceStep,
    EdgeType,
    ExpandStep,
    FilterStep,
    GraphPlan,
    GraphSchema,
    IntersectStep,
    OrderStep,
    UnionStep,
)
from .wording import condition_words
from .words import name_words

_ASIDE = re.compile(r"[,;(]")


@dataclass(frozen=True)
class _Said:
    """What a step stores, in words, and its type."""

    text: str
    type: str


def plan_sentence(plan: GraphPlan, schema: GraphSchema) -> str:
    """What a well-typed plan finds: ``Symptom (the disease shows itself by the symptom) of asthma``."""
    said: dict[str, _Said] = {}
    for step in plan.steps:
        said[step.store_as] = _WORDS[type(step)](step, said, schema)
    return said[plan.steps[-1].store_as].text


def relation_words(edge: EdgeType) -> str:
    """An edge type by its description up to the first aside, or by its name between its types."""
    told = _ASIDE.split(edge.description or "")[0].strip(" .")
    return told or f"{edge.source} {' '.join(name_words(edge.name))} {edge.target}"


def _anchor(step: AnchorStep, said: Mapping[str, _Said], schema: GraphSchema) -> _Said:
    return _Said(step.node.name, step.node.type)


def _expand(step: ExpandStep, said: Mapping[str, _Said], schema: GraphSchema) -> _Said:
    edges = [edge for name in step.edges if (edge := schema.edge(name)) is not None]
    ends = [edge.ends(step.direction)[1] for edge in edges]
    told = " or ".join(relation_words(edge) + _way(edge, step.direction) for edge in edges)
    where = f", where {_all(step.where)}" if step.where else ""
    text = f"{ends[0]} ({told}{where})"
    text += f" whose {_all(step.node_where)}" if step.node_where else ""
    text += f" of {said[step.start].text}"
    text += f", other than {' and '.join(said[name].text for name in step.exclude)}" if step.exclude else ""
    return _Said(text, ends[0])


def _way(edge: EdgeType, direction: str) -> str:
    """Which of two nodes of one type is asked for, where the edge has a direction."""
    if edge.source != edge.target or direction == "any":
        return ""
    return ", second of first" if direction == "out" else ", first of second"


def _all(conditions: Sequence[Any]) -> str:
    return " and ".join(map(condition_words, conditions))


def _union(step: UnionStep, said: Mapping[str, _Said], schema: GraphSchema) -> _Said:
    texts = [said[name].text for name in step.inputs]
    bare = not any("(" in text or "[" in text for text in texts)
    return _Said(" or ".join(texts) if bare else f"in any of: {_listed(texts)}", said[step.inputs[0]].type)


def _intersect(step: IntersectStep, said: Mapping[str, _Said], schema: GraphSchema) -> _Said:
    texts = [said[name].text for name in step.inputs]
    return _Said(f"in all of: {_listed(texts)}", said[step.inputs[0]].type)


def _difference(step: DifferenceStep, said: Mapping[str, _Said], schema: GraphSchema) -> _Said:
    first, *others = (f"[{said[name].text}]" for name in step.inputs)
    return _Said(f"{first} but not {' nor '.join(others)}", said[step.inputs[0]].type)


def _listed(texts: Sequence[str]) -> str:
    return "; ".join(f"[{text}]" for text in texts)


def _filter(step: FilterStep, said: Mapping[str, _Said], schema: GraphSchema) -> _Said:
    start = said[step.start]
    return _Said(f"those whose {_all(step.conditions)}, among: {start.text}", start.type)


def _count(step: CountStep, said: Mapping[str, _Said], schema: GraphSchema) -> _Said:
    return _Said(f"how many: {said[step.start].text}", NUMBER)


def _order(step: OrderStep, said: Mapping[str, _Said], schema: GraphSchema) -> _Said:
    start = said[step.start]
    key = step.property or f"number of {' '.join(name_words(step.degree_of or ''))} edges"
    those = "the one" if step.limit == 1 else f"the {step.limit}"
    return _Said(
        f"{those} with the {'largest' if step.descending else 'smallest'} {key} among: {start.text}", start.type
    )


_WORDS: dict[type, Callable[[Any, Mapping[str, _Said], GraphSchema], _Said]] = {
    AnchorStep: _anchor,
    ExpandStep: _expand,
    UnionStep: _union,
    IntersectStep: _intersect,
    DifferenceStep: _difference,
    FilterStep: _filter,
    CountStep: _count,
    OrderStep: _order,
}
