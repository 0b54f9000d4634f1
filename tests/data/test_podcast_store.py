"""The podcast's store: transcripts that agree with the show bible, and gold evidence that stands on them."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from queryplan.data.card import SHIPPED, load_card
from queryplan.data.rows import Gold, read_rows
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.executors.memory import MemoryGraph, load_graph
from queryplan.program.graph.learning.learning import labelled_source
from queryplan.signatures.types import GraphSchema

FOLDER = SHIPPED / "podcast"
EPISODE = re.compile(r"^\*\*(\d+)\. (.+?)\*\* \((\d{4}-\d\d-\d\d)\)\. (.+?)\. Topics: (.+?)\. Concepts:", re.M)
PARAGRAPH = re.compile(r"^\[(\d+)\] (\w+): (.+)$")
REFERENCE = re.compile(r"^(\d+)\[(\d+)\]$")
EPISODES = range(1, 41)
SPLITS = ("train", "dev", "test")


def bible() -> dict[int, tuple[str, ...]]:
    """Title, date, guests and topics of every episode, by number."""
    text = (FOLDER / "show.md").read_text(encoding="utf-8")
    return {int(number): tuple(rest) for number, *rest in EPISODE.findall(text)}


def transcript(number: int) -> tuple[dict[str, str], list[str]]:
    """Front matter and paragraphs of an episode."""
    text = (FOLDER / "transcripts" / f"{number:02}.md").read_text(encoding="utf-8")
    _, head, body = text.split("---\n", 2)
    front = dict(line.split(": ", 1) for line in head.splitlines())
    return front, body.strip().split("\n\n")


def items(cell: str) -> list[str]:
    return [item.strip() for item in cell.strip("[]").split(",") if item.strip()]


EVIDENCE: list[dict[str, Any]] = [
    json.loads(line) for line in (FOLDER / "evidence.jsonl").read_text(encoding="utf-8").splitlines()
]
PLANNED = [entry for entry in EVIDENCE if "graph_plan" in entry]


@pytest.fixture(scope="module")
def schema() -> GraphSchema:
    found = load_card(FOLDER).graph
    assert found is not None
    return found


@pytest.fixture(scope="module")
def graph() -> MemoryGraph:
    return load_graph(FOLDER)


def test_there_is_one_transcript_per_episode() -> None:
    assert sorted(bible()) == list(EPISODES)
    found = sorted(path.name for path in (FOLDER / "transcripts").iterdir())
    assert found == [f"{number:02}.md" for number in EPISODES]


def test_transcripts_stay_small() -> None:
    assert sum(path.stat().st_size for path in (FOLDER / "transcripts").iterdir()) < 120_000


@pytest.mark.parametrize("number", EPISODES)
def test_front_matter_agrees_with_the_bible(number: int) -> None:
    front, _ = transcript(number)
    title, date, guests, topics = bible()[number]
    assert (front["number"], front["title"], front["date"]) == (str(number), title, date)
    assert items(front["guests"]) == ([] if guests == "Solo" else guests.split(" and "))
    assert items(front["topics"]) == items(topics)


@pytest.mark.parametrize("number", EPISODES)
def test_paragraphs_are_numbered_and_spoken_by_those_present(number: int) -> None:
    front, paragraphs = transcript(number)
    parsed = [PARAGRAPH.match(paragraph) for paragraph in paragraphs]
    assert all(parsed)
    assert [int(match[1]) for match in parsed if match] == list(range(1, len(paragraphs) + 1))
    present = {"Nell", *(guest.split()[0] for guest in items(front["guests"]))}
    assert {match[2] for match in parsed if match} == present
    assert 250 <= sum(len(match[3].split()) for match in parsed if match) <= 400


def test_counts_of_the_evidence() -> None:
    ids = [entry["id"] for entry in EVIDENCE]
    assert len(ids) == len(set(ids)) == 214
    across = [e for e in EVIDENCE if len({reference.split("[")[0] for reference in e["evidence"]}) > 1]
    assert len(across) >= 75
    assert len(PLANNED) >= 45


def test_evidence_is_of_rows_in_domain_of_train_dev_and_test() -> None:
    rows = {row.id: row for split in SPLITS for row in read_rows(FOLDER / f"{split}.jsonl")}
    assert all(rows[entry["id"]].labels.is_relevant for entry in EVIDENCE)
    assert not any(rows[entry["id"]].labels.intent == "greeting" for entry in EVIDENCE)


def test_counts_of_the_evidence_by_split() -> None:
    split_of = {row.id: split for split in SPLITS for row in read_rows(FOLDER / f"{split}.jsonl")}
    assert Counter(split_of[entry["id"]] for entry in EVIDENCE) == {"train": 77, "dev": 23, "test": 114}


def test_a_graph_learns_from_the_evidence_of_the_split_it_is_given_alone() -> None:
    test = {row.labels.standalone_query for row in read_rows(FOLDER / "test.jsonl")}
    for splits in (("train",), ("train", "dev")):
        found = labelled_source("podcast", FOLDER, splits)
        assert found is not None
        rows = [row for split in splits for row in read_rows(FOLDER / f"{split}.jsonl")]
        asked = {question.text for question in found[0].questions}
        assert asked <= {text for row in rows for text in (row.query, row.labels.standalone_query)}
        assert not asked & test


@pytest.mark.parametrize("entry", EVIDENCE, ids=lambda entry: entry["id"])
def test_evidence_exists(entry: dict[str, Any]) -> None:
    assert entry["evidence"]
    assert len(set(entry["evidence"])) == len(entry["evidence"])
    for reference in entry["evidence"]:
        match = REFERENCE.match(reference)
        assert match, reference
        assert 1 <= int(match[2]) <= len(transcript(int(match[1]))[1]), reference


@pytest.mark.parametrize("entry", EVIDENCE, ids=lambda entry: entry["id"])
def test_entries_are_gold_that_a_row_can_hold(entry: dict[str, Any]) -> None:
    gold = Gold.model_validate({key: value for key, value in entry.items() if key != "id"})
    assert (gold.graph_plan is None) == (gold.answers is None)


@pytest.mark.parametrize("entry", PLANNED, ids=lambda entry: entry["id"])
def test_graph_plans_run_and_give_the_answers(entry: dict[str, Any], schema: GraphSchema, graph: MemoryGraph) -> None:
    plan = Gold.model_validate({"graph_plan": entry["graph_plan"]}).graph_plan
    assert plan is not None
    assert check_graph_plan(plan, schema) == []
    found = graph.run(plan)
    assert found.unknown == ()
    assert list(found.names) == entry["answers"]
