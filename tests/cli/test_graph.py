"""``queryplan graph``: import, schema, check, run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import domain_folder
from queryplan.program.graph.planner import GraphPlanner, GraphProposal
from queryplan.signatures.graph_steps import GraphPlan

Run = Callable[..., tuple[int, str, str]]

PLAN = GraphPlan.model_validate(
    {
        "steps": [
            {"kind": "anchor", "store_as": "a", "node": {"name": "asthma", "type": "Disease"}},
            {"kind": "expand", "store_as": "b", "start": "a", "edge": "TREATS_CtD", "direction": "in"},
        ]
    }
)
ANSWERS = ["fluticasone", "montelukast", "omalizumab", "prednisone"]


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    """A plan as a file."""
    path = tmp_path / "plan.json"
    path.write_text(PLAN.model_dump_json(exclude_defaults=True), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped biomedical graph, imported through the command line."""
    from queryplan.cli import main
    from typer.testing import CliRunner

    folder, out = domain_folder("biomedical"), tmp_path_factory.mktemp("graph") / "bio.lbug"
    graph = folder / "graph"
    args = [
        "graph",
        "import",
        graph / "nodes.jsonl",
        graph / "edges.tsv",
        "--schema",
        folder / "domain.toml",
        "--out",
        out,
    ]
    result = CliRunner().invoke(main.app, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    assert "nodes and" in result.stdout
    assert str(out) in result.stdout
    return out


class Scripted:
    """A planner that knows one plan."""

    closed = 0

    def plan(self, query: str, deadline_s: float | None = None) -> GraphProposal:
        if "asthma" not in query:
            return GraphProposal(None, reason="no name of the graph is in the question")
        return GraphProposal(
            PLAN, answer_type="Compound", confidence=0.97, reason="an exact name", degraded=("a note",)
        )

    def close(self) -> None:
        Scripted.closed += 1


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Plans by script; what the command asked for is kept."""
    asked: dict[str, Any] = {}

    def for_executor(executor: Any, **given: Any) -> Scripted:
        asked.update(given)
        return Scripted()

    monkeypatch.setattr(GraphPlanner, "for_executor", for_executor)
    return asked


def test_an_imported_graph_answers(queryplan: Run, database: Path, plan_file: Path) -> None:
    code, out, _ = queryplan("graph", "run", "--plan", plan_file, "--graph", database)
    assert code == 0
    assert all(name in out for name in (*ANSWERS, "TREATS_CtD", "4 Compound in "))
    assert re.search(r"4 Compound in [\d.]+ ms", out), "the title stands on one line above short names"


def test_import_does_not_touch_what_is_there(queryplan: Run, database: Path) -> None:
    graph, before = domain_folder("biomedical"), database.read_bytes()
    files = (graph / "graph" / "nodes.jsonl", graph / "graph" / "edges.tsv")
    code, _, error = queryplan("graph", "import", *files, "--schema", graph / "domain.toml", "--out", database)
    assert code == 2
    assert "is there already" in error
    assert database.read_bytes() == before


def test_import_names_bad_lines_and_says_what_it_left_out(queryplan: Run, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(
        '{"nodes": [{"name": "T"}], "edges": [{"name": "E", "source": "T", "target": "T"}]}'
    )
    (tmp_path / "n.jsonl").write_text('{"id": "1", "name": "a", "type": "T", "p": 1}\n')
    (tmp_path / "e.tsv").write_text("source\tedge\ttarget\n1\tE\t2\n")
    files = (tmp_path / "n.jsonl", tmp_path / "e.tsv", "--schema", tmp_path / "s.json", "--out", tmp_path / "g.lbug")
    code, _, error = queryplan("graph", "import", *files)
    assert code == 2
    assert "e.tsv:2: edge E joins the unknown node '2'" in error
    (tmp_path / "e.tsv").write_text("source\tedge\ttarget\n1\tE\t1\n")
    code, out, error = queryplan("graph", "import", *files)
    assert code == 0
    assert "1 nodes and 1 edges" in out
    assert "left out: p of T: not in the schema, 1 time" in error


def test_a_schema_is_shown_and_its_json_is_read_back(queryplan: Run, database: Path, tmp_path: Path) -> None:
    code, told, _ = queryplan("graph", "schema", "--graph", database)
    assert code == 0
    assert "Compound -TREATS_CtD-> Disease" in told
    code, printed, _ = queryplan("graph", "schema", "--domain", "biomedical", "--json")
    (tmp_path / "s.json").write_text(printed, encoding="utf-8")
    assert queryplan("graph", "schema", "--schema", tmp_path / "s.json")[1] == told


def test_a_schema_says_what_it_left_out(queryplan: Run, tmp_path: Path) -> None:
    (tmp_path / "types.json").write_text('{"nodes": {"Disease": {}}, "edges": {"ODD": {}}}')
    code, out, error = queryplan("graph", "schema", "--schema", tmp_path / "types.json")
    assert (code, out.strip()) == (0, "Disease (found by name, id)")
    assert "left out: edge type ODD" in error


def test_a_well_typed_plan_is_said_in_words_drawn_and_exported(queryplan: Run, plan_file: Path, tmp_path: Path) -> None:
    places = ("--picture", tmp_path / "p.svg", "--export", tmp_path / "spoke.json")
    code, out, _ = queryplan("graph", "check", plan_file, "--domain", "biomedical", *places)
    assert code == 0
    assert "From a back along TREATS_CtD" in out
    assert "it answers with Compound" in out
    assert (tmp_path / "p.svg").read_text(encoding="utf-8").startswith("<svg")
    again = queryplan("graph", "check", tmp_path / "spoke.json", "--domain", "biomedical", "--answer-type", "Compound")
    assert again[0] == 0


def test_an_ill_typed_plan_ends_with_one(queryplan: Run, plan_file: Path) -> None:
    code, out, _ = queryplan("graph", "check", plan_file, "--domain", "biomedical", "--answer-type", "Gene")
    assert code == 1
    assert "answers with Compound, and Gene is asked for" in out
    code, out, _ = queryplan("graph", "check", plan_file, "--domain", "podcast")
    assert code == 1
    assert "there is no node type 'Disease'" in out


def test_a_question_is_planned_and_answered(queryplan: Run, scripted: dict[str, Any]) -> None:
    code, out, _ = queryplan("graph", "run", "which drugs treat asthma?", "--domain", "biomedical", "--paths")
    assert code == 0
    assert "head, 0.97: an exact name" in out
    assert "degraded: a note" in out
    assert "asthma – TREATS_CtD – fluticasone" in out
    assert scripted == {"domain": "biomedical", "lm": None}
    assert Scripted.closed > 0


def test_a_question_that_cannot_be_asked_says_why(queryplan: Run, scripted: dict[str, Any]) -> None:
    code, out, _ = queryplan("graph", "run", "hello", "--domain", "biomedical")
    assert code == 0
    assert "no name of the graph is in the question" in out


def test_json_is_the_row_of_a_batch(queryplan: Run, scripted: dict[str, Any], plan_file: Path) -> None:
    code, out, _ = queryplan("graph", "run", "asthma?", "--domain", "biomedical", "--json")
    row = json.loads(out)
    assert code == 0
    assert row["answers"] == ANSWERS
    assert row["degraded"] == ["a note"]
    assert GraphPlan.model_validate(row["graph_plan"]) == PLAN
    code, out, _ = queryplan("graph", "run", "--plan", plan_file, "--domain", "biomedical", "--json", "--limit", 1)
    assert json.loads(out)["answers"] == ANSWERS[:1]
    assert json.loads(out)["degraded"] == ["4 answers were found and the first 1 are given"]


@pytest.mark.parametrize("given", [("asthma?",), ("--plan",)])
def test_json_is_printed_beside_the_files_that_are_asked_for(
    queryplan: Run, scripted: dict[str, Any], plan_file: Path, tmp_path: Path, given: tuple[str, ...]
) -> None:
    picture, export = tmp_path / "p.svg", tmp_path / "spoke.json"
    places = ("--picture", picture, "--export", export)
    plan = (plan_file,) if given == ("--plan",) else ()
    code, out, _ = queryplan("graph", "run", *given, *plan, "--domain", "biomedical", "--json", *places)
    assert code == 0
    assert json.loads(out)["answers"] == ANSWERS
    assert picture.is_file()
    assert export.is_file()


def test_a_batch_is_answered_and_continued(
    queryplan: Run, scripted: dict[str, Any], tmp_path: Path, database: Path
) -> None:
    rows = [{"id": "x", "query": "asthma"}, {"id": "y", "query": "other"}]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    args = ("graph", "run", "--batch", tmp_path / "q.jsonl", "--out", tmp_path / "a.jsonl", "--graph", database)
    assert queryplan(*args)[0] == 0
    made = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["id"], row["answers"]) for row in made] == [("x", ANSWERS), ("y", [])]
    assert set(made[0]) == {"id", "asked", "graph", "graph_plan", "answers", "certainty", "degraded"}
    assert "nothing is left to do" in queryplan(*args)[2]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("run", "q"), "say which graph: --graph"),
        (("run", "--domain", "biomedical"), "give one of a question, --plan FILE, or --batch"),
        (("run", "q", "--plan", "p.json", "--domain", "biomedical"), "give one of a question"),
        (("run", " ", "--domain", "biomedical"), "the question is empty"),
        (("run", "--batch", "q.jsonl", "--domain", "biomedical"), "--batch and --out go together"),
        (("run", "q", "--out", "a.jsonl", "--domain", "biomedical"), "--batch and --out go together"),
        (("run", "--batch", "q", "--out", "a", "--domain", "biomedical", "--paths"), "leave them out with --batch"),
        (("run", "q", "--graph", "none.lbug"), "there is no graph database none.lbug"),
        (("run", "q", "--domain", "engineering"), "has no graph"),
        (("run", "--plan", "none.json", "--domain", "biomedical"), "none.json cannot be read"),
        (("schema",), "say which schema"),
        (("check", "none.json", "--domain", "biomedical"), "none.json cannot be read"),
        (("schema", "--schema", "none.toml"), "none.toml cannot be read"),
    ],
)
def test_what_is_missing_is_said(queryplan: Run, args: tuple[str, ...], said: str) -> None:
    code, _, error = queryplan("graph", *args)
    assert code == 2
    assert said in error


def test_a_run_with_a_gap_ends_with_one(queryplan: Run, plan_file: Path) -> None:
    code, out, _ = queryplan("graph", "run", "--plan", plan_file, "--domain", "podcast")
    assert code == 1
    assert "the plan was not run: there is no node type 'Disease'" in out


def test_a_question_whose_answer_has_a_gap_ends_with_one_as_json_too(
    queryplan: Run, scripted: dict[str, Any], tmp_path: Path
) -> None:
    asked = ("graph", "run", "asthma?", "--domain", "podcast")
    assert queryplan(*asked)[0] == 1
    code, out, _ = queryplan(*asked, "--json")
    row = json.loads(out)
    assert code == 1
    assert list(row) == ["graph_plan", "answers", "degraded", "certainty"]
    assert any("there is no node type 'Disease'" in said for said in row["degraded"])
    code, out, _ = queryplan("graph", "run", "hello", "--domain", "podcast", "--json")
    assert (code, json.loads(out)["graph_plan"]) == (0, None), "as without --json"


def test_a_row_that_has_no_plan_is_not_run(queryplan: Run, tmp_path: Path) -> None:
    (tmp_path / "row.json").write_text('{"graph_plan": null, "answers": []}', encoding="utf-8")
    code, _, error = queryplan("graph", "run", "--plan", tmp_path / "row.json", "--domain", "biomedical")
    assert code == 2
    assert "row.json is a row without a plan" in error
