"""A planner as a part of somebody else's DSPy program."""

from __future__ import annotations

import pickle
from copy import copy
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils.dummies import DummyLM
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
