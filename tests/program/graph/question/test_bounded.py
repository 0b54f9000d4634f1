"""Endings compare numbers as the question bounds them."""

import pytest
from queryplan.program.graph.question.bounded import Bounded
from queryplan.program.graph.question.said_bounds import Bound
from queryplan.program.graph.question.said_numbers import SaidNumbers
from queryplan.program.graph.ranking.endings import Ending, conditions_of
from queryplan.program.graph.sketch import Final
from queryplan.signatures.graph_steps import Condition


def _tested(*tests: tuple[str, float]) -> Ending:
    return Ending(Final(filters=tuple(Condition(property="price", op=op, value=n) for op, n in tests)))  # type: ignore[arg-type]


def _ops(ending: Ending | None) -> list[str] | None:
    return None if ending is None else [condition.op for condition in conditions_of(ending)]


def test_every_way_to_compare_a_number_becomes_the_said_one() -> None:
    bounded = Bounded([Bound(4, "lt")])
    assert [_ops(bounded.said(_tested((op, 4)))) for op in ("lt", "le", "gt", "ge", "eq")] == [["lt"]] * 5
    assert bounded.said(Ending()) == Ending()
    assert not bounded.uses(())


def test_a_range_keeps_what_is_said_of_each_end() -> None:
    bounded = Bounded([Bound(60, "lt"), Bound(20, "ge")])
    assert bounded.numbers(SaidNumbers((60, 20))).ranges == ((20, 60),)
    assert _ops(bounded.said(_tested(("ge", 20), ("le", 60)))) == ["ge", "lt"]


@pytest.mark.parametrize(
    "ending",
    [
        Ending(Final("order", "price", limit=4)),
        _tested(("ge", 4), ("le", 2010)),
        Ending(Final(filters=(Condition(property="floor", value="4"),))),
    ],
    ids=["a limit", "half of a range", "a value in figures"],
)
def test_what_a_bounded_number_cannot_be_is_left_out(ending: Ending) -> None:
    assert Bounded([Bound(4, "gt")]).said(ending) is None


def test_half_of_a_range_is_no_ending() -> None:
    bounded = Bounded([Bound(3, "ge", True), Bound(5, "le", True)])
    assert bounded.said(_tested(("ge", 3))) is None
    assert _ops(bounded.said(_tested(("gt", 3), ("lt", 5)))) == ["ge", "le"]


def test_a_value_in_figures_may_be_denied() -> None:
    ending = Ending(Final(filters=(Condition(property="floor", value="4"),)))
    assert _ops(Bounded([Bound(4, "ne")]).said(ending)) == ["ne"]
