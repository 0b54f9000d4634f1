"""A card with four names, and a rewriter that learned from rows of its own."""

from __future__ import annotations

import pytest
from queryplan.data.card import KnownName
from queryplan.data.rows import LabelledRow
from queryplan.program.text.linker import Linker
from queryplan.signatures.types import Turn

PEOPLE = ("Ada", "Bruno", "Chidi", "Dora", "Emil", "Farah", "Goran", "Hana")
SUBJECTS = (
    "sleep bread maps clocks salt wool rain glass paint cattle "
    "iron roads letters wine masks ropes lamps seeds tides bells"
).split()


@pytest.fixture(scope="session")
def linker() -> Linker:
    return Linker([KnownName(name=name, type="Guest") for name in PEOPLE])


def said(*contents: str) -> tuple[Turn, ...]:
    """Turns of user and assistant, the user first."""
    roles = ("user", "assistant")
    return tuple(Turn(role=roles[place % 2], content=text) for place, text in enumerate(contents))


def follow_up(number: int, query: str, standalone: str, *before: str) -> LabelledRow:
    """A labelled follow-up."""
    labels = {"is_follow_up": True, "standalone_query": standalone, "is_relevant": True}
    kind = {"complexity": "simple", "intent": "factual", "needs_decomposition": False}
    return LabelledRow.model_validate(
        {
            "id": f"r{number}",
            "conversation": f"c{number}",
            "turn": 2,
            "query": query,
            "history": [turn.model_dump() for turn in said(*before)],
            "labels": {**labels, **kind},
        }
    )


@pytest.fixture(scope="session")
def rows() -> list[LabelledRow]:
    """Forty follow-ups: *he* is who was asked about, never whom the answer names; *and X?* asks the same of X."""
    made = []
    for number in range(20):
        who, other = PEOPLE[number % 8], PEOPLE[(number + 3) % 8]
        what, next_one = SUBJECTS[number], SUBJECTS[(number + 1) % len(SUBJECTS)]
        before = f"what does {who} say about {what}?", f"That it passes, as {other} says."
        made += [
            follow_up(2 * number, "when did he write it down?", f"when did {who} write it down?", *before),
            follow_up(2 * number + 1, f"and {next_one}?", f"what does {who} say about {next_one}?", *before),
        ]
    return made
