"""``{1}`` in a sub-query: which answer it still waits for, and putting that answer in."""

from __future__ import annotations

import re
from collections.abc import Mapping

REFERENCE = re.compile(r"\{(\d+)\}")


def open_references(text: str) -> tuple[int, ...]:
    """Ids of the sub-queries whose answers a text waits for."""
    return tuple(dict.fromkeys(int(number) for number in REFERENCE.findall(text)))


def filled(text: str, answers: Mapping[int, str]) -> str:
    """The text with every known answer in its place; the others stay."""
    return REFERENCE.sub(lambda found: answers.get(int(found[1]), found[0]), text)
