"""A card with eight names, and a decomposer that learned from rows of its own."""

from __future__ import annotations

import pytest
from queryplan.data.card import DomainCard, KnownName
from queryplan.data.rows import LabelledRow
from queryplan.program.decomposing.decomposer import Decomposer
from queryplan.program.decomposing.fit import train_decomposer
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.text.linker import Linker

PEOPLE = ("Ada", "Bruno", "Chidi", "Dora", "Emil", "Farah", "Goran", "Hana")
SUBJECTS = "sleep bread maps clocks salt wool rain glass paint cattle iron roads letters wine masks ropes lamps".split()


@pytest.fixture(scope="session")
def linker() -> Linker:
    return Linker([KnownName(name=name, type="Guest") for name in PEOPLE])


def decomposed(number: int, query: str, *asked: str | tuple[str, int]) -> LabelledRow:
    """A labelled query with its sub-queries; a pair says which one is needed first."""
    pairs = [one if isinstance(one, tuple) else (one, 0) for one in asked]
    labels = {
        "is_follow_up": False,
        "standalone_query": query,
        "is_relevant": True,
        "complexity": "complex",
        "intent": "multi_part",
        "needs_decomposition": True,
        "sub_queries": [
            {"id": at, "text": text, "depends_on": [need] if need else []} for at, (text, need) in enumerate(pairs, 1)
        ],
    }
    return LabelledRow.model_validate(
        {"id": f"d{number}", "conversation": f"d{number}", "turn": 1, "query": query, "labels": labels}
    )


@pytest.fixture(scope="session")
def rows() -> list[LabelledRow]:
    """Fifty-one queries: lists of names before *say about*, two questions of one person, and a chain by *them*."""
    made = []
    for number, what in enumerate(SUBJECTS):
        one, other = PEOPLE[number % 8], PEOPLE[(number + 3) % 8]
        made += [
            decomposed(
                3 * number,
                f"what do {one} and {other} say about {what}?",
                f"what do {one} say about {what}",
                f"what do {other} say about {what}",
            ),
            decomposed(
                3 * number + 1,
                f"who taught {one}, and where was {what} made?",
                f"who taught {one}",
                f"where was {what} made",
            ),
            decomposed(
                3 * number + 2,
                f"which guests sell {what}, and who taught them?",
                f"which guests sell {what}",
                ("who taught {1}", 1),
            ),
        ]
    return made


@pytest.fixture(scope="session")
def decomposer(rows: list[LabelledRow], card: DomainCard, linker: Linker) -> Decomposer:
    made = train_decomposer([*rows, *pointing_rows()], card, linker, default_encoder())
    assert made is not None
    return made


def pointing_rows() -> list[LabelledRow]:
    """Follow-ups that show that *them* points back."""
    made = []
    for number in range(4):
        what = SUBJECTS[number]
        before = [
            {"role": "user", "content": f"which guests sell {what}?"},
            {"role": "assistant", "content": f"{PEOPLE[number]} does."},
        ]
        labels = {
            "is_follow_up": True,
            "standalone_query": f"who taught {PEOPLE[number]}?",
            "is_relevant": True,
            "complexity": "simple",
            "intent": "factual",
            "needs_decomposition": False,
        }
        made.append(
            LabelledRow.model_validate(
                {
                    "id": f"p{number}",
                    "conversation": f"p{number}",
                    "turn": 2,
                    "query": "who taught them?",
                    "history": before,
                    "labels": labels,
                }
            )
        )
    return made
