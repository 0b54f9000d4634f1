"""Asking a model for graph steps: names, mending and repair."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any, cast

import dspy
import pytest
from queryplan.data.graph_lessons import read_plan
from queryplan.program.asking import Reply
from queryplan.program.graph.asking import steps as asking_steps
from queryplan.program.graph.asking.steps import ask_steps, mend_names, with_names
from queryplan.signatures.graph_steps import AnchorStep, EdgeType, GraphPlan, GraphSchema, NodeType

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Ship"), NodeType(name="Captain")),
    edges=(EdgeType(name="COMMANDED_BY", source="Ship", target="Captain"),),
)
FIND = {"do": "find", "name": "aurora", "type": "Ship"}
GOOD = [FIND, {"do": "follow", "start": 1, "edge": "COMMANDED_BY", "direction": "out", "without": []}]
WRONG = [FIND, {**GOOD[1], "direction": "in"}]


class Model:
    """Answers in turn; remembers what it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: Any) -> None:
        self.asked: list[Any] = []
        self.answers = list(answers)
        monkeypatch.setattr(asking_steps, "send_round", self._send)

    def _send(self, asks: Any, lm: Any, clock: Any, pool: Any) -> Any:
        self.asked += asks
        said = self.answers.pop(0)
        return {"graph": Reply(None, "it is down") if said is None else Reply(dspy.Prediction(steps=said), calls=1)}


def ask(**given: Any) -> Any:
    lm: Any = object()
    return ask_steps("who commands it?", SCHEMA, lm, predictor=object(), **given)


def test_a_model_that_is_late_is_not_waited_for() -> None:
    released, lm = threading.Event(), SimpleNamespace(decider=None, writer=None, adapter=None)
    began = time.perf_counter()
    wrote = ask_steps("who?", SCHEMA, cast(Any, lm), predictor=lambda **_: released.wait(5), deadline_s=0.1)
    assert time.perf_counter() - began < 1
    assert (wrote.plan, wrote.problem) == (None, "the deadline passed")
    released.set()


def anchors(plan: GraphPlan) -> list[tuple[str, str]]:
    return [(step.node.name, step.node.type) for step in plan.steps if isinstance(step, AnchorStep)]


def test_the_model_is_shown_the_names_that_were_found(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model(monkeypatch, GOOD)
    wrote = ask(names=[("Aurora", "Ship"), ("Aurora", "Ship")])
    assert model.asked[0].inputs["query"] == "who commands it?\nNames of the graph in it: Aurora (Ship)"
    assert anchors(wrote.plan) == [("Aurora", "Ship")]
    assert with_names("who?", ()) == "who?"


def test_an_ill_typed_plan_is_repaired_once_and_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model(monkeypatch, WRONG, GOOD)
    wrote = ask()
    assert wrote.plan is not None
    assert (wrote.calls, len(wrote.refused)) == (2, 1)
    assert "joins Ship to Captain" in model.asked[1].problem
    Model(monkeypatch, WRONG, WRONG)
    wrote = ask()
    assert wrote.plan is None
    assert len(wrote.refused) == 2


def test_a_model_that_is_down_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model(monkeypatch, None)
    assert ask().problem == "it is down"
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("written", "names", "mended"),
    [
        (("aurora", "Ship"), [("Aurora", "Ship")], ("Aurora", "Ship")),
        (("Aurora", "Captain"), [("Aurora", "Ship")], ("Aurora", "Ship")),
        (("Aurora", "Captain"), [("Aurora", "Ship"), ("Aurora", "Captain")], ("Aurora", "Captain")),
        (("the good ship", "Ship"), [("Aurora", "Ship"), ("Ida", "Captain")], ("Aurora", "Ship")),
        (("the good ship", "Ship"), [("Aurora", "Ship"), ("Borealis", "Ship")], ("the good ship", "Ship")),
        (("Aurora", "Harbour"), [("Aurora", "Ship"), ("Aurora", "Captain")], ("Aurora", "Harbour")),
        (("Aurora", "Ship"), [], ("Aurora", "Ship")),
    ],
)
def test_names_are_mended_where_only_one_can_be_meant(
    written: tuple[str, str], names: list[tuple[str, str]], mended: tuple[str, str]
) -> None:
    plan = read_plan(f"{written[1]}:{written[0]} >COMMANDED_BY")
    assert anchors(mend_names(plan, names)) == [mended]


def test_an_anchor_by_another_field_is_left_alone() -> None:
    plan = GraphPlan.model_validate(
        {"steps": [{"kind": "anchor", "store_as": "a", "node": {"name": "s1", "type": "Ship", "field": "id"}}]}
    )
    assert mend_names(plan, [("Aurora", "Ship")]) == plan
