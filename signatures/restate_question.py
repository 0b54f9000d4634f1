"""Signature: how is the same asked in plain English and in the words of a graph's schema?

Questions come in many languages and in words that no label has taught. Restated, they are ranked once more by what
was learned from plain questions. The output is text, so the schema is in the instructions and constrains nothing.
"""

from __future__ import annotations

from typing import Any

import dspy

from .graph_steps import EdgeType, GraphSchema, NodeType

MOST_LINES = 60
"""Edges and types with properties that are listed; a schema with more would leave a slot no room for the question."""
INSTRUCTIONS = (
    "Say a question that is put to a graph again: in plain English whatever its language, short, in the words of the "
    "schema below. Write every name exactly as it is spelled after =, and translate other names. Keep what is asked "
    'for, in which direction, and every "how many", "most", "both", "or", "not" and number. Add nothing and do not '
    "answer. The first questions are examples, of other graphs than this."
)


def restate_question(schema: GraphSchema) -> Any:
    """The signature ``RestateQuestion`` for one graph."""
    fields = {
        "query": (str, dspy.InputField(desc="the question in any language, and the names found in it")),
        "restated": (str, dspy.OutputField(desc="the same question in plain English, on one line")),
    }
    signature: Any = dspy.Signature
    return signature(fields, f"{INSTRUCTIONS}\n{in_words(schema)}", signature_name="RestateQuestion")


def in_words(schema: GraphSchema) -> str:
    """What the graph knows, one line an edge type and one a node type with properties."""
    edges = [_edge(edge) for edge in schema.edges]
    nodes = [_node(node) for node in schema.nodes if node.properties]
    return "\n".join([*edges, *nodes][:MOST_LINES])


def _edge(edge: EdgeType) -> str:
    told = edge.description or edge.name
    has = f" ({', '.join(edge.properties)})" if edge.properties else ""
    return f"{edge.source} to {edge.target}: {told}{has}"


def _node(node: NodeType) -> str:
    return f"{node.name} has {', '.join(node.properties)}"
