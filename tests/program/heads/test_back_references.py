"""What in a later turn may point back."""

from __future__ import annotations

import pytest
from queryplan.data.card import DomainCard
from queryplan.program.heads.back_references import back_references
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.heads.features import NAMES_INSIDE, WEIGHED, Features, learned_features
from queryplan.program.text.linker import Linker
from queryplan.signatures.types import Turn

BEFORE, BEHIND, CLOSING, GOING_ON, OTHER, EARLY, BESIDE_NAME = range(7)


def said(masked: str) -> set[int]:
    """The places of the numbers that are one."""
    return {place for place, value in enumerate(back_references(masked.split())) if value}


@pytest.mark.parametrize(
    ("masked", "expected"),
    [
        ("did _guest_ say why she stopped", {BEHIND}),
        ("did she say why _guest_ stopped", {BEFORE, EARLY, BESIDE_NAME}),
        ("did she say why", {BEFORE, EARLY}),
        ("did _guest_ reply to that", {CLOSING, BESIDE_NAME}),
        ("did _guest_ reply to that , and when", {CLOSING, BESIDE_NAME}),
        ("did _guest_ say that it helps", {GOING_ON, BEHIND}),
        ("is _guest_ that _concept_ person", {GOING_ON, EARLY}),
        ("what about the other", {OTHER}),
        ("that ?", {CLOSING, EARLY}),
        ("what is craft ?", set()),
        ("_ and _", set()),
        ("", set()),
    ],
)
def test_it_is_told_where_what_points_stands(masked: str, expected: set[int]) -> None:
    assert said(masked) == expected


def test_a_later_turn_has_them_in_any_language_and_in_older_programs_it_has_not(card: DomainCard) -> None:
    turns = (Turn(role="user", content="What does Priya say about sleep?"),)
    features = learned_features(["why does she say so?", "what is craft?"], default_encoder(), Linker(card.names))
    learned = features.idf, features.common, features.nested, features.vocabulary
    older = Features(default_encoder(), Linker(card.names), *learned, reads=NAMES_INSIDE)
    assert features.reads == WEIGHED
    length = len(features.of_query("why?").dense)
    assert length > len(older.of_query("why?").dense)
    english, german = (
        features.of_turn(query, turns).dense for query in ("why does she say so?", "warum sagt sie das?")
    )
    alone = features.of_turn("why does Dario say so?", turns).dense
    assert english[-7 + BEFORE] == german[-7 + BEFORE] > alone[-7 + BEFORE] == 0
    assert len(english) > len(older.of_turn("why does she say so?", turns).dense) + 7
