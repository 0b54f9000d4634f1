"""Steps as a language model writes them, for any schema."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from queryplan.data.graph_lessons import load_lessons
from queryplan.program.graph.sketch import canonical
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType
from queryplan.signatures.plan_graph_steps import MAX_STEPS, describe, plan_graph_steps, to_plan, written

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Person"), NodeType(name="Book", properties=("year",))),
    edges=(EdgeType(name="WROTE", source="Person", target="Book", description="is its author"),),
)
STEPS = [
    {"do": "find", "name": "Ida", "type": "Person"},
    {"do": "follow", "start": 1, "edge": "WROTE", "direction": "out", "without": []},
]


def adapter(schema: GraphSchema) -> TypeAdapter[Any]:
    return TypeAdapter(plan_graph_steps(schema).output_fields["steps"].annotation)


def test_types_edges_and_properties_are_literals_of_the_schema() -> None:
    said = str(adapter(SCHEMA).json_schema())
    assert all(name in said for name in ("'Person'", "'Book'", "'WROTE'", "'year'"))
    with pytest.raises(ValidationError):
        adapter(SCHEMA).validate_python([{"do": "find", "name": "Ida", "type": "Planet"}])
    with pytest.raises(ValidationError):
        adapter(SCHEMA).validate_python([{**STEPS[1], "edge": "READ"}])


def test_kinds_of_steps_that_a_schema_has_no_use_for_are_not_offered() -> None:
    offered = str(adapter(GraphSchema(nodes=(NodeType(name="A"),))).json_schema())
    assert "follow" not in offered
    assert "order" not in offered


def test_every_node_may_be_filtered_by_its_name() -> None:
    bare = adapter(GraphSchema(nodes=(NodeType(name="A"),)))
    step = {"do": "filter", "start": 1, "property": "name", "op": "contains", "value": "ette"}
    assert bare.validate_python([step])[0].property == "name"
    with pytest.raises(ValidationError):
        bare.validate_python([step | {"property": "colour"}])


def test_written_steps_become_a_plan_as_models_and_as_plain_data() -> None:
    typed = adapter(SCHEMA).validate_python(STEPS)
    assert to_plan(typed, SCHEMA) == to_plan(STEPS, SCHEMA)
    assert [step.kind for step in to_plan(STEPS, SCHEMA).steps] == ["anchor", "expand"]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([], "write 1 to"),
        ([STEPS[0]] * (MAX_STEPS + 1), "write 1 to"),
        ([{"do": "guess"}], "step 1 does 'guess'"),
        ([{"do": "find", "name": "", "type": "Person"}], r"step 1 \(find\)"),
        ([STEPS[0], {"do": "follow", "edge": "WROTE"}], r"step 2 \(follow\): .*start"),
        ([STEPS[0], {"do": "order", "start": 1, "by": "year", "descending": True, "limit": 0}], r"step 2 \(order\)"),
        ([STEPS[0], {"do": "union", "inputs": [1]}], r"step 2 \(union\)"),
    ],
)
def test_steps_that_cannot_be_read_are_refused_in_words(steps: list[Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        to_plan(steps, SCHEMA)


def test_every_labelled_plan_that_can_be_written_comes_back_the_same() -> None:
    count = 0
    for lesson in load_lessons():
        check = adapter(lesson.schema)
        for question in lesson.questions:
            steps = written(question.plan) if question.plan is not None else None
            if steps is not None and question.plan is not None:
                assert canonical(to_plan(steps, lesson.schema)) == canonical(question.plan)
                check.validate_python(steps)
                count += 1
    assert count > 400


def test_a_schema_is_described_line_by_line() -> None:
    assert describe(SCHEMA).splitlines() == [
        "Person -WROTE-> Book: is its author",
        "Book (properties: year)",
    ]
