"""Units: what is never cut apart, and of which kind it is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.decomposing.units import units_of
from queryplan.program.text.linker import Linker

COMMON = frozenset({"the", "of"})


@pytest.mark.parametrize(
    ("query", "texts", "kinds"),
    [
        ("who is Ada?", ["who", "is", "Ada", "?"], ["?who", "?is", "name", "sign"]),
        ("wer ist da", ["wer", "ist", "da"], ["?who", "?is", "rare"]),
        ("is #12 or !90 done", ["is", "#12", "or", "!90", "done"], ["?is", "code", "?or", "code", "rare"]),
        ("the book “A Slow Year” of 1984", ["the", "book", "“A Slow Year”", "of", "1984"], None),
        ("met Anna Maria Berg there", ["met", "Anna Maria Berg", "there"], ["rare", "capital", "rare"]),
        ("HLP-12 and 7", ["HLP-12", "and", "7"], ["code", "?and", "number"]),
        (
            "who left between 2022 and 2024, and why",
            ["who", "left", "between 2022 and 2024", ",", "and", "why"],
            ["?who", "rare", "code", "sign", "?and", "?why"],
        ),
        (
            "Verkauf zwischen 3. und 9. November",
            ["Verkauf", "zwischen 3. und 9. November"],
            ["rare", "code"],
        ),
        ("sales in 2022 and 2024", ["sales", "in", "2022", "and", "2024"], None),
        ("episodes 12 and 15", ["episodes", "12", "and", "15"], None),
        ("", [], []),
    ],
)
def test_a_query_falls_into_units(query: str, texts: list[str], kinds: list[str] | None, linker: Linker) -> None:
    units = units_of(query, linker, COMMON)
    assert [unit.text for unit in units] == texts
    assert kinds is None or [unit.kind for unit in units] == kinds


@given(st.text(alphabet='Ada and "#!1 ,?¿。和的 Bruno“”', max_size=40))
def test_units_are_in_order_and_say_what_stands_there(query: str) -> None:
    units = units_of(query, Linker(()), COMMON)
    assert all(query[unit.start : unit.end] == unit.text for unit in units)
    assert all(one.end <= other.start for one, other in pairwise(units))


def test_every_mention_of_a_name_is_a_unit_and_a_quotation_holds_the_names_in_it(linker: Linker) -> None:
    units = units_of('Ada saw Ada read "Bruno and the sea"', linker, COMMON)
    assert [(unit.text, unit.kind) for unit in units if unit.kind != "rare"] == [
        ("Ada", "name"),
        ("Ada", "name"),
        ('"Bruno and the sea"', "quote"),
    ]
