"""Superlatives say which way nodes are put in order, by a year or by anything else."""

import pytest
from queryplan.program.graph.question.said_order import said_order
from queryplan.program.graph.ranking.endings import Ending
from queryplan.program.graph.sketch import Final


@pytest.mark.parametrize(
    ("question", "by_year", "by_other"),
    [
        ("the game with the fewest players", False, False),
        ("three highest peaks", True, True),
        ("the two oldest", False, True),
        ("the newest one", True, False),
        ("the longest approved", False, True),
        ("least expensive", False, False),
        ("the least recent", False, True),
        ("top 3 cheapest", False, False),
        ("die zwei ältesten Brücken", False, True),
        ("am wenigsten Betten", False, False),
        ("el más antiguo", False, True),
        ("le moins cher", False, False),
        ("最新的游戏", True, False),
        ("самые старые суда", False, True),
        ("the oldest of the newest", None, None),
        ("games by Giant Forge", None, None),
    ],
)
def test_a_superlative_says_what_comes_first(question: str, by_year: bool | None, by_other: bool | None) -> None:
    said = said_order(question, [])
    assert (said.by_year, said.by_other) == (by_year, by_other)


def test_an_order_is_turned_as_it_is_said_and_the_oldest_is_of_a_year() -> None:
    said = said_order("the two oldest", [])
    by_year, by_price = Ending(Final("order", "opened", True, 2)), Ending(Final("order", "price", False, 2))
    assert not said.ending(by_year, {"opened"}).final.descending
    assert said.ending(by_price, {"opened"}).final.descending
    assert said.slights(by_price, {"opened"})
    assert not said.slights(by_year, {"opened"})
    assert not said_order("the two cheapest", []).slights(by_price, {"opened"})


@pytest.mark.parametrize(
    ("question", "after"),
    [
        ("the second oldest", 1),
        ("the 3rd most expensive", 2),
        ("the fourth-newest one", 3),
        ("second lowest score", 1),
        ("die zweitälteste Brücke", 1),
        ("das drittteuerste Bett", 2),
        ("el segundo más antiguo", 1),
        ("la terza più antica", 2),
        ("le deuxième plus ancien", 1),
        ("näst äldsta bron", 1),
        ("den næstældste bro", 1),
        ("de op één na oudste", 1),
        ("al doilea cel mai vechi", 1),
        ("ikinci en eski", 1),
        ("второй самый старый", 1),
        ("második legrégebbi", 1),
        ("the oldest", 0),
        ("the two oldest", 0),
        ("the oldest one of the second kind", 0),
        ("who came second", 0),
    ],
)
def test_an_ordinal_beside_a_superlative_leaves_out_the_first(question: str, after: int) -> None:
    said = said_order(question, [])
    assert said.after == after
    one, two = (Ending(Final("order", "opened", True, limit)) for limit in (1, 2))
    assert said.ending(one, {"opened"}).final.after == after
    assert said.ending(two, {"opened"}).final.after == 0


def test_a_superlative_in_a_name_says_nothing() -> None:
    assert not said_order("who runs The Oldest House", [(9, 25)])
