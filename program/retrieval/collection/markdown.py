"""Formats a collection as Markdown that a language model reads easily; no model is used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ...text.words import HAN, KANA

MAX_ITEMS = 15
MAX_CHARACTERS = 150
TEXT_FIELDS = ("text", "content", "final_content")
DATE_FIELDS = ("date", "created_at")
ELLIPSIS = "…"

# Where a text may be cut: beside a character of Chinese or Japanese, also a sign in full width. In the other scripts
# without spaces a vowel sign would be cut off from its consonant.
_CUT_BESIDE = re.compile(rf"[{KANA}{HAN}\uff00-\uffef]")
_BREAKS = re.compile(r"\s+")


def format_items(
    items: Sequence[Mapping[str, Any]],
    question: str,
    total: int | None = None,
    max_items: int = MAX_ITEMS,
    max_characters: int = MAX_CHARACTERS,
) -> str:
    """Items as a table, newest first, under a header with their number, the method and the question.

    Args:
        items: each with a text (``text``, ``content`` or ``final_content``) and an ISO date (``date`` or
            ``created_at``); those without a date come last.
        total: number of items in the collection; by default that of ``items``.
    """
    newest = sorted(items, key=_moment, reverse=True)[:max_items]
    complete = len(newest) >= (len(items) if total is None else total)
    return "\n".join(
        [*_header(len(newest), question, complete, total), *_table(newest, max_characters), *_notes(complete)]
    )


def _header(count: int, question: str, complete: bool, total: int | None) -> Iterator[str]:
    method = "Direct (complete history)" if complete else f"Direct (newest {count} of {total or 'more'})"
    yield "## User Composition History"
    yield ""
    yield f"**Posts Retrieved**: {count} | **Method**: {method}"
    yield f"**Gap Question**: {one_line(question)}"
    yield ""


def _table(newest: Sequence[Mapping[str, Any]], max_characters: int) -> Iterator[str]:
    yield "### Recent Posts"
    yield ""
    yield "| # | Date | Content Preview |"
    yield "|---|------|-----------------|"
    for number, item in enumerate(newest, 1):
        yield f"| {number} | {cell(date_of(item) or 'unknown')} | {cell(preview(text_of(item), max_characters))} |"
    yield ""


def _notes(complete: bool) -> Iterator[str]:
    yield "### Context Notes"
    yield f"- These are {'all posts' if complete else 'the newest posts, not all,'} of the user"
    yield "- What is not in them the user has not written; say so instead of guessing"


def preview(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    """A text on one line, shortened at a word, or between characters of scripts without spaces."""
    line = one_line(text)
    if len(line) <= max_characters:
        return line
    kept, after = line[: max_characters - len(ELLIPSIS)], line[max_characters - len(ELLIPSIS)]
    inside_word = not after.isspace() and not _CUT_BESIDE.match(after) and not _CUT_BESIDE.match(kept[-1:])
    if inside_word:
        # The last place to cut; a single word longer than a preview is cut where it must be.
        ends = [match.end() for match in re.finditer(rf"\s|{_CUT_BESIDE.pattern}", kept)]
        kept = kept[: ends[-1]] if ends else kept
    return kept.rstrip() + ELLIPSIS


def text_of(item: Mapping[str, Any]) -> str:
    """The text of an item; empty if it has none."""
    return next((str(item[name]) for name in TEXT_FIELDS if item.get(name)), "")


def date_of(item: Mapping[str, Any]) -> str:
    """The ISO day of an item; empty if it has none."""
    return _moment(item)[:10]


def _moment(item: Mapping[str, Any]) -> str:
    """The ISO day of an item and its local time there, which sort in their order; empty if it has none."""
    return next(filter(None, (_iso(item[name]) for name in DATE_FIELDS if item.get(name))), "")


def _iso(given: object) -> str:
    try:
        return datetime.fromisoformat(one_line(str(given))).replace(tzinfo=None).isoformat()
    except ValueError:
        return ""


def one_line(text: str) -> str:
    """A text without line breaks and spare spaces."""
    return _BREAKS.sub(" ", text).strip()


def cell(text: str) -> str:
    """A text that a Markdown table can hold."""
    return text.replace("\\", "\\\\").replace("|", "\\|")
