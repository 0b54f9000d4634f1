"""Paths with their endings: which complete plans a question may mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.learning.labelled import Source
from queryplan.program.graph.question.said_numbers import SaidNumbers
from queryplan.program.graph.question.view import Hypothesis, view_of
from queryplan.program.graph.ranking.completing import ENDINGS, SLIGHT, Completer, Option, with_ending
from queryplan.program.graph.ranking.endings import DENSE, ELEMENTS, Ending, EndingParts, endings
from queryplan.program.graph.ranking.paths import NOTHING, PathTable
from queryplan.program.graph.ranking.ranking import Ranker
from queryplan.program.graph.ranking.schema_words import SchemaWords
from queryplan.program.graph.sketch import Branch, Final, Hop, Sketch, canonical
from queryplan.program.graph.values import Values, values_of
from queryplan.program.heads.encoder import default_encoder
from queryplan.signatures.graph_steps import Condition, CountStep, FilterStep, GraphSchema, NodeRef, NodeType

STRONG = Condition(property="grade", op="ge", value=3)
SKETCH = Sketch(
    (
        Branch((NodeRef(name="x", type="Drug"),), (Hop("TREATS", "out"), Hop("CAUSES", "in"))),
        Branch((NodeRef(name="y", type="Drug"),), (Hop("TREATS", "out"),)),
    ),
    "intersect",
    (Hop("TREATS", "in"),),
)


@pytest.fixture(scope="module")
def completer(taught: Any, lesson_source: Source) -> Completer:
    ranker = Ranker(PathTable(lesson_source.schema), default_encoder(), taught.paths)
    return Completer(ranker, taught.endings, values_of(lesson_source.schema), default_encoder())


def options_of(completer: Completer, source: Source, question: str, most: int = 4) -> list[Option]:
    """The endings of the likeliest paths of each layout, each as if it had half the chance of the likeliest."""
    ranked = completer.ranker.rank(question, source.index.mentions(question, completer.ranker.ordinary))
    return [
        option
        for one in ranked
        for place in np.argsort(-one.scores)[:most].tolist()
        for option in completer.options(question, one, place, 0.2, 0.4)
    ]


def test_a_condition_on_an_edge_goes_wherever_the_edge_is_followed() -> None:
    ended = with_ending(SKETCH, Ending(Final("count"), ("TREATS", (STRONG,))))
    hops = [hop for branch in ended.branches for hop in branch.hops] + list(ended.tail)
    assert [hop.where for hop in hops] == [(STRONG,), (), (STRONG,), (STRONG,)]
    assert [hop.edge for hop in hops] == ["TREATS", "CAUSES", "TREATS", "TREATS"]
    assert ended.final == Final("count")
    assert ended.combine == SKETCH.combine


def test_an_ending_without_condition_leaves_the_path_alone() -> None:
    final = Final("order", "year", False, 3)
    ended = with_ending(SKETCH, Ending(final))
    assert (ended.branches, ended.tail, ended.final) == (SKETCH.branches, SKETCH.tail, final)
    assert with_ending(SKETCH, Ending()) == SKETCH


@settings(max_examples=8, deadline=None)
@given(st.integers(min_value=0))
def test_every_path_gets_its_likeliest_endings_and_that_it_cannot_be_said(
    completer: Completer, lesson_source: Source, number: int
) -> None:
    question = lesson_source.questions[number % len(lesson_source.questions)].text
    paths: dict[tuple[int, int], list[Option]] = {}
    for option in options_of(completer, lesson_source, question):
        paths.setdefault((id(option.ranked), option.place), []).append(option)
    for options in paths.values():
        assert sum(one.ending.none for one in options) == 1
        assert len(options) <= ENDINGS + 1
        assert len({one.ending for one in options}) == len(options)
        said = [one for one in options if not one.ending.none]
        assert [one.ending_chance for one in said] == sorted((one.ending_chance for one in said), reverse=True)
        assert all(one.ending_chance > SLIGHT * one.best_ending for one in said)
        assert max(one.ending_chance for one in options) == pytest.approx(options[0].best_ending)
        assert {one.none_chance for one in options} == {one.ending_chance for one in options if one.ending.none}
        assert 0 < sum(one.ending_chance for one in options) <= 1 + 1e-9


@settings(max_examples=8, deadline=None)
@given(st.integers(min_value=0))
def test_whatever_is_asked_every_complete_plan_fits_the_schema(
    completer: Completer, lesson_source: Source, number: int
) -> None:
    question = lesson_source.questions[number % len(lesson_source.questions)].text
    for option in options_of(completer, lesson_source, question, most=2):
        assert check_graph_plan(option.plan, lesson_source.schema) == []
        assert option.numbers.shape == (len(DENSE),)
        assert all(0 <= element < len(ELEMENTS) for element in option.elements)
        assert option.chance == pytest.approx(0.2 * option.ending_chance)
        assert 0 <= option.covered <= 1
        assert option.best_path == 0.4


def test_names_by_themselves_are_no_answer(completer: Completer, lesson_source: Source) -> None:
    question = "which is the tallest of kale and basil"
    ranked = completer.ranker.rank(question, lesson_source.index.mentions(question, completer.ranker.ordinary))
    bare = [(one, i) for one in ranked for i in np.flatnonzero((one.pool.hops == NOTHING).all(axis=1)).tolist()]
    assert bare, "names alone are among the candidates"
    for one, place in bare:
        found = completer.options(question, one, place, 1.0, 1.0)
        assert {option.ending.final.kind for option in found if not option.ending.none} <= {"order", "degree"}


def test_a_value_that_is_said_may_be_a_condition(completer: Completer, lesson_source: Source) -> None:
    options = options_of(completer, lesson_source, "how many shade plants for clay")
    filters = [step for one in options for step in one.plan.steps if isinstance(step, FilterStep)]
    assert ("light", "shade") in {(test.property, test.value) for step in filters for test in step.conditions}


def test_what_cannot_be_said_keeps_the_set_that_comes_nearest(completer: Completer, lesson_source: Source) -> None:
    options = options_of(completer, lesson_source, "what grows in clay", most=1)
    none = [one for one in options if one.ending.none]
    assert none
    for one in none:
        bare = one.ranked.pool.sketch(one.place, completer.ranker.table)
        assert canonical(one.plan) == canonical(bare.to_plan())
        assert not isinstance(one.plan.steps[-1], CountStep)


def test_weights_of_n_grams_tell_endings_apart(completer: Completer, lesson_source: Source) -> None:
    told = {round(one.told, 9) for one in options_of(completer, lesson_source, "how many plants grow in clay", most=1)}
    assert len(told) > 1


@pytest.mark.parametrize(
    ("question", "denied"), [("toll-free bridges", False), ("bridges that are not toll-free", True)]
)
def test_a_name_with_a_word_that_denies_does_not_speak_for_what_is_not_true(question: str, denied: bool) -> None:
    schema = GraphSchema(nodes=(NodeType(name="Bridge", properties=("toll_free",)),))
    values = Values(flags=frozenset({("Bridge", "toll_free")}))
    view = view_of(question, Hypothesis((), ()), SchemaWords(schema, default_encoder(), {}), {})
    found = endings(schema, values, "Bridge", [], question, SaidNumbers())
    dense, _ = EndingParts(schema, default_encoder()).of(found, view, SaidNumbers(), 1.0, {}, "Bridge")
    no = next(i for i, one in enumerate(found) if one.final.filters and one.final.filters[0].value is False)
    assert (dense[no, DENSE.index("not said")] > 0.6) == denied
