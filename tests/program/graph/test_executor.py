"""The one door to executors, and answering files of questions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from queryplan.errors import DataError
from queryplan.program.graph.batch import answer_row, graph_batch, read_plan
from queryplan.program.graph.executor import GraphAnswer, execute_graph, open_graph
from queryplan.program.graph.executors.conditions import as_number, column, lookup_key, passes, reference_keys
from queryplan.program.graph.executors.memory import MemoryGraph, load_graph
from queryplan.signatures.graph_steps import Condition, GraphPlan, NodeRef

PLAN = GraphPlan.model_validate(
    {
        "steps": [
            {"kind": "anchor", "store_as": "a", "node": {"name": "asthma", "type": "Disease"}},
            {"kind": "expand", "store_as": "b", "start": "a", "edge": "TREATS_CtD", "direction": "in"},
        ]
    }
)


def test_a_place_is_a_domain_a_folder_a_database_or_a_server(awkward_file: Path, spoke: Any, tmp_path: Path) -> None:
    assert type(open_graph("biomedical")).__name__ == "MemoryGraph"
    opened = [open_graph(str(awkward_file)), open_graph(spoke.root)]
    assert [type(one).__name__ for one in opened] == ["LadybugGraph", "SpokeGraph"]
    for one in opened:
        one.close()
        one.close()
    with pytest.raises(DataError, match=r"there is no domain 'nothing'.*a \.lbug database, or the http"):
        open_graph("nothing")


def test_a_domain_without_a_graph_is_said() -> None:
    with pytest.raises(DataError, match="the domain engineering has no graph"):
        open_graph("engineering")


def test_an_ill_typed_plan_is_answered_by_its_problems(biomedical: MemoryGraph, monkeypatch: Any) -> None:
    monkeypatch.setattr(MemoryGraph, "run", lambda *a, **k: pytest.fail("it was run"))
    wrong = PLAN.model_copy(update={"steps": (PLAN.steps[0], PLAN.steps[1].model_copy(update={"direction": "out"}))})
    answer = execute_graph(wrong, biomedical)
    assert answer.names == ()
    assert answer.degraded[0].startswith("the plan was not run: edge TREATS_CtD joins Compound to Disease")


def test_an_answer_says_ids_type_and_time(biomedical: MemoryGraph) -> None:
    answer = execute_graph(PLAN, biomedical)
    assert [biomedical.nodes[i]["name"] for i in answer.ids] == list(answer.names)
    assert (answer.type, answer.degraded) == ("Compound", ())
    assert answer.milliseconds > 0


def test_a_deadline_that_has_passed_ends_a_run(biomedical: MemoryGraph) -> None:
    answer = execute_graph(PLAN, biomedical, 0.0)
    assert answer.names == ()
    assert answer.gaps == ("stopped before step 'a': the deadline of 0 s has passed; give it more time",)


def test_the_fingerprint_of_a_graph_follows_its_content(biomedical: MemoryGraph) -> None:
    one, other = MemoryGraph(), MemoryGraph()
    for graph in (one, other):
        graph.add_node("a", "A", "T")
        graph.add_node("b", "B", "T", size=1)
    assert one.fingerprint == other.fingerprint
    one.add_edge("a", "E", "b")
    assert one.fingerprint != other.fingerprint != biomedical.fingerprint


def test_a_graph_without_a_schema_says_what_it_holds() -> None:
    graph = MemoryGraph()
    with pytest.raises(DataError, match="this graph is empty"):
        _ = graph.schema
    graph.add_node("a", "A", "T", size=1)
    graph.add_node("b", "B", "U")
    graph.add_edge("a", "E", "b", score=0.5)
    (edge,) = graph.schema.edges
    assert (edge.source, edge.target, edge.properties) == ("T", "U", ("score",))
    assert graph.schema.nodes[0].properties == ("size",)
    assert list(graph.names()) == [("a", "A", "T"), ("b", "B", "U")]


def test_edges_of_one_type_between_two_nodes_count_one_by_one() -> None:
    graph = MemoryGraph()
    for node in "ab":
        graph.add_node(node, node, "T")
    graph.add_edge("a", "E", "b", score=0.1)
    graph.add_edge("a", "E", "b", score=0.9)
    for low, high in ((0.8, 1.0), (0.0, 0.2)):
        plan = GraphPlan.model_validate(
            {
                "steps": [
                    {"kind": "anchor", "store_as": "a", "node": {"name": "a", "type": "T"}},
                    {
                        "kind": "expand",
                        "store_as": "b",
                        "start": "a",
                        "edge": "E",
                        "direction": "out",
                        "where": [
                            {"property": "score", "op": "ge", "value": low},
                            {"property": "score", "op": "le", "value": high},
                        ],
                    },
                ]
            }
        )
        assert execute_graph(plan, graph).names == ("b",)


def test_edge_properties_are_numbers_only_where_all_of_a_type_are(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "nodes.jsonl").write_text('{"id": "a", "name": "a", "type": "T"}\n')
    rows = "source\tedge\ttarget\tp\na\tE\ta\t1\na\tE\ta\tx\na\tF\ta\t1\n"
    (tmp_path / "graph" / "edges.tsv").write_text(rows)
    graph = load_graph(tmp_path)
    assert [told["p"] for told in graph.joined("a", "E", "out")["a"]] == ["1", "x"]
    assert graph.neighbours("a", "F", "out") == {"a": {"p": 1.0}}


@pytest.mark.parametrize(
    ("found", "op", "value", "right"),
    [
        (1, "eq", 1.0, True),
        (True, "eq", 1, False),
        ("1", "eq", 1, False),
        (None, "ne", 1, False),
        ([1], "ne", 1, False),
        ("Straße", "contains", "STRASS", True),
        (12, "contains", "1", False),
        ("b", "gt", "a", True),
        ("x", "in", ["y", "x"], True),
        (2, "in", ["2"], False),
    ],
)
def test_conditions_compare_like_with_like(found: Any, op: Any, value: Any, right: bool) -> None:
    condition = Condition.model_validate({"property": "p", "op": op, "value": value})
    assert passes({"p": found}, [condition]) is right


def test_cells_are_numbers_or_text() -> None:
    assert [as_number(cell) for cell in ("1", "-2.5e3", "1_000", "nan", "inf", "１", "", "x")] == [
        1.0,
        -2500.0,
        None,
        None,
        None,
        None,
        None,
        None,
    ]
    assert column(["1", "", "2"]) == [1.0, None, 2.0]
    assert column(["1", "", "x"]) == ["1", None, "x"]
    assert lookup_key(2) == lookup_key(2.0) == reference_keys("2")[1]


# --- files of questions


@dataclass
class Proposal:
    plan: GraphPlan | None
    reason: str = "as the labels say"
    degraded: tuple[str, ...] = ()
    confidence: float | None = 0.25


class Scripted:
    """Plans asthma, and nothing else."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def plan(self, query: str, deadline_s: float | None = None) -> Proposal:
        self.asked.append(query)
        return Proposal(PLAN) if "asthma" in query else Proposal(None, "no name of the graph is in it", ("guessed",))


def test_a_proposal_without_a_plan_says_why(biomedical: MemoryGraph) -> None:
    row = answer_row(Scripted().plan("hello"), biomedical)
    why = ["guessed", "no name of the graph is in it"]
    assert row == {"graph_plan": None, "answers": [], "certainty": 0.25, "degraded": why}


def test_rows_are_answered_once_and_wrong_rows_do_not_stop_the_others(tmp_path: Path, biomedical: MemoryGraph) -> None:
    source, target = tmp_path / "q.jsonl", tmp_path / "deep" / "a.jsonl"
    rows = [{"id": "1", "query": "asthma drugs?"}, {"id": 2, "query": "\u2028 hello"}, {"id": 3}, {"query": "asthma"}]
    source.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n\n", encoding="utf-8")
    planner, seen = Scripted(), []
    worked = graph_batch(planner, biomedical, source, target, progress=lambda done, total: seen.append((done, total)))
    assert worked == (3, 1)
    made = [json.loads(line) for line in target.read_text(encoding="utf-8").strip().split("\n")]
    assert [row["id"] for row in made] == ["1", "2", "3", "4"]
    assert made[0]["answers"] == list(biomedical.run(PLAN).names)
    assert GraphPlan.model_validate(made[0]["graph_plan"]) == PLAN
    assert made[2]["error"].startswith("this row is no query")
    assert seen[-1] == (4, 4)
    assert graph_batch(planner, biomedical, source, target) == (0, 1)
    assert len(planner.asked) == 3
    rows[1] = {"id": 2, "query": "something else"}
    source.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert graph_batch(planner, biomedical, source, target) == (1, 1)


def test_answers_of_another_graph_or_cap_are_said_and_kept(tmp_path: Path, biomedical: MemoryGraph) -> None:
    source, target = tmp_path / "q.jsonl", tmp_path / "a.jsonl"
    source.write_text('{"id": "1", "query": "asthma"}\n', encoding="utf-8")
    assert graph_batch(Scripted(), biomedical, source, target, cap=2) == (1, 0)
    kept = target.read_bytes()
    with pytest.raises(DataError, match=r"a\.jsonl:1: it is of the graph .* cut at 2, not of .*; choose another --out"):
        graph_batch(Scripted(), biomedical, source, target)
    assert target.read_bytes() == kept
    assert graph_batch(Scripted(), biomedical, source, target, cap=2) == (0, 0)


def test_a_run_that_was_cut_goes_on(tmp_path: Path, biomedical: MemoryGraph) -> None:
    source, target = tmp_path / "q.jsonl", tmp_path / "a.jsonl"
    source.write_text('{"id": "1", "query": "asthma"}\n{"id": "2", "query": "asthma"}\n', encoding="utf-8")
    target.write_text(
        '{"id": "1", "graph_plan": null, "answers": [], "degraded": []}\n{"id": "2", "gra', encoding="utf-8"
    )
    assert graph_batch(Scripted(), biomedical, source, target) == (1, 0)
    assert [json.loads(line)["id"] for line in target.read_text(encoding="utf-8").splitlines()] == ["1", "2"]


@pytest.mark.parametrize(
    ("questions", "answers", "said"),
    [
        ("nonsense\n", None, r"q\.jsonl:1: not JSON"),
        ("[1]\n", None, r"q\.jsonl:1: expected an object"),
        ('{"id": "1", "query": "x"}\n', "precious notes\n", r"a\.jsonl:1: this is no line of answers"),
        ('{"id": "1", "query": "x"}\n', '{"id": "1", "plan": {}}\n', r"a\.jsonl:1: this is no line of answers"),
        ('{"id": "1", "query": "x"}\n', "precious notes", r"a\.jsonl:1: this is no file of answers"),
    ],
)
def test_files_that_are_something_else_are_said_and_kept(
    tmp_path: Path, biomedical: MemoryGraph, questions: str, answers: str | None, said: str
) -> None:
    (tmp_path / "q.jsonl").write_text(questions)
    if answers is not None:
        (tmp_path / "a.jsonl").write_text(answers)
    with pytest.raises(DataError, match=said):
        graph_batch(Scripted(), biomedical, tmp_path / "q.jsonl", tmp_path / "a.jsonl")
    assert answers is None or (tmp_path / "a.jsonl").read_text() == answers


def test_a_missing_file_of_questions_is_said(tmp_path: Path, biomedical: MemoryGraph) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        graph_batch(Scripted(), biomedical, tmp_path / "none", tmp_path / "a.jsonl")


def test_plans_are_read_in_three_shapes(tmp_path: Path, biomedical: MemoryGraph) -> None:
    from queryplan.program.graph.exchange.export import to_spoke

    told = PLAN.model_dump(mode="json")
    for shape in (told, {"id": "1", "graph_plan": told}, to_spoke(PLAN, biomedical.schema)):
        (tmp_path / "p.json").write_text(json.dumps(shape), encoding="utf-8")
        read = read_plan(tmp_path / "p.json", biomedical.schema)
        assert execute_graph(read, biomedical).names == execute_graph(PLAN, biomedical).names


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}```\n", "\n```JSON {} ```"])
def test_a_plan_is_read_without_the_fence_that_a_model_put_around_it(
    tmp_path: Path, biomedical: MemoryGraph, fence: str
) -> None:
    (tmp_path / "p.json").write_text(fence.replace("{}", PLAN.model_dump_json()), encoding="utf-8")
    assert read_plan(tmp_path / "p.json", biomedical.schema) == PLAN


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no JSON of a plan"),
        ('{"steps": []}', "is no plan: steps: must have at least 1 entry$"),
        ("[]", "is no plan: expected an object, not a list$"),
        ('{"steps": [{"store_as": "a"}]}', r"steps\.0: kind is missing$"),
        ('{"steps": [{"kind": "jump"}]}', r"steps\.0: kind must be one of anchor, expand, .*, not jump"),
        ('{"error": "x"}', "but an error"),
    ],
)
def test_what_is_no_plan_is_said(tmp_path: Path, biomedical: MemoryGraph, text: str, said: str) -> None:
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(DataError, match=said):
        read_plan(tmp_path / "p.json", biomedical.schema)


def test_everything_that_an_answer_lacks_is_said() -> None:
    answer = GraphAnswer((), (NodeRef(name="x", type="T"),), cut=("cut",), gaps=("gap",))
    assert answer.degraded == ("the graph has no T whose name is 'x'", "cut", "gap")
