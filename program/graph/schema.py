"""Reads graph schemas: from a TOML or JSON file, or from the types document of a SPOKE server.

(The schema of a LadybugDB database is read by :func:`~.ladybug.read_database_schema`.)
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ...data.card import CARD_FILE
from ...data.element_words import with_element_words
from ...data.fingerprints import schema_fingerprint
from ...errors import DataError
from ...signatures.graph_steps import EdgeType, GraphSchema, NodeType, PropertyType
from ...signatures.problems import problems_of
from .exchange.spoke_types import SchemaReading, looks_like_types, read_types

__all__ = ["SchemaReading", "describe_schema", "parse_schema", "read_schema", "schema_fingerprint"]


def read_schema(path: Path | str) -> SchemaReading:
    """Read a schema file: ``.toml`` (alone, or ``[graph]`` of a domain card) or ``.json`` (ours or SPOKE's types).

    That of a card includes the words in the table beside the card.

    Raises:
        DataError: the file cannot be read or is not a schema; the place in it is named.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors begin a file with a byte order mark
        document = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError) as error:  # a bad encoding, TOML or JSON is a ValueError
        raise DataError(f"the schema {path.name} cannot be read: {error}") from error
    except RecursionError as error:
        raise DataError(f"the schema {path.name} is nested too deeply to be one") from error
    found = parse_schema(document, path.name)
    return replace(found, schema=with_element_words(found.schema, path.parent)) if path.name == CARD_FILE else found


def parse_schema(document: Any, where: str) -> SchemaReading:
    """Parse a schema out of the content of a TOML or JSON file.

    Args:
        where: the document's name for messages.

    Raises:
        DataError: it is not a schema; the place in it is named.
    """
    if isinstance(document, Mapping) and isinstance(document.get("graph"), Mapping):
        document = document["graph"]
    if not isinstance(document, Mapping) or "nodes" not in document:
        raise DataError(f"{where} is no graph schema: it must have nodes and edges")
    try:
        if looks_like_types(document):
            return read_types(document, where)
        return SchemaReading(GraphSchema.model_validate(document))
    except ValidationError as error:
        raise DataError(f"{where}: {problems_of(error)}") from error
    except (TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{where} is no types document of a graph server: {error}") from error


def describe_schema(schema: GraphSchema) -> list[str]:
    """The schema as lines for a person or a model: node types, then edge types as ``source -name-> target``."""
    return [*map(_node_line, schema.nodes), *map(_edge_line, schema.edges)]


def _node_line(node: NodeType) -> str:
    fields = f" (found by {', '.join(node.query_fields)})" if node.query_fields else ""
    return f"{node.name}{fields}{_properties(node)}{': ' + node.description if node.description else ''}"


def _edge_line(edge: EdgeType) -> str:
    said = f": {edge.description}" if edge.description else ""
    return f"{edge.source} -{edge.name}-> {edge.target}{_properties(edge)}{said}"


def _properties(kind: NodeType | EdgeType) -> str:
    told = [_property(kind.property_type(name) or PropertyType(name=name), name) for name in kind.properties]
    return f" [{'; '.join(told)}]" if told else ""


def _property(told: PropertyType, name: str) -> str:
    if told.kind == "enum":
        return f"{name}: one of {', '.join(told.values)}"
    if told.kind == "number" and (told.minimum is not None or told.maximum is not None):
        return f"{name}: number from {_bound(told.minimum)} to {_bound(told.maximum)}"
    return name if told.kind == "text" else f"{name}: {told.kind}"


def _bound(number: float | None) -> str:
    return "any" if number is None else f"{number:g}"
