"""Bounds of numbers are read by their form, in many languages, strict or not."""

import pytest
from queryplan.data.grammar_words import read_grammar
from queryplan.program.graph.question.said_bounds import LINES, said_bounds


@pytest.mark.parametrize(
    ("question", "bounds"),
    [
        ("games with fewer than 4 players", [(4, "lt")]),
        ("games with no fewer than 4 players", [(4, "ge")]),
        ("games for at most 4", [(4, "le")]),
        ("trials with 12 patients or more", [(12, "ge")]),
        ("storms above category 3", [(3, "gt")]),
        ("rooms for 4+", [(4, "ge")]),
        ("price <= 20", [(20, "le")]),
        ("that do not cost more than 20", [(20, "le")]),
        ("drugs not approved before 1987", [(1987, "ge")]),
        ("not around yet in 1987", [(1987, "gt")]),
        ("above 0.5 and below 0.8", [(0.5, "gt"), (0.8, "lt")]),
        ("between 3 and 5 doors", [(3, "ge"), (5, "le")]),
        ("bridges of 45-90 metres", [(45, "ge"), (90, "le")]),
        ("whose price is not 60", [(60, "ne")]),
        ("except the ones on floor 2", [(2, "ne")]),
        ("neither approved after 1990 nor red", [(1990, "le")]),
        ("neither above 5 nor below 2", [(5, "le"), (2, "ge")]),
        ("neither more nor less than 5", [(5, "eq")]),
        ("weder über 5 Meter lang", [(5, "le")]),
        ("ni más de 5 metros ni menos de 2", [(5, "le"), (2, "ge")]),
        ("ni moins de 5 ni plus de 9", [(5, "ge"), (9, "le")]),
        ("noch unter 5 Meter", [(5, "lt")]),
        ("older than 40", [(40, "gt")]),
        ("older than 1940", [(1940, "lt")]),
        ("deeper than 14 metres", [(14, "gt")]),
        ("mehr als 5", [(5, "gt")]),
        ("nicht mehr als 5", [(5, "le")]),
        ("ab 1990", [(1990, "ge")]),
        ("menos de 5", [(5, "lt")]),
        ("5 ou moins", [(5, "le")]),
        ("参与者不到450", [(450, "lt")]),
        ("450人以上", [(450, "ge")]),
        ("2010年以前の薬", [(2010, "le")]),
        ("2010年以前的药", [(2010, "lt")]),
        ("12명 이상", [(12, "ge")]),
        ("12'den fazla", [(12, "gt")]),
        ("не менее 450", [(450, "ge")]),
        ("12 से कम", [(12, "lt")]),
    ],
)
def test_a_number_is_compared_as_the_phrase_around_it_says(question: str, bounds: list[tuple[float, str]]) -> None:
    assert [(bound.value, bound.op) for bound in said_bounds(question, [])] == bounds


@pytest.mark.parametrize("question", ["the 3 newest", "category 3 storms", "made in 2008", "not asthma, but 3 others"])
def test_a_number_that_no_phrase_bounds_has_no_bound(question: str) -> None:
    spans = [(question.index("asthma"), question.index("asthma") + 6)] if "asthma" in question else []
    assert said_bounds(question, spans) == ()


def test_no_phrase_goes_over_a_name() -> None:
    assert said_bounds("more than Orbit 3 of them", [(10, 15)]) == ()


def test_every_line_of_the_table_is_read_and_every_phrase_has_its_number() -> None:
    compared = [phrase for phrase in read_grammar() if phrase.line in LINES]
    assert {phrase.line for phrase in compared} == set(LINES)
    for phrase in compared:
        count = phrase.text.count("N") + phrase.text.count("Y")
        assert count == (2 if phrase.line == "range" else 1), phrase
