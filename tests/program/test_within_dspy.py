"""A planner as a part of somebody else's DSPy program."""

from __future__ import annotations

import pickle
from copy import copy
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils.dummies import DummyLM
from queryplan.eval.metrics import score_case
from queryplan.program.planner import QueryPlanner


class Agent(dspy.Module):
    """Plans with a compiled program, then answers."""

    def __init__(self, program: Path) -> None:
        super().__init__()
        self.planner = QueryPlanner.load(program, lm=None)
        self.answer = dspy.Predict("question, search -> answer")

    def forward(self, question: str) -> dspy.Prediction:
        return self.answer(question=question, search=self.planner(query=question).plan.standalone_query)


@pytest.fixture
def agent(bench: Any, tmp_path: Path) -> Agent:
    bench.planner().save(tmp_path / "program")
    return Agent(tmp_path / "program")


def test_a_compiled_planner_stays_as_it_is_where_the_program_around_it_is_optimized(agent: Agent) -> None:
    rows = [dspy.Example(question=f"Who is {name}?", answer="a guest").with_inputs("question") for name in ("Al", "Jo")]
    with dspy.context(lm=DummyLM([{"answer": "a guest"}] * 9)):
        optimizer = dspy.BootstrapFewShot(metric=lambda row, made, trace=None: made.answer == row.answer)
        compiled = optimizer.compile(agent, trainset=rows)
    assert len(compiled.answer.demos) == 2
    assert compiled.planner.program_version == agent.planner.program_version
    assert [name for name, _ in agent.named_predictors()] == ["answer"]
    assert len(agent.planner.predictors()) == 6, "its own predictors are still found by itself"


def test_a_pickled_planner_is_refused_in_a_sentence(agent: Agent, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"save it with \.save\(FOLDER\)"):
        pickle.dumps(agent.planner)
    with pytest.raises(RuntimeError, match=r"save it with \.save\(FOLDER\)"):
        agent.save(tmp_path / "whole", save_program=True)
    assert copy(agent.planner).plan("Who is Nell?").query == "Who is Nell?"


def test_evaluate_of_dspy_scores_plans_against_rows(bench: Any, rows: Any) -> None:
    planner, some = bench.planner(), rows("dev")[:12]

    def labels_right(example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> bool:
        return score_case(example.row, prediction.plan).labels_right

    devset = [
        dspy.Example(query=row.query, history=row.history, session=row.session, row=row).with_inputs(
            "query", "history", "session"
        )
        for row in some
    ]
    wanted = sum(score_case(row, planner.plan(row.query, row.history, row.session)).labels_right for row in some)
    result = dspy.Evaluate(devset=devset, metric=labels_right, num_threads=4, display_progress=False)(planner)
    assert result.score == pytest.approx(100 * wanted / len(some), abs=0.01)
