"""MetaQA: questions of one, two and three hops over a graph of films, with the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ...errors import DataError
from ...signatures.types import AnchorStep, EdgeType, ExpandStep, GraphPlan, GraphSchema, GraphStep, NodeRef, NodeType
from ..card import DomainCard
from ..rows import Gold, LabelledRow
from .base import Summary, labels, open_card, unsaid
from .folder import DomainWriter, domain_writer
from .rowset import LeftOut, RowReader, by_conversation, call_with_options, check_split, draw, write_record
from .sources import Record, file_records, first_file, numbered_lines, resolve_path

AMBIGUOUS = "the topic's name differs from another's in case alone"

# relation upstream: what it leads to from a film; as an edge it is written in capitals.
RELATIONS = {
    "directed_by": "Person",
    "written_by": "Person",
    "starred_actors": "Person",
    "release_year": "Year",
    "in_language": "Language",
    "has_genre": "Genre",
    "has_tags": "Tag",
    "has_imdb_rating": "Rating",
    "has_imdb_votes": "Votes",
}
FILM = "Film"
_DIRECTIONS = {"forward": "out", "inverse": "in"}
# Nothing of a question type that is held out is trained on; the test is made of those types alone.
_WITHOUT_TEST = (("train", 70), ("dev", 18), ("calibrate", 12))


class MetaQa:
    """Graph plans with their answers, and the graph they run on."""

    name = "metaqa"
    source = "https://github.com/yuyuz/MetaQA (dev, and kb.txt)"
    licence = "CC BY 3.0"
    says = {
        "entities": "the topic entity that the set marks in the question",
        "gold.graph_plan": "the set's path of relations; the topic entity is taken out after the second hop",
        "gold.answers": "the set's answers, sorted",
    }
    cannot_say = unsaid(says, complexity="always simple; the hops are a tag")

    def _reader(self, names: Callable[[str, str], int], hold_out: Sequence[str] = ()) -> RowReader:
        """Rows from questions; ``names`` tells how many nodes of a type have a name, case aside."""
        held = frozenset([hold_out] if isinstance(hold_out, str) else hold_out)

        def split(record: Record, row: LabelledRow) -> str:
            if not held:
                return by_conversation(record, row)
            return "test" if record.text("qtype") in held else draw(row.conversation, _WITHOUT_TEST)

        return RowReader(_card(), lambda record: _row(record, names), split)

    def convert(self, source: Path | str | None, out: Path, *, split: str | None = None, **options: Any) -> Summary:
        """Convert the graph, then the questions over it.

        Options:
            hops: which of 1, 2, 3 to read.
            hold_out: question types that make up the test split alone; templates repeat inside a type.
        """
        check_split(split)
        hops, held = call_with_options(self.name, _options, options)
        folder = resolve_path(source, self.name)
        with domain_writer(Path(out)) as writer:
            names = _write_graph(writer, first_file(folder, "kb.txt"))
            reader = self._reader(lambda kind, name: names.get((kind, name.casefold()), 0), held)
            seen = set()
            for record in _questions(folder, hops):
                seen.add(record.value("qtype"))
                write_record(writer, reader, record, split)
            _check_held(held, seen)
            writer.card(reader.card, self)
        return Summary(self.name, Path(out), dict(writer.rows), dict(writer.left_out), len(writer.nodes), writer.edges)


def _options(hops: Sequence[int] = (1, 2, 3), hold_out: Sequence[str] = ()) -> tuple[Sequence[int], tuple[str, ...]]:
    if not hops or not set(hops) <= {1, 2, 3}:
        raise DataError(f"hops: give some of 1, 2 and 3, not {list(hops)}")
    return hops, (hold_out,) if isinstance(hold_out, str) else tuple(hold_out)


def _check_held(held: Sequence[str], seen: set[str]) -> None:
    unknown = sorted(set(held) - seen)
    if unknown:
        raise DataError(f"hold_out: no question has the type {', '.join(unknown)}; there are {', '.join(sorted(seen))}")


def _questions(folder: Path, hops: Sequence[int]) -> Iterator[Record]:
    for hop in sorted(set(hops)):
        files = sorted(folder.glob(f"{hop}hop*.jsonl*"))
        if not files:
            raise DataError(f"the folder {folder} has no {hop}hop*.jsonl, plain or gzipped")
        for file in files:
            yield from file_records(file)


def _write_graph(writer: DomainWriter, path: Path) -> dict[tuple[str, str], int]:
    """Write nodes and edges; how many nodes share a type and a name but for case."""
    names: dict[tuple[str, str], int] = {}

    def node(kind: str, name: str) -> str:
        node_id = f"{kind}::{name}"
        if node_id not in writer.nodes:
            writer.node(node_id, name, kind)
            key = (kind, name.casefold())
            names[key] = names.get(key, 0) + 1
        return node_id

    for number, line in numbered_lines(path):
        parts = line.split("|")
        if len(parts) != 3 or parts[1] not in RELATIONS or not all(parts):
            raise DataError(f"{path.name}:{number}: expected film|relation|value, got {line!r:.80}")
        film, relation, value = parts
        writer.edge(node(FILM, film), relation.upper(), node(RELATIONS[relation], value))
    return names


def _row(record: Record, names: Callable[[str, str], int]) -> LabelledRow | LeftOut:
    plan, topic = graph_plan(record), record.text("topic_entity")
    anchor = plan.steps[0]
    if isinstance(anchor, AnchorStep) and names(anchor.node.type, topic) > 1:
        return LeftOut(AMBIGUOUS)
    query, row_id = record.text("question"), record.text("id")
    return LabelledRow(
        id=row_id,
        conversation=row_id,
        turn=1,
        query=query,
        labels=labels(query, entities=(topic,)),
        tags=(f"hops:{len(plan.steps) - 1}", f"qtype:{record.text('qtype')}"),
        gold=Gold(graph_plan=plan, answers=tuple(sorted(record.list("answers")))),
    )


def graph_plan(record: Record) -> GraphPlan:
    """The set's path as a plan: anchor, then one expansion a hop, the topic taken out after the second."""
    hops = [_hop(record, number, hop) for number, hop in enumerate(record.list("plan", dict))]
    if not hops:
        raise record.error("plan: expected at least one hop")
    first = _ends(*hops[0])[0]
    steps: list[GraphStep] = [AnchorStep(node=NodeRef(name=record.text("topic_entity"), type=first), store_as="topic")]
    for place, (relation, direction) in enumerate(hops, 1):
        # Only nodes of one type can be the topic again; a checker refuses to exclude any other.
        back = place == 2 and _ends(relation, direction)[1] == first
        exclude = ("topic",) if back else ()
        start, store = steps[-1].store_as, f"hop{place}"
        step = {"start": start, "edge": relation.upper(), "direction": direction, "exclude": exclude}
        steps.append(ExpandStep.model_validate({**step, "store_as": store}))
    return GraphPlan(steps=tuple(steps))


def _hop(record: Record, number: int, hop: dict[str, Any]) -> tuple[str, str]:
    relation, direction = hop.get("relation"), hop.get("direction")
    if relation not in RELATIONS or direction not in _DIRECTIONS:
        raise record.error(f"plan.{number}: expected a relation ({', '.join(RELATIONS)}) and a direction")
    return relation, _DIRECTIONS[direction]


def _ends(relation: str, direction: str) -> tuple[str, str]:
    """The types that a hop leads from and to."""
    value = RELATIONS[relation]
    return (FILM, value) if direction == "out" else (value, FILM)


def _card() -> DomainCard:
    kinds = dict.fromkeys((FILM, *RELATIONS.values()))
    edges = tuple(
        EdgeType(name=relation.upper(), source=FILM, target=kind, description=f"film {relation.replace('_', ' ')} X")
        for relation, kind in RELATIONS.items()
    )
    schema = GraphSchema(nodes=tuple(NodeType(name=kind) for kind in kinds), edges=edges)
    covers = ("films: who directed, wrote and acted in them, their years, languages, genres, tags and ratings",)
    return open_card("metaqa", "MetaQA", covers, graph=schema)
