"""What a question asks for, takes away together, or asks of a name itself, read by its form."""

from __future__ import annotations

import numpy as np
import pytest
from queryplan.program.graph.names.itself import asks_of_itself
from queryplan.program.graph.names.linking import NameIndex
from queryplan.program.graph.names.outright import with_outright
from queryplan.program.graph.question.asked_type import TypeWords, is_form
from queryplan.program.graph.question.neither import taken_together, takes_away
from queryplan.program.graph.question.view import Hypothesis, view_of
from queryplan.program.graph.ranking.paths import NOTHING
from queryplan.program.graph.ranking.pool import COMBINES, TAIL, Group, Pool
from queryplan.program.graph.ranking.schema_words import SchemaWords
from queryplan.program.heads.encoder import default_encoder
from queryplan.signatures.graph_steps import GraphSchema, NodeRef, NodeType

SCHEMA = GraphSchema(
    nodes=(
        NodeType(name="Ride", description="An attraction in a park.", properties=("grade",)),
        NodeType(name="Park", description="An amusement park."),
        NodeType(name="ParkClass", description="A group of parks."),
        NodeType(name="Site", description="A hospital where studies are run."),
    )
)
INDEX = NameIndex(
    [("p1", "Nordland", "Park"), ("p2", "Fablewood", "Park"), ("p3", "Koi", "Park"), ("r1", "Comet", "Ride")],
    values={("Ride", "grade"): ("A", "III"), ("Site", "stage"): ("III",)},
)
WORDS, TYPES = SchemaWords(SCHEMA, default_encoder(), {}), TypeWords(SCHEMA)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("which rides stand in Nordland", {"Ride"}),
        ("rides of Nordland", {"Ride"}),
        ("Nordland attractions", {"Ride"}),
        ("which Nordland rides are new", {"Ride"}),
        ("how many hospitals serve Nordland", {"Site"}),
        ("the park classes with Nordland in them", {"Park", "ParkClass"}),
        ("where is the park Nordland", set()),
        ("what stands in Nordland, a park with rides", set()),
        ("some rides are in Nordland. Who runs them", set()),
        ("rides which Nordland has", {"Ride"}),
        ("Nordland park", set()),
        ("is Nordland a park", set()),
    ],
)
def test_the_type_that_is_asked_for_is_read_by_form(question: str, asked: set[str]) -> None:
    mentions = INDEX.mentions(question)
    readings = tuple(mention.readings[0] for mention in mentions)
    view = view_of(question, Hypothesis(mentions, readings), WORDS, {})
    kinds = [next(i for i, node in enumerate(SCHEMA.nodes) if node.name == one.type) for one in readings]
    assert {SCHEMA.nodes[i].name for i in TYPES.asked(view, kinds)} == asked


def test_forms_of_one_word_are_told_from_other_words() -> None:
    assert all(is_form(*pair) for pair in (("studies", "study"), ("genes", "gene"), ("parks", "park")))
    assert not any(is_form(*pair) for pair in (("signal", "sign"), ("pharmacy", "pharmacologic")))


@pytest.mark.parametrize(
    ("question", "taken"),
    [
        ("in neither Nordland, Fablewood nor Koi", {"Nordland", "Fablewood", "Koi"}),
        ("made by Comet but in none of Nordland and Koi", {"Nordland", "Koi"}),
        ("weder in Nordland noch in Koi", {"Nordland", "Koi"}),
        ("neither in Nordland nor Koi but built with the Comet", {"Nordland", "Koi"}),
        ("neither Nordland as it was then", set()),
        ("in Nordland and Koi", set()),
    ],
)
def test_names_behind_neither_are_taken_away_together(question: str, taken: set[str]) -> None:
    mentions = INDEX.mentions(question)
    assert {mentions[place].text for place in taken_together(question, mentions)} == taken


def test_a_plan_takes_away_these_names_and_nothing_follows() -> None:
    node = NodeRef(name="x", type="Park")
    groups = (Group((node,), 0, (0,)), Group((node, node), 0, (1, 2)))
    hops = np.array([[0, 0, NOTHING], [0, 0, NOTHING], [0, 0, 1]], dtype=np.int32)
    combine = np.array([COMBINES.index(name) for name in ("difference", "intersect", "difference")])
    none = np.zeros(3, dtype=np.int32)
    pool = Pool(groups, hops, hops, np.array([0, 1, TAIL]), combine, none.astype(bool), none)
    assert takes_away(pool, frozenset({1, 2})).tolist() == [True, False, False]
    assert not takes_away(pool, frozenset({0, 1})).any()


def test_a_short_value_is_that_of_the_property_whose_word_stands_beside_it() -> None:
    for question, field in (("stage III sites", "stage"), ("rides of grade III", "grade")):
        (mention,) = with_outright(question, [m for m in INDEX.mentions(question) if "III" in m.text][:1])
        assert (mention.outright, [reading.field for reading in mention.readings]) == (True, [field])
    (mention,) = with_outright("III and more", INDEX.mentions("III and more"))
    assert (mention.outright, len(mention.readings)) == (False, 2)


def test_a_question_asks_of_the_name_right_behind_the_first_word() -> None:
    assert asks_of_itself("is Nordland new", INDEX.mentions("is Nordland new"))
    assert asks_of_itself("is the Comet new", INDEX.mentions("is the Comet new"))
    assert not asks_of_itself("is any ride of Nordland new", INDEX.mentions("is any ride of Nordland new"))
    assert not asks_of_itself("which is Nordland", INDEX.mentions("which is Nordland"))
