"""Selects the labelled rows that may demonstrate a task, and the order in which they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from random import Random
from typing import Any, TypeVar, get_origin

import dspy
from dspy.predict.predict import serialize_object

from ..signatures.seam import DecisionState

Shown = TypeVar("Shown", bound="dspy.Example | dict[str, Any]")


def grouping(signature: type[dspy.Signature]) -> tuple[str, ...]:
    """The outputs by which demonstrations are balanced, the coarsest first.

    For a signature that decides, these are all outputs, in declared order. For one that writes, it is the first output
    that is a list, such as sub-queries: by its length, and whether one item depends on another.
    """
    decided = tuple(DecisionState(signature, {}).types)
    lists = [name for name, field in signature.output_fields.items() if get_origin(field.annotation) is list]
    return decided or tuple(lists[:1])


def balanced(examples: Sequence[dspy.Example], outputs: Sequence[str], rng: Random) -> list[dspy.Example]:
    """All examples in an order whose every prefix has its labels as balanced as possible.

    Round-robin over the first output's labels, and within each label over the next output's: if 20 % of the rows are
    out of the domain, four of the first eight are, each of another kind. Examples without a label for an output form a
    group of their own.
    """
    shuffled = list(examples)
    rng.shuffle(shuffled)
    return _round_robin(shuffled, tuple(outputs), rng)


def _round_robin(examples: list[dspy.Example], outputs: tuple[str, ...], rng: Random) -> list[dspy.Example]:
    if not outputs:
        return examples
    groups = _groups(examples, outputs[0])
    order = sorted(groups)
    rng.shuffle(order)
    queues = [_round_robin(groups[label], outputs[1:], rng) for label in order]
    return [example for layer in zip_longest(*queues) for example in layer if example is not None]


def arranged(demos: Sequence[Shown], outputs: Sequence[str]) -> list[Shown]:
    """The same demonstrations with each label spread evenly, and the last two of different labels.

    A small model repeats what it saw last (Zhao et al. 2021, "Calibrate Before Use"), so a run of
    one label must not stand before the query.
    """
    spread = _spread(list(demos), tuple(outputs))
    return _break_tail(spread, outputs[0]) if outputs else spread


def _spread(demos: list[Shown], outputs: tuple[str, ...]) -> list[Shown]:
    """Spread each group over the whole: member ``j`` of ``n`` goes to the relative place ``(j + 0.5) / n``."""
    if not outputs or len(demos) < 2:
        return demos
    groups = _groups(demos, outputs[0])
    placed = []
    for rank, label in enumerate(sorted(groups)):
        members = _spread(groups[label], outputs[1:])
        placed += [((j + 0.5) / len(members), rank, member) for j, member in enumerate(members)]
    return [member for _, _, member in sorted(placed, key=lambda item: item[:2])]


def _break_tail(demos: list[Shown], output: str) -> list[Shown]:
    """If the last two have the same label, swap the last but one with the nearest that has another."""
    if len(demos) < 3 or trait(demos[-1].get(output)) != trait(demos[-2].get(output)):
        return demos
    others = [i for i, demo in enumerate(demos) if trait(demo.get(output)) != trait(demos[-1].get(output))]
    if others:
        demos[-2], demos[others[-1]] = demos[others[-1]], demos[-2]
    return demos


def _groups(examples: Sequence[Shown], output: str) -> dict[str, list[Shown]]:
    groups: dict[str, list[Shown]] = {}
    for example in examples:
        groups.setdefault(trait(example.get(output)), []).append(example)
    return groups


def trait(value: Any) -> str:
    """The label of a value for balancing: the value itself; for a list its length and whether it has dependencies."""
    if isinstance(value, list | tuple):
        linked = any(isinstance(item, Mapping) and item.get("depends_on") for item in value)
        return f"{len(value)}{' linked' if linked else ''}"
    return "" if value is None else str(value)


class Answers:
    """The labelled outputs of examples, found by their inputs."""

    def __init__(self, signature: type[dspy.Signature], examples: Sequence[dspy.Example]) -> None:
        self._inputs = tuple(signature.input_fields)
        self._outputs = tuple(signature.output_fields)
        self._known = {self._key(e): self._labels(e) for e in examples}

    def demo(self, shown: dspy.Example | Mapping[str, Any]) -> dict[str, Any]:
        """A demonstration as plain JSON data, with the signature's own fields alone.

        It has the labels, never the LM's own words: bootstrapping chooses only *which* rows are shown. An example
        without known labels keeps its own outputs.
        """
        inputs = {name: shown[name] for name in self._inputs if name in shown}
        outputs = self._known.get(self._key(shown)) or self._labels(shown)
        return {name: serialize_object(value) for name, value in {**inputs, **outputs}.items()}

    def __deepcopy__(self, memo: dict[int, Any]) -> Answers:
        """The same object: it never changes, and DSPy copies programs for every candidate."""
        return self

    def _key(self, shown: dspy.Example | Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(str(shown.get(name, "")) for name in self._inputs)

    def _labels(self, shown: dspy.Example | Mapping[str, Any]) -> dict[str, Any]:
        return {name: shown[name] for name in self._outputs if name in shown}
