"""Numbers of questions: in every script, as people type them, and the ranges that they make."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.graph.question.said_numbers import TENS, said_numbers


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("the 3 newest of T2D since 1990, score 0.9", (3, 1990, 0.9)),
        ("no. 5th IL6 2nd 10mg P2RY12", ()),
        ("分数不到0.8的有谁", (0.8,)),
        ("2000年より前に承認済みのもの", (2000,)),
        ("점수가 0.7이상인 유전자", (0.7,)),
        ("genes below .9", (0.9,)),
        ("scoring .8 or more.", (0.8,)),
        ("Score 0,9 aufwärts", (0.9,)),
        ("more than 1,200 of them", (1200,)),
        ("in 1998, 2001.", (1998, 2001)),
        ("more than 1,234.5", (1234.5,)),
        ("über 12.000,50 Euro", (12000.5,)),
        ("1.200.000 or 1 000 000", (1200000, 1000000)),
        ("in 20 100 of them", (20, 100)),
        ("below -5 degrees", (-5,)),
        ("from -3 to \u22120.5, (-1,200)", (-3, -0.5, -1200)),
        ("IL -6, 5-10, 1990 -2000", (-6, 5, 10, 1990, 2000)),
        ("approved prior to '95", (1995,)),
        ("since '05", (2005,)),
        ("the '90' ones", (90,)),
        ("version v1.2.3", ()),
        ("", ()),
    ],
)
def test_figures_are_read_as_people_type_them(question: str, numbers: tuple[float, ...]) -> None:
    assert said_numbers(question, []).numbers == numbers


def test_what_is_in_a_name_is_no_number() -> None:
    assert said_numbers("the 3 newest", [(4, 5)]).numbers == ()
    assert said_numbers("out of the 1990s", [(0, 16)]).decades == ()


@pytest.mark.parametrize(
    ("question", "ranges"),
    [
        ("came out between 2002 and 2010", ((2002, 2010),)),
        ("score .5-.8", ((0.5, 0.8),)),
        ("from 9 down to 3", ()),
        ("5, 7 and 9", ((5, 7), (7, 9))),
        ("drugs out of the eighties", ((1980, 1989),)),
        ("the 80s", ((1980, 1989),)),
        ("1990s", ((1990, 1999),)),
        ("der 1970er", ((1970, 1979),)),
        ("in den Siebziger Jahren", ((1970, 1979),)),
        ("des années 1960", ()),
        ("de los años ochenta", ((1980, 1989),)),
        ("negli anni novanta", ((1990, 1999),)),
        ("uit de jaren tachtig", ((1980, 1989),)),
        ("1990年代の薬", ((1990, 1999),)),
        ("1980년대 약", ((1980, 1989),)),
        ("препараты 1990-х годов", ((1990, 1999),)),
        ("in the 2010s", ((2010, 2019),)),
    ],
)
def test_ranges_are_two_numbers_in_order_or_a_decade(question: str, ranges: tuple[tuple[float, float], ...]) -> None:
    assert said_numbers(question, []).ranges == ranges


def test_a_decade_is_told_from_numbers_that_are_said() -> None:
    said = said_numbers("newer than 1985 but from the eighties", [])
    assert said.numbers == (1985,)
    assert said.decades == ((1980, 1989),)


def test_the_longer_decade_is_meant_where_one_has_the_other_in_it() -> None:
    assert said_numbers("les médicaments des années quatre-vingt-dix", []).decades == ((1990, 1999),)
    assert said_numbers("les médicaments des années quatre-vingt", []).decades == ((1980, 1989),)


@given(st.sampled_from(TENS), st.sampled_from(["s", "'s", "er", "-х", "年代"]))
def test_a_decade_has_ten_years(tens: int, ending: str) -> None:
    ((low, high),) = said_numbers(f"the 19{tens}{ending}", []).decades
    assert (low, high) == (1900 + tens, 1909 + tens)


@given(st.text(max_size=60))
def test_any_text_has_ranges_in_order_and_finite_numbers(text: str) -> None:
    said = said_numbers(text, [])
    assert all(low < high for low, high in said.ranges)
    assert set(said.decades) <= set(said.ranges)
