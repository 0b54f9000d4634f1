"""What a question says outright is applied to every ending, and what does nothing with it counts for less."""

import numpy as np
import pytest
from queryplan.program.graph.question.as_said import OTHER_NUMBER, SAYS_NOTHING, UNUSED, AsSaid
from queryplan.program.graph.ranking.endings import Ending
from queryplan.program.graph.sketch import Final
from queryplan.program.graph.values import Values
from queryplan.signatures.graph_steps import Condition

VALUES = Values(
    {("Storm", "sea"): ("Red Sea",)},
    {("Storm", "category"): (1, 5), ("Storm", "deaths"): (0, 340), ("STRUCK", "month"): (1, 11)},
    frozenset({("Storm", "retired")}),
)


def _test(name: str, op: str, value: float | str) -> Ending:
    return Ending(Final(filters=(Condition(property=name, op=op, value=value),)))  # type: ignore[arg-type]


def _grouped(question: str, found: list[Ending], spans: list[tuple[int, int]] | None = None) -> dict[Ending, float]:
    said = AsSaid(question, spans or [], VALUES).grouped(found, "Storm", ["STRUCK"], True)
    return {ending: said.slighted[places[0]] for ending, places in said.groups.items()}


def test_endings_that_become_one_have_the_chances_of_all() -> None:
    found = [Ending(), _test("deaths", "le", 4), _test("deaths", "lt", 4)]
    grouped = AsSaid("fewer than 4 deaths", [], VALUES).grouped(found, "Storm", [], True)
    said, chances = grouped.together(found, np.array([0.2, 0.5, 0.3]))
    assert said[1] == _test("deaths", "lt", 4)
    assert chances.tolist() == [0.2, 0.8, 0.0]


def test_what_leaves_a_bound_unused_or_tells_nothing_apart_counts_for_less() -> None:
    month = Ending(where=("STRUCK", (Condition(property="month", op="lt", value=12),)))
    found = [Ending(), _test("deaths", "le", 12), month]
    assert _grouped("less than 12", found) == {Ending(): UNUSED, _test("deaths", "lt", 12): 1.0, month: SAYS_NOTHING}


def test_a_number_right_behind_the_word_for_a_property_is_that_number_of_it() -> None:
    found = [_test("category", "gt", 3), _test("deaths", "eq", 3)]
    for question in ("category 3 storms", "ouragans de catégorie 3"):
        assert _grouped(question, found) == {_test("category", "eq", 3): 1.0, found[1]: OTHER_NUMBER}
    assert _test("category", "gt", 3) in _grouped("above category 3", found)


def test_a_text_in_a_name_is_not_said_again() -> None:
    sea = _test("sea", "eq", "Red Sea")
    assert sea not in _grouped("storms of the Red Sea", [Ending(), sea], [(14, 21)])
    assert sea in _grouped("Red Sea storms of the Red Sea", [Ending(), sea], [(22, 29)])


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("storms of Ida neither red sea nor deep", ["Red Sea"]),
        ("storms of Ida that are neither on the red sea nor the dead sea", ["Red Sea", "Dead Sea"]),
        ("Ida: stürme weder im dead sea noch im red sea", ["Red Sea", "Dead Sea"]),
        ("tormentas de Ida ni red sea ni dead sea", ["Red Sea", "Dead Sea"]),
    ],
)
def test_values_behind_neither_and_nor_are_not_wanted(question: str, values: list[str]) -> None:
    texts = Values({("Storm", "sea"): ("Red Sea", "Dead Sea", "North Sea")}, VALUES.numbers, VALUES.flags)
    found = [Ending(), _test("sea", "eq", "Red Sea")]
    start = question.index("Ida")
    groups = AsSaid(question, [(start, start + 3)], texts).grouped(found, "Storm", [], True).groups
    (said,) = (ending.final.filters for ending in groups if ending != Ending())
    assert [(one.op, one.value) for one in said] == [("ne", value) for value in values]


def test_a_value_with_no_such_word_before_it_is_wanted() -> None:
    assert _test("sea", "eq", "Red Sea") in _grouped(
        "neither deadly, red sea", [_test("sea", "eq", "Red Sea")], [(0, 1)]
    )


def test_nothing_is_grouped_where_nothing_is_said() -> None:
    assert AsSaid("storms there", [], VALUES).grouped([Ending()], "Storm", [], True).groups == {}
