"""``queryplan graph score``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.eval.graph import sets as graph_sets
from queryplan.eval.graph.scores import GraphQuestion
from queryplan.eval.graph.sets import GraphSet, Opening
from queryplan.program.graph.executors.memory import load_graph
from queryplan.program.graph.names.linking import NameIndex

Run = Callable[..., tuple[int, str, str]]


@dataclass
class Answerer:
    index: NameIndex


@dataclass
class Proposal:
    plan: Any = None
    decided_by: str = "head"
    confidence: float = 0.5


class Planner:
    """Has no plan for anything."""

    def __init__(self, index: NameIndex) -> None:
        self.answerer = Answerer(index)

    def plan(self, query: str) -> Proposal:
        return Proposal()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Opening]:
    """One small set instead of those that there are; how it was opened is kept."""
    ways: list[Opening] = []

    def small(scratch: Path, how: Opening) -> Iterator[GraphSet]:
        ways.append(how)
        folder = domain_folder("biomedical")
        graph = load_graph(folder, load_card(folder).graph)
        planner: Any = Planner(NameIndex(graph.names()))
        asked = tuple(GraphQuestion(id=str(i), text="?", answers=("x",) * (i > 0)) for i in range(3))
        yield GraphSet("small", asked, graph, planner, folder, (), "nothing")

    monkeypatch.setattr(graph_sets, "KINDS", {"biomedical": small})
    return ways


def test_a_set_is_scored_beside_a_planner_that_knows_little(queryplan: Run, opened: list[Opening]) -> None:
    code, out, _ = queryplan("graph", "score", "biomedical")
    assert code == 0
    assert "small: learned from nothing" in out
    assert "small, nearest edge" in out
    assert "0.3333" in out
    assert "ill-typed plans that reached an executor: 0" in out
    assert not opened[0].sampled


def test_as_json_without_what_single_questions_answered(queryplan: Run, opened: list[Opening]) -> None:
    code, out, _ = queryplan("graph", "score", "biomedical", "--json", "--most", "2", "--sampled")
    assert code == 0
    reports = json.loads(out)
    assert [r["name"] for r in reports] == ["small", "small, nearest edge"]
    assert reports[0]["scores"][0]["accuracy"]["n"] == 2
    assert "results" not in reports[0]
    assert opened[0].sampled


def test_reading_the_test_split_is_recorded_first(
    queryplan: Run, opened: list[Opening], monkeypatch: pytest.MonkeyPatch
) -> None:
    from queryplan.eval import test_readings

    recorded: list[Any] = []
    monkeypatch.setattr(test_readings, "record_reading", lambda file, *why: recorded.append((file.name, len(opened))))
    queryplan("graph", "score", "biomedical", "--split", "test")
    assert recorded == [("test.jsonl", 0)]


def test_what_there_is_not_is_refused(queryplan: Run, opened: list[Opening]) -> None:
    code, _, error = queryplan("graph", "score", "films")
    assert code == 2
    assert "there is no set films" in error
    code, _, error = queryplan("graph", "score", "--split", "train")
    assert code == 2
    assert "dev or test" in error
