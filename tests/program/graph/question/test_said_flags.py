"""Properties that are true or false are said and denied by their own words."""

import pytest
from queryplan.program.graph.question.said_flags import said_flags
from queryplan.program.graph.ranking.endings import Ending
from queryplan.program.graph.sketch import Final
from queryplan.signatures.graph_steps import Condition

NAMES = ("approved", "step_free", "is_listed", "recruiting")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("approved drugs for gout", {"approved": True}),
        ("drugs for gout that are not approved", {"approved": False}),
        ("which of them haven't been approved", {"approved": False}),
        ("unapproved drugs", {"approved": False}),
        ("those no longer recruiting", {"recruiting": False}),
        ("that recruit now", {"recruiting": True}),
        ("step-free stations", {"step_free": True}),
        ("all except the approved ones", {"approved": False}),
        ("not for children, approved", {"approved": True}),
        ("unlisted firms", {"is_listed": False}),
        ("neither approved nor recruiting", {"approved": False, "recruiting": False}),
        ("that are neither for children nor approved", {"approved": False}),
        ("weder approved noch recruiting", {"approved": False, "recruiting": False}),
        ("ni approved ni recruiting", {"approved": False, "recruiting": False}),
        ("a step towards freedom", {}),
        ("drugs for gout", {}),
    ],
)
def test_a_property_is_said_by_its_words_and_denied_before_them(question: str, said: dict[str, bool]) -> None:
    assert said_flags(question, [], NAMES).said == said


def test_a_word_of_a_name_says_no_property() -> None:
    assert not said_flags("what the Approved List has", [(9, 22)], NAMES)


def test_a_denied_property_turns_its_test_round_and_is_added_to_others() -> None:
    flags = said_flags("not approved, under 20", [], NAMES)
    approved, denied = (Condition(property="approved", value=value) for value in (True, False))
    price = Condition(property="price", op="lt", value=20)
    assert flags.ending(Ending(Final(filters=(approved,))), ["approved"]).final.filters == (denied,)
    assert flags.ending(Ending(Final(filters=(price,))), ["approved"]).final.filters == (price, denied)
    assert flags.ending(Ending(Final(filters=(price,))), []).final.filters == (price,)


def test_a_word_that_another_tested_property_has_says_that_one() -> None:
    flags = said_flags("approved before 2010", [], NAMES)
    year = Ending(Final(filters=(Condition(property="approved_year", op="lt", value=2010),)))
    assert flags.ending(year, ["approved"]) == year
    assert not flags.unused(year, ["approved"])
    assert flags.unused(Ending(), ["approved"])
