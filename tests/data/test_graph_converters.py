"""Converters of graphs: plans that run and give the answers, names as in the database, mistakes by line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from queryplan.data.converters import CONVERTERS
from queryplan.data.domain import load_domain
from queryplan.errors import DataError
from queryplan.program.graph.executors.memory import load_graph

from .converting import (
    HETIONET,
    KB,
    METAQA,
    Fields,
    converted,
    hetionet_folder,
    metaqa_folder,
    rows_of,
    write,
    wrong_answers,
)

# Graphs


def test_metaqa_plans_run_on_its_graph_and_give_the_answers(tmp_path: Path) -> None:
    domain = converted("metaqa", metaqa_folder(tmp_path / "in"), tmp_path / "out")
    graph = load_graph(tmp_path / "out")
    assert wrong_answers(domain, graph, rows_of(domain).values()) == []
    assert {row.labels.entities for row in rows_of(domain).values()} == {("A",)}


def test_metaqa_takes_the_topic_out_after_the_second_hop_alone(tmp_path: Path) -> None:
    found = rows_of(converted("metaqa", metaqa_folder(tmp_path / "in"), tmp_path / "out"))
    plan = found["m-3"].gold.graph_plan.steps  # type: ignore[union-attr]
    assert [getattr(step, "exclude", None) for step in plan] == [None, (), ("topic",), ()]


def test_metaqa_holds_out_question_types(tmp_path: Path) -> None:
    domain = converted("metaqa", metaqa_folder(tmp_path / "in"), tmp_path / "out", hold_out=["type2"])
    assert [row.id for row in domain.rows("test")] == ["m-2"]


@pytest.mark.parametrize(("options", "said"), [({"hold_out": ["typo"]}, "typo"), ({"hops": [4]}, "hops")])
def test_metaqa_refuses_types_and_hops_that_are_not_there(tmp_path: Path, options: Fields, said: str) -> None:
    with pytest.raises(DataError, match=said):
        converted("metaqa", metaqa_folder(tmp_path / "in"), tmp_path / "out", **options)


def test_metaqa_leaves_out_a_topic_that_case_alone_tells_apart(tmp_path: Path) -> None:
    source = metaqa_folder(tmp_path / "in", [*KB, "a|directed_by|Bo"])
    write(source / "1hop_dev.jsonl.gz", {**METAQA[1], "topic_entity": "B", "id": "m-b"})
    summary = CONVERTERS["metaqa"].convert(source, tmp_path / "out")
    assert list(summary.left_out.values()) == [2]
    assert list(rows_of(load_domain(tmp_path / "out"))) == ["m-b"]


def test_metaqa_names_the_line_of_a_bad_triple(tmp_path: Path) -> None:
    source = metaqa_folder(tmp_path / "in", [*KB, "A|eats|B"])
    with pytest.raises(DataError, match=r"kb\.txt\.gz:6: expected film\|relation\|value"):
        converted("metaqa", source, tmp_path / "out")


def test_hetionet_has_the_names_of_its_database(tmp_path: Path) -> None:
    domain = converted("hetionet", hetionet_folder(tmp_path / "in"), tmp_path / "out")
    schema = domain.card.graph
    assert schema is not None
    ends = [(edge.name, edge.source, edge.target) for edge in schema.edges]
    assert ends == [("CAUSES_CcSE", "Compound", "SideEffect"), ("TREATS_CtD", "Compound", "Disease")]
    neighbours = load_graph(tmp_path / "out").neighbours("Compound::3", "CAUSES_CcSE", "out")
    assert list(neighbours) == ["Side Effect::2"]
    assert domain.splits == {}


def test_hetionet_can_keep_some_edge_types(tmp_path: Path) -> None:
    summary = CONVERTERS["hetionet"].convert(hetionet_folder(tmp_path / "in"), tmp_path / "out", edges=["TREATS_CtD"])
    assert (summary.nodes, summary.edges) == (2, 1)
    with pytest.raises(DataError, match="there is no type EATS"):
        CONVERTERS["hetionet"].convert(tmp_path / "in", tmp_path / "other", edges="EATS")


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("edges.tsv", "Compound::3\tCtD\tDisease::9", r"edges.tsv:4: .*unknown node 'Disease::9'"),
        ("edges.tsv", "Compound::3\tXX\tDisease::1", r"edges.tsv:4: metaedge: 'XX'"),
        ("edges.tsv", "Compound::3\tCtD", r"edges.tsv:4: expected source, metaedge, target"),
        ("nodes.jsonl", HETIONET["nodes.jsonl"][0], r"nodes.jsonl:4: two nodes have the id"),
        ("metaedges.tsv", "Compound ? Disease\tCx", r"metaedges.tsv:4: metaedge"),
    ],
)
def test_hetionet_names_the_line_of_a_mistake(tmp_path: Path, name: str, line: Any, said: str) -> None:
    source = hetionet_folder(tmp_path / "in", **{name: [*HETIONET[name], line]})
    with pytest.raises(DataError, match=said):
        converted("hetionet", source, tmp_path / "out")
