"""Scoring graph planners by the answers their plans return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from queryplan.data.graph_lessons import read_plan
from queryplan.data.rows import Gold, LabelledRow
from queryplan.eval.graph.scores import (
    ALL,
    NO_PLAN,
    GraphQuestion,
    OneHop,
    kind_of,
    measure_graph,
    questions_of_rows,
    table,
)
from queryplan.program.graph.executors.memory import MemoryGraph
from queryplan.program.graph.names.linking import NameIndex
from queryplan.signatures.graph_steps import EdgeType, GraphPlan, GraphSchema, NodeType
from queryplan.signatures.types import Labels

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Ship"), NodeType(name="Captain"), NodeType(name="Harbour")),
    edges=(
        EdgeType(name="COMMANDED_BY", source="Ship", target="Captain", description="who commands it"),
        EdgeType(name="MOORED_AT", source="Ship", target="Harbour", description="where it lies"),
    ),
)


@pytest.fixture
def graph() -> MemoryGraph:
    made = MemoryGraph(declared=SCHEMA)
    for name, kind in (("Aurora", "Ship"), ("Borealis", "Ship"), ("Ida", "Captain"), ("Rostock", "Harbour")):
        made.add_node(name, name, kind)
    made.add_edge("Aurora", "COMMANDED_BY", "Ida")
    made.add_edge("Aurora", "MOORED_AT", "Rostock")
    made.add_edge("Borealis", "MOORED_AT", "Rostock")
    return made


@dataclass
class Proposal:
    plan: GraphPlan | None
    decided_by: str = "head"
    confidence: float = 0.7


class Fixed:
    def __init__(self, **plans: str) -> None:
        self.plans = plans

    def plan(self, query: str) -> Any:
        return Proposal(read_plan(self.plans[query]) if query in self.plans else None)


QUESTIONS = (
    GraphQuestion(id="1", text="a", answers=("Aurora", "Borealis"), kind="one"),
    GraphQuestion(id="2", text="b", answers=("Ida",), kind="one"),
    GraphQuestion(id="3", text="c", answers=(), kind=NO_PLAN),
    GraphQuestion(id="4", text="d", answers=("2",), kind="count"),
)


def test_a_plan_is_right_by_its_answers_whatever_its_steps(graph: MemoryGraph) -> None:
    planner = Fixed(
        a="Captain:Ida <COMMANDED_BY >MOORED_AT <MOORED_AT",
        b="Ship:Borealis >COMMANDED_BY",
        d="count; Harbour:Rostock <MOORED_AT",
    )
    report = measure_graph(planner, graph, QUESTIONS, "fixed")
    assert [r.right for r in report.results] == [True, False, True, True]
    assert [r.f1 for r in report.results] == [1, 0, 1, 1]
    assert [s.kind for s in report.scores] == [ALL, "one", NO_PLAN, "count"]
    assert report.scores[0].accuracy.value == 0.75
    assert report.scores[0].accuracy.low < 0.75 < report.scores[0].accuracy.high
    assert report.scores[0].without_plan == 1
    assert report.results[0].decided_by == "head"


def test_some_right_answers_are_part_of_the_way(graph: MemoryGraph) -> None:
    report = measure_graph(Fixed(a="Ship:Aurora"), graph, QUESTIONS[:1])
    assert (report.results[0].right, report.results[0].f1) == (False, pytest.approx(2 / 3))


def test_an_ill_typed_plan_is_counted_and_never_run(graph: MemoryGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "run", lambda *args, **kwargs: pytest.fail("it was run"))
    report = measure_graph(Fixed(b="Ship:Aurora <COMMANDED_BY"), graph, QUESTIONS[1:2])
    assert report.ill_typed == 1
    assert report.results[0].found is None


def test_rows_say_what_must_be_answered_and_of_what_kind() -> None:
    labels = {
        "standalone_query": "q",
        "is_relevant": True,
        "complexity": "simple",
        "intent": "factual",
        "is_follow_up": False,
        "needs_decomposition": False,
    }
    base = {"conversation": "c", "turn": 1, "query": "q", "labels": Labels.model_validate(labels)}
    rows = [
        LabelledRow(id="1", gold=Gold(graph_plan=read_plan("Ship:a >MOORED_AT"), answers=("x",)), **base),
        LabelledRow(id="2", gold=Gold(expressible=False), **base),
        LabelledRow(id="3", gold=Gold(), **base),
        LabelledRow(id="4", **base),
    ]
    assert [(q.id, q.kind, q.answers, q.cluster) for q in questions_of_rows(rows)] == [
        ("1", "1 hops", ("x",), "c"),
        ("2", NO_PLAN, (), "c"),
    ]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("A:x >E >F", "2 hops"),
        ("count; A:x >E", "count"),
        ("max p 1; A:x >E", "order"),
        ("A:x >E & A:y >E", "intersect"),
        ("A:x >E | A:y >E", "union"),
        ("(A:x >E \\ A:y >E) | (A:y >E \\ A:x >E)", "difference"),
    ],
)
def test_kinds_are_read_from_the_labelled_plan(said: str, kind: str) -> None:
    assert kind_of(read_plan(said)) == kind


def test_the_baseline_follows_the_nearest_edge_from_the_longest_name(graph: MemoryGraph) -> None:
    planner = OneHop(SCHEMA, NameIndex(graph.names()))
    questions = (
        GraphQuestion(id="1", text="who commands the Aurora", answers=("Ida",)),
        GraphQuestion(id="2", text="what lies moored at Rostock", answers=("Aurora", "Borealis")),
        GraphQuestion(id="3", text="nothing known", answers=()),
    )
    report = measure_graph(planner, graph, questions, "one hop")
    assert [r.right for r in report.results] == [True, True, True]


def test_planners_stand_side_by_side_kind_by_kind(graph: MemoryGraph) -> None:
    reports = [measure_graph(Fixed(), graph, QUESTIONS, name) for name in ("one", "two")]
    rows = table(reports)
    assert [(row["questions"], row["planner"]) for row in rows[:4]] == [
        (ALL, "one"),
        (ALL, "two"),
        ("one", "one"),
        ("one", "two"),
    ]
