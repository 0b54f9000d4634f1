"""What no step can say is told by form: comparing with a node, and numbers of neighbours."""

from __future__ import annotations

import pytest
from queryplan.program.graph.names.linking import NameIndex
from queryplan.program.graph.question.asked_type import TypeWords
from queryplan.program.graph.question.beyond import Beyond
from queryplan.program.graph.question.view import Hypothesis
from queryplan.program.graph.ranking.paths import PathTable
from queryplan.program.graph.values import values_of
from queryplan.signatures.graph_steps import GraphSchema

SCHEMA = GraphSchema.model_validate(
    {
        "nodes": [
            {"name": "Climber"},
            {"name": "Route", "properties": ["pitches"], "details": [{"name": "pitches", "kind": "number"}]},
            {"name": "Crag"},
            {"name": "Pitch"},
        ],
        "edges": [
            {"name": "CLIMBED", "source": "Climber", "target": "Route"},
            {"name": "LIKES", "source": "Climber", "target": "Crag"},
            {"name": "DISAGREES_WITH", "source": "Climber", "target": "Climber"},
            {"name": "LIES_ON", "source": "Route", "target": "Crag"},
        ],
        "words": [{"element": "Route", "words": "vía; ruta; 路线"}],
    }
)
NAMES = {"Climber": ("Marta Ferrer", "Ines"), "Route": ("AC/DC", "Salt Road"), "Crag": ("Raven Wall",)}
INDEX = NameIndex((name, name, kind) for kind, names in NAMES.items() for name in names)
BEYOND = Beyond(PathTable(SCHEMA), values_of(SCHEMA), TypeWords(SCHEMA))


def read(question: str) -> Hypothesis:
    mentions = INDEX.mentions(question)
    return Hypothesis(mentions, tuple(mention.readings[0] for mention in mentions))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("which routes are harder than AC/DC?", ["AC/DC"]),
        ("who is older than Marta Ferrer", ["Marta Ferrer"]),
        ("routes longer than the Salt Road on Raven Wall", ["Salt Road"]),
        ("is AC/DC more exposed than Salt Road", ["Salt Road"]),
        ("crags with more routes than Raven Wall", ["Raven Wall"]),
        ("welche Routen sind schwieriger als AC/DC?", ["AC/DC"]),
        ("¿qué vías son más largas que Salt Road?", ["Salt Road"]),
        ("quelles voies sont plus dures que AC/DC", ["AC/DC"]),
        ("routes on Raven Wall other than AC/DC", []),
        ("who climbed more than Salt Road?", []),
        ("more routes than AC/DC on Raven Wall", []),
        ("Salt Road rather than AC/DC: who climbed it", []),
        ("routes above grade 5 (no harder than that) Raven Wall", []),
        ("routes longer than 30 metres on Raven Wall", []),
        ("who has climbed AC/DC?", []),
    ],
)
def test_a_name_that_is_compared_with_is_told_from_others(question: str, names: list[str]) -> None:
    assert [mention.text for mention in BEYOND.compared(question, read(question))] == names


@pytest.mark.parametrize(
    ("question", "counted"),
    [
        ("climbers who climbed at least two routes on Raven Wall", ["two routes"]),
        ("crags on which Ines has more than 3 routes", ["3 routes"]),
        ("Kletterer mit mindestens zwei Routen am Raven Wall", ["zwei Routen"]),
        ("crags with exactly 2 routes of Ines", ["2 routes"]),
        ("who climbed more than one route on Raven Wall", ["more than one route"]),
        ("climbers with several different routes on Raven Wall", ["several different routes"]),
        ("who did at least two different routes on Raven Wall", ["two different routes"]),
        ("crags where Ines has multiple distinct routes", ["multiple distinct routes"]),
        ("Kletterer mit mehr als einer Route am Raven Wall", ["mehr als einer Route"]),
        ("wer kletterte mehrere Routen am Raven Wall", ["mehrere Routen"]),
        ("qui a grimpé plusieurs routes sur Raven Wall", ["plusieurs routes"]),
        ("wie klom meer dan één route op Raven Wall", ["meer dan één route"]),
        ("vem har klättrat flera olika routes på Raven Wall", ["flera olika routes"]),
        ("¿quién escaló más de una ruta en Raven Wall?", ["más de una ruta"]),
        ("谁爬过 Raven Wall 的多条路线", ["多条路线"]),
        ("how many different routes did Ines climb", []),
        ("who climbed more than Salt Road and one more route", []),
        ("one route of Ines", []),
        ("routes of Ines with more than one pitches", []),
        ("the two longest routes of Ines", []),
        ("routes of Ines with at least two pitches", []),
        ("routes of Ines longer than 30 metres", []),
        ("routes that Ines climbed after 2012", []),
    ],
)
def test_a_number_of_neighbours_is_told_from_other_numbers(question: str, counted: list[str]) -> None:
    assert list(BEYOND.counted(question, read(question))) == counted


@pytest.mark.parametrize(
    ("question", "edge", "words"),
    [
        ("who dislikes Raven Wall?", "LIKES", ("dislikes",)),
        ("who agrees with Ines?", "DISAGREES_WITH", ("agrees",)),
        ("routes that are unclimbed by Ines", "CLIMBED", ("unclimbed",)),
        ("who likes Raven Wall?", "LIKES", ()),
        ("who disagrees with Ines?", "DISAGREES_WITH", ()),
        ("who dislikes Raven Wall?", "CLIMBED", ()),
        ("who is alike to Ines?", "LIKES", ()),
        ("routes under Raven Wall", "CLIMBED", ()),
    ],
)
def test_a_word_for_the_opposite_of_an_edge_is_told_from_others(
    question: str, edge: str, words: tuple[str, ...]
) -> None:
    assert BEYOND.opposite(question, {edge}) == words
