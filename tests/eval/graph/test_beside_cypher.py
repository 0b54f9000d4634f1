"""Graph plans with a model beside Cypher by the same model: whose answers count, and what is counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dspy
import pytest
from queryplan.data.graph_lessons import read_plan
from queryplan.data.rows import Gold, LabelledRow
from queryplan.errors import DataError
from queryplan.eval.graph import beside_cypher as graph_beside_cypher
from queryplan.eval.graph.beside_cypher import (
    CYPHER,
    RANKING,
    STEPS,
    TOGETHER,
    demonstrations,
    measure_beside,
    summed_up,
)
from queryplan.eval.graph.scores import NO_PLAN, GraphQuestion
from queryplan.eval.graph.sets import GraphSet, Opening, database_of, open_sets, read_questions
from queryplan.program.asking import Reply
from queryplan.program.graph.asking.steps import WrittenPlan
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.executors.memory import load_graph
from queryplan.program.graph.planner import GraphProposal, LinkedEntity
from queryplan.signatures.graph_steps import EdgeType, GraphPlan, GraphSchema, NodeType
from queryplan.signatures.types import Labels

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Ship"), NodeType(name="Captain")),
    edges=(EdgeType(name="COMMANDED_BY", source="Ship", target="Captain"),),
)
RIGHT, WRONG = read_plan("Ship:Aurora >COMMANDED_BY"), read_plan("Ship:Aurora >COMMANDED_BY <COMMANDED_BY")
GOOD_CYPHER = "MATCH (:Ship {name: 'Aurora'})-[:COMMANDED_BY]->(c:Captain) RETURN c.name"


class Planner:
    """Ranks one plan for every question."""

    schema = SCHEMA
    enough = 0.9

    def __init__(self, plan: GraphPlan | None, confidence: float, again: GraphProposal | None = None) -> None:
        self.said_again = again
        entities = (LinkedEntity("aurora", "Aurora", "Ship", "exact", 1.0),)
        likeliest: Any = (object(),) if plan is not None else ()
        self.proposal = GraphProposal(plan, entities, confidence=confidence, likeliest=likeliest)

    def ranked(self, query: str) -> GraphProposal:
        return self.proposal

    def is_sure(self, ranked: GraphProposal) -> bool:
        return ranked.plan is not None and ranked.confidence >= self.enough

    def again(self, query: str, ranked: GraphProposal, lm: Any) -> GraphProposal:
        return self.said_again or ranked


class Handle:
    name = "scripted"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    graph = tmp_path / "ships" / "graph"
    graph.mkdir(parents=True)
    nodes = [{"id": "s", "name": "Aurora", "type": "Ship"}, {"id": "c", "name": "Ida", "type": "Captain"}]
    (graph / "nodes.jsonl").write_text("".join(json.dumps(n) + "\n" for n in nodes), encoding="utf-8")
    (graph / "edges.tsv").write_text("source\tedge\ttarget\ns\tCOMMANDED_BY\tc\n", encoding="utf-8")
    return tmp_path / "ships"


@pytest.fixture
def ships(folder: Path) -> GraphSet:
    questions = (
        GraphQuestion(id="1", text="who commands the Aurora", answers=("Ida",)),
        GraphQuestion(id="2", text="what does the Aurora weigh", answers=(), kind=NO_PLAN),
    )
    planner: Any = Planner(RIGHT, 0.95)
    return GraphSet("ships", questions, load_graph(folder, SCHEMA), planner, folder)


@pytest.fixture
def database(ships: GraphSet) -> Iterator[Any]:
    with database_of(ships.folder, ships.graph) as opened:
        yield opened


def scripted(monkeypatch: pytest.MonkeyPatch, wrote: WrittenPlan, *cypher: str | None) -> list[Any]:
    """A model by script; what it was asked is kept."""
    asked: list[Any] = []
    said = list(cypher)

    def ask(query: str, *args: Any, **given: Any) -> WrittenPlan:
        asked.append((query, given["names"]))
        return wrote

    def send(asks: Any, *args: Any) -> Any:
        asked.append(asks[0].inputs["query"])
        text = said.pop(0)
        return {"graph": Reply(None, "it is down") if text is None else Reply(dspy.Prediction(cypher=text))}

    monkeypatch.setattr(graph_beside_cypher, "ask_steps", ask)
    monkeypatch.setattr(graph_beside_cypher, "send_round", send)
    return asked


def measure(ships: GraphSet, database: Any, **given: Any) -> Any:
    lm: Any = Handle()
    return measure_beside(ships, database, lm, **given)


def test_a_certain_ranking_answers_and_the_model_is_asked_for_cypher_alone(
    ships: GraphSet, database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = scripted(monkeypatch, WrittenPlan(None), GOOD_CYPHER, "MATCH (c:Captain) RETURN c.name")
    done: list[tuple[int, int]] = []
    found = measure(ships, database, progress=lambda a, b: done.append((a, b)))
    assert asked[0] == "who commands the Aurora\nNames of the graph in it: Aurora (Ship)"
    assert [a.right for a in found.attempts] == [
        {RANKING: True, TOGETHER: True, CYPHER: True},
        {RANKING: False, TOGETHER: False, CYPHER: False},
    ]
    assert (found.asked, found.cypher_errors, found.ill_typed) == (0, 0, 0)
    assert found.more.difference.value == 0
    assert done == [(1, 2), (2, 2)]
    assert [row["by"] for row in found.rows()] == [RANKING, TOGETHER, CYPHER]


def test_a_ranking_without_a_plan_gives_way_to_a_written_one(
    ships: GraphSet, database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    planner: Any = Planner(None, 0.0)
    scripted(monkeypatch, WrittenPlan(RIGHT, calls=2, refused=(WRONG,)), "MATCH (c:Boat) RETURN c.name", None)
    found = measure(replace(ships, planner=planner), database)
    first, second = found.attempts
    assert first.right == {RANKING: False, STEPS: True, TOGETHER: True, CYPHER: False}
    assert (first.decided_by, first.asked) == ("lm", True)
    assert "Boat" in first.error
    assert second.error == "it is down"
    assert not second.right[CYPHER]
    assert (found.refused, found.asked, found.cypher_errors) == (2, 2, 2)
    assert any("2 Cypher queries did not run" in line for line in found.sentences())


def test_an_uncertain_ranking_is_kept_where_the_model_says_nothing_else(
    ships: GraphSet, database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    planner: Any = Planner(RIGHT, 0.1)
    scripted(monkeypatch, WrittenPlan(WRONG), GOOD_CYPHER, GOOD_CYPHER)
    found = measure(replace(ships, planner=planner), database)
    assert found.attempts[0].right == {RANKING: True, TOGETHER: True, CYPHER: True}
    assert (found.asked, found.attempts[0].decided_by) == (0, "head")


def test_a_question_that_was_said_again_is_counted_and_its_plan_taken_where_that_is_certain(
    ships: GraphSet, database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sure = GraphProposal(RIGHT, decided_by="lm", confidence=0.95)
    planner: Any = Planner(WRONG, 0.6, again=sure)
    scripted(monkeypatch, WrittenPlan(WRONG), GOOD_CYPHER, GOOD_CYPHER)
    found = measure(replace(ships, planner=planner), database)
    assert found.attempts[0].right == {RANKING: False, TOGETHER: True, CYPHER: True}
    assert (found.restated, found.asked) == (2, 0)
    assert any("said 2 questions again" in line for line in found.sentences())


def test_a_question_that_could_not_be_said_again_is_not_asked_about_further(
    ships: GraphSet, database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = GraphProposal(RIGHT, confidence=0.6)
    planner: Any = Planner(RIGHT, 0.6, again=failed)
    scripted(monkeypatch, WrittenPlan(WRONG), GOOD_CYPHER, GOOD_CYPHER)
    found = measure(replace(ships, planner=planner), database)
    assert found.attempts[0].right[TOGETHER]
    assert found.asked == 0


def test_cypher_that_does_not_run_is_wrong_even_where_nothing_is_right(
    ships: GraphSet, database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, WrittenPlan(None), "MATCH (c:Boat) RETURN c.name")
    found = measure(replace(ships, questions=ships.questions[1:]), database)
    assert not found.attempts[0].right[CYPHER]
    scripted(monkeypatch, WrittenPlan(None), "MATCH (c:Captain) WHERE c.name = 'Ole' RETURN c.name")
    assert measure(replace(ships, questions=ships.questions[1:]), database).attempts[0].right[CYPHER]


def test_everything_can_be_asked_of_the_model(ships: GraphSet, database: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, WrittenPlan(WRONG), GOOD_CYPHER, GOOD_CYPHER)
    found = measure(ships, database, ask_all=True)
    assert found.attempts[0].right == {RANKING: True, STEPS: False, TOGETHER: True, CYPHER: True}
    assert found.right[STEPS].n == 2


def test_sums_pair_the_same_questions(ships: GraphSet, database: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, WrittenPlan(None), *["MATCH (c:Boat) RETURN c.name"] * 12)
    many = tuple(ships.questions[0].model_copy(update={"id": str(i)}) for i in range(12))
    found = measure(replace(ships, questions=many), database)
    again = summed_up("ships", "scripted", found.attempts)
    assert again == found
    assert again.more.difference.value == 1
    assert again.more.p_value < 0.001
    assert again.gained.difference.value == 0


# --- demonstrations and sets


def labelled(number: int, plan: GraphPlan | None) -> LabelledRow:
    labels = {
        "standalone_query": f"question {number}",
        "is_relevant": True,
        "complexity": "simple",
        "intent": "factual",
        "is_follow_up": False,
        "needs_decomposition": False,
    }
    return LabelledRow(
        id=str(number),
        conversation=str(number),
        turn=1,
        query=f"question {number}",
        labels=Labels.model_validate(labels),
        gold=Gold(graph_plan=plan, answers=("x",)),
    )


def test_demonstrations_are_one_of_each_kind_and_show_their_names(ships: GraphSet) -> None:
    plans = [RIGHT, RIGHT, read_plan("count; Ship:Aurora >COMMANDED_BY"), read_plan("Ship:Aurora <COMMANDED_BY"), None]
    taught = tuple(labelled(number, plan) for number, plan in enumerate(plans))
    made = demonstrations(replace(ships, taught=taught))
    assert len(made) == 2
    assert all(text.endswith("Names of the graph in it: Aurora (Ship)") for text, _, _ in made)


def test_a_set_without_labels_is_shown_lessons_of_other_schemas(ships: GraphSet) -> None:
    made = demonstrations(ships)
    assert len(made) >= 4
    assert all(check_graph_plan(plan, schema) == [] for _, plan, schema in made)
    assert all(schema != SCHEMA for _, _, schema in made)


def test_questions_are_read_by_their_first_kind(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "query": "q", "kinds": ["two_hop", "misspelt"], "gold": {"answers": ["x"]}},
        {"id": "b", "query": "r", "kinds": ["inexpressible"], "gold": {"expressible": False}},
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert [(q.id, q.kind, q.answers) for q in read_questions(path)] == [("a", "two_hop", ("x",)), ("b", NO_PLAN, ())]
    path.write_text('{"id": "a"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"questions\.jsonl:1"):
        read_questions(path)
    with pytest.raises(DataError, match="in a checkout"):
        read_questions(tmp_path / "nothing.jsonl")


def test_a_set_that_there_is_not_is_refused(ships: GraphSet) -> None:
    opening = Opening(learn=lambda *args: pytest.fail("nothing is learned"))
    with pytest.raises(DataError, match="there is no set films; there are biomedical"):
        list(open_sets(["films"], opening))
    assert ships.first(1).questions == ships.questions[:1]
    assert ships.first(None) is ships
