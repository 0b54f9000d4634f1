"""The algebra of graph plans: what a step may be, and what a graph may hold.

A plan is a list of steps. Each stores its result under a name that later steps use; the last one is
the answer. Every step but ``count`` gives a set of nodes (``order`` a list of them); ``count`` gives a
number. What is checked here is the form of each step alone; whether steps fit each other and a
schema is checked by ``program/graph/check.py``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


Scalar = str | int | float | bool
Comparison = Literal["eq", "ne", "lt", "le", "gt", "ge", "contains"]


class NodeRef(_Frozen):
    """A node as a question names it: the words, and the type it is taken to have.

    ``field`` is the property that ``name`` is a value of: ``name`` unless said otherwise, or ``id``.
    """

    name: str = Field(min_length=1)
    type: str = Field(min_length=1)
    field: str = "name"


class Condition(_Frozen):
    """A test of one property of a node or an edge. A node without the property fails it."""

    property: str = Field(min_length=1)
    op: Comparison = "eq"
    value: Scalar


class _Step(_Frozen):
    store_as: str = Field(min_length=1, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")

    @model_serializer(mode="wrap")
    def _with_kind(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A step without its kind could not be read again, so it is written also where defaults are left out."""
        return {"kind": getattr(self, "kind", None), **handler(self)}


class AnchorStep(_Step):
    """Start at a named node; several nodes of that name all count."""

    kind: Literal["anchor"] = "anchor"
    node: NodeRef


class ExpandStep(_Step):
    """Follow edges of one type from the nodes of an earlier step.

    ``direction`` is as the schema declares the edge: ``out`` from source to target; ``any`` is for
    edges between nodes of one type. ``where`` are tests of the edge (cutoffs). The nodes of the
    steps in ``exclude`` are taken out of the result: "other films of this director" does not return
    to where it came from.
    """

    kind: Literal["expand"] = "expand"
    start: str = Field(min_length=1, description="store_as of an earlier step")
    edge: str = Field(min_length=1)
    direction: Literal["out", "in", "any"]
    where: tuple[Condition, ...] = ()
    exclude: tuple[str, ...] = ()


class _Combine(_Step):
    inputs: tuple[str, ...] = Field(min_length=2)


class UnionStep(_Combine):
    """Nodes that are in any of the inputs."""

    kind: Literal["union"] = "union"


class IntersectStep(_Combine):
    """Nodes that are in all of the inputs."""

    kind: Literal["intersect"] = "intersect"


class DifferenceStep(_Combine):
    """Nodes of the first input that are in none of the others."""

    kind: Literal["difference"] = "difference"


class FilterStep(_Step):
    """Nodes of an earlier step that pass every condition."""

    kind: Literal["filter"] = "filter"
    start: str = Field(min_length=1)
    conditions: tuple[Condition, ...] = Field(min_length=1)


class CountStep(_Step):
    """How many nodes an earlier step has; only ever the last step."""

    kind: Literal["count"] = "count"
    start: str = Field(min_length=1)


class OrderStep(_Step):
    """The first nodes of an earlier step by a property, or by how many edges of a type they have.

    Exactly one of ``property`` and ``degree_of`` is given. Ties are broken by name.
    """

    kind: Literal["order"] = "order"
    start: str = Field(min_length=1)
    property: str | None = None
    degree_of: str | None = None
    descending: bool = True
    limit: int = Field(default=1, ge=1)

    @model_validator(mode="after")
    def _one_key(self) -> OrderStep:
        if (self.property is None) == (self.degree_of is None):
            raise ValueError("give exactly one of property and degree_of")
        return self


GraphStep = Annotated[
    AnchorStep | ExpandStep | UnionStep | IntersectStep | DifferenceStep | FilterStep | CountStep | OrderStep,
    Field(discriminator="kind"),
]


class GraphPlan(_Frozen):
    """Steps through a knowledge graph; what the last one stores is the answer."""

    steps: tuple[GraphStep, ...] = Field(min_length=1)


class NodeType(_Frozen):
    """A kind of node. ``properties`` beside ``id`` and ``name`` may be filtered and ordered by."""

    name: str = Field(min_length=1)
    description: str = ""
    properties: tuple[str, ...] = ()


class EdgeType(_Frozen):
    """A kind of edge, read as ``source name target``. ``properties`` may be cut off by."""

    name: str = Field(min_length=1)
    source: str
    target: str
    description: str = ""
    properties: tuple[str, ...] = ()


class GraphSchema(_Frozen):
    """What a graph may hold. An edge type that joins an undeclared node type is refused."""

    nodes: tuple[NodeType, ...] = Field(min_length=1)
    edges: tuple[EdgeType, ...] = ()

    @model_validator(mode="after")
    def _edges_join_declared_nodes(self) -> GraphSchema:
        names = [n.name for n in self.nodes]
        if len(set(names)) != len(names):
            raise ValueError("a node type is declared twice")
        for edge in self.edges:
            missing = {edge.source, edge.target} - set(names)
            if missing:
                raise ValueError(f"edge {edge.name!r} joins undeclared node types {sorted(missing)}")
        return self

    def edge(self, name: str) -> EdgeType | None:
        """The edge type of that name, or None."""
        return next((e for e in self.edges if e.name == name), None)

    def node(self, name: str) -> NodeType | None:
        """The node type of that name, or None."""
        return next((n for n in self.nodes if n.name == name), None)
