"""The REST executor against a SPOKE-compatible server on loopback, well and badly behaved."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from queryplan.errors import DataError
from queryplan.eval.graph.agreement import agreement
from queryplan.eval.graph.plan_generator import PlanGenerator, generator_for
from queryplan.program.graph.executor import GraphAnswer, execute_graph, open_graph
from queryplan.program.graph.executors.memory import MemoryGraph
from queryplan.program.graph.executors.rest import SpokeGraph, cutoff_parameters, open_spoke
from queryplan.program.graph.executors.rest_client import decoded
from queryplan.signatures.graph_steps import Condition, EdgeType, GraphPlan, NodeRef

ASTHMA = {"kind": "anchor", "store_as": "a", "node": {"name": "asthma", "type": "Disease"}}
DRUGS = {"kind": "expand", "store_as": "b", "start": "a", "edge": "TREATS_CtD", "direction": "in"}
EFFECTS = {"kind": "expand", "store_as": "c", "start": "b", "edge": "CAUSES_CcSE", "direction": "out"}


def plan(*steps: Any) -> GraphPlan:
    return GraphPlan.model_validate({"steps": steps})


ONE, TWO = plan(ASTHMA, DRUGS), plan(ASTHMA, DRUGS, EFFECTS)


@pytest.fixture
def graph(spoke: Any) -> Iterator[SpokeGraph]:
    """The server's graph, found through its types document; impatient."""
    opened = open_spoke(spoke.root, timeout_s=2.0, attempts=2)
    yield opened
    opened.close()


def test_the_server_tells_its_schema(graph: SpokeGraph, biomedical: MemoryGraph) -> None:
    ours = biomedical.schema
    assert [n.name for n in graph.schema.nodes] == [n.name for n in ours.nodes]
    assert [(e.name, e.source, e.target) for e in graph.schema.edges] == [
        (e.name, e.source, e.target) for e in ours.edges
    ]
    assert list(graph.names()) == []
    assert len(graph.fingerprint) == 16


def test_an_anchor_and_its_step_are_one_call(graph: SpokeGraph, spoke: Any, biomedical: MemoryGraph) -> None:
    spoke.calls.clear()
    assert execute_graph(ONE, graph).names == execute_graph(ONE, biomedical).names != ()
    ((path, query),) = spoke.calls
    assert path == "/api/v1/neighborhood/Disease/name/asthma"
    assert query == {"edge_filters": ["TREATS_CtD"], "node_filters": ["Disease", "Compound"]}


def test_a_second_step_is_a_call_for_each_node(graph: SpokeGraph, spoke: Any, biomedical: MemoryGraph) -> None:
    spoke.calls.clear()
    answer = execute_graph(TWO, graph, paths=True)
    assert answer.names == execute_graph(TWO, biomedical).names
    assert len(spoke.calls) == 1 + len(execute_graph(ONE, biomedical).names)
    assert all(path[:2] == ("asthma", "TREATS_CtD") for path in answer.paths)


def test_generated_plans_answer_as_the_shipped_graph_does(graph: SpokeGraph, biomedical: MemoryGraph) -> None:
    made: PlanGenerator = generator_for(biomedical, 11)
    found = agreement(biomedical, graph, (made.plan(2) for _ in range(40)))
    assert found.disagreements == ()
    assert (found.gaps, found.plans) == (0, 40)


def test_cutoffs_go_to_the_server_and_are_tested_here_too(spoke: Any, biomedical: MemoryGraph) -> None:
    told = biomedical.schema.model_dump()
    for edge in told["edges"]:
        if edge["name"] == "ASSOCIATES_DaG":
            edge["cutoffs"] = [{"name": "cutoff_DaG_score", "property": "score"}]
    for node in told["nodes"]:
        node["key"] = "identifier"
    graph = open_graph(spoke.root, biomedical.schema.model_validate(told))
    steps = plan(ASTHMA, {"kind": "expand", "store_as": "g", "start": "a", "edge": "ASSOCIATES_DaG", "direction": "out",
                          "where": [{"property": "score", "op": "ge", "value": 0.5}]})  # fmt: skip
    spoke.calls.clear()
    assert execute_graph(steps, graph).names == execute_graph(steps, biomedical).names
    assert spoke.calls[0][1]["cutoff_DaG_score"] == ["0.5"]
    graph.close()


@pytest.mark.parametrize(
    ("value", "sent"), [(0.5, "0.5"), (5.0, "5"), (5, "5"), (1234567.5, "1234567.5"), (0.1234567, "0.1234567")]
)
def test_a_cutoff_is_sent_as_it_is(value: float, sent: str) -> None:
    edge = EdgeType.model_validate(
        {"name": "E", "source": "A", "target": "B", "properties": ["p"], "cutoffs": [{"name": "cut", "property": "p"}]}
    )
    assert cutoff_parameters(edge, Condition(property="p", op="ge", value=value)) == [("cut", sent)]


def test_an_unknown_node_is_unknown_and_not_an_error(graph: SpokeGraph) -> None:
    answer = execute_graph(plan({**ASTHMA, "node": {"name": "nonesuch", "type": "Disease"}}, DRUGS), graph)
    assert (answer.names, answer.gaps) == ((), ())
    assert answer.degraded == ("the graph has no Disease whose name is 'nonesuch'",)
    assert graph.find(NodeRef(name="nonesuch", type="Disease")) == []
    assert graph.find(NodeRef(name="Asthma", type="Disease")) != []


def test_an_ill_typed_plan_is_not_sent(graph: SpokeGraph, spoke: Any) -> None:
    spoke.calls.clear()
    assert graph.run(plan(ASTHMA, {**DRUGS, "direction": "out"})).gaps
    assert spoke.calls == []


def test_pages_are_followed(graph: SpokeGraph, spoke: Any, biomedical: MemoryGraph) -> None:
    spoke.page = 2
    answer = execute_graph(TWO, graph)
    assert (answer.names, answer.cut) == (execute_graph(TWO, biomedical).names, ())


# --- limits


def limited(spoke: Any, **limits: Any) -> GraphAnswer:
    graph = open_spoke(spoke.root, **limits)
    answer = execute_graph(TWO, graph)
    graph.close()
    return answer


def test_the_fan_out_is_capped_and_said(spoke: Any, biomedical: MemoryGraph) -> None:
    drugs = len(execute_graph(ONE, biomedical).names)
    spoke.calls.clear()
    answer = limited(spoke, fan_out=2)
    assert answer.cut == (f"step 'c': {drugs} nodes were to be asked about and the first 2 were",)
    assert len([path for path, _ in spoke.calls if "neighborhood" in path]) == 3


def test_rows_and_pages_are_capped_and_said(spoke: Any) -> None:
    assert "only the first 2 rows were read" in limited(spoke, rows=2).cut[0]
    spoke.page = 1
    assert "only the first 2 pages were read" in limited(spoke, pages=2).cut[0]


def test_no_more_calls_at_once_than_allowed(spoke: Any) -> None:
    spoke.delay = 0.03
    limited(spoke, concurrency=2)
    assert spoke.most_at_once == 2


def test_a_limit_that_is_none_is_refused(spoke: Any) -> None:
    with pytest.raises(DataError, match="rows must be above zero"):
        open_spoke(spoke.root, rows=0)
    with pytest.raises(DataError, match="has no option speed"):
        open_spoke(spoke.root, speed=1)
    with pytest.raises(DataError, match="can be set for a server only"):
        open_graph("biomedical", rows=3)


# --- servers that misbehave


def failing(times: int, status: int) -> Any:
    left = [times]

    def fault(handler: Any) -> bool:
        left[0] -= 1
        if left[0] >= 0:
            handler.reply(status, b'{"error": "out of order"}')
        return left[0] >= 0

    return fault


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_fault_is_tried_again(graph: SpokeGraph, spoke: Any, biomedical: MemoryGraph, status: int) -> None:
    spoke.fault = failing(1, status)
    answer = execute_graph(ONE, graph)
    assert (answer.names, answer.gaps) == (execute_graph(ONE, biomedical).names, ())


def test_a_lasting_fault_is_a_gap_after_so_many_tries(graph: SpokeGraph, spoke: Any) -> None:
    spoke.calls.clear()
    spoke.fault = failing(99, 500)
    answer = execute_graph(ONE, graph)
    assert answer.names == ()
    assert answer.gaps == (f"{spoke.root} did not answer for Disease 'asthma': status 500",)


def test_a_refusal_is_not_tried_again(graph: SpokeGraph, spoke: Any) -> None:
    asked = []

    def refuse(handler: Any) -> bool:
        asked.append(1)
        handler.reply(403, b"no")
        return True

    spoke.fault = refuse
    assert "refused the call for Disease 'asthma': status 403" in execute_graph(ONE, graph).gaps[0]
    assert len(asked) == 1


def test_a_redirect_is_not_followed(graph: SpokeGraph, spoke: Any) -> None:
    def elsewhere(handler: Any) -> bool:
        handler.reply(302, b"", {"Location": "http://127.0.0.1:9/secret"})
        return True

    spoke.fault = elsewhere
    assert "status 302" in execute_graph(ONE, graph).gaps[0]


def test_a_page_on_another_server_is_not_asked_for(graph: SpokeGraph, spoke: Any) -> None:
    def linked(handler: Any) -> bool:
        handler.reply(200, b"[]", {"Link": '<http://127.0.0.1:9/more>; rel="next"'})
        return True

    spoke.fault = linked
    assert "was on another server" in execute_graph(ONE, graph).cut[0]


def test_some_failures_leave_the_rest_of_the_answer(graph: SpokeGraph, spoke: Any, biomedical: MemoryGraph) -> None:
    bad = sorted(biomedical.run(ONE).ids)[0]

    def fault(handler: Any) -> bool:
        if bad.split("::")[-1] in handler.path:
            handler.reply(400, b"no")
            return True
        return False

    spoke.fault = fault
    answer = execute_graph(TWO, graph)
    drugs = len(biomedical.run(ONE).ids)
    assert answer.gaps[0].startswith(f"step 'c': 1 of {drugs} calls failed, the first: ")
    assert set(answer.names) <= set(biomedical.run(TWO).names)


def test_an_answer_that_cannot_be_unpacked_is_a_gap(graph: SpokeGraph, spoke: Any) -> None:
    def garbled(handler: Any) -> bool:
        handler.reply(200, b"no gzip at all", {"Content-Encoding": "gzip"})
        return True

    spoke.fault = garbled
    assert "did not answer for Disease 'asthma'" in execute_graph(ONE, graph).gaps[0]


def raw(body: bytes, length: int | None = None) -> Any:
    def fault(handler: Any) -> bool:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body) if length is None else length))
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(body)
        handler.close_connection = True
        return True

    return fault


ROW = json.dumps({"data": {"id": 1, "neo4j_type": "Disease", "properties": {"identifier": "x", "name": "x"}}}).encode()


@pytest.mark.parametrize(
    ("body", "length", "said"),
    [
        (b"[" + ROW + b"," + ROW[:20], None, "ends in the middle"),
        (b"[" + ROW, None, "ends in the middle"),
        (b"[" + ROW, 5_000, "peer closed connection"),
        (b"", None, "the answer is empty"),
        (b'{"message": "sorry"}', None, "the answer is no JSON list"),
        (b"<html>down for lunch</html>", None, "the answer is no JSON list"),
        (b"[1, 2]", None, "a row of the answer is no node or edge"),
        (b'["' + b"a" * 100 + b"]", None, "ends in the middle"),
        (b"[" + ROW + b" " + ROW + b"]", None, "the answer is no JSON"),
        (b"[" + b'{"data":' * 50_000, None, "nested too deeply"),
        (b"\xff\xfe[", None, "the answer is no JSON list"),
        (b"[" + ROW.replace(b'"id": 1', b'"id": [1]') + b"]", None, "a row of the answer is no node or edge"),
        (b'[{"data": {"source": {"a": 1}, "target": 2, "neo4j_type": "X"}}]', None, "is no node or edge"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_a_gap(
    graph: SpokeGraph, spoke: Any, body: bytes, length: int | None, said: str
) -> None:
    spoke.fault = raw(body, length)
    answer = execute_graph(ONE, graph)
    assert answer.names == ()
    assert said in answer.gaps[0]


def test_a_page_whose_address_cannot_be_read_leaves_the_answer_cut(graph: SpokeGraph, spoke: Any) -> None:
    def linked(handler: Any) -> bool:
        handler.reply(200, b"[" + ROW + b"]", {"Link": '<http://127.0.0.1:port/>; rel="next"'})
        return True

    spoke.fault = linked
    assert "a further page could not be read" in execute_graph(ONE, graph).cut[0]


def test_an_answer_may_begin_with_a_byte_order_mark() -> None:
    assert [row["id"] for row in decoded([b"\xef\xbb\xbf[" + ROW, b"]"])] == [1]


def test_an_edge_without_an_end_joins_nothing(graph: SpokeGraph, spoke: Any) -> None:
    nameless = ROW.replace(b'"id": 1, ', b"")
    edge = b'{"data": {"source": null, "target": null, "neo4j_type": "TREATS_CtD", "properties": {}}}'
    spoke.fault = raw(b"[" + nameless.replace(b'"x"', b'"asthma"') + b"," + edge + b"]")
    answer = execute_graph(ONE, graph)
    assert (answer.names, answer.gaps, answer.unknown) == ((), (), ())


def test_a_million_rows_are_read_up_to_the_cap(spoke: Any) -> None:
    sent = [0]

    def flood(handler: BaseHTTPRequestHandler) -> bool:
        if "neighborhood" not in handler.path:
            return False
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(b"[" + ROW)
        chunk = (b"," + ROW) * 1_000
        handler.close_connection = True
        for _ in range(1_000):
            handler.wfile.write(chunk)
            sent[0] += 1_000
        handler.wfile.write(b"]")
        return True

    spoke.fault = flood
    graph = open_spoke(spoke.root, rows=3_000)
    answer = execute_graph(ONE, graph)
    graph.close()
    assert "only the first 3,000 rows were read" in answer.cut[0]
    assert sent[0] < 500_000


def test_a_slow_server_is_given_up_in_time(graph: SpokeGraph, spoke: Any) -> None:
    spoke.delay = 5.0
    began = time.perf_counter()
    answer = execute_graph(ONE, graph, deadline_s=0.3)
    assert time.perf_counter() - began < 2.0
    assert "no answer in time" in answer.gaps[0]


def test_an_answer_that_trickles_in_is_given_up_in_time(graph: SpokeGraph, spoke: Any) -> None:
    def trickle(handler: BaseHTTPRequestHandler) -> bool:
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        for _ in range(100):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)
        return True

    spoke.fault = trickle
    began = time.perf_counter()
    answer = execute_graph(ONE, graph, deadline_s=0.3)
    assert time.perf_counter() - began < 2.0
    assert "did not end in time" in answer.gaps[0] or "deadline" in answer.gaps[0]


def test_a_server_that_is_not_there_is_said() -> None:
    with pytest.raises(DataError, match=r"cannot be reached: .*; check its address"):
        open_spoke("http://127.0.0.1:9")


def test_an_address_that_is_none_is_said() -> None:
    with pytest.raises(DataError, match=r"is no address of a server: .*; check its host and port"):
        open_spoke("http://127.0.0.1:port")


def test_a_server_without_types_is_said(spoke: Any) -> None:
    spoke.fault = raw(b"[]")
    with pytest.raises(DataError, match="is no graph schema"):
        open_spoke(spoke.root)
    spoke.fault = raw(b"[" * 100_000)
    with pytest.raises(DataError, match="does not say its types"):
        open_spoke(spoke.root)
    spoke.fault = failing(9, 404)
    with pytest.raises(DataError, match="status 404"):
        open_spoke(spoke.root)


def test_find_says_when_the_server_fails(graph: SpokeGraph, spoke: Any) -> None:
    spoke.fault = failing(99, 500)
    with pytest.raises(DataError, match="did not answer"):
        graph.find(NodeRef(name="asthma", type="Disease"))
