"""The algebra of graph plans: the steps of a plan, and the schema of a graph.

A plan is a list of steps. Each stores its result under a name that later steps use; the last one is the answer. Every
step but ``count`` gives a set of nodes (``order`` a list of them); ``count`` gives a number. Only the form of each
step by itself is checked here; ``program/graph/check.py`` checks whether steps fit each other and a schema.
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
Comparison = Literal["eq", "ne", "lt", "le", "gt", "ge", "contains", "in"]
PropertyKind = Literal["number", "text", "enum", "boolean"]
Direction = Literal["out", "in", "any"]
NUMBER = "number"
"""What ``count`` answers with; no node type may be called so."""


class NodeRef(_Frozen):
    """A node as a question names it: the words, and the type it is taken to have.

    ``field`` is the property that ``name`` is a value of: ``name`` unless said otherwise, or ``id``.
    """

    name: str = Field(min_length=1)
    type: str = Field(min_length=1)
    field: str = "name"


class Condition(_Frozen):
    """A test of one property of a node or an edge. What is without the property fails it.

    ``in`` is passed by any of the values of a tuple; every other comparison has one value. ``contains`` reads
    text without regard to case.
    """

    property: str = Field(min_length=1)
    op: Comparison = "eq"
    value: Scalar | tuple[Scalar, ...]

    @model_validator(mode="after")
    def _as_many_values_as_asked_for(self) -> Condition:
        if (self.op == "in") != isinstance(self.value, tuple):
            raise ValueError("give a list of values with the comparison in, and one value with any other")
        return self

    def candidates(self) -> tuple[Scalar, ...]:
        """All values that are compared with."""
        return self.value if isinstance(self.value, tuple) else (self.value,)


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
    """Follow edges from the nodes of an earlier step.

    ``direction`` is as the schema declares the edge: ``out`` from source to target; ``any`` is for
    edges between nodes of one type. ``or_edges`` are further edge types to follow in the same step: what any
    of them reaches counts, so all must lead to one node type. ``where`` are tests of the edge (cutoffs),
    ``node_where`` tests of the node reached. The nodes of the steps in ``exclude`` are taken out of the
    result: "other films of this director" does not return to where it came from.
    """

    kind: Literal["expand"] = "expand"
    start: str = Field(min_length=1, description="store_as of an earlier step")
    edge: str = Field(min_length=1)
    direction: Direction
    or_edges: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    node_where: tuple[Condition, ...] = ()
    exclude: tuple[str, ...] = ()

    @property
    def edges(self) -> tuple[str, ...]:
        """All edge types that are followed."""
        return (self.edge, *self.or_edges)


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


class PropertyType(_Frozen):
    """What the values of a property are.

    ``values`` are all an enum may have; ``minimum`` and ``maximum`` bound a number, ends included.
    """

    name: str = Field(min_length=1)
    kind: PropertyKind = "text"
    values: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    description: str = ""

    @model_validator(mode="after")
    def _values_for_enums(self) -> PropertyType:
        if (self.kind == "enum") != bool(self.values):
            raise ValueError(f"property {self.name!r}: an enum has values, and nothing else has")
        return self


class Cutoff(_Frozen):
    """A parameter by which a server leaves out edges or nodes: those whose property fails ``op``."""

    name: str = Field(min_length=1)
    property: str = Field(min_length=1)
    op: Literal["ge", "le", "in"] = "ge"


def _details_are_of(kind: NodeType | EdgeType) -> None:
    told = {d.name for d in kind.details} | {c.property for c in kind.cutoffs}
    if unknown := sorted(told - {"id", "name", *kind.properties}):
        raise ValueError(f"{kind.name!r} has details or cutoffs of properties that it does not list: {unknown}")


class NodeType(_Frozen):
    """A kind of node. ``properties`` beside ``id`` and ``name`` may be filtered and ordered by.

    Attributes:
        details: what is known of some properties.
        cutoffs: parameters by which a server leaves out nodes.
        query_fields: the properties that an anchor may name a node by; ``id``, ``name`` and all properties if empty.
        key: what a store calls ``id``.
        shown: what a store calls ``name``.
        aliases: other names that files of data have for the type.
    """

    # New fields go to the end: a card's fingerprint covers them in this order, defaults left out.
    name: str = Field(min_length=1)
    description: str = ""
    properties: tuple[str, ...] = ()
    details: tuple[PropertyType, ...] = ()
    cutoffs: tuple[Cutoff, ...] = ()
    query_fields: tuple[str, ...] = ()
    key: str = "id"
    shown: str = "name"
    aliases: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _details_fit(self) -> NodeType:
        _details_are_of(self)
        return self

    @property
    def anchors(self) -> tuple[str, ...]:
        """What an anchor may name a node by."""
        return self.query_fields or ("id", "name", *self.properties)

    def property_type(self, name: str) -> PropertyType | None:
        """What is known of a property; None if nothing is."""
        return next((d for d in self.details if d.name == name), None)


class EdgeType(_Frozen):
    """A kind of edge, read as ``source name target``. ``properties`` may be cut off by.

    Attributes:
        details: what is known of some properties.
        cutoffs: parameters by which a server leaves out edges.
        label: what a store calls it where that is not its name: a store's relation that joins several pairs of
            node types is an edge type for each pair.
        aliases: other names that files of data have for the type.
    """

    name: str = Field(min_length=1)
    source: str
    target: str
    description: str = ""
    properties: tuple[str, ...] = ()
    details: tuple[PropertyType, ...] = ()
    cutoffs: tuple[Cutoff, ...] = ()
    label: str = ""
    aliases: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _details_fit(self) -> EdgeType:
        _details_are_of(self)
        return self

    def ends(self, direction: str) -> tuple[str, str]:
        """The node types it leads from and to in a direction."""
        return (self.target, self.source) if direction == "in" else (self.source, self.target)

    def property_type(self, name: str) -> PropertyType | None:
        """What is known of a property; None if nothing is."""
        return next((d for d in self.details if d.name == name), None)


class ElementWords(_Frozen):
    """How people say an element of a schema: a node type, an edge type in one direction, or ``Type.property``.

    Attributes:
        side: ``out`` or ``in`` of an edge type, empty otherwise.
        words: phrases of every language with "; " between them.
    """

    element: str = Field(min_length=1)
    side: Literal["", "out", "in"] = ""
    words: str = Field(min_length=1)


class GraphSchema(_Frozen):
    """What a graph may hold. An edge type that joins an undeclared node type is refused.

    Attributes:
        words: how people say its elements, in any language; only for understanding questions.
    """

    nodes: tuple[NodeType, ...] = Field(min_length=1)
    edges: tuple[EdgeType, ...] = ()
    words: tuple[ElementWords, ...] = ()

    @model_validator(mode="after")
    def _edges_join_declared_nodes(self) -> GraphSchema:
        names = [n.name for n in self.nodes]
        if len(set(names)) != len(names):
            raise ValueError("a node type is declared twice")
        if NUMBER in names:
            raise ValueError(f"a node type cannot be called {NUMBER!r}: that is what a count answers with")
        if len({e.name for e in self.edges}) != len(self.edges):
            raise ValueError("an edge type is declared twice; give each pair of node types a name of its own")
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
