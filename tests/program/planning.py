"""What the tests of the planner share: a conversation, answers of a model, and what is read off a plan."""

from __future__ import annotations

from typing import Any

from queryplan.program.plan import QueryPlan

TURNS = [
    {"role": "user", "content": "What is sleep debt?"},
    {"role": "assistant", "content": "Lost sleep that adds up. Priya explained it, and Rosalind took it further."},
]
MODERATE = {"is_relevant": 0.9, "complexity": "moderate", "intent": "comparison", "needs_decomposition": 0.9}
FACT = {"is_relevant": 0.9, "complexity": "simple", "intent": "factual", "needs_decomposition": 0.1}
UNSPLIT = {"needs_decomposition": {"true": 0.01, "false": 0.99}}


def same(plan: QueryPlan) -> dict[str, Any]:
    """A plan without what a clock measures."""
    return plan.model_dump(exclude={"trace": {"milliseconds": True, "decisions": {"__all__": {"milliseconds"}}}})


def decided(plan: QueryPlan) -> dict[str, str]:
    """Who decided each stage."""
    return {d.stage: d.decided_by for d in plan.trace.decisions}
