"""The part of a conversation that the planner sees: cleaned, cut to a window, as text and as topics."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, Protocol, get_args

from ..data.card import DomainCard, HistoryWindow
from ..data.rows import SESSION_KEYS, LabelledRow
from ..signatures.types import MIN_SUB_QUERIES, Role, Turn
from .plan import Degraded
from .text.greetings import NO_GREETINGS, Greetings, greetings_of
from .text.listed import listed_questions
from .text.words import UNSPACED_SCRIPTS

ROLES = get_args(Role)
ASIDES = frozenset(("system", "developer", "tool", "function"))
"""Roles of messages that chat interfaces keep beside what was said. Were they a gap, every plan of an application that
sends its instructions along would have one."""
CALLS, PARTS = ("tool_calls", "function_call"), "content"
"""Where a message keeps the tools that it calls, and where its text or parts."""
ROLE_NAMES = {"human": "user", "ai": "assistant"}
"""Other names of our roles."""
MAX_QUERY_CHARACTERS = 4000
MAX_CONTEXT_WORDS = 40
MAX_KEYS_NAMED, MAX_KEY_CHARACTERS = 5, 40
LEFT_OUT = " … "
"""Marks the gap between the two ends of a shortened text."""
JOINERS = "\u200c\u200d"
"""Invisible characters that have a meaning within a word or an emoji."""
# Most words of a script without spaces have two characters, or one.
_WORD = re.compile(rf"[{UNSPACED_SCRIPTS}]{{1,2}}|[^\s{UNSPACED_SCRIPTS}]+")
_JOINED_NOTHING = re.compile(rf"(?<!\S)[{JOINERS}]+|[{JOINERS}]+(?!\S)|(?<=[{JOINERS}])[{JOINERS}]+")


class Message(Protocol):
    """What somebody said, with ``role`` or, as LangChain has it, ``type``."""

    @property
    def content(self) -> Any:
        """The text, or parts of which some are text."""
        ...


class Conversation(Protocol):
    """What holds messages: a ``dspy.History``."""

    @property
    def messages(self) -> Any:
        """The messages, oldest first."""
        ...


History = Iterable[Mapping[str, Any] | Message] | Conversation | None
"""Earlier messages, oldest first, each with ``role`` and ``content`` as keys or attributes."""


@dataclass(frozen=True)
class CleanInput:
    """A query and its conversation, safe to show to a model, and what had to be left out.

    ``session`` is as the caller gave it: whoever reads one of its values checks it. ``unread`` names its keys that
    nobody reads, and an ``active_entity`` that is not text. Unlike what is ``degraded``, they leave nothing of the
    query out, so the plan may still be cached. ``questions`` are those that the query lists (``text/listed.py``),
    mostly none.
    """

    query: str
    turns: tuple[Turn, ...]
    active_entity: str
    degraded: tuple[Degraded, ...]
    session: Mapping[str, Any] = field(default_factory=dict)
    unread: tuple[Degraded, ...] = ()
    questions: tuple[str, ...] = ()

    @property
    def lists(self) -> bool:
        """Whether the query lists questions: more than a plan may have sub-queries share these."""
        return len(self.questions) >= MIN_SUB_QUERIES

    @cached_property
    def context(self) -> str:
        """The last question and the beginning of its answer, at most 40 words."""
        return first_words(" / ".join(turn.content for turn in self.turns[-2:]), MAX_CONTEXT_WORDS)


def clean_input(
    query: str,
    history: History,
    session: Mapping[str, Any] | None,
    window: HistoryWindow,
    greetings: Greetings = NO_GREETINGS,
) -> CleanInput:
    """Make any text plannable; never fails on what a user typed.

    Args:
        greetings: later turns that are nothing else, and their answers, do not count for the window.

    Raises:
        TypeError: ``query`` is not a string, ``history`` not a sequence of messages or ``session``
            not a mapping: a mistake of the calling program.
    """
    if not isinstance(query, str):
        raise TypeError(f"query must be a string, not {type(query).__name__}")
    messages = messages_of(history)
    if session is not None and not isinstance(session, Mapping):
        raise TypeError("session must be a mapping")
    text, notes = _clean_query(query)
    turns, more = _clean_turns(messages, window, greetings, text)
    known = session or {}
    active = known.get("active_entity")
    entity = printable(active)[:200] if isinstance(active, str) else ""
    listed = listed_questions(greetings.rest(query)) if len(query) <= MAX_QUERY_CHARACTERS else ()
    questions = tuple(filter(None, map(printable, listed)))
    unread = *_unread(known), *_no_text(active)
    return CleanInput(text, turns, entity, (*notes, *more), known, unread, questions)


def messages_of(history: History) -> tuple[Any, ...]:
    """The messages of a history, read once: a generator gives them only once.

    Raises:
        TypeError: it is no list of messages.
    """
    given: Any = getattr(history, "messages", history)
    if given is None:
        return ()
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"history must be a list of messages with role and content, not {type(given).__name__}")
    return tuple(given)


def _no_text(active: object) -> tuple[Degraded, ...]:
    """A gap if the session's ``active_entity`` is not text."""
    if active is None or isinstance(active, str):
        return ()
    why = f"it is no text but {type(active).__name__}"
    return (Degraded(what="session.active_entity", why=why, instead="the plan was made without it"),)


def _unread(session: Mapping[str, Any]) -> tuple[Degraded, ...]:
    """One gap for all session keys that no stage reads, since a typo (*nwo*) would change plans silently."""
    strange = [printable(str(key))[:MAX_KEY_CHARACTERS] for key in session if key not in SESSION_KEYS]
    if not strange:
        return ()
    named = ", ".join(strange[:MAX_KEYS_NAMED]) + (", ..." if len(strange) > MAX_KEYS_NAMED else "")
    why = f"nothing reads {named}; what is read is {', '.join(sorted(SESSION_KEYS))}"
    return (Degraded(what="session", why=why, instead="the plan was made without it"),)


def clean_row(row: LabelledRow, card: DomainCard) -> CleanInput:
    """A labelled row as a planner of this card sees it."""
    return clean_input(row.query, row.history, row.session, card.history, greetings_of(card.greetings))


def printable(text: str) -> str:
    """Text without control and invisible characters, composed (NFC), white space folded, trimmed.

    Lone surrogates, direction marks and marks of possible word breaks are dropped.
    """
    spaced = " ".join(text.split())
    if not spaced.isprintable():  # rarely, and twenty times as slow
        spaced = " ".join(_JOINED_NOTHING.sub("", "".join(filter(_seen, spaced))).split())
    return spaced if unicodedata.is_normalized("NFC", spaced) else unicodedata.normalize("NFC", spaced)


def _seen(character: str) -> bool:
    return character in JOINERS or unicodedata.category(character) not in ("Cc", "Cs", "Cf")


def says_nothing(text: str) -> bool:
    """Whether a text is empty, or nothing but punctuation."""
    return all(unicodedata.category(character)[0] in "PZ" for character in text)


def encodable(text: str) -> str:
    """The text with lone surrogates replaced, which no file can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _clean_query(query: str) -> tuple[str, list[Degraded]]:
    half, notes = MAX_QUERY_CHARACTERS // 2, []
    read = query if len(query) <= 8 * half else query[: 4 * half] + LEFT_OUT + query[-4 * half :]
    text = printable(read)
    if len(text) > MAX_QUERY_CHARACTERS or len(read) < len(query):
        text = ends(text, MAX_QUERY_CHARACTERS)
        instead = f"its beginning and end were planned, {MAX_QUERY_CHARACTERS} in all"
        notes.append(Degraded(what="query", why=f"it has {len(query)} characters", instead=instead))
    if says_nothing(text):
        notes.append(Degraded(what="query", why="it has no readable text", instead="a direct answer is planned"))
    return text, notes


def ends(text: str, most: int) -> str:
    """The text, or else its beginning and end with at most so many characters: the question stands first or last."""
    if len(text) <= most:
        return text
    kept = most - len(LEFT_OUT)
    return text[: kept - kept // 2].rstrip() + LEFT_OUT + text[len(text) - kept // 2 :].lstrip()


def first_words(text: str, most: int) -> str:
    """The first words of a text; in scripts without spaces two characters count as a word."""
    ends = [match.end() for match in islice(_WORD.finditer(text), most)]
    return text[: ends[-1]] if ends else ""


def _clean_turns(
    history: Iterable[Mapping[str, Any] | Message], window: HistoryWindow, greetings: Greetings, query: str
) -> tuple[tuple[Turn, ...], list[Degraded]]:
    """The turns of the window, and what is wrong with the history."""
    turns, dropped = [], 0
    for message in history:
        turn = _turn(message, window.characters)
        dropped += turn is None and not _is_aside(message)
        turns += [turn] if turn else []
    notes = []
    if dropped:
        messages = "1 message" if dropped == 1 else f"{dropped} messages"
        why = f"{messages} had an unknown role or no text; read are role (user or assistant) and content"
        notes.append(Degraded(what="history", why=why, instead="they were left out"))
    if turns and turns[-1].role == "user" and turns[-1].content == ends(query, window.characters):
        turns.pop()
        notes.append(Degraded(what="history", why="its last message is the query", instead="it was left out there"))
    return tuple(_without_greetings(turns, greetings)[-window.messages :]), notes


def _without_greetings(turns: list[Turn], greetings: Greetings) -> list[Turn]:
    """The turns without later greetings, thanks and the like, and without the answers to them.

    The answer to a first "hi" may be all that a query can refer to.
    """
    if not greetings.forms:
        return turns
    kept, greeted = [], False
    for turn in turns:
        greeted = bool(kept) and (greetings.are_all(turn.content) if turn.role == "user" else greeted)
        kept += [] if greeted else [turn]
    return kept


def _is_aside(message: Mapping[str, Any] | Message) -> bool:
    """Whether a message without a text for us is an instruction, a tool's, or calls one: nobody said it to anybody."""
    known = message if isinstance(message, Mapping) else {key: getattr(message, key, None) for key in (*CALLS, PARTS)}
    role = message.get("role") if isinstance(message, Mapping) else _role_in(message)
    if isinstance(role, str) and role.strip().lower() in ASIDES:
        return True
    parts = known.get(PARTS)
    return any(known.get(key) for key in CALLS) or (
        isinstance(parts, list | tuple) and bool(parts) and all(map(_is_of_a_tool, parts))
    )


def _is_of_a_tool(part: object) -> bool:
    """Whether a part of a message asks a tool for something, or is what it answered."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    return isinstance(kind, str) and kind.startswith(("tool_", "function_", "server_tool_"))


def _role_in(message: Any) -> Any:
    """The role of a message object; LangChain's calls it ``type``. None if it has neither."""
    return getattr(message, "role", getattr(message, "type", None))


def _turn(message: Mapping[str, Any] | Message, characters: int) -> Turn | None:
    said = said_in(message)
    return _clean_turn(*said, characters) if said is not None else None


def said_in(message: Mapping[str, Any] | Message) -> tuple[str, str] | None:
    """Role and text of a message as it was given; None if it has no role or no text.

    Raises:
        TypeError: it is no message at all.
    """
    role: Any
    content: Any
    if isinstance(message, dict | Mapping):  # dicts first, since to ask that takes as long as the rest
        role, content = message.get("role"), message.get("content")
    elif hasattr(message, "content"):  # a `Turn`, or somebody's class of messages
        role, content = _role_in(message), message.content
    else:
        raise TypeError(f"a message must be a mapping with role and content, not {type(message).__name__}")
    if isinstance(content, list | tuple):
        content = _text_of_parts(content)
    return (role_of(role), content) if isinstance(role, str) and isinstance(content, str) else None


def role_of(said: str) -> str:
    """A role in our word for it, if we have one."""
    plain = said.strip().lower()
    return ROLE_NAMES.get(plain, plain)


def as_given(history: History) -> list[dict[str, str]]:
    """Role and whole text of each message; one that the planner leaves out too, such as a system's, is not there."""
    said = (said_in(message) or ("", "") for message in messages_of(history))
    return [{"role": role, "content": text} for role, text in said if role in ROLES]


def _text_of_parts(parts: Iterable[Any]) -> str:
    """The text of a message in parts, as chat interfaces send them: ``{"type": "text", "text": …}``."""
    texts = (part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | Mapping))
    return " ".join(text for text in texts if isinstance(text, str))


# Earlier turns come back with every query of their conversation.
@lru_cache(maxsize=256)
def _clean_turn(role: str, content: str, characters: int) -> Turn | None:
    read = content if len(content) <= 8 * characters else content[: 4 * characters] + content[-4 * characters :]
    text = ends(printable(read), characters)
    return Turn(role=role, content=text) if role in ROLES and text else None  # type: ignore[arg-type]


def history_text(turns: Sequence[Turn]) -> str:
    """The turns as lines ``User: …`` and ``Assistant: …``, oldest first."""
    return "\n".join(f"{turn.role.capitalize()}: {turn.content}" for turn in turns)
