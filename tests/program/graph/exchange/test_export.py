"""SPOKE planning's JSON shape, out and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.errors import DataError
from queryplan.eval.graph.plan_generator import PlanGenerator
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.exchange.export import FINAL, from_spoke, query_type, to_spoke
from queryplan.program.graph.executor import execute_graph
from queryplan.program.graph.executors.memory import MemoryGraph
from queryplan.program.graph.executors.rest_client import path_part
from queryplan.signatures.graph_steps import AnchorStep, ExpandStep, GraphPlan, GraphSchema

KEYS = ["step", "description", "api_call", "logic", "inputs", "store_as"]


def anchor(name: str, kind: str = "Disease", store: str = "a") -> dict[str, Any]:
    return {"kind": "anchor", "store_as": store, "node": {"name": name, "type": kind}}


def hop(store: str, start: str, edge: str, direction: str, **more: Any) -> dict[str, Any]:
    return {"kind": "expand", "store_as": store, "start": start, "edge": edge, "direction": direction, **more}


def plan(*steps: Any) -> GraphPlan:
    return GraphPlan.model_validate({"steps": steps})


def test_one_hop_is_one_call(biomedical: MemoryGraph) -> None:
    made = to_spoke(plan(anchor("Alzheimer's disease"), hop("g", "a", "ASSOCIATES_DaG", "out")), biomedical.schema)
    assert made["query_type"] == "one-hop"
    assert made["entities"] == [
        {"name_in_query": "Alzheimer's disease", "normalized_type": "Disease", "id_placeholder": "a"}
    ]
    (step,) = made["plan"]
    assert list(step) == KEYS
    assert step["api_call"] == (
        "/api/v1/neighborhood/Disease/name/Alzheimer's%20disease?edge_filters=ASSOCIATES_DaG&node_filters=Gene"
    )
    assert (step["step"], step["logic"], step["inputs"], step["store_as"]) == (1, None, None, FINAL)
    assert "ASSOCIATES_DaG" in made["thought"]


def test_a_second_hop_has_templates(biomedical: MemoryGraph) -> None:
    steps = (anchor("aspirin", "Compound"), hop("d", "a", "TREATS_CtD", "out"), hop("s", "d", "PRESENTS_DpS", "out"))
    made = to_spoke(plan(*steps), biomedical.schema, thought="because")
    assert (made["query_type"], made["thought"]) == ("two-hop", "because")
    assert made["plan"][1]["api_call"] == (
        "/api/v1/neighborhood/{d.type}/name/{d.name}?edge_filters=PRESENTS_DpS&node_filters=Symptom"
    )
    assert made["plan"][1]["inputs"] == ["d"]


def test_results_are_combined_two_at_a_time(biomedical: MemoryGraph) -> None:
    names = ("aspirin", "ibuprofen", "warfarin")
    steps = [
        s
        for n, name in enumerate(names)
        for s in (anchor(name, "Compound", f"a{n}"), hop(f"d{n}", f"a{n}", "TREATS_CtD", "out"))
    ]
    made = to_spoke(
        plan(*steps, {"kind": "intersect", "store_as": "x", "inputs": ["d0", "d1", "d2"]}), biomedical.schema
    )
    assert made["query_type"] == "complex"
    assert [(s["logic"], s["inputs"], s["store_as"]) for s in made["plan"][3:]] == [
        ("INTERSECTION", ["d0", "d1"], "final_result_1"),
        ("INTERSECTION", ["final_result_1", "d2"], FINAL),
    ]
    assert all(list(step) == KEYS for step in made["plan"])


@pytest.mark.parametrize(("hops", "kind"), [(0, "one-hop"), (1, "one-hop"), (2, "two-hop"), (3, "multi-hop")])
def test_the_kind_of_question_follows_from_the_steps(hops: int, kind: str) -> None:
    steps = [anchor("x"), *(hop(f"b{n}", f"b{n - 1}" if n else "a", "RESEMBLES_DrD", "any") for n in range(hops))]
    assert query_type(plan(*steps)) == kind


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 2**32))
def test_what_is_written_is_read_back_and_answers_alike(
    generator: Callable[[int], PlanGenerator], awkward_memory: MemoryGraph, seed: int
) -> None:
    made = generator(seed).plan()
    written = json.loads(json.dumps(to_spoke(made, awkward_memory.schema)))
    read = from_spoke(written, awkward_memory.schema)
    assert check_graph_plan(read, awkward_memory.schema) == []
    assert execute_graph(read, awkward_memory).names == execute_graph(made, awkward_memory).names
    assert written["plan"][-1]["store_as"] == FINAL
    assert [s["store_as"] for s in written["plan"]].count(FINAL) == 1
    for step in written["plan"]:
        assert step["api_call"] is None or step["api_call"].startswith("/api/v1/neighborhood/")
        assert (step["api_call"] is None) != (step["logic"] is None)
        assert len(step["inputs"] or ()) <= 2 or step["logic"] == "DIFFERENCE"


@given(st.text(min_size=1))
def test_no_name_can_leave_its_part_of_the_path(name: str) -> None:
    if any("\ud800" <= c <= "\udfff" for c in name):
        return
    part = path_part(name)
    assert unquote(part) == name
    assert not set(part) & set("/?#{}%&= ") - {"%"}
    assert urlsplit(f"http://x/{part}").path == f"/{part}"
    assert part not in (".", "..")


def test_a_name_like_a_template_is_a_name(biomedical: MemoryGraph) -> None:
    made = plan(anchor("{d.name}"), hop("g", "a", "ASSOCIATES_DaG", "out"))
    read = from_spoke(to_spoke(made, biomedical.schema), biomedical.schema)
    assert isinstance(read.steps[0], AnchorStep)
    assert read.steps[0].node.name == "{d.name}"


CUT = GraphSchema.model_validate(
    {
        "nodes": [
            {"name": "C", "key": "identifier"},
            {
                "name": "D",
                "properties": ["group"],
                "details": [{"name": "group", "kind": "enum", "values": ["x", "y"]}],
                "cutoffs": [{"name": "cutoff_D_group", "property": "group", "op": "in"}],
            },
        ],
        "edges": [
            {
                "name": "TREATS_CtD",
                "source": "C",
                "target": "D",
                "properties": ["phase"],
                "cutoffs": [{"name": "cutoff_CtD_phase", "property": "phase"}],
            }
        ],
    }
)


def test_cutoffs_are_parameters_and_come_back_as_conditions() -> None:
    tests = {
        "where": [{"property": "phase", "op": "ge", "value": 3.0}],
        "node_where": [{"property": "group", "op": "in", "value": ["x", "y"]}],
    }
    made = plan(
        anchor("7", "C") | {"node": {"name": "7", "type": "C", "field": "id"}},
        hop("d", "a", "TREATS_CtD", "out", **tests),
    )
    written = to_spoke(made, CUT)
    assert written["plan"][0]["api_call"] == (
        "/api/v1/neighborhood/C/identifier/7?edge_filters=TREATS_CtD&node_filters=D"
        "&cutoff_CtD_phase=3&cutoff_D_group=x&cutoff_D_group=y"
    )
    assert list(written["plan"][0]) == KEYS
    read = from_spoke(written, CUT)
    assert [step.model_dump(exclude={"store_as"}) for step in read.steps] == [
        step.model_dump(exclude={"store_as"}) for step in made.steps
    ]


def test_a_condition_that_no_cutoff_says_is_an_argument() -> None:
    made = plan(
        anchor("x", "C"), hop("d", "a", "TREATS_CtD", "out", where=[{"property": "phase", "op": "lt", "value": 3}])
    )
    step = to_spoke(made, CUT)["plan"][0]
    assert "cutoff" not in step["api_call"]
    assert step["arguments"]["where"] == [{"property": "phase", "op": "lt", "value": 3}]


SIZED = GraphSchema.model_validate(
    {
        "nodes": [
            {
                "name": "Part",
                "properties": ["size", "code", "spare"],
                "cutoffs": [
                    {"name": "least", "property": "size", "op": "ge"},
                    {"name": "sizes", "property": "size", "op": "in"},
                    {"name": "code", "property": "code", "op": "ge"},
                    {"name": "spare", "property": "spare", "op": "in"},
                ],
            },
            {"name": "Kit"},
        ],
        "edges": [{"name": "HAS", "source": "Kit", "target": "Part"}],
    }
)


@pytest.mark.parametrize(
    "tests",
    [
        [{"property": "size", "op": "ge", "value": 2}],
        [{"property": "size", "op": "ge", "value": 2}, {"property": "size", "op": "ge", "value": 3}],
        [{"property": "size", "op": "in", "value": [1, 2.5]}],
        [{"property": "code", "op": "ge", "value": "m"}],
        [{"property": "code", "op": "ge", "value": "5"}],
        [{"property": "spare", "op": "in", "value": [True]}],
    ],
)
def test_values_keep_their_kind_and_their_number_whatever_cutoffs_there_are(tests: list[dict[str, Any]]) -> None:
    made = plan(anchor("x", "Kit"), hop("p", "a", "HAS", "out", node_where=tests))
    read = from_spoke(json.loads(json.dumps(to_spoke(made, SIZED))), SIZED)
    assert read.steps[-1].model_dump(exclude={"store_as"}) == made.steps[-1].model_dump(exclude={"store_as"})
    again, before = read.steps[-1], made.steps[-1]
    assert isinstance(again, ExpandStep)
    assert isinstance(before, ExpandStep)
    kinds = [[type(c.candidates()[0]) for c in step.node_where] for step in (again, before)]
    assert kinds[0] == kinds[1]


# --- plans as a model writes them


CALL = "/api/v1/neighborhood/"
WRITTEN = {
    "query_type": "complex",
    "thought": "…",
    "entities": [{"name_in_query": "Aspirin", "normalized_type": "Compound", "id_placeholder": "asp"}],
    "plan": [
        {
            "step": 1,
            "api_call": f"{CALL}Compound/name/Aspirin?edge_filters=TREATS_CtD&node_filters=Disease",
            "logic": None,
            "inputs": None,
            "store_as": "diseases_A",
        },
        {
            "step": 2,
            "api_call": f"{CALL}Compound/name/Ibuprofen?edge_filters=TREATS_CtD&node_filters=Disease",
            "logic": None,
            "inputs": None,
            "store_as": "diseases_B",
        },
        {
            "step": 3,
            "api_call": None,
            "logic": "INTERSECTION",
            "inputs": ["diseases_A", "diseases_B"],
            "store_as": "both",
        },
        {
            "step": 4,
            "api_call": CALL + "{both.type}/name/{both.name}?edge_filters=PRESENTS_DpS&node_filters=Symptom",
            "logic": None,
            "inputs": ["both"],
            "store_as": "final_result",
        },
    ],
}


def test_a_plan_that_a_model_wrote_is_read(biomedical: MemoryGraph) -> None:
    read = from_spoke(WRITTEN, biomedical.schema)
    assert check_graph_plan(read, biomedical.schema, "Symptom") == []
    assert [step.store_as for step in read.steps][:2] == ["asp", "diseases_A"]


def test_an_edge_is_followed_backwards_where_its_call_says_so(biomedical: MemoryGraph) -> None:
    call = "/api/v1/neighborhood/Disease/name/Alzheimer's disease?edge_filters=TREATS_CtD&node_filters=Compound"
    read = from_spoke({"plan": [{"api_call": call, "store_as": "final_result"}]}, biomedical.schema)
    assert check_graph_plan(read, biomedical.schema, "Compound") == []


BROKEN = [
    ([], "must be an object with a list of steps"),
    ({"plan": []}, "must be an object with a list of steps"),
    ({"error": "Failed to parse LLM output", "raw_output": "…"}, "this is no plan but an error: 'Failed"),
    ({"plan": ["x"]}, "step 1 of the plan cannot be read: it is no object with store_as"),
    ({"plan": [{"store_as": "x"}]}, "it has neither an api_call nor a logic"),
    ({"plan": [{"api_call": "/api/v1/search/x", "store_as": "x"}]}, "is no call of /api/v1/neighborhood"),
    ({"plan": [{"api_call": "/api/v1/neighborhood/{x.type}/name/{x.name}", "store_as": "y"}]}, "no edge_filters"),
    ({"plan": [{"logic": "XOR", "inputs": ["a", "b"], "store_as": "y"}]}, "must be one of"),
    ({"plan": [{"logic": "UNION", "inputs": ["a"], "store_as": "y"}]}, "at least 2 entries"),
    ({"plan": [{"logic": "UNION", "inputs": None, "store_as": "not a name"}]}, "step 1"),
]


@pytest.mark.parametrize(("document", "said"), BROKEN)
def test_what_cannot_be_read_is_said(biomedical: MemoryGraph, document: Any, said: str) -> None:
    with pytest.raises(DataError) as error:
        from_spoke(document, biomedical.schema)
    assert said in str(error.value)


def test_an_edge_that_the_schema_lacks_is_left_to_the_checker(biomedical: MemoryGraph) -> None:
    call = "/api/v1/neighborhood/Disease/name/x?edge_filters=HAS_SYMPTOM&node_filters=Symptom"
    read = from_spoke({"plan": [{"api_call": call, "store_as": "final_result"}]}, biomedical.schema)
    assert "there is no edge 'HAS_SYMPTOM'" in check_graph_plan(read, biomedical.schema)[0]
