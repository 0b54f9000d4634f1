"""Prompts do not repeat what constrained decoding enforces."""

from __future__ import annotations

from typing import Any

import dspy
import pytest
from queryplan.program.lm.brief import LONG, BriefJSONAdapter, is_long
from queryplan.signatures.decompose_query import DecomposeQuery
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType
from queryplan.signatures.plan_graph_steps import plan_graph_steps
from queryplan.signatures.rewrite_query import RewriteQuery
from queryplan.signatures.vary_query import VaryQuery

SCHEMA = GraphSchema(
    nodes=tuple(NodeType(name=f"Kind{i}", properties=("year",)) for i in range(6)),
    edges=tuple(EdgeType(name=f"LEADS_TO_{i}", source=f"Kind{i}", target="Kind0") for i in range(6)),
)
STEPS = [{"do": "find", "name": "Ida", "type": "Kind1"}, {"do": "follow", "start": 1, "edge": "LEADS_TO_1"}]


@pytest.fixture
def usual() -> Any:
    return dspy.JSONAdapter(use_native_function_calling=False)


@pytest.fixture
def brief() -> Any:
    return BriefJSONAdapter(use_native_function_calling=False)


def text(messages: list[dict[str, Any]]) -> str:
    return "\n".join(str(message["content"]) for message in messages)


def test_a_long_schema_is_not_in_the_prompt_but_its_forms_are(brief: Any, usual: Any) -> None:
    signature = plan_graph_steps(SCHEMA)
    said, long = (text(adapter.format(signature, [], {"query": "who?"})) for adapter in (brief, usual))
    assert "$defs" in long
    assert "$defs" not in said
    assert len(said) < len(long) / 2
    for word in ('"do": "find"', '"do": "follow"', '"do": "count"', "Kind1 -LEADS_TO_1-> Kind0", "[[ ## query ## ]]"):
        assert word in said


def test_demonstrations_of_it_stand_on_one_line(brief: Any) -> None:
    demos = [{"query": "where is Ida?", "steps": STEPS}]
    messages = brief.format(plan_graph_steps(SCHEMA), demos, {"query": "who?"})
    answers = [str(m["content"]) for m in messages if m["role"] == "assistant"]
    assert len(answers) == 1
    assert "\n" not in answers[0]
    assert brief.parse(plan_graph_steps(SCHEMA), '{"steps": [{"do": "find", "name": "a", "type": "Kind1"}]}')


@pytest.mark.parametrize("signature", [RewriteQuery, DecomposeQuery])
def test_prompts_of_other_signatures_are_the_same_to_the_letter(signature: Any, brief: Any, usual: Any) -> None:
    assert not any(is_long(info) for info in signature.output_fields.values())
    inputs = dict.fromkeys(signature.input_fields, "x")
    outputs = {name: [] for name in signature.output_fields}
    demos = [{**inputs, **outputs}]
    assert brief.format(signature, demos, inputs) == usual.format(signature, demos, inputs)


def sent_for(signature: Any, brief: Any) -> dict[str, Any]:
    has = {"supports_response_schema": True, "supported_params": {"response_format"}}
    lm: Any = type("Strict", (), has)()
    sent: dict[str, Any] = {}
    brief._prepare_response_format(lm, sent, signature)
    return sent["response_format"].model_json_schema()


def test_the_whole_schema_is_sent_beside_the_prompt(brief: Any) -> None:
    said = str(sent_for(plan_graph_steps(SCHEMA), brief))
    assert "LEADS_TO_5" in said
    assert len(said) > LONG


@pytest.mark.parametrize(
    ("signature", "name", "least", "most"), [(DecomposeQuery, "sub_queries", 2, 4), (VaryQuery, "variations", None, 4)]
)
def test_how_many_items_a_list_may_have_is_sent_too(
    signature: Any, name: str, least: int | None, most: int, brief: Any
) -> None:
    said = sent_for(signature, brief)["properties"]
    assert (said[name].get("minItems"), said[name]["maxItems"]) == (least, most)
    assert sum("maxItems" in of_field for of_field in said.values()) == 1


def test_an_answer_with_too_many_items_is_read(brief: Any) -> None:
    """An endpoint that ignores the number loses nothing: the planner's check asks once more, and says how many."""
    answer = '{"sub_queries": [], "entities": [], "relationships_needed": []}'
    assert brief.parse(DecomposeQuery, answer)["sub_queries"] == []
