"""Questions that a message lists: "1. who is X 2. when …", lines behind bullets.

A list is recognized by form: lines that all begin with a bullet, or marks that count up from *1* or *a*. It lists
questions if each item has a question word or a question mark; a list of names or of a traceback's lines does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..retrieval.sources.asking_words import asking_word

_COUNTED = re.compile(r"(?<!\S)\(?(\d{1,2}|[a-h])([.):])\s+(?=\S)", re.IGNORECASE)
_BULLET = re.compile(r"\s*[-*•·–—]\s+(?=\S)")
_WORD = re.compile(r"\w+")
ENDS = " \t?.!;,？。！；，"
SOON = 3
"""An item's question word must be among this many first words: "ok, which …"."""
FEWEST_WORDS = 2
_ASKING = frozenset("who whose what which why when where how how_many how_long how_often since_when is has did".split())


def listed_questions(text: str) -> tuple[str, ...]:
    """The questions that a message lists, as typed, without marks and signs at their ends; empty if it lists none.

    Args:
        text: the message as typed, with its lines. Words before the list that end with a colon are repeated with each
            question; with any other words before it, there is no list.
    """
    before, items = _counted(text) or _bulleted(text)
    if len(items) < 2 or (before and not before.endswith(":")) or not all(map(_asks, items)):
        return ()
    return tuple(f"{before} {item.strip(ENDS)}".strip() for item in items)


def _counted(text: str) -> tuple[str, list[str]] | None:
    """The text before marks that count up, and the text behind each of them; None if there are not at least two."""
    marks = list(_counting(text))
    if len(marks) < 2:
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return _said(text[: marks[0].start()]), [
        _said(text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)
    ]


def _counting(text: str) -> Iterator[re.Match[str]]:
    """Marks of one kind that count up from *1* or *a*."""
    kind, wanted = "", ""
    for mark in _COUNTED.finditer(text):
        said = mark[1].lower()
        if not kind and said in ("1", "a"):
            kind, wanted = mark[2], said
        if kind == mark[2] and said == wanted:
            wanted = str(int(said) + 1) if said.isdigit() else chr(ord(said) + 1)
            yield mark


def _bulleted(text: str) -> tuple[str, list[str]]:
    """The text before lines with bullets, and these lines; no lines if one without a bullet is among or after them."""
    lines = [line for line in text.splitlines() if line.strip()]
    first = next((place for place, line in enumerate(lines) if _BULLET.match(line)), len(lines))
    marks = [_BULLET.match(line) for line in lines[first:]]
    items = [_said(line[mark.end() :]) for line, mark in zip(lines[first:], marks, strict=True) if mark]
    return _said(" ".join(lines[:first])), items if all(marks) else []


def _said(text: str) -> str:
    return " ".join(text.split())


def _asks(item: str) -> bool:
    words = _WORD.findall(item.lower())
    asks = item.rstrip().endswith(("?", "？")) or any(asking_word(word) in _ASKING for word in words[:SOON])
    return asks and len(words) >= FEWEST_WORDS
