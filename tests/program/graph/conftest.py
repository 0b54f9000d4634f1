"""A small graph whose names try to be code, in memory and in a database; and a SPOKE-compatible server."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.eval.graph.plan_generator import PlanGenerator
from queryplan.program.graph.exchange.importing import import_graph
from queryplan.program.graph.executors.conditions import lookup_key
from queryplan.program.graph.executors.ladybug import LadybugGraph, open_ladybug
from queryplan.program.graph.executors.memory import MemoryGraph, load_graph
from queryplan.signatures.graph_steps import GraphPlan, GraphSchema

AWKWARD = (
    'O\'Brien "the" drug',
    "50/50 mix?x=1&y=2#z",
    "100% pure %2F %00",
    "x'}) DETACH DELETE n //",
    "`back` quotes``",
    "line\u2028end\u2029s",
    "tab\tand\nnew line",
    "{r0.name} $ids $p0",
    "STRASSE",
    "straße",
    "İstanbul",
    "ΌΔΟΣ",
    "naïve café",
    "漢字",
    "..",
    "a\\b\\'",
)

SCHEMA = GraphSchema.model_validate(
    {
        "nodes": [
            {
                "name": "Drug",
                "properties": ["year", "brand", "sold", "form"],
                "details": [
                    {"name": "year", "kind": "number", "minimum": 1900, "maximum": 2100},
                    {"name": "sold", "kind": "boolean"},
                    {"name": "form", "kind": "enum", "values": ["pill", "gel"]},
                ],
            },
            {"name": "Side Effect", "description": "an unwanted effect", "properties": ["weight"]},
            {"name": "Gène"},
        ],
        "edges": [
            {"name": "CAUSES", "source": "Drug", "target": "Side Effect", "properties": ["rate", "note"]},
            {"name": "MAY CAUSE", "source": "Drug", "target": "Side Effect", "properties": ["rate"]},
            {"name": "BINDS", "source": "Drug", "target": "Gène"},
            {"name": "RESEMBLES", "source": "Drug", "target": "Drug", "properties": ["score"]},
        ],
    }
)


def write_awkward(folder: Path) -> tuple[Path, Path]:
    """Nodes and edges of the small graph as files; some drugs share a name, some edges are there twice."""
    drawn = random.Random(7)
    (folder / "graph").mkdir(parents=True)
    drugs = [f"d{n}" for n in range(24)]
    effects, genes = [f"s{n}" for n in range(12)], [f"g{n}" for n in range(8)]
    with (folder / "graph" / "nodes.jsonl").open("w", encoding="utf-8") as file:
        for n, node in enumerate(drugs):
            told: dict[str, Any] = {"id": node, "name": AWKWARD[n % len(AWKWARD)], "type": "Drug"}
            told |= {"year": 1950 + 3 * (n % 9), "sold": n % 3 == 0} if n % 5 else {}
            told |= {"brand": AWKWARD[-n % len(AWKWARD)]} if n % 4 else {"brand": None}
            file.write(json.dumps(told | ({"form": ("pill", "gel")[n % 2]} if n % 7 else {})) + "\n")
        for n, node in enumerate(effects):
            file.write(json.dumps({"id": node, "name": f"effect {n}", "type": "Side Effect", "weight": n / 4}) + "\n")
        for n, node in enumerate(genes):
            file.write(json.dumps({"id": node, "name": AWKWARD[n].upper(), "type": "Gène"}) + "\n")
    rows = [("CAUSES", d, s, drawn.choice(("", "0.5", "1")), drawn.choice(("", "often", "Selten")))
            for d in drugs for s in drawn.sample(effects, 3)]  # fmt: skip
    rows += [("MAY CAUSE", d, s, str(n / 10), "") for n, d in enumerate(drugs) for s in drawn.sample(effects, 2)]
    rows += [("BINDS", d, g, "", "") for d in drugs for g in drawn.sample(genes, 2)]
    rows += [("RESEMBLES", d, drawn.choice(drugs), "", "") for d in drugs for _ in range(3)]
    lines = ["source\tedge\ttarget\trate\tnote\tscore"]
    for edge, source, target, rate, note in rows:
        score = f"{drawn.randint(0, 10) / 10}" if edge == "RESEMBLES" else ""
        lines.append("\t".join((source, edge, target, rate, note, score)))
    (folder / "graph" / "edges.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "graph" / "nodes.jsonl", folder / "graph" / "edges.tsv"


@pytest.fixture(scope="session")
def awkward_schema() -> GraphSchema:
    """The schema of the small graph."""
    return SCHEMA


@pytest.fixture(scope="session")
def awkward_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The small graph as files."""
    return write_awkward(tmp_path_factory.mktemp("awkward"))


@pytest.fixture(scope="session")
def awkward_memory(awkward_files: tuple[Path, Path]) -> MemoryGraph:
    """The small graph in memory."""
    return load_graph(awkward_files[0].parent.parent, SCHEMA)


@pytest.fixture(scope="session")
def awkward_file(awkward_files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small graph as a database file."""
    out = tmp_path_factory.mktemp("db") / "awkward.lbug"
    import_graph(*awkward_files, SCHEMA, out)
    return out


@pytest.fixture(scope="session")
def awkward_database(awkward_file: Path) -> Iterator[LadybugGraph]:
    """The small graph in a database."""
    opened = open_ladybug(awkward_file)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def generator(awkward_memory: MemoryGraph) -> Callable[[int], PlanGenerator]:
    """Makers of plans over the small graph, by seed."""
    return lambda seed: plan_generator(awkward_memory, seed)


def plan_generator(graph: MemoryGraph, seed: int) -> PlanGenerator:
    """A maker of plans over a graph in memory, with the values that it has."""
    values: dict[tuple[str, str], list[Any]] = {}
    names: dict[str, list[str]] = {node.name: [] for node in graph.schema.nodes}
    for told in graph.nodes.values():
        names[told["type"]].append(told["name"])
        for key, value in told.items():
            if key not in ("id", "name", "type") and value is not None:
                values.setdefault((told["type"], key), []).append(value)
    for (edge, direction, _), joined in graph._edges.items():
        if direction == "out":
            for properties in (p for edges in joined.values() for p in edges):
                for key, value in properties.items():
                    values.setdefault((edge, key), []).append(value)
    return PlanGenerator(graph.schema, names, values, random.Random(seed))


@pytest.fixture(scope="session")
def biomedical() -> MemoryGraph:
    """The shipped biomedical graph."""
    folder = domain_folder("biomedical")
    return load_graph(folder, load_card(folder).graph)


@pytest.fixture
def make_plan() -> Callable[..., GraphPlan]:
    """A plan of steps given as dictionaries."""
    return lambda *steps: GraphPlan.model_validate({"steps": steps})


Fault = Callable[[BaseHTTPRequestHandler], bool]


class SpokeServer:
    """Serves a graph in memory as SPOKE does: neighbourhoods as a list of nodes and edges.

    Attributes:
        calls: (path, query) of every call that came.
        fault: called first with the handler; if it returns True, it has answered.
        delay: seconds before each answer.
        page: rows of one page; further pages are linked.
    """

    def __init__(self, graph: MemoryGraph) -> None:
        self.graph = graph
        self.calls: list[tuple[str, dict[str, list[str]]]] = []
        self.fault: Fault | None = None
        self.delay = 0.0
        self.page: int | None = None
        self.under_way, self.most_at_once = 0, 0
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def root(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def close(self) -> None:
        """Stop serving."""
        self._http.shutdown()
        self._http.server_close()

    def types(self) -> dict[str, Any]:
        """What ``/api/v1/types`` answers."""
        nodes = {n.name: {"properties": [*n.properties, "name", "identifier"]} for n in self.graph.schema.nodes}
        edges = {
            e.name: {"source": e.source, "target": e.target, "properties": list(e.properties)}
            for e in self.graph.schema.edges
        }
        return {"nodes": nodes, "edges": edges}

    def neighbourhood(self, kind: str, field: str, value: str, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        """Nodes and edges around all nodes of a type with a property's value."""
        field = {"identifier": "id"}.get(field, field)
        centres = [
            node
            for node, told in self.graph.nodes.items()
            if told["type"] == kind and told.get(field) is not None and lookup_key(told[field]) == lookup_key(value)
        ]
        rows: dict[str, dict[str, Any]] = {node: self._node(node) for node in centres}
        kinds = query.get("node_filters", [n.name for n in self.graph.schema.nodes])
        for edge in query.get("edge_filters", [e.name for e in self.graph.schema.edges]):
            for direction in ("out", "in"):
                for node in centres:
                    for other, edges in self.graph.joined(node, edge, direction).items():
                        if self.graph.nodes[other]["type"] in kinds:
                            rows[other] = self._node(other)
                            ends = (node, other) if direction == "out" else (other, node)
                            for n, told in enumerate(edges):
                                rows[f"{edge} {ends} {n}"] = self._edge(edge, ends, told)
        return list(rows.values())

    def _node(self, node: str) -> dict[str, Any]:
        told = {k: v for k, v in self.graph.nodes[node].items() if k not in ("id", "type") and v is not None}
        kind = self.graph.nodes[node]["type"]
        return {"data": {"id": self._number(node), "neo4j_type": kind, "properties": {**told, "identifier": node}}}

    def _edge(self, edge: str, ends: tuple[str, str], told: Any) -> dict[str, Any]:
        source, target = map(self._number, ends)
        return {"data": {"id": 1, "source": source, "target": target, "neo4j_type": edge, "properties": dict(told)}}

    def _number(self, node: str) -> int:
        return list(self.graph.nodes).index(node)

    def _answer(self, handler: BaseHTTPRequestHandler) -> tuple[int, Any, dict[str, str]]:
        url = urlsplit(handler.path)
        query = parse_qs(url.query)
        self.calls.append((url.path, query))
        parts = [unquote(part) for part in url.path.split("/")]
        if parts[1:] == ["api", "v1", "types"]:
            return 200, self.types(), {}
        if parts[1:4] != ["api", "v1", "neighborhood"] or len(parts) != 7:
            return 400, {"error": "no such call"}, {}
        rows = self.neighbourhood(parts[4], parts[5], parts[6], query)
        if self.page is None:
            return 200, rows, {}
        at = int(query.get("offset", ["0"])[0])
        more = f"{url.path}?{url.query.split('&offset=')[0]}&offset={at + self.page}"
        link = {"Link": f'<{more}>; rel="next"'} if at + self.page < len(rows) else {}
        return 200, rows[at : at + self.page], link

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.counted = True
                with server._lock:
                    server.under_way += 1
                    server.most_at_once = max(server.most_at_once, server.under_way)
                try:
                    time.sleep(server.delay)
                    if server.fault is None or not server.fault(self):
                        status, answer, headers = server._answer(self)
                        self.reply(status, json.dumps(answer).encode(), headers)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the client has heard enough
                finally:
                    self.ended()

            def ended(self) -> None:
                """Under way no more. Once the client has the answer it may call again, so this comes before."""
                with server._lock:
                    server.under_way -= self.counted
                    self.counted = False

            def reply(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.ended()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                """Silent."""

        return Handler


@pytest.fixture
def spoke(biomedical: MemoryGraph) -> Iterator[SpokeServer]:
    """The biomedical graph served on loopback."""
    served = SpokeServer(biomedical)
    yield served
    served.close()


@pytest.fixture
def spoke_of() -> Iterator[Callable[[MemoryGraph], SpokeServer]]:
    """Serve any graph on loopback."""
    served: list[SpokeServer] = []

    def serve(graph: MemoryGraph) -> SpokeServer:
        served.append(SpokeServer(graph))
        return served[-1]

    yield serve
    for server in served:
        server.close()


# --- what planners learn from


@pytest.fixture(scope="session")
def lesson_source() -> Any:
    """One lesson as a labelled domain."""
    from queryplan.data.graph_lessons import LESSONS, read_lesson
    from queryplan.program.graph.learning.learning import shipped_common, source_of_lesson

    return source_of_lesson(read_lesson(LESSONS / "garden.toml"), shipped_common())


@pytest.fixture(scope="session")
def taught(lesson_source: Any) -> Any:
    """What one lesson teaches of any schema; a second."""
    from queryplan.program.graph.learning.learning import learn_shared, shipped_common
    from queryplan.program.graph.values import values_of
    from queryplan.program.heads.encoder import default_encoder

    return learn_shared([(lesson_source, values_of(lesson_source.schema))], shipped_common(), default_encoder())
