"""Converts the types document of a SPOKE server into a graph schema.

Two shapes are read: what ``/api/v1/types`` answers (``nodes`` and ``edges`` as objects by type name), and lists of
``{"label": …}`` and ``{"type": …, "source": …, "target": …}``, or of the names alone. Where an edge type does not say
what it joins, its name does: in ``ASSOCIATES_DaG`` the capitals before and after the verb stand for node types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ....errors import DataError
from ....signatures.graph_steps import Cutoff, EdgeType, GraphSchema, NodeType, PropertyType

SUFFIX = re.compile(r"_([A-Z]+)[a-z]+([A-Z]+)$")
IDENTIFIER = "identifier"
"""What SPOKE calls a node's id."""

ABBREVIATIONS: Mapping[str, str] = {
    "A": "Anatomy", "ACT": "AnatomyCellType", "BP": "BiologicalProcess", "C": "Compound", "CC": "CellularComponent",
    "CT": "CellType", "D": "Disease", "EC": "EC", "F": "Food", "G": "Gene", "KG": "Gene", "L": "Location",
    "M": "MiRNA", "MF": "MolecularFunction", "N": "Nutrient", "O": "Organism", "OG": "Gene", "P": "Protein",
    "PC": "PharmacologicClass", "PD": "ProteinDomain", "PF": "ProteinFamily", "PW": "Pathway", "R": "Reaction",
    "S": "Symptom", "SD": "SDoH", "SE": "SideEffect",
}  # fmt: skip
"""Node types by the capitals in SPOKE's edge names; ``KG`` is a gene knocked out, ``OG`` one overexpressed."""

HOUSEKEEPING = frozenset({"DatabaseTimestamp", "Version"})
"""Node types of SPOKE that hold no knowledge."""

_KINDS = {"float": "number", "int": "number", "integer": "number", "number": "number", "double": "number",
          "bool": "boolean", "boolean": "boolean"}  # fmt: skip


@dataclass(frozen=True)
class SchemaReading:
    """A schema, and what of its source was left out and why, one sentence each."""

    schema: GraphSchema
    left_out: tuple[str, ...] = ()


def looks_like_types(document: Mapping[str, Any]) -> bool:
    """Whether a document is of one of SPOKE's shapes and not of ours."""
    nodes = document["nodes"]
    if isinstance(nodes, Mapping):
        return True
    if not isinstance(nodes, list):
        return False
    return any(isinstance(node, str) or (isinstance(node, Mapping) and "label" in node) for node in nodes)


def read_types(document: Mapping[str, Any], where: str) -> SchemaReading:
    """The schema that a types document tells.

    Raises:
        DataError: an entry has no name.
        pydantic.ValidationError: what it tells is no schema.
    """
    nodes = {name: told for name, told in _entries(document["nodes"], "label", where) if name not in HOUSEKEEPING}
    edges = dict(_entries(document.get("edges", {}), "type", where))
    cutoffs = list(_cutoffs(document.get("cutoffs", ())))
    short = _abbreviations(nodes, edges)
    left_out: list[str] = []
    made = [_edge(name, told, short, nodes, cutoffs, left_out) for name, told in edges.items()]
    schema = GraphSchema(
        nodes=tuple(_node(name, told, cutoffs) for name, told in nodes.items()),
        edges=tuple(edge for edge in made if edge is not None),
    )
    return SchemaReading(schema, tuple(left_out))


def _entries(told: Any, key: str, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The name and the attributes of each entry, listed or in an object. Raises DataError if an entry has no name."""
    pairs = told.items() if isinstance(told, Mapping) else ((None, entry) for entry in told)
    for name, entry in pairs:
        if isinstance(entry, str) and name is None:
            name = entry
        entry = entry if isinstance(entry, Mapping) else {}
        name = name or entry.get(key) or entry.get("name")
        if not isinstance(name, str) or not name:
            raise DataError(f"{where}: an entry has no {key}")
        yield name, entry


def _abbreviations(nodes: Mapping[str, Any], edges: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Node types by their capitals in edge names: what edges that declare their ends show, else SPOKE's usual ones."""
    short = {capitals: kind for capitals, kind in ABBREVIATIONS.items() if kind in nodes}
    for name, told in edges.items():
        found = SUFFIX.search(name)
        if found and told.get("source") in nodes and told.get("target") in nodes:
            short |= {found[1]: told["source"], found[2]: told["target"]}
    return short


def _node(name: str, told: Mapping[str, Any], cutoffs: list[tuple[str, Any]]) -> NodeType:
    own = [*_cutoffs(told.get("cutoffs", ())), *(c for c in cutoffs if c[0].startswith(f"cutoff_{name}_"))]
    details = {**_details(told.get("properties", ())), **_cut_details(name, own)}
    fields = told.get("query_fields") or told.get("fields") or ("name", IDENTIFIER)
    fields = [fields] if isinstance(fields, str) else fields
    properties = tuple(p for p in details if p not in ("name", IDENTIFIER))
    return NodeType(
        name=name,
        description=str(told.get("description", "")),
        properties=properties,
        details=tuple(d for d in details.values() if d and d.name in properties),
        cutoffs=_made_cutoffs(name, own, details),
        query_fields=tuple("id" if field == IDENTIFIER else str(field) for field in fields),
        key=IDENTIFIER,
    )


def _edge(
    name: str,
    told: Mapping[str, Any],
    short: Mapping[str, str],
    nodes: Mapping[str, Any],
    cutoffs: list[tuple[str, Any]],
    left_out: list[str],
) -> EdgeType | None:
    found = SUFFIX.search(name)
    by_name = (short.get(found[1]), short.get(found[2])) if found else (None, None)
    source, target = told.get("source") or by_name[0], told.get("target") or by_name[1]
    if source not in nodes or target not in nodes:
        left_out.append(f"edge type {name}: neither the document nor its name says which node types it joins")
        return None
    tag = name.rpartition("_")[2]
    own = [*_cutoffs(told.get("cutoffs", ())), *(c for c in cutoffs if c[0].startswith(f"cutoff_{tag}_"))]
    details = {**_details(told.get("properties", ())), **_cut_details(tag, own)}
    return EdgeType(
        name=name,
        source=str(source),
        target=str(target),
        description=str(told.get("description", "")),
        properties=tuple(details),
        details=tuple(d for d in details.values() if d),
        cutoffs=_made_cutoffs(tag, own, details),
    )


def _details(told: Any) -> dict[str, PropertyType | None]:
    """Properties by name, with what is known of each; from a list of names or an object."""
    if not isinstance(told, Mapping):
        return {str(name): None for name in told}
    return {str(name): _detail(str(name), spec) for name, spec in told.items()}


def _detail(name: str, spec: Any) -> PropertyType | None:
    if isinstance(spec, str):
        spec = {"type": spec}
    if not isinstance(spec, Mapping):
        return None
    values = spec.get("values") or spec.get("enum")
    if values:
        return PropertyType(name=name, kind="enum", values=tuple(map(str, values)))
    if "type" not in spec:
        return None  # nothing is known of it, so nothing is refused
    kind: Any = _KINDS.get(str(spec["type"]).lower(), "text")
    low, high = spec.get("min", spec.get("minimum")), spec.get("max", spec.get("maximum"))
    bounds = {"minimum": low, "maximum": high} if kind == "number" else {}
    return PropertyType(name=name, kind=kind, description=str(spec.get("description", "")), **bounds)


def _cutoffs(told: Any) -> Iterator[tuple[str, Any]]:
    """(parameter's name, its description) of each cutoff."""
    if isinstance(told, Mapping):
        yield from ((str(name), spec) for name, spec in told.items())
    else:
        yield from ((str(c.get("name")), c) if isinstance(c, Mapping) else (str(c), {}) for c in told)


def _cut_property(tag: str, name: str, spec: Any) -> str:
    """The property that a cutoff parameter is about: ``phase`` for ``cutoff_CtD_phase``."""
    told = spec.get("property") if isinstance(spec, Mapping) else None
    return str(told or name.removeprefix("cutoff_").removeprefix(f"{tag}_"))


def _cut_details(tag: str, own: list[tuple[str, Any]]) -> dict[str, PropertyType | None]:
    return {(cut := _cut_property(tag, name, spec)): _detail(cut, spec) for name, spec in own}


def _made_cutoffs(
    tag: str, own: list[tuple[str, Any]], details: Mapping[str, PropertyType | None]
) -> tuple[Cutoff, ...]:
    """The cutoffs of a type: that of an enum lists the values to keep, that of a number is a lower bound."""
    made = []
    for name, spec in own:
        cut = _cut_property(tag, name, spec)
        told = details.get(cut)
        made.append(Cutoff(name=name, property=cut, op="in" if told and told.kind == "enum" else "ge"))
    return tuple(made)
