"""Names that stand only in a graph: a card says of which types users type them."""

from __future__ import annotations

from pathlib import Path

import pytest
from queryplan.data.card import CARD_FILE, load_card
from queryplan.data.graph_names import NODES_FILE
from queryplan.errors import DataError
from queryplan.program.planner import QueryPlanner

CARD = """
name = "ward"
title = "Ward"
description = "The IT desk of a hospital."
covers = ["devices"]
names_from_graph = ["Person"]
excluded = [
  { kind = "a", answer = "a", description = "medicine", reason = "No." },
  { kind = "b", answer = "b", description = "pay", reason = "No." },
]
names = [{ name = "Nora Frei", type = "Person", aliases = ["Nora"] }]
[graph]
nodes = [{ name = "Person" }, { name = "Topic" }]
edges = [{ name = "KNOWS", source = "Person", target = "Topic" }]
"""
NODES = (
    '\ufeff{"id": "1", "name": "nora frei", "type": "Person"}\n{"id": "2", "name": "Beat Kunz", "type": "Person"}\n'
    '\n{"id": "3", "name": "change", "type": "Topic"}\n{"id": "4", "name": "Beat Kunz", "kind": "Person"}\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "graph").mkdir()
    (tmp_path / CARD_FILE).write_text(CARD, encoding="utf-8-sig")
    (tmp_path / NODES_FILE).write_text(NODES, encoding="utf-8")
    return tmp_path


def test_names_of_the_types_that_a_card_names_are_known_to_plans(folder: Path) -> None:
    card = load_card(folder)
    assert [(name.name, name.type) for name in card.names] == [("Nora Frei", "Person"), ("Beat Kunz", "Person")]
    plan = QueryPlanner(card, lm=None).plan("does Beat Kunz know of a change?")
    assert plan.entities == ("Beat Kunz",)


def test_a_graph_that_is_not_there_or_cannot_be_read_is_named(folder: Path) -> None:
    (folder / NODES_FILE).write_text('{"id": "1", "name": "x", "type": "Person"}\nnonsense\n')
    with pytest.raises(DataError, match=r"nodes\.jsonl:2: expected a JSON object"):
        load_card(folder)
    (folder / NODES_FILE).unlink()
    with pytest.raises(DataError, match=r"needs graph/nodes\.jsonl, which is not there"):
        load_card(folder)
    (folder / CARD_FILE).write_text(CARD.replace('["Person"]', '["Persons"]'))
    with pytest.raises(DataError, match=r"types that the graph does not have: \['Persons'\]"):
        load_card(folder)
