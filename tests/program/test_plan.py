"""The contract ``QueryPlan``: frozen, strict, consistent, and exported as a JSON schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from queryplan.program.plan import PlanTrace, QueryPlan, RetrievalStrategy
from queryplan.signatures.types import SubQuery

SEARCH = RetrievalStrategy(use_rag=True, use_kg=True, kg_query_type="entity_centric")
NOTHING = RetrievalStrategy(use_rag=False, use_kg=False)
GOOD: dict[str, Any] = {
    "query": "Who is Nell?",
    "standalone_query": "Who is Nell?",
    "is_follow_up": False,
    "is_relevant": True,
    "complexity": "simple",
    "intent": "definition",
    "needs_decomposition": False,
    "retrieval_strategy": SEARCH,
}


def test_the_exported_schema_is_current(root: Path) -> None:
    """Write it anew with: json.dumps(QueryPlan.model_json_schema(), indent=2, sort_keys=True)."""
    exported = (root / "docs" / "queryplan.schema.json").read_text(encoding="utf-8")
    current = json.dumps(QueryPlan.model_json_schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert exported == current


def test_the_schema_has_the_fields_of_the_contract_and_refuses_others(root: Path) -> None:
    schema = json.loads((root / "docs" / "queryplan.schema.json").read_text(encoding="utf-8"))
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == set(
        "schema_version query standalone_query is_follow_up referenced_entities conversation_context previous_topics "
        "is_relevant rejection_kind rejection_reason complexity intent needs_decomposition sub_queries entities "
        "relationships_needed retrieval_strategy candidates source_intents source_plans source_queries graph_plan "
        "trace degraded program_version".split()
    )
    assert "follow_up" not in schema["properties"]["intent"]["enum"]


def test_a_plan_cannot_be_changed() -> None:
    plan = QueryPlan(**GOOD)
    with pytest.raises(ValidationError):
        plan.query = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        plan.retrieval_strategy.use_rag = False  # type: ignore[misc]


def test_a_field_that_is_unknown_is_refused() -> None:
    with pytest.raises(ValidationError, match="more"):
        QueryPlan(**{**GOOD, "more": 1})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"intent": "follow_up"}, "intent"),
        ({"complexity": "hard"}, "complexity"),
        ({"schema_version": 2}, "schema_version"),
        ({"is_relevant": False}, "out_of_scope exactly when"),
        ({"intent": "out_of_scope"}, "out_of_scope exactly when"),
        ({"rejection_kind": "news"}, "has a rejection"),
        ({"is_relevant": False, "intent": "out_of_scope"}, "retrieves nothing"),
        ({"sub_queries": [SubQuery(id=1, text="a", depends_on=(1,))]}, "cycle"),
        ({"sub_queries": [SubQuery(id=1, text="a"), SubQuery(id=1, text="b")]}, "same id"),
    ],
)
def test_a_plan_that_contradicts_itself_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        QueryPlan(**{**GOOD, **change})


def test_a_refusal_is_a_plan() -> None:
    refused = {"is_relevant": False, "intent": "out_of_scope", "rejection_kind": "news", "rejection_reason": "No news."}
    plan = QueryPlan(**{**GOOD, **refused, "retrieval_strategy": NOTHING})
    assert QueryPlan.model_validate_json(plan.model_dump_json()) == plan


def test_a_decision_that_was_not_made_is_none() -> None:
    assert PlanTrace().decision("graph") is None


def test_equal_plans_have_the_same_hash_whatever_their_decisions_hold(bench: Any) -> None:
    plan = bench.planner().plan("Who is Nell?")
    again = QueryPlan.model_validate_json(plan.model_dump_json())
    assert again == plan
    assert hash(plan) == hash(again)
    assert hash(plan.trace) == hash(again.trace)  # pyright: ignore[reportUnhashable]
