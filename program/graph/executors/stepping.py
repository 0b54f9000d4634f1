"""Runs a plan step by step over any store that can find nodes, follow edges and look up properties.

The meaning of each step is written here once; a store only fetches. :class:`~.memory.MemoryGraph` and the REST
executor run like this, and so does LadybugDB where a plan does not fit into one statement.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Protocol

from ....signatures.graph_steps import (
    NUMBER,
    AnchorStep,
    CountStep,
    DifferenceStep,
    ExpandStep,
    FilterStep,
    GraphPlan,
    GraphStep,
    IntersectStep,
    NodeRef,
    OrderStep,
    UnionStep,
)
from ..executor import GraphAnswer
from .conditions import Properties, kind_of, passes


class Gap(Exception):
    """A step that could not be done; the sentence says which and why. It ends the run, not the program."""


class RunClock:
    """How long a run has taken, and whether it may go on."""

    def __init__(self, deadline_s: float | None = None) -> None:
        self.began = time.perf_counter()
        self.deadline_s = deadline_s

    def left(self) -> float | None:
        """Seconds until the deadline, not below zero; None without one."""
        if self.deadline_s is None:
            return None
        return max(0.0, self.deadline_s - (time.perf_counter() - self.began))

    def check(self, where: str) -> None:
        """Stop a run that has no time left.

        Raises:
            Gap: the deadline has passed.
        """
        if self.left() == 0.0:
            raise Gap(f"stopped before {where}: the deadline of {self.deadline_s:g} s has passed; give it more time")

    def milliseconds(self) -> float:
        """Since the run began."""
        return (time.perf_counter() - self.began) * 1000


class Store(Protocol):
    """What a run asks of a graph. Ids are of nodes of the type ``kind``."""

    def find(self, ref: NodeRef) -> Collection[str]:
        """Ids of the nodes that a reference means."""
        ...

    def reach(self, ids: Sequence[str], kind: str, step: ExpandStep) -> Mapping[str, tuple[str, str]]:
        """What a step reaches from some nodes, each with one (node, edge type) that it was reached from.

        The step's conditions are applied, its ``exclude`` is not.
        """
        ...

    def look_up(self, ids: Sequence[str], kind: str) -> Mapping[str, Properties]:
        """The properties of nodes, ``id`` and ``name`` among them."""
        ...

    def degrees(self, ids: Sequence[str], kind: str, edge: str) -> Mapping[str, int]:
        """How many nodes each node is joined to by edges of a type, either way."""
        ...


Origin = tuple[str, str]


@dataclass
class StepRun:
    """One run of one plan: the ids that each step found.

    ``kinds`` is what :func:`~.check.step_types` says; a store that needs no types may be run without.
    """

    store: Store
    plan: GraphPlan
    kinds: Mapping[str, str] = field(default_factory=dict)
    clock: RunClock = field(default_factory=RunClock)
    cap: int | None = None
    paths: bool = False
    found: dict[str, list[str]] = field(default_factory=dict)
    origins: dict[str, Mapping[str, Origin]] = field(default_factory=dict)
    unknown: list[NodeRef] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)

    def answer(self) -> GraphAnswer:
        """Run every step; a gap ends the run with no answers and its sentence."""
        last = self.plan.steps[-1]
        try:
            for step in self.plan.steps:
                self.clock.check(f"step {step.store_as!r}")
                self.step(step)
            if isinstance(last, CountStep):
                return self._counted(last)
            return self._answers(last)
        except Gap as gap:
            self.gaps.append(str(gap))
            return self._made(())

    def step(self, step: GraphStep) -> None:
        """Run one step; a count is taken at the end."""
        if not isinstance(step, CountStep):
            self.found[step.store_as] = _STEPS[type(step)](self, step)

    def ids(self, name: str) -> list[str]:
        """What a step found."""
        return self.found[name]

    def size(self, name: str) -> int:
        """How many nodes a step found."""
        return len(self.ids(name))

    def named(self, name: str) -> list[tuple[str, str]]:
        """(name, id) of what a step found, in its order."""
        found = self.ids(name)
        told = self.store.look_up(found, self.kind(name))
        return [(str(told[node]["name"]), node) for node in found]

    def kind(self, name: str) -> str:
        """The node type of what a step found."""
        return self.kinds.get(name, "")

    # --- the steps

    def anchor(self, step: AnchorStep) -> list[str]:
        """The nodes that a reference means; none is an unknown."""
        nodes = self.store.find(step.node)
        self.unknown += [] if nodes else [step.node]
        return sorted(nodes)

    def expand(self, step: ExpandStep) -> list[str]:
        """What the edges lead to, without what is excluded."""
        reached = self.store.reach(self.ids(step.start), self.kind(step.start), step)
        if self.paths:
            self.origins[step.store_as] = reached
        return sorted(set(reached).difference(*(self.ids(name) for name in step.exclude)))

    def union(self, step: UnionStep) -> list[str]:
        """The nodes in any input."""
        return sorted(set().union(*(self.ids(name) for name in step.inputs)))

    def intersect(self, step: IntersectStep) -> list[str]:
        """The nodes in all inputs."""
        return sorted(reduce(set.intersection, (set(self.ids(name)) for name in step.inputs)))

    def difference(self, step: DifferenceStep) -> list[str]:
        """The nodes in the first input and in no other."""
        first, *others = (set(self.ids(name)) for name in step.inputs)
        return sorted(first.difference(*others))

    def filter(self, step: FilterStep) -> list[str]:
        """The nodes that pass every condition."""
        found = self.ids(step.start)
        told = self.store.look_up(found, self.kind(step.start))
        return [node for node in found if passes(told[node], step.conditions)]

    def order(self, step: OrderStep) -> list[str]:
        """The first nodes by a property or by number of edges; nodes without the property are left out."""
        found, kind = self.ids(step.start), self.kind(step.start)
        told = self.store.look_up(found, kind)
        if step.degree_of is not None:
            values: Mapping[str, Any] = self.store.degrees(found, kind, step.degree_of)
        else:
            name = str(step.property)
            values = {node: told[node].get(name) for node in found}
        known = [node for node in found if values.get(node) is not None]
        by_name = sorted(known, key=lambda node: (str(told[node]["name"]), node))
        in_order = sorted(by_name, key=lambda node: rank(values[node]), reverse=step.descending)
        return self._first(step, in_order, values)

    def _first(self, step: OrderStep, known: list[str], values: Mapping[str, Any]) -> list[str]:
        """The first of the ordered nodes; ``cut`` says if further ones have the same value as the last of them."""
        kept, left = known[: step.limit], known[step.limit :]
        alike = sum(rank(values[node]) == rank(values[kept[-1]]) for node in left) if kept else 0
        if alike:
            by = step.property or f"number of {step.degree_of}"
            said = f"by {by} {alike:,} more are equal to the last of the first {step.limit:,}, which were taken by name"
            self.cut.append(f"step {step.store_as!r}: {said}")
        return kept

    # --- the answer

    def _counted(self, last: CountStep) -> GraphAnswer:
        """The count; where a name is unknown to the graph and nothing was found, it is unknown and not zero."""
        size = self.size(last.start)
        return self._made((str(size),) if size or not self.unknown else ())

    def _answers(self, last: GraphStep) -> GraphAnswer:
        found = self.named(last.store_as)
        if not isinstance(last, OrderStep):
            found.sort()
        if self.cap is not None and len(found) > self.cap:
            self.cut.append(f"{len(found):,} answers were found and the first {self.cap:,} are given")
            found = found[: self.cap]
        paths = Paths(self).of([node for _, node in found]) if self.paths else ()
        return self._made(tuple(name for name, _ in found), tuple(node for _, node in found), paths)

    def _made(
        self, names: tuple[str, ...], ids: tuple[str, ...] = (), paths: tuple[tuple[str, ...], ...] = ()
    ) -> GraphAnswer:
        last = self.plan.steps[-1]
        kind = NUMBER if isinstance(last, CountStep) else self.kind(last.store_as) or None
        told = (tuple(self.unknown), ids, kind, paths, tuple(self.cut), tuple(self.gaps))
        return GraphAnswer(names, *told, self.clock.milliseconds())


def rank(value: Any) -> tuple[int, float, str]:
    """A sort key that puts numbers before everything else, so that values of two kinds can be ordered, too."""
    return (0, value, "") if kind_of(value) in ("number", "boolean") else (1, 0, str(value))


class Paths:
    """How the answers of a finished run were reached."""

    def __init__(self, run: StepRun) -> None:
        self.run = run
        self.steps = {step.store_as: step for step in run.plan.steps}

    def of(self, ids: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """One path for each node: names and edge types in turn, from the anchor on."""
        traces = [self._trace(self.run.plan.steps[-1].store_as, node) for node in ids]
        names = self._names({(kind, node) for trace in traces for _, kind, node in trace})
        return tuple(
            tuple(part for edge, kind, node in trace for part in ((edge,) if edge else ()) + (names[kind, node],))
            for trace in traces
        )

    def _trace(self, name: str, node: str) -> list[tuple[str, str, str]]:
        """(edge that led here, type, node) from the anchor on."""
        trace: list[tuple[str, str, str]] = []
        while not isinstance(step := self.steps[name], AnchorStep):
            if isinstance(step, ExpandStep):
                before, edge = self.run.origins[name][node]
                trace.append((edge, self.run.kind(name), node))
                name, node = step.start, before
            elif isinstance(step, UnionStep | IntersectStep | DifferenceStep):
                name = next(n for n in step.inputs if node in set(self.run.ids(n)))
            else:
                name = step.start
        return [("", self.run.kind(name), node), *reversed(trace)]

    def _names(self, nodes: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
        found: dict[tuple[str, str], str] = {}
        for kind in {kind for kind, _ in nodes}:
            wanted = [node for other, node in nodes if other == kind]
            told = self.run.store.look_up(wanted, kind)
            found.update({(kind, node): str(told[node]["name"]) for node in wanted})
        return found


_STEPS: dict[type, Callable[..., list[str]]] = {
    AnchorStep: lambda run, step: run.anchor(step),
    ExpandStep: lambda run, step: run.expand(step),
    UnionStep: lambda run, step: run.union(step),
    IntersectStep: lambda run, step: run.intersect(step),
    DifferenceStep: lambda run, step: run.difference(step),
    FilterStep: lambda run, step: run.filter(step),
    OrderStep: lambda run, step: run.order(step),
}
