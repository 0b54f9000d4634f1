"""What a knowledge graph knows about the names in a question: their edges, and the answers of a graph plan.

Everything is asked through graph plans, so any store that runs those will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from ...data.card import KnownName
from ...signatures.types import Frozen, GraphPlan, GraphSchema

MAX_FACTS = 60
"""Facts gathered for one question at most; a name with thousands of edges says nothing in particular."""


class GraphStore(Protocol):
    """Anything that runs graph plans."""

    def run(self, plan: GraphPlan) -> GraphFindings:
        """The answer of a plan that has passed the check."""
        ...


class GraphFindings(Protocol):
    """The answer of a graph store."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the nodes found."""
        ...


class Fact(Frozen):
    """An edge of the graph, in the direction that the schema declares."""

    subject: str
    edge: str
    object: str

    def __str__(self) -> str:
        return f"{self.subject} {self.edge.replace('_', ' ').lower()} {self.object}"


class Known(Frozen):
    """The edges of nodes, and why there may be more of them, one sentence each."""

    facts: tuple[Fact, ...] = ()
    gaps: tuple[str, ...] = ()


def lacking(answer: object) -> tuple[str, ...]:
    """Why an answer may be incomplete, one sentence each: what was cut, then what went wrong."""
    return tuple(line for part in ("cut", "gaps") for line in getattr(answer, part, ()) if isinstance(line, str))


def facts_about(names: Iterable[KnownName], graph: GraphStore, schema: GraphSchema) -> Known:
    """The edges of the named nodes, each once, in the order of names and of the schema; at most `MAX_FACTS`."""
    found: dict[Fact, None] = {}
    gaps: dict[str, None] = {}
    for name in names:
        for edge in schema.edges:
            for direction, end in (("out", edge.source), ("in", edge.target)):
                if end == name.type:
                    answer = graph.run(_one_hop(name, edge.name, direction))
                    found.update(dict.fromkeys(_fact(name.name, edge.name, other, direction) for other in answer.names))
                    gaps.update(dict.fromkeys(lacking(answer)))
        if len(found) >= MAX_FACTS:
            break
    return Known(facts=tuple(found)[:MAX_FACTS], gaps=tuple(gaps))


def _one_hop(name: KnownName, edge: str, direction: Literal["out", "in"] | str) -> GraphPlan:
    anchor = {"kind": "anchor", "store_as": "named", "node": {"name": name.name, "type": name.type}}
    expand = {"kind": "expand", "store_as": "next", "start": "named", "edge": edge, "direction": direction}
    return GraphPlan.model_validate({"steps": [anchor, expand]})


def _fact(name: str, edge: str, other: str, direction: str) -> Fact:
    subject, found = (name, other) if direction == "out" else (other, name)
    return Fact(subject=subject, edge=edge, object=found)
