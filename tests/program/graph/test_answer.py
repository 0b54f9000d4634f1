"""From a question to words; near names of what the graph does not have."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.graph import answer as answering
from queryplan.program.graph.answer import ROWS, answer_question, answer_table
from queryplan.program.graph.executor import GraphAnswer, execute_graph, near_names
from queryplan.program.graph.executors.memory import MemoryGraph
from queryplan.signatures.graph_steps import GraphPlan, NodeRef


def drugs_for(name: str) -> GraphPlan:
    return GraphPlan.model_validate(
        {
            "steps": [
                {"kind": "anchor", "store_as": "a", "node": {"name": name, "type": "Disease"}},
                {"kind": "expand", "store_as": "b", "start": "a", "edge": "TREATS_CtD", "direction": "in"},
            ]
        }
    )


@dataclass
class Proposal:
    plan: GraphPlan | None
    reason: str = "no name of the graph is in the question"
    degraded: tuple[str, ...] = ()


class Asthma:
    """Plans the drugs for what is asked, if it is one word."""

    def plan(self, query: str, deadline_s: float | None = None) -> Proposal:
        return Proposal(drugs_for(query) if " " not in query else None)


def test_the_default_answer_is_a_table_with_paths(biomedical: MemoryGraph) -> None:
    reply = answer_question("asthma", Asthma(), biomedical)
    assert reply.text.splitlines()[:3] == [
        "| Compound | how it was reached |",
        "|---|---|",
        "| fluticasone | asthma – TREATS_CtD – fluticasone |",
    ]
    assert reply.answer is not None
    assert reply.answer.names == execute_graph(drugs_for("asthma"), biomedical).names


def test_a_deadline_is_for_planning_and_running_together(
    biomedical: MemoryGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float | None] = []

    class Slow(Asthma):
        def plan(self, query: str, deadline_s: float | None = None) -> Proposal:
            given.append(deadline_s)
            time.sleep(0.2)
            return super().plan(query)

    def run(plan: GraphPlan, executor: MemoryGraph, deadline_s: float | None, **more: object) -> GraphAnswer:
        given.append(deadline_s)
        return execute_graph(plan, executor, deadline_s)

    monkeypatch.setattr(answering, "execute_graph", run)
    answer_question("asthma", Slow(), biomedical, deadline_s=2.0)
    planning, running = given
    assert planning == pytest.approx(1.2)
    assert running is not None
    assert running <= 1.8


def test_the_answer_step_can_be_replaced(biomedical: MemoryGraph) -> None:
    reply = answer_question("asthma", Asthma(), biomedical, answer_step=lambda plan, found: f"{len(found.names)} drugs")
    assert reply.text == "4 drugs"


def test_without_a_plan_the_reason_is_the_answer(biomedical: MemoryGraph) -> None:
    reply = answer_question("what is this", Asthma(), biomedical)
    assert (reply.answer, reply.text) == (None, "no name of the graph is in the question")


def test_an_empty_answer_and_a_long_one_say_so() -> None:
    plan = drugs_for("asthma")
    assert answer_table(plan, GraphAnswer(())) == "The graph has no answer to this."
    names = tuple(f"n{n}" for n in range(ROWS + 7))
    assert answer_table(plan, GraphAnswer(names)).endswith("7 more answers.")
    assert answer_table(plan, GraphAnswer(("4",), type="number")).splitlines()[2] == "| 4 |  |"
    assert "\nit stopped" in answer_table(plan, GraphAnswer((), gaps=("it stopped",)))


@given(st.text(min_size=1, max_size=30))
def test_a_name_cannot_end_its_cell(name: str) -> None:
    row = answer_table(drugs_for("x"), GraphAnswer((name,))).split("\n")[2]
    bare = row.replace("\\\\", "").replace("\\|", "")
    assert bare.count("|") == 3


def test_an_unknown_name_is_answered_with_names_like_it(biomedical: MemoryGraph, awkward_database: Any) -> None:
    answer = execute_graph(drugs_for("astma"), biomedical)
    assert answer.degraded == ("the graph has no Disease whose name is 'astma'; near it: asthma",)
    assert execute_graph(drugs_for("qqqq"), biomedical).degraded == ("the graph has no Disease whose name is 'qqqq'",)
    assert near_names(awkward_database, NodeRef(name="naive cafe", type="Drug")) == ("naïve café",)
    assert near_names(biomedical, NodeRef(name="astma", type="Disease", field="id")) == ()
