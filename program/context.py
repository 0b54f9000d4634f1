"""What the planner is shown of a conversation: cleaned, windowed, as text and as topics."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, get_args

from ..data.card import HistoryWindow
from ..signatures.types import Role, Turn
from .plan import Degraded

ROLES = get_args(Role)
MAX_QUERY_CHARACTERS = 4000
MAX_CONTEXT_WORDS = 40


@dataclass(frozen=True)
class CleanInput:
    """A query and its conversation, safe to show to a model, and what had to be left out.

    ``session`` is as the caller gave it: who reads a value of it checks it.
    """

    query: str
    turns: tuple[Turn, ...]
    active_entity: str
    degraded: tuple[Degraded, ...]
    session: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def context(self) -> str:
        """The last question and the beginning of its answer, at most 40 words."""
        words = " / ".join(turn.content for turn in self.turns[-2:]).split(None, MAX_CONTEXT_WORDS)
        return " ".join(words[:MAX_CONTEXT_WORDS])


def clean_input(
    query: str,
    history: Sequence[Mapping[str, Any] | Turn] | None,
    session: Mapping[str, Any] | None,
    window: HistoryWindow,
) -> CleanInput:
    """Make any text plannable; never fails on what a user typed.

    Raises:
        TypeError: ``query`` is not a string, ``history`` not a sequence of messages or ``session``
            not a mapping: a mistake of the calling program.
    """
    if not isinstance(query, str):
        raise TypeError(f"query must be a string, not {type(query).__name__}")
    if isinstance(history, str | bytes | Mapping):
        raise TypeError("history must be a list of messages with role and content")
    if session is not None and not isinstance(session, Mapping):
        raise TypeError("session must be a mapping")
    text, notes = _clean_query(query)
    turns, more = _clean_turns(history or (), window)
    known = session or {}
    active = known.get("active_entity")
    entity = printable(active)[:200] if isinstance(active, str) else ""
    return CleanInput(text, turns, entity, (*notes, *more), known)


def printable(text: str) -> str:
    """Text without control characters, white space folded, trimmed. Lone surrogates are dropped."""
    folded = " ".join(text.split())
    if folded.isprintable():  # nearly always, and twenty times as fast
        return folded
    kept = (" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cs"))
    return " ".join("".join(kept).split())


def encodable(text: str) -> str:
    """The text as it is, except that lone surrogates, which no file can hold, are replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _clean_query(query: str) -> tuple[str, list[Degraded]]:
    text, notes = printable(query[: 4 * MAX_QUERY_CHARACTERS]), []
    if len(text) > MAX_QUERY_CHARACTERS or len(query) > 4 * MAX_QUERY_CHARACTERS:
        text = text[:MAX_QUERY_CHARACTERS]
        why = f"it has {len(query)} characters"
        notes.append(Degraded(what="query", why=why, instead=f"the first {MAX_QUERY_CHARACTERS} were planned"))
    if not text:
        notes.append(Degraded(what="query", why="it has no readable text", instead="a direct answer is planned"))
    return text, notes


def _clean_turns(
    history: Iterable[Mapping[str, Any] | Turn], window: HistoryWindow
) -> tuple[tuple[Turn, ...], list[Degraded]]:
    turns, dropped = [], 0
    for message in history:
        turn = _turn(message, window.characters)
        dropped += turn is None
        turns += [turn] if turn else []
    notes = []
    if dropped:
        why = f"{dropped} messages had an unknown role or no text"
        notes.append(Degraded(what="history", why=why, instead="they were left out"))
    return tuple(turns[-window.messages :]), notes


def _turn(message: Mapping[str, Any] | Turn, characters: int) -> Turn | None:
    role: Any
    content: Any
    if isinstance(message, dict):  # first, since to ask whether it is a model takes as long as all the rest
        role, content = message.get("role"), message.get("content")
    elif isinstance(message, Turn):
        role, content = message.role, message.content
    elif isinstance(message, Mapping):
        role, content = message.get("role"), message.get("content")
    else:
        raise TypeError(f"a message must be a mapping with role and content, not {type(message).__name__}")
    return _clean_turn(role, content, characters) if isinstance(role, str) and isinstance(content, str) else None


# Earlier turns come back with every query of their conversation.
@lru_cache(maxsize=256)
def _clean_turn(role: Any, content: str, characters: int) -> Turn | None:
    text = printable(content[: 4 * characters])[:characters]
    return Turn(role=role, content=text) if role in ROLES and text else None


def history_text(turns: Sequence[Turn]) -> str:
    """The turns as lines ``User: …`` and ``Assistant: …``, oldest first."""
    return "\n".join(f"{turn.role.capitalize()}: {turn.content}" for turn in turns)
