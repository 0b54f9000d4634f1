"""Which steps through a knowledge graph give the answer?

So far one hop: an anchor and one expansion. The output type is built from the graph's schema, so
that an edge or node type that does not exist cannot be written where decoding is constrained.
"""

from __future__ import annotations

from typing import Any, Literal

import dspy
from pydantic import BaseModel, ConfigDict, Field, create_model

from .graph_steps import AnchorStep, ExpandStep, GraphPlan, GraphSchema, NodeRef


class WrittenHop(BaseModel):
    """What an LM fills in for a one-hop plan: the node's words and type, the edge, the direction."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, description="the name in the question that the steps start from")
    type: str
    edge: str
    direction: Literal["out", "in"] = Field(description="out: the name is the edge's source; in: its target")

    def to_plan(self) -> GraphPlan:
        """The typed plan: anchor at the node, then one expansion."""
        anchor = AnchorStep(store_as="start", node=NodeRef(name=self.name, type=self.type))
        expand = ExpandStep(store_as="answers", start="start", edge=self.edge, direction=self.direction)
        return GraphPlan(steps=(anchor, expand))


def plan_graph_steps(schema: GraphSchema) -> Any:
    """The signature ``PlanGraphSteps`` for one graph; types are literals from its schema."""
    nodes = Literal[tuple(n.name for n in schema.nodes)]  # type: ignore[valid-type]
    edges = Literal[tuple(e.name for e in schema.edges)]  # type: ignore[valid-type]
    made: Any = create_model
    hop = made("Hop", __base__=WrittenHop, type=(nodes, ...), edge=(edges, ...))

    fields = {
        "query": (str, dspy.InputField(desc="the question, complete in itself")),
        "hop": (hop, dspy.OutputField(desc="the start and the edge")),
    }
    instructions = "Say where in the knowledge graph to start and which edge to follow.\n" + describe(schema)
    signature: Any = dspy.Signature
    return signature(fields, instructions, signature_name="PlanGraphSteps")


def describe(schema: GraphSchema) -> str:
    """The schema as one line an edge, for a prompt."""
    return "\n".join(f"{e.source} -{e.name}-> {e.target}: {e.description}" for e in schema.edges)
