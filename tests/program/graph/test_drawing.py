"""Plans in words and as pictures."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.errors import DataError
from queryplan.eval.graph.plan_generator import PlanGenerator
from queryplan.program.graph.drawing import draw_plan, plan_mermaid, plan_svg
from queryplan.program.graph.executors.memory import MemoryGraph
from queryplan.program.graph.wording import plan_lines, step_words
from queryplan.signatures.graph_steps import GraphPlan

PLAN = GraphPlan.model_validate(
    {
        "steps": [
            {"kind": "anchor", "store_as": "a", "node": {"name": "asthma", "type": "Disease"}},
            {"kind": "expand", "store_as": "drugs", "start": "a", "edge": "TREATS_CtD", "or_edges": ["PALLIATES_CpD"],
             "direction": "in", "node_where": [{"property": "approved_year", "op": "ge", "value": 1990}]},
            {"kind": "expand", "store_as": "g", "start": "a", "edge": "ASSOCIATES_DaG", "direction": "out",
             "where": [{"property": "score", "op": "gt", "value": 0.5}]},
            {"kind": "expand", "store_as": "more", "start": "g", "edge": "BINDS_CbG", "direction": "in",
             "exclude": ["drugs"]},
            {"kind": "union", "store_as": "u", "inputs": ["drugs", "more"]},
            {"kind": "order", "store_as": "o", "start": "u", "property": "approved_year", "limit": 3},
            {"kind": "filter", "store_as": "f", "start": "o",
             "conditions": [{"property": "name", "op": "in", "value": ["x", "y"]}]},
            {"kind": "count", "store_as": "n", "start": "f"},
        ]
    }
)  # fmt: skip


def test_a_plan_is_read_line_by_line() -> None:
    assert plan_lines(PLAN) == [
        "a      The Disease whose name is 'asthma'",
        "drugs  From a back along TREATS_CtD or PALLIATES_CpD, to nodes whose approved_year is at least 1990",
        "g      From a out along ASSOCIATES_DaG, edges whose score is above 0.5",
        "more   From g back along BINDS_CbG, without drugs",
        "u      All of drugs, more together",
        "o      The first 3 of u by approved_year, largest first",
        "f      Of o those whose name is one of 'x', 'y'",
        "n      How many f there are",
    ]


def test_sets_and_degrees_have_words() -> None:
    told = (
        ({"kind": "difference", "store_as": "d", "inputs": ["a", "b", "c"]}, "What is in a and not in b, c"),
        ({"kind": "intersect", "store_as": "i", "inputs": ["a", "b"]}, "What a, b have in common"),
        (
            {"kind": "order", "store_as": "o", "start": "a", "degree_of": "E", "descending": False},
            "The first of a by number of E, smallest first",
        ),
    )
    for step, words in told:
        assert step_words(GraphPlan.model_validate({"steps": [step]}).steps[0]) == words


def test_the_picture_has_a_box_for_each_step_and_an_arrow_for_each_use(biomedical: MemoryGraph) -> None:
    root = ET.fromstring(plan_svg(PLAN, biomedical.schema))
    space = "{http://www.w3.org/2000/svg}"
    titles = [text.text for text in root.iter(f"{space}text") if text.get("font-weight") == "bold"]
    assert titles[:2] == ["a: Disease", "drugs: Compound"]
    assert len(titles) == len(PLAN.steps)
    arrows = [path for path in root.iter(f"{space}path") if path.get("marker-end")]
    assert len(arrows) == 9
    assert sum(path.get("stroke-dasharray") is not None for path in arrows) == 1


def test_boxes_do_not_lie_on_each_other_or_outside(biomedical: MemoryGraph) -> None:
    root = ET.fromstring(plan_svg(PLAN, biomedical.schema))
    boxes = [[float(r.get(k, 0)) for k in ("x", "y", "width", "height")] for r in root.iter() if r.get("rx")]
    for n, (x, y, w, h) in enumerate(boxes):
        assert x + w <= float(root.get("width", 0))
        assert y + h <= float(root.get("height", 0))
        for x2, y2, w2, h2 in boxes[n + 1 :]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_mermaid_shows_uses_and_exclusions(biomedical: MemoryGraph) -> None:
    lines = plan_mermaid(PLAN, biomedical.schema).splitlines()
    assert lines[0] == "flowchart LR"
    assert "  s0 --> s1" in lines
    assert "  s1 -. without .-> s3" in lines
    assert '  s0(["a: Disease<br/>The Disease whose name is #39;asthma#39;"])' in lines


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32))
def test_every_plan_can_be_drawn(
    generator: Callable[[int], PlanGenerator], awkward_memory: MemoryGraph, seed: int
) -> None:
    made = generator(seed).plan()
    ET.fromstring(plan_svg(made, awkward_memory.schema))
    for line in plan_mermaid(made).splitlines()[1:]:
        assert line.count('"') in (0, 2)


@given(st.text(min_size=1, max_size=40))
def test_a_name_cannot_leave_its_box(name: str) -> None:
    if any("\ud800" <= c <= "\udfff" for c in name):
        return
    told: Any = {"steps": [{"kind": "anchor", "store_as": "a", "node": {"name": name, "type": "T"}}]}
    made = GraphPlan.model_validate(told)
    ET.fromstring(plan_svg(made))
    label = plan_mermaid(made).splitlines()[1].split('"')
    assert len(label) == 3
    assert not set(label[1].replace("<br/>", "")) & set('<>"`[](){}|\\')


def test_the_ending_says_what_is_drawn(tmp_path: Path) -> None:
    draw_plan(PLAN, tmp_path / "p.svg")
    draw_plan(PLAN, tmp_path / "p.mmd")
    assert (tmp_path / "p.svg").read_text(encoding="utf-8").startswith("<svg")
    assert (tmp_path / "p.mmd").read_text(encoding="utf-8").startswith("flowchart")
    with pytest.raises(DataError, match=r"ends in \.svg or \.mmd"):
        draw_plan(PLAN, tmp_path / "p.png")
    with pytest.raises(DataError, match="cannot be written"):
        draw_plan(PLAN, tmp_path / "none" / "p.svg")
