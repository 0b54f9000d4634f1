"""Questions that a message lists: "1. who is X 2. when …", lines behind bullets.

That a message lists is told by its form: lines that all begin with a bullet, or marks that count from one or from *a*.
That it lists questions, by words that ask or a question mark in each of them. A list of names or of a traceback's lines
is none.
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
"""Among so many first words stands one that asks: "ok, which …"."""
FEWEST_WORDS = 2
_ASKING = frozenset("who whose what which why when where how how_many how_long how_often since_when is has did".split())


def listed_questions(text: str) -> tuple[str, ...]:
    """The questions that a message lists, as typed but for marks and signs at their ends; none where it lists none.

    Args:
        text: as typed, with its lines. What stands before the list and ends with a colon is said with each question.
    """
    before, items = _counted(text) or _bulleted(text)
    if len(items) < 2 or (before and not before.endswith(":")) or not all(map(_asks, items)):
        return ()
    return tuple(f"{before} {item.strip(ENDS)}".strip() for item in items)


def _counted(text: str) -> tuple[str, list[str]] | None:
    """What stands before marks that count, and behind each of them; None where none do."""
    marks = list(_counting(text))
    if len(marks) < 2:
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return _said(text[: marks[0].start()]), [
        _said(text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)
    ]


def _counting(text: str) -> Iterator[re.Match[str]]:
    """Marks of one kind that count up from the first of a text."""
    kind, wanted = "", ""
    for mark in _COUNTED.finditer(text):
        said = mark[1].lower()
        if not kind and said in ("1", "a"):
            kind, wanted = mark[2], said
        if kind == mark[2] and said == wanted:
            wanted = str(int(said) + 1) if said.isdigit() else chr(ord(said) + 1)
            yield mark


def _bulleted(text: str) -> tuple[str, list[str]]:
    """What stands before lines with bullets, and those lines; none where another line is among or after them."""
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
