"""What earlier turns offer."""

from __future__ import annotations

from queryplan.program.rewriting.referents import MOST, Referent, referents
from queryplan.program.text.linker import Linker

from .conftest import said

COMMON = frozenset("what does say about the of and it is".split())


def found(linker: Linker, *turns: str, shown: str = "") -> dict[str, Referent]:
    return {one.text: one for one in referents(said(*turns), shown, linker, COMMON)}


def test_names_capitals_and_uncommon_words_are_referents(linker: Linker) -> None:
    known = found(linker, "what does Ada say about the salt road", "It is Long Way of Oslo.")
    assert known["Ada"].look.kind == "name Guest"
    assert known["Long Way of Oslo"].look.kind == "capital"
    assert known["salt road"].look.kind == "run"
    assert known["the salt road"].look.kind == "article"
    assert (known["Ada"].look.turn, known["Ada"].look.role, known["Ada"].place) == (1, "user", 2)
    assert known["It"].look.kind == "begins"


def test_two_names_in_a_row_are_a_pair_and_what_is_said_again_counts(linker: Linker) -> None:
    known = found(linker, "Ada and Bruno?", "Ada")
    assert known["Ada and Bruno"].look.kind == "pair"
    assert known["Ada"].look.times == 2


def test_what_the_application_shows_comes_first(linker: Linker) -> None:
    known = found(linker, "Ada", shown="Chidi")
    assert next(iter(known)) == "Chidi"
    assert (known["Chidi"].look.kind, known["Chidi"].look.turn, known["Chidi"].look.role) == ("name Guest", 0, "user")
    assert found(linker, "Ada", shown="Zed")["Zed"].look.kind == "capital"


def test_a_long_conversation_offers_no_more_than_can_be_weighed(linker: Linker) -> None:
    assert len(found(linker, *(f"word{n} thing{n} matter{n}" for n in range(100)))) == MOST
