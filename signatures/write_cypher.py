"""Signature: the question as Cypher. Graph plans are measured against it; the planner never asks it."""

from __future__ import annotations

from typing import Any

import dspy

from .graph_steps import GraphSchema
from .plan_graph_steps import describe

INSTRUCTIONS = (
    "Write one Cypher query that answers the question on this property graph. It reads and changes nothing. It "
    "returns the names of what is asked for, or a number where a number is asked for. Every node has the property "
    "name. Types with a space in them stand in back quotes.\n"
)


def write_cypher(schema: GraphSchema) -> Any:
    """The signature ``WriteCypher`` for one graph; the schema is described as it is for ``PlanGraphSteps``."""
    fields = {
        "query": (str, dspy.InputField(desc="the question, complete in itself")),
        "cypher": (str, dspy.OutputField(desc="one query, on one line")),
    }
    signature: Any = dspy.Signature
    return signature(fields, INSTRUCTIONS + describe(schema), signature_name="WriteCypher")
