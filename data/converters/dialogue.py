"""Shared by the converters of conversations: building the history, and deciding when a rewrite says the same."""

from __future__ import annotations

from typing import Any

from ...signatures.types import Turn
from ..rows import LabelledRow
from .base import labels
from .sources import Record

_ROLES = {"user": "user", "system": "assistant", "assistant": "assistant", "agent": "assistant"}


def history(record: Record) -> tuple[Turn, ...]:
    """The earlier messages of a record, oldest first."""
    return tuple(_turn(record, number, item) for number, item in enumerate(record.list("history", dict)))


def _turn(record: Record, number: int, item: dict[str, Any]) -> Turn:
    role, text = item.get("role"), item.get("text")
    if role not in _ROLES or not isinstance(text, str):
        raise record.error(f"history.{number}: expected a role ({', '.join(_ROLES)}) and a text")
    return Turn.model_validate({"role": _ROLES[role], "content": text})


def same_words(one: str, other: str) -> bool:
    """Whether two texts are equal but for case, spaces and punctuation."""
    return _letters(one) == _letters(other)


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def dialogue_row(record: Record, follow_up: bool, standalone: str, *tags: str) -> LabelledRow:
    """The row of one user turn."""
    query = record.text("utterance")
    known = {"is_follow_up": True, "standalone_query": standalone} if follow_up else {}
    return LabelledRow(
        id=record.text("id"),
        conversation=conversation(record),
        turn=record.number("turn"),
        query=query,
        history=history(record),
        labels=labels(query, **known),
        tags=tags,
    )


def conversation(record: Record) -> str:
    """A name that conversations of other years and files do not have: sets count from 1 in each.

    A row's id is the conversation's name and the turn, in all three sets.
    """
    row_id, turn = record.text("id"), str(record.number("turn"))
    name = row_id.removesuffix(turn).rstrip("-_:<>")
    return name if name and row_id.endswith(turn) else record.text("conversation_id")
