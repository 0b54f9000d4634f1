"""The public sets themselves, where QUERYPLAN_BENCHMARKS names their folder."""

from __future__ import annotations

import gzip
import os
from itertools import islice
from pathlib import Path

import pytest
from queryplan.data.converters import CONVERTERS
from queryplan.data.domain import load_domain
from queryplan.program.graph.executors.memory import load_graph
from queryplan.signatures.types import NodeRef

from .converting import (
    converted,
    rows_of,
    wrong_answers,
)

# The real sets


BENCHMARKS = os.environ.get("QUERYPLAN_BENCHMARKS")

real = pytest.mark.skipif(BENCHMARKS is None, reason="QUERYPLAN_BENCHMARKS names no folder with the public sets")


@real
@pytest.mark.parametrize("name", [name for name in CONVERTERS if name not in ("metaqa", "hetionet")])
def test_a_real_set_converts_to_rows_that_load(tmp_path: Path, name: str) -> None:
    folder = Path(str(BENCHMARKS)) / name
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}")
    summary = CONVERTERS[name].convert(folder, tmp_path / "out")
    lines = sum(len(gzip.decompress(file.read_bytes()).splitlines()) for file in folder.glob("*.jsonl.gz"))
    assert len(rows_of(load_domain(tmp_path / "out"))) == sum(summary.rows.values())
    assert sum(summary.rows.values()) + sum(summary.left_out.values()) == lines


@real
def test_real_metaqa_plans_give_the_gold_answers(tmp_path: Path) -> None:
    domain = converted("metaqa", Path(str(BENCHMARKS)) / "metaqa", tmp_path / "out")
    graph = load_graph(tmp_path / "out")
    found = rows_of(domain).values()
    for hops in ("hops:1", "hops:2", "hops:3"):
        some = list(islice((row for row in found if hops in row.tags), 300))
        assert len(some) == 300
        assert wrong_answers(domain, graph, some) == []


@real
@pytest.mark.slow
def test_real_hetionet_loads_as_a_graph(tmp_path: Path) -> None:
    summary = CONVERTERS["hetionet"].convert(Path(str(BENCHMARKS)) / "hetionet", tmp_path / "out", edges=["DpS", "CtD"])
    graph = load_graph(tmp_path / "out")
    assert len(graph.nodes) == summary.nodes > 1000
    assert summary.edges > 3000
    assert graph.find(NodeRef(name="gout", type="Disease"))
