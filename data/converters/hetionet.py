"""Hetionet: a real biomedical graph, with the edge names that SPOKE shares. It has no questions."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import DataError
from ...signatures.types import EdgeType, GraphSchema, NodeType
from .base import Summary, open_card, unsaid
from .folder import DomainWriter, domain_writer
from .rowset import call_with_options, refuse
from .sources import Record, file_records, first_file, resolve_path

TERMS = "source-licenses.md"
NODES_MEAN = {
    "Anatomy": "an organ, tissue or part of the body",
    "BiologicalProcess": "a biological process that genes take part in",
    "CellularComponent": "a part of the cell",
    "Compound": "a drug, medicine, medication or compound",
    "Disease": "a disease, illness, disorder or condition",
    "Gene": "a human gene, and the protein it makes",
    "MolecularFunction": "what a gene's protein does: its molecular function or activity",
    "Pathway": "a biological pathway",
    "PharmacologicClass": "a class, group or family of drugs",
    "SideEffect": "an unwanted effect of a drug: a side effect, adverse reaction, harm or toxicity",
    "Symptom": "a symptom, sign or complaint by which a disease shows itself",
}
"""Questions are compared with these words: 86 of 120 were planned right with them, 83 with verbs alone."""
LESS, MORE = (
    "less active or turned down: lower, reduced expression",
    "more active or turned up: higher, raised expression",
)
EDGES_MEAN = {
    "AdG": f"in the organ or tissue the gene is {LESS}",
    "AeG": "the gene is active, expressed or made in this organ or tissue",
    "AuG": f"in the organ or tissue the gene is {MORE}",
    "CbG": "the compound acts on, binds, blocks or inhibits the gene's protein (its target)",
    "CcSE": "the compound can cause, trigger or lead to the side effect",
    "CdG": f"with the compound the gene is {LESS}",
    "CpD": "the compound only relieves, eases or soothes symptoms of the disease",
    "CrC": "the two compounds are alike in their structure",
    "CtD": "the compound is an established treatment, therapy or cure of the disease, beyond relief of its symptoms",
    "CuG": f"with the compound the gene is {MORE}",
    "DaG": "variants of the gene cause the disease or raise its risk",
    "DdG": f"in the disease the gene is {LESS}",
    "DlA": "the disease sits in, affects or damages this organ or tissue",
    "DpS": "the disease shows itself by, presents with or manifests as the symptom",
    "DrD": "the two diseases are alike: similar, resembling, mistaken for each other",
    "DuG": f"in the disease the gene is {MORE}",
    "GcG": "the two genes have changed together in evolution",
    "GiG": "the proteins of the two genes interact: they are physical binding partners",
    "GpBP": "the gene takes part in or has a role in the process",
    "GpCC": "the gene's protein sits in this part of the cell",
    "GpMF": "the gene's protein has this function or activity",
    "GpPW": "the gene takes part in, has a role in or is a member of the pathway",
    "Gr>G": "the first gene regulates, controls or switches the second",
    "PCiC": "the drug class includes the compound, which belongs to it as a member",
}


@dataclass(frozen=True)
class MetaEdge:
    """An edge type: the name in the published edges, the name in a graph database, and its ends."""

    short: str
    name: str
    source: str
    target: str
    description: str


class Hetionet:
    """A graph and its schema; node types and edges are called as in its graph database."""

    name = "hetionet"
    source = "https://github.com/hetio/hetionet (v1.0)"
    licence = f"CC0, with terms of each source, some non-commercial ({TERMS})"
    says: Mapping[str, str] = {}
    cannot_say = unsaid(says)

    def convert(self, source: Path | str | None, out: Path, **options: Any) -> Summary:
        """Convert nodes and edges.

        Options:
            edges: edge types to keep, as ``CtD`` or ``TREATS_CtD``; with them only the node types they join.
        """
        kept = call_with_options(self.name, _options, options)
        folder = resolve_path(source, self.name)
        labels = _node_labels(folder)
        types = _edge_types(folder, labels, kept)
        with domain_writer(Path(out)) as writer:
            _write_nodes(writer, folder, labels, _joined(types.values()) if kept else set(labels.values()))
            used = _write_edges(writer, folder, types, bool(kept))
            card = open_card(self.name, "Hetionet", ("how genes, diseases, compounds and anatomy hang together",))
            writer.card(card.model_copy(update={"graph": _schema(labels, used)}), self)
            if (folder / TERMS).is_file():
                shutil.copyfile(folder / TERMS, writer.folder / TERMS)
        return Summary(self.name, Path(out), nodes=len(writer.nodes), edges=writer.edges)


def _options(edges: Sequence[str] = ()) -> frozenset[str]:
    return frozenset([edges] if isinstance(edges, str) else edges)


def _node_labels(folder: Path) -> dict[str, str]:
    """Type in the published nodes (``Side Effect``): label in a graph database (``SideEffect``)."""
    records = file_records(first_file(folder, "neo4j-labels.tsv"))
    return {record.text("metanode"): record.text("label") for record in records}


def _edge_types(folder: Path, labels: Mapping[str, str], kept: frozenset[str]) -> dict[str, MetaEdge]:
    """Edge types by their short name."""
    names = {r.text("metaedge"): r.text("rel_type") for r in file_records(first_file(folder, "neo4j-types.tsv"))}
    records = file_records(first_file(folder, "metaedges.tsv"))
    types = {edge.short: edge for record in records if (edge := _meta_edge(record, names, labels))}
    unknown = sorted(kept - {name for edge in types.values() for name in (edge.short, edge.name)})
    if unknown:
        raise DataError(f"edges: there is no type {', '.join(unknown)}; use some of {', '.join(sorted(types))}")
    return {short: edge for short, edge in types.items() if not kept or {short, edge.name} & kept}


def _meta_edge(record: Record, names: Mapping[str, str], labels: Mapping[str, str]) -> MetaEdge:
    said = record.text("metaedge")
    # `Disease - associates - Gene`, or with `>` where the direction counts.
    parts = [part.strip() for part in said.replace(" > ", " - ").split(" - ")]
    if len(parts) != 3 or said not in names or not {parts[0], parts[2]} <= set(labels):
        raise record.error(f"metaedge: {said!r} is not `type - verb - type` of known types, or has no rel_type")
    source, verb, target = parts
    short = record.text("abbreviation")
    words = EDGES_MEAN.get(short, f"{source.lower()} {verb} {target.lower()}")
    return MetaEdge(short, names[said], labels[source], labels[target], words)


def _write_nodes(writer: DomainWriter, folder: Path, labels: Mapping[str, str], wanted: set[str]) -> None:
    for record in file_records(first_file(folder, "nodes.jsonl", "hetionet-v1.0-nodes.tsv")):
        kind = record.text("kind")
        if kind not in labels:
            raise record.error(f"kind: {kind!r} is none of {', '.join(labels)}")
        if labels[kind] in wanted:
            _told(record, writer.node, record.text("id"), record.text("name"), labels[kind])


def _write_edges(writer: DomainWriter, folder: Path, types: Mapping[str, MetaEdge], some: bool) -> list[MetaEdge]:
    """Write the edges; the types that have any."""
    used: dict[str, MetaEdge] = {}
    for record in file_records(first_file(folder, "edges.tsv", "hetionet-v1.0-edges.sif")):
        short = record.text("metaedge")
        if short in types:
            used[short] = types[short]
            _told(record, writer.edge, record.text("source"), types[short].name, record.text("target"))
        elif not some:
            raise record.error(f"metaedge: {short!r} is none of {', '.join(types)}")
    return sorted(used.values(), key=lambda edge: edge.name)


def _told(record: Record, write: Any, *values: str) -> None:
    try:
        write(*values)
    except DataError as error:
        refuse(record, str(error))


def _joined(edges: Any) -> set[str]:
    return {kind for edge in edges for kind in (edge.source, edge.target)}


def _schema(labels: Mapping[str, str], used: Sequence[MetaEdge]) -> GraphSchema:
    joined = _joined(used)
    nodes = tuple(
        NodeType(name=label, description=NODES_MEAN.get(label, "")) for label in labels.values() if label in joined
    )
    return GraphSchema(nodes=nodes, edges=tuple(_declared(used)))


def _declared(used: Sequence[MetaEdge]) -> Iterator[EdgeType]:
    return (EdgeType(name=e.name, source=e.source, target=e.target, description=e.description) for e in used)
