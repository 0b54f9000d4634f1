"""Starter rows of a new domain: each label at least once in every split, about whatever the domain covers.

The rows are made from templates around the subjects of a card. A subject may be one word or a long phrase, in any
language, and like another one; a conversation that would be a near-duplicate of an earlier one is left out, so that
`queryplan data check` finds nothing to mend in them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .card import DomainCard
from .checking import ACROSS, INSIDE, STARTER
from .duplicates import MIN_CONTENT_WORDS, WORD, comparable, content_words, tokens
from .guide import contradictions
from .rows import SPLITS, LabelledRow

# What stands before these names a subject, and what follows explains it: "sourdough starters: feeding, storing".
_EXPLAINED = re.compile(
    r"[:;,(\[]\s|\s[(\[]|\s[-\u2013\u2014]+\s|(?<=\w{4})[.!?]\s|[\uff1a\uff1b\uff0c\u3002\uff08\u3001]"
)
_MARKS = re.compile(r"[{}]")
_EDGES = " \t.,:;!?\"'()[]<>\u00a1\u00bf\u2026\u00ab\u00bb\u201c\u201d\u201e\u2018\u2019\u3002\uff1f\uff01\uff0c\u3001"
# A subject longer than this is cut between words: a question about more is none that anybody asks.
_LONGEST = 120

Conversation = list[dict[str, Any]]


def starter_notes(tags: Sequence[Collection[str]]) -> tuple[str, ...]:
    """A sentence for a report on rows with these tags, if there are starters among them: a figure on those is none."""
    count = sum(STARTER in of_row for of_row in tags)
    said = "these figures say nothing of what users type; put real queries in their place"
    return (f"{count} of {len(tags)} rows are starters from queryplan new-domain: {said}",) if count else ()


def starter_rows(card: DomainCard) -> dict[str, list[LabelledRow]]:
    """Rows that show each label in every split, in different words for each; all have the tag ``starter``."""
    kept = _Kept()
    return {split: list(_of_split(card, split, kept)) for split in SPLITS}


def subject_of(line: str) -> str:
    """The subject of a card's line, for use in a question: all of it, or the part before an explanation."""
    text = " ".join(_MARKS.sub(" ", line).split())
    named = next((part for part in _EXPLAINED.split(text) if WORD.search(part)), text).strip(_EDGES) or text
    if len(named) <= _LONGEST:
        return named
    return named[:_LONGEST].rsplit(" ", 1)[0].strip(_EDGES)


def _of_split(card: DomainCard, split: str, kept: _Kept) -> Iterator[LabelledRow]:
    number = SPLITS.index(split)
    say = {key: texts[number] for key, texts in _TEXTS.items()}
    made: list[list[LabelledRow]] = []

    def add(turns: Conversation) -> bool:
        rows = _rows(f"{STARTER}-{split}-{len(made) + 1}", turns, say["answer"])
        if new := kept.take(rows, split):
            made.append(rows)
        return new

    subjects = _apart(map(subject_of, card.covers))
    others = _apart([*subjects, subject_of(card.title), *_ANY])
    for make in (_going_on, _comparing):
        shown = [add(make(say, x, y)) for x, y in zip(subjects, others[1:], strict=False)]
        if not any(shown):  # subjects as long as paragraphs, or each like another split's
            any(add(make(say, x, y)) for x, y in zip(_ANY[number:], _ANY[number + 1 :], strict=False))
    for key in ("hello", "thanks"):
        add([_turn(say[key], intent="greeting")])
    for topic in card.excluded:
        away = {"is_relevant": False, "rejection_kind": topic.kind, "intent": "out_of_scope"}
        names = (subject_of(topic.description), topic.kind.replace("_", " "))
        any(add([_turn(say["away"].format(x=name), **away)]) for name in names)
    yield from (row for rows in made for row in rows)


def _apart(subjects: Iterable[str]) -> list[str]:
    """The subjects that have words, without duplicates."""
    found: dict[frozenset[str], str] = {}
    for subject in subjects:
        if words := tokens(subject):
            found.setdefault(words, subject)
    return list(found.values())


def _going_on(say: Mapping[str, str], x: str, y: str) -> Conversation:
    """A conversation from turn to turn: what it is, why, and something else."""
    why = {"complexity": "moderate", "intent": "causal", "entities": [x], "referenced_entities": [x]}
    return [
        _turn(say["define"].format(x=x), intent="definition", entities=[x]),
        _turn(say["and_why"], say["why"].format(x=x), is_follow_up=True, **why),
        _turn(say["tell"].format(x=y), entities=[y]),
    ]


def _comparing(say: Mapping[str, str], x: str, y: str) -> Conversation:
    """A comparison of two things, which takes two retrievals."""
    parts = [{"id": n, "text": say["define"].format(x=subject)} for n, subject in enumerate((x, y), 1)]
    both = {"complexity": "moderate", "intent": "comparison", "needs_decomposition": True, "sub_queries": parts}
    return [_turn(say["compare"].format(x=x, y=y), entities=[x, y], **both)]


def _turn(query: str, standalone: str | None = None, **labels: Any) -> dict[str, Any]:
    usual = {"is_follow_up": False, "is_relevant": True, "complexity": "simple", "intent": "factual"}
    given = {**usual, "needs_decomposition": False, **labels, "standalone_query": standalone or query}
    return {"query": query, "labels": given, "about": " and ".join(given.get("entities", [])) or query}


def _rows(conversation: str, turns: Sequence[Mapping[str, Any]], answer: str) -> list[LabelledRow]:
    rows: list[LabelledRow] = []
    history: list[dict[str, str]] = []
    for number, turn in enumerate(turns, 1):
        place = {"id": f"{conversation}.{number}", "conversation": conversation, "turn": number}
        shown = {"query": turn["query"], "labels": turn["labels"], "history": list(history), "tags": [STARTER]}
        rows.append(LabelledRow.model_validate({**place, **shown}))
        answered = {"role": "assistant", "content": answer.format(x=turn["about"])}
        history += [{"role": "user", "content": turn["query"]}, answered]
    return rows


class _Kept:
    """The rows so far, with which others are compared as in `check_set`."""

    def __init__(self) -> None:
        self._words: list[tuple[str, frozenset[str]]] = []
        self._short: dict[tuple[str, ...], str] = {}
        self._asked: set[object] = set()

    def take(self, rows: Sequence[LabelledRow], split: str) -> bool:
        """Keep a conversation, unless one of its rows would spoil the set."""
        if any(contradictions(row) or self._is_told(row) or self._is_near(row, split) for row in rows):
            return False
        for row in rows:
            self._asked.add(_text(row))
            if _is_compared(row):
                self._words.append((split, comparable(row)))
            elif row.labels.intent != "greeting":
                self._short[_in_order(row)] = split
        return True

    def _is_told(self, row: LabelledRow) -> bool:
        """Whether the same was asked before, whatever the labels."""
        return row.labels.intent != "greeting" and _text(row) in self._asked

    def _is_near(self, row: LabelledRow, split: str) -> bool:
        if not _is_compared(row):
            return row.labels.intent != "greeting" and _in_order(row) in self._short
        words = comparable(row)
        return any(
            len(words & other) > (INSIDE if split == home else ACROSS[0]) * len(words | other)
            for home, other in self._words
        )


def _text(row: LabelledRow) -> tuple[object, ...]:
    return row.query.strip().casefold(), row.history


def _is_compared(row: LabelledRow) -> bool:
    return bool(row.history) or content_words(row.query) >= MIN_CONTENT_WORDS


def _in_order(row: LabelledRow) -> tuple[str, ...]:
    return tuple(WORD.findall(row.query.casefold()))


# What rows are about where the subjects of a card make none, so that every split shows every label.
_ANY = (
    "the main subject",
    "whatever comes first",
    "our second area",
    "all that remains",
    "one further matter",
)
# By split, in the order of SPLITS. Each fits one thing and several, a noun and a clause ("wines and where they lie").
# Splits share few words, so that a subject of a dozen words is no near-duplicate of itself in another split.
_TEXTS: Mapping[str, tuple[str, str, str, str]] = {
    "define": (
        "What is meant by {x}?",
        "Could you please define {x} for me?",
        "How would one explain {x} to newcomers?",
        "In few words, the meaning of {x}?",
    ),
    # Of fewer than four, so that they are compared together with the turn before.
    "and_why": (
        "and why should I care about it?",
        "who needs that, and what for?",
        "and what makes people ask for it?",
        "is there any need to have it?",
    ),
    "why": (
        "Why should I care about {x}?",
        "Who needs {x}, and what for?",
        "What makes people ask for {x}?",
        "Is there any need to have {x}?",
    ),
    # Of four content words each, so that they are compared without the turn before, which is about another subject.
    "tell": (
        "What can you tell me about {x} these days?",
        "Where should I start reading on {x}?",
        "Is there anything recent regarding {x}?",
        "Do we hold certain facts concerning {x}?",
    ),
    "compare": (
        "What sets {x} apart from {y}?",
        "Would you compare {x} with {y} for us?",
        "Is there more to say on {x} or on {y}?",
        "Do {x} and {y} differ, and in which way?",
    ),
    "answer": ("(about {x})", "(here: {x})", "(such is {x})", "({x}, shortly)"),
    "hello": ("hello", "hi", "good morning", "hey"),
    "thanks": ("thanks", "thank you", "many thanks, bye", "goodbye"),
    "away": (
        "Can I get help with {x}?",
        "Another matter: what about {x}?",
        "Would somebody look after {x} today?",
        "Something different: {x}, who knows that?",
    ),
}
