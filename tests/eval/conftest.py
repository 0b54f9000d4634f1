"""Rows and plans by hand, and planners that answer from a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pytest
from queryplan.data.rows import LabelledRow
from queryplan.program.plan import QueryPlan, RetrievalStrategy

Make = Callable[..., Any]


def make_row(query: str = "What is focus?", row_id: str = "r1", conversation: str = "c1", **labels: Any) -> LabelledRow:
    """A row in domain, no follow-up, not decomposed, unless ``labels`` say otherwise."""
    relevant = labels.get("is_relevant", True)
    defaults = {
        "is_follow_up": False,
        "standalone_query": query,
        "is_relevant": True,
        "rejection_kind": None if relevant else "weather",
        "complexity": "simple",
        "intent": "definition" if relevant else "out_of_scope",
        "needs_decomposition": "sub_queries" in labels,
    }
    history = [{"role": "user", "content": "Tell me about Rick Rubin."}] if labels.get("is_follow_up") else []
    fields = {"id": row_id, "conversation": conversation, "turn": 1, "query": query, "history": history}
    return LabelledRow.model_validate({**fields, "labels": {**defaults, **labels}})


def make_plan(row: LabelledRow, **changes: Any) -> QueryPlan:
    """The plan that gold asks for, but for ``changes``."""
    fields = row.labels.model_dump()
    fields |= {"query": row.query, **changes}
    relevant = fields["is_relevant"]
    if not relevant:
        fields |= {"sub_queries": (), "intent": "out_of_scope"}
    else:
        fields["rejection_kind"] = None
    strategy = RetrievalStrategy(use_rag=relevant, use_kg=False)
    return QueryPlan.model_validate({"retrieval_strategy": strategy, **fields})


class TablePlanner:
    """Plans gold, except for the ids in ``wrong``; remembers what it was asked."""

    def __init__(self, rows: list[LabelledRow], wrong: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self.program_version = "table"
        self.asked: list[str] = []
        self.seen: list[tuple[Any, Any]] = []
        self._rows = {row.query: row for row in rows}
        self._wrong = wrong or {}

    def plan(self, query: str, history: Any = None, session: Mapping[str, Any] | None = None) -> QueryPlan:
        """The plan of the row with that query."""
        row = self._rows[query]
        self.asked.append(row.id)
        self.seen.append((history, session))
        return make_plan(row, **self._wrong.get(row.id, {}))


@pytest.fixture
def row() -> Make:
    """Makes a row; see `make_row`."""
    return make_row


@pytest.fixture
def plan() -> Make:
    """Makes a plan of a row; see `make_plan`."""
    return make_plan


@pytest.fixture
def table_planner() -> Make:
    """Makes a planner that knows the answers; see `TablePlanner`."""
    return TablePlanner


@pytest.fixture
def rows() -> list[LabelledRow]:
    """24 rows in 8 conversations: a definition, a follow-up, and something out of the domain each."""
    made = []
    for c in range(8):
        made += [
            make_row(f"What is idea {c}?", f"r{c}-1", f"c{c}"),
            make_row(
                f"And what does he say on {c}?",
                f"r{c}-2",
                f"c{c}",
                is_follow_up=True,
                standalone_query=f"And what does Rick Rubin say on {c}?",
                referenced_entities=["Rick Rubin"],
                entities=["Rick Rubin"],
                intent="factual",
            ),
            make_row(f"Will it rain in town {c}?", f"r{c}-3", f"c{c}", is_relevant=False),
        ]
    return made


def make_many(conversations: int) -> list[LabelledRow]:
    """Four rows a conversation: a definition, a follow-up, a comparison in two parts, and something out of domain."""
    made = []
    for c in range(conversations):
        parts = [{"id": 1, "text": f"What is idea {c}?"}, {"id": 2, "text": f"What is craft {c}?"}]
        tags = ("injection",) if c % 3 == 0 else ("close_negative",)
        rain = make_row(f"Will it rain in town {c}?", f"m{c}-4", f"m{c}", is_relevant=False)
        made += [
            make_row(f"What is idea {c}?", f"m{c}-1", f"m{c}"),
            make_row(
                f"And what does he say on {c}?",
                f"m{c}-2",
                f"m{c}",
                is_follow_up=True,
                standalone_query=f"And what does Rick Rubin say on {c}?",
                entities=["Rick Rubin"],
                intent="factual",
            ),
            make_row(
                f"How does idea {c} differ from craft {c}, and from all that was said of either before?",
                f"m{c}-3",
                f"m{c}",
                complexity="moderate",
                intent="comparison",
                sub_queries=parts,
            ),
            rain.model_copy(update={"tags": tags}),
        ]
    return made


ERRORS: list[dict[str, Any]] = [
    {"intent": "factual"},
    {"standalone_query": "And what does he say?"},
    {"sub_queries": ()},
    {"is_relevant": True, "intent": "factual"},
]
"""A wrong plan of each of the four rows of a conversation."""


def make_wrong(rows: list[LabelledRow], share: float, seed: int) -> dict[str, dict[str, Any]]:
    """Errors in about a share of the rows, the same for the same seed."""
    random = Random(seed)
    return {row.id: ERRORS[int(row.id[-1]) - 1] for row in rows if random.random() < share}
