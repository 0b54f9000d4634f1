"""How the sets of several names are put together: read off plans and candidates alike, learned from whole questions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.graph_lessons import read_plan
from queryplan.program.graph.names.linking import Mention, Reading
from queryplan.program.graph.question.view import Hypothesis, view_of
from queryplan.program.graph.question.words import words_of
from queryplan.program.graph.ranking.candidates import candidate_pools
from queryplan.program.graph.ranking.combining import (
    OTHERS,
    WAYS,
    CombineWeights,
    Said,
    fit_combines,
    log_chances,
    said_of,
    takes_both_away,
    way_of,
    ways_of,
)
from queryplan.program.graph.ranking.paths import PathTable
from queryplan.program.graph.ranking.schema_words import SchemaWords
from queryplan.program.heads.encoder import default_encoder
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Drug"), NodeType(name="Illness")),
    edges=(EdgeType(name="TREATS", source="Drug", target="Illness"),),
)
WORDS = SchemaWords(SCHEMA, default_encoder(), {})


def hypothesis(question: str) -> Hypothesis:
    """Words in capitals are illnesses."""
    words = words_of(question)
    mentions = tuple(
        Mention(
            text=(text := question[word.start : word.end]),
            start=word.start,
            end=word.end,
            first=place,
            last=place + 1,
            readings=(Reading(text, "Illness", "exact"),),
        )
        for place, word in enumerate(words)
        if question[word.start : word.end].isupper()
    )
    return Hypothesis(mentions, tuple(mention.readings[0] for mention in mentions))


def said(question: str) -> Said:
    meant = hypothesis(question)
    return said_of(view_of(question, meant, WORDS, {}), [one.type for one in meant.readings])


TAUGHT = [
    ("cures for FLU but never for GOUT", "difference"),
    ("what helps FLU, never GOUT", "difference"),
    ("never GOUT, yet FLU", "difference"),
    ("cures for both FLU and GOUT", "intersect"),
    ("what is good against both GOUT and ACNE", "intersect"),
    ("both FLU, GOUT", "intersect"),
    ("cures of either FLU or GOUT", "union"),
    ("either ACNE or GOUT, whatever helps", "union"),
    ("either FLU or ACNE", "union"),
]


@pytest.fixture(scope="module")
def weights() -> CombineWeights:
    return fit_combines([(said(question), way) for question, way in TAUGHT])


@pytest.mark.parametrize(
    ("question", "way"),
    [
        ("pills for PLAGUE that are never for SCURVY", "difference"),
        ("pills good for both PLAGUE and SCURVY", "intersect"),
        ("either PLAGUE or SCURVY pills", "union"),
    ],
)
def test_words_that_labels_taught_tell_how_other_names_are_put_together(
    weights: CombineWeights, question: str, way: str
) -> None:
    assert WAYS[int(np.argmax(log_chances(said(question), weights)))] == way


@given(st.text(max_size=40))
def test_whatever_is_said_the_chances_of_all_ways_sum_to_one(text: str) -> None:
    learned = fit_combines([(said(question), way) for question, way in TAUGHT[::4]])
    assert np.exp(log_chances(said(f"FLU {text} GOUT"), learned)).sum() == pytest.approx(1)


def test_without_labels_all_ways_are_alike() -> None:
    assert not len(fit_combines([]).grams)
    assert np.exp(log_chances(said("FLU and GOUT"), CombineWeights())).tolist() == pytest.approx(
        [1 / len(WAYS)] * len(WAYS)
    )
    assert CombineWeights().table.shape == (len(WAYS), OTHERS)


def test_where_words_stand_is_told_apart() -> None:
    one, other = said("not FLU GOUT"), said("FLU not GOUT")
    assert set(one.grams.tolist()) != set(other.grams.tolist())
    assert one.others.tolist() == other.others.tolist()


@pytest.mark.parametrize(
    ("plan", "way"),
    [
        ("Illness:x <TREATS", "alone"),
        ("Illness:x <TREATS >TREATS!", "alone"),
        ("Illness:x <TREATS & Illness:y <TREATS", "intersect"),
        ("Illness:x <TREATS | Illness:y <TREATS", "union"),
        ("Illness:x <TREATS \\ Illness:y <TREATS", "difference"),
        ("Illness:x <TREATS >TREATS \\ Illness:y", "but"),
        ("Illness:x <TREATS >TREATS & Illness:y", "among"),
    ],
)
def test_a_labelled_plan_and_the_candidate_for_it_are_put_together_alike(plan: str, way: str) -> None:
    labelled = read_plan(plan)
    assert way_of(labelled) == way
    question = "X" if way == "alone" else "X Y"
    pools = candidate_pools(hypothesis(question), PathTable(SCHEMA), lambda pool: np.zeros(len(pool)))
    for pool in pools:
        for place, told in enumerate(ways_of(pool).tolist()):
            assert WAYS[told] == way_of(pool.sketch(place, PathTable(SCHEMA)).to_plan())


@pytest.mark.parametrize(
    ("question", "both"),
    [
        ("what is given for neither ASTHMA nor GOUT", True),
        ("was hilft weder gegen ASTHMA noch gegen GOUT", False),  # of "noch" alone nothing is known
        ("what is given for ASTHMA but not for GOUT", False),
        ("what, gout aside, without GOUT is given for ASTHMA", False),
        ("what is given for ASTHMA or GOUT", False),
        ("what is given for ASTHMA, neither for GOUT nor for FLU", False),
        ("what is given without ASTHMA", False),
    ],
)
def test_two_names_that_are_both_taken_away_are_no_difference(question: str, both: bool) -> None:
    assert takes_both_away(view_of(question, hypothesis(question), WORDS, {})) == both
