"""Graph plans are judged by what they return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.data.rows import Gold
from queryplan.eval.graph.metrics import score_graph, set_f1
from queryplan.eval.metrics import Judge, score_case
from queryplan.program.graph.executors.memory import MemoryGraph
from queryplan.signatures.types import GraphPlan, GraphSchema

Make = Callable[..., Any]
SCHEMA = GraphSchema.model_validate(
    {
        "nodes": [{"name": "Person"}, {"name": "Book"}],
        "edges": [{"name": "WROTE", "source": "Person", "target": "Book"}],
    }
)


def steps(name: str, edge: str = "WROTE", direction: str = "out") -> GraphPlan:
    """The books of a person."""
    anchor = {"kind": "anchor", "store_as": "a", "node": {"name": name, "type": "Person"}}
    expand = {"kind": "expand", "store_as": "b", "start": "a", "edge": edge, "direction": direction}
    return GraphPlan.model_validate({"steps": [anchor, expand]})


@pytest.fixture
def graph() -> MemoryGraph:
    """Two people; one wrote two books."""
    made = MemoryGraph()
    for node, name, kind in (
        ("1", "Ann", "Person"),
        ("2", "Bo", "Person"),
        ("3", "Red", "Book"),
        ("4", "Blue", "Book"),
    ):
        made.add_node(node, name, kind)
    made.add_edge("1", "WROTE", "3")
    made.add_edge("1", "WROTE", "4")
    return made


@pytest.mark.parametrize(
    ("planned", "answers", "right", "f1"),
    [
        (steps("Ann"), ("Blue", "Red"), True, 1.0),
        (steps("Ann"), ("Red",), False, 2 / 3),
        (steps("Bo"), ("Red",), False, 0.0),
        (steps("Bo"), (), True, 1.0),
        (None, ("Red",), False, 0.0),
        (None, (), True, 1.0),
        (steps("Ann", direction="in"), ("Red",), False, 0.0),
        (steps("Ann", edge="READ"), (), True, 1.0),
    ],
)
def test_the_answers_decide_and_not_the_steps(
    row: Make,
    plan: Make,
    graph: MemoryGraph,
    planned: GraphPlan | None,
    answers: tuple[str, ...],
    right: bool,
    f1: float,
) -> None:
    gold = row().model_copy(update={"gold": Gold(answers=answers)})
    score = score_case(gold, plan(gold, graph_plan=planned), judge=Judge(graph=graph, schema=SCHEMA))
    assert score.graph_right == right
    assert score.graph_f1 == pytest.approx(f1)
    assert score.graph_planned == (planned is not None)


def test_what_the_schema_cannot_say_has_no_right_answer(row: Make, plan: Make, graph: MemoryGraph) -> None:
    gold = row().model_copy(update={"gold": Gold(expressible=False)})
    assert score_graph(gold, plan(gold), graph, SCHEMA).graph_right is True
    assert score_graph(gold, plan(gold, graph_plan=steps("Ann")), graph, SCHEMA).graph_right is False


def test_without_a_graph_or_without_answers_nothing_is_scored(row: Make, plan: Make, graph: MemoryGraph) -> None:
    gold = row().model_copy(update={"gold": Gold(answers=("Red",))})
    assert score_graph(gold, plan(gold), None, None).graph_right is None
    assert score_graph(row(), plan(row()), graph, SCHEMA).graph_f1 is None


@settings(deadline=None)  # the first example imports scikit-learn
@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_f1_is_that_of_scikit_learn(left: set[int], right: set[int]) -> None:
    from sklearn.metrics import f1_score

    a, b = ([i in side for i in range(10)] for side in (left, right))
    assert set_f1([str(i) for i in left], [str(i) for i in right]) == pytest.approx(f1_score(a, b, zero_division=1))  # type: ignore[arg-type]
