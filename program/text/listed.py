"""Questions that a message lists: "1. who is X 2. when …", "first, … second, …", lines behind bullets.

That a message lists is told by its form: lines that all begin with a bullet, or marks that count from the first
(``list_marks.py``). That it lists questions, by words that ask or a question mark in each of them. A list of names or
of a traceback's lines is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .asking_words import SIGN, asking_word, with_asking_words
from .list_marks import counted_marks
from .words import is_unspaced

_BULLET = re.compile(r"\s*(?:[-+*–—>]+(?:\s*\[[ xX]?\])?\s+|[•·◦▪‣●○→・]\s*)(?=\S)")
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
    return tuple(f"{before} {item.strip(ENDS)}".strip() for item in map(_without_joint, items))


def _counted(text: str) -> tuple[str, list[str]] | None:
    """What stands before marks that count, and behind each of them; None where none do."""
    marks = counted_marks(text)
    if not marks:
        return None
    ends = [start for start, _ in marks[1:]] + [len(text)]
    return _said(text[: marks[0][0]]), [_said(text[end:until]) for (_, end), until in zip(marks, ends, strict=True)]


def shared_out(questions: Sequence[str], most: int) -> tuple[str, ...]:
    """Questions put together so that there are no more than so many texts, in order, the first of them the longer."""
    each, over = divmod(len(questions), most)
    if not each or (each == 1 and not over):
        return tuple(questions)
    sizes = [each + (place < over) for place in range(most)]
    starts = [sum(sizes[:place]) for place in range(most)]
    return tuple("? ".join(questions[at : at + size]) for at, size in zip(starts, sizes, strict=True))


def _bulleted(text: str) -> tuple[str, list[str]]:
    """The text before lines with bullets, and these lines; no lines if one without a bullet is among or after them."""
    lines = [line for line in text.splitlines() if line.strip()]
    first = next((place for place, line in enumerate(lines) if _BULLET.match(line)), len(lines))
    marks = [_BULLET.match(line) for line in lines[first:]]
    items = [_said(line[mark.end() :]) for line, mark in zip(lines[first:], marks, strict=True) if mark]
    return _said(" ".join(lines[:first])), items if all(marks) else []


def _without_joint(item: str) -> str:
    """An item without the *and* before the mark of the next; one of a letter may be a name."""
    words = item.rsplit(" ", 1)
    last = words[-1].casefold().strip(ENDS)
    return words[0].rstrip() if len(words) > 1 and len(last) > 1 and asking_word(last) == "and" else item


def _said(text: str) -> str:
    return " ".join(text.split())


def _asks(item: str) -> bool:
    words = _WORD.findall(item.lower())
    if is_unspaced(item):
        cut = with_asking_words([word for word in words if is_unspaced(word)])
        return item.rstrip().endswith(("?", "？")) or any(word.removeprefix(SIGN) in _ASKING for word in cut)
    asks = item.rstrip().endswith(("?", "？")) or any(asking_word(word) in _ASKING for word in words[:SOON])
    return asks and len(words) >= FEWEST_WORDS
