"""The sets of graph questions of our own: whole, well-typed, and nobody else's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.data.rows import read_rows
from queryplan.eval.graph.sets import SETS, read_questions
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.executor import execute_graph
from queryplan.program.graph.executors.memory import load_graph
from queryplan.signatures.graph_steps import GraphPlan

ON_BIOMEDICAL = ("biomedical-more.jsonl", "biomedical-voices.jsonl")
FILES = (*ON_BIOMEDICAL, "hetionet-60.jsonl", "hetionet-more.jsonl", "unseen/questions.jsonl")


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("file", FILES)
def test_every_question_is_there_once_and_has_a_plan_or_none(file: str) -> None:
    rows = rows_of(SETS / file)
    assert len(read_questions(SETS / file)) == len(rows)
    assert len({row["id"] for row in rows}) == len({row["query"].casefold() for row in rows}) == len(rows)
    for row in rows:
        assert row["gold"]["expressible"] == bool(row["gold"].get("graph_plan")) == (row["type_asked"] is not None)
        if row["gold"]["expressible"]:
            GraphPlan.model_validate(row["gold"]["graph_plan"])


@pytest.mark.parametrize("file", ON_BIOMEDICAL)
def test_the_plans_of_biomedical_questions_give_their_answers(file: str) -> None:
    folder = domain_folder("biomedical")
    schema = load_card(folder).graph
    assert schema is not None
    graph = load_graph(folder, schema)
    for row in rows_of(SETS / file):
        if row["gold"]["expressible"]:
            plan = GraphPlan.model_validate(row["gold"]["graph_plan"])
            assert check_graph_plan(plan, schema) == [], row["id"]
            assert list(execute_graph(plan, graph).names) == row["gold"]["answers"], row["id"]


def test_no_question_of_a_set_is_learned_from() -> None:
    asked = {row["query"].casefold() for file in ON_BIOMEDICAL for row in rows_of(SETS / file)}
    folder = domain_folder("biomedical")
    known = {
        row.query.casefold() for name in ("train", "dev", "calibrate") for row in read_rows(folder / f"{name}.jsonl")
    }
    assert not asked & known
