"""Rows to label sets with, made in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from queryplan.data.rows import LabelledRow

MakeRow = Callable[..., LabelledRow]


def _row(query: str, conversation: str = "c", turn: int = 1, **labels: Any) -> LabelledRow:
    """A row of the guide's simplest kind; ``row_`` names fields of the row, all else are labels."""
    fields = {name.removeprefix("row_"): labels.pop(name) for name in list(labels) if name.startswith("row_")}
    usual = {"is_follow_up": False, "standalone_query": query, "is_relevant": True, "complexity": "simple",
             "intent": "factual", "needs_decomposition": False}  # fmt: skip
    if turn > 1 and "history" not in fields:
        fields["history"] = [{"role": "user", "content": "who was first?"}] * (turn - 1)
    made = {"id": f"{conversation}.{turn}", "conversation": conversation, "turn": turn, "query": query}
    return LabelledRow.model_validate({**made, **fields, "labels": {**usual, **labels}})


@pytest.fixture(scope="session")
def make_row() -> MakeRow:
    """``make_row("why?", "c", 2, is_follow_up=True, standalone_query="why he?", row_tags=["typo"])``."""
    return _row
