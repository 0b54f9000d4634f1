"""What is done with a set at the end: which endings there are, and what is known of values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from queryplan.data.element_words import DONE
from queryplan.data.graph_lessons import read_plan
from queryplan.program.graph.learning.fit_endings import Case, cases_of, fit_endings, is_gold, starting_endings
from queryplan.program.graph.learning.gold import parts_of, read_gold
from queryplan.program.graph.learning.labelled import Source
from queryplan.program.graph.question.alike import ValueWords
from queryplan.program.graph.question.said_numbers import SaidNumbers, said_numbers
from queryplan.program.graph.question.view import Hypothesis, view_of
from queryplan.program.graph.ranking.endings import (
    DENSE,
    ELEMENTS,
    VECTOR,
    Ending,
    EndingParts,
    EndingWeights,
    condition_of,
    conditions_of,
    endings,
)
from queryplan.program.graph.ranking.paths import PathTable
from queryplan.program.graph.ranking.ranking import Ranker
from queryplan.program.graph.ranking.schema_words import SchemaWords
from queryplan.program.graph.sketch import Final
from queryplan.program.graph.values import ANY, Values, may_be, values_of
from queryplan.program.heads.encoder import default_encoder
from queryplan.signatures.graph_steps import EdgeType, ElementWords, GraphSchema, NodeType, PropertyType

SCHEMA = GraphSchema(
    nodes=(
        NodeType(
            name="Drug",
            properties=("year", "form"),
            details=(
                PropertyType(name="year", kind="number"),
                PropertyType(name="form", kind="enum", values=("pill", "nasal spray")),
            ),
        ),
        NodeType(name="Illness"),
    ),
    edges=(EdgeType(name="TREATS", source="Drug", target="Illness", properties=("grade",)),),
)
VALUES = values_of(
    SCHEMA, [("Drug", {"form": "drops", "id": "x"}), ("TREATS", {"grade": 2.5}), ("TREATS", {"grade": None})]
)


def ways(question: str, kind: str = "Drug", numbers: tuple[float, ...] = ()) -> list[str]:
    found = endings(SCHEMA, VALUES, kind, ["TREATS"], question, SaidNumbers(numbers))
    return ["none" if e.none else _said(e) for e in found]


def _said(ending: Ending) -> str:
    final = ending.final
    conditions = ((c.property, c.op, c.value) for c in conditions_of(ending))
    return " ".join(map(str, (final.kind, final.key, final.descending, final.limit, *conditions)))


def test_values_come_from_the_schema_and_from_the_graph() -> None:
    assert VALUES.numbers == {("Drug", "year"): ANY, ("TREATS", "grade"): (2.5, 2.5)}
    assert VALUES.texts == {("Drug", "form"): ("pill", "nasal spray", "drops")}


def test_what_has_no_properties_can_be_counted_and_ordered_by_edges_only() -> None:
    assert {way.split()[0] for way in ways("any", "Illness")} == {"set", "count", "degree", "none"}


def test_texts_that_are_said_and_numbers_become_conditions() -> None:
    assert "set  True 1 ('form', 'eq', 'nasal spray')" in ways("is there a Nasal Spray")
    assert "set  True 1 ('form', 'eq', 'pill')" in ways("pills for it")
    assert "count  True 1 ('year', 'lt', 1990)" in ways("how many before 1990", numbers=(1990.0,))
    assert "set  True 1 ('grade', 'ge', 2.5)" in ways("grade 2.5 or more", numbers=(2.5,))
    assert not any("form" in way for way in ways("just anything"))


def test_a_number_that_a_property_cannot_have_is_no_condition_of_it() -> None:
    grades = replace(VALUES, numbers={("Drug", "year"): (1950, 2020), ("TREATS", "grade"): (0.1, 0.9)})
    found = endings(SCHEMA, grades, "Drug", ["TREATS"], "since 1990, 0.5", SaidNumbers((1990.0, 0.5)))
    assert {(c.property, c.value) for e in found for c in conditions_of(e)} == {("year", 1990), ("grade", 0.5)}
    assert may_be(1890, (1950, 2020))
    assert not may_be(1870, (1950, 2020))
    assert may_be(7, (3, 3))


def test_two_numbers_are_a_range_too_of_nodes_and_of_edges() -> None:
    said = said_numbers("from 1990 to 2000", [])
    found = [_said(e) for e in endings(SCHEMA, VALUES, "Drug", ["TREATS"], "from 1990 to 2000", said) if not e.none]
    assert "set  True 1 ('year', 'ge', 1990) ('year', 'le', 2000)" in found
    assert "count  True 1 ('year', 'gt', 1990) ('year', 'lt', 2000)" in found
    gold = read_gold(read_plan("if year ge 1990; if year le 2000; Illness:x <TREATS"))
    ranged = endings(SCHEMA, VALUES, "Drug", ["TREATS"], "", said)
    assert sum(is_gold(ending, gold) for ending in ranged if not ending.none) == 1
    graded = SaidNumbers((2.0, 3.0), ((2.0, 3.0),))
    only = replace(VALUES, numbers={("TREATS", "grade"): ANY})
    pairs = [e.where for e in endings(SCHEMA, only, "Drug", ["TREATS"], "", graded) if len(conditions_of(e)) > 1]
    assert {pair[0] for pair in pairs if pair is not None} == {"TREATS"}
    assert len(pairs) == 4


def test_what_is_not_true_is_not_wanted() -> None:
    flags = replace(VALUES, texts={}, flags=frozenset({("Drug", "form")}))
    plain = view_of("drugs", Hypothesis((), ()), SchemaWords(SCHEMA, default_encoder(), {}), {})
    view = replace(plain, done=np.array([float(name == "difference") for name in DONE]))
    found = endings(SCHEMA, flags, "Drug", [], "", SaidNumbers())
    dense, _ = EndingParts(SCHEMA, default_encoder()).of(found, view, SaidNumbers(), 1.0, {}, "Drug")
    said = {
        c.value: row[DENSE.index("not said")] for e, row in zip(found, dense, strict=True) if (c := condition_of(e))
    }
    assert said == {True: 0.0, False: 1.0}


def test_a_value_in_figures_is_said_by_a_number_word() -> None:
    texts = replace(VALUES, texts={("Drug", "form"): ("7", "17")})
    found = endings(SCHEMA, texts, "Drug", [], "form seven", said_numbers("form seven", []))
    assert {c.value for e in found for c in conditions_of(e) if c.property == "form"} == {"7"}
    beside = endings(SCHEMA, texts, "Drug", [], "7번 형태", SaidNumbers())
    assert {c.value for e in beside for c in conditions_of(e)} == {"7"}


def test_a_number_may_be_a_limit() -> None:
    assert "order year True 3" in ways("three newest", numbers=(3.0,))
    assert not any(way.startswith("order year True 1990") for way in ways("of 1990", numbers=(1990.0,)))


@pytest.mark.parametrize(
    "said",
    [
        "Drug:x <TREATS",
        "count; Illness:x <TREATS",
        "max year 1; Illness:x <TREATS",
        "if form eq pill; Illness:x <TREATS",
    ],
)
def test_exactly_one_ending_is_the_labelled_one(said: str) -> None:
    gold = read_gold(read_plan(said))
    found = endings(SCHEMA, VALUES, "Drug", ["TREATS"], "pill please", SaidNumbers())
    assert sum(is_gold(ending, gold) for ending in found if not ending.none) == 1


def test_numbers_of_endings_have_the_declared_shape() -> None:
    encoder = default_encoder()
    view = view_of("newest pill of 1990", Hypothesis((), ()), SchemaWords(SCHEMA, encoder, {}), {})
    found = endings(SCHEMA, VALUES, "Drug", ["TREATS"], "newest pill of 1990", SaidNumbers((1990.0,)))
    dense, elements = EndingParts(SCHEMA, encoder).of(
        found, view, SaidNumbers((1990.0,)), 0.4, {n: i for i, n in enumerate(ELEMENTS)}, "Drug"
    )
    assert dense.shape == (len(found), len(DENSE))
    assert elements.shape == (len(found), 4)
    assert dense[-1, : DENSE.index("done said")].tolist() == [0.0] * DENSE.index("done said")
    assert dense[-1, DENSE.index("unsayable")] == pytest.approx(0.6)
    assert np.isfinite(dense).all()


BOAT = GraphSchema(
    nodes=(
        NodeType(
            name="Boat",
            properties=("hull", "licensed", "founded_year"),
            details=(
                PropertyType(name="hull", kind="enum", values=("wood", "steel")),
                PropertyType(name="licensed", kind="boolean"),
                PropertyType(name="founded_year", kind="number"),
            ),
        ),
        NodeType(name="Port"),
    ),
    edges=(EdgeType(name="BERTH", source="Boat", target="Port"),),
)


def looked_at(question: str, schema: GraphSchema = BOAT) -> tuple[list[Ending], np.ndarray, list[list[str]]]:
    """The endings of boats in a question, their numbers, and the names of their elements."""
    encoder, values = default_encoder(), values_of(schema)
    parts, rows = EndingParts(schema, encoder), {name: i for i, name in enumerate(ELEMENTS)}
    view = view_of(question, Hypothesis((), ()), SchemaWords(schema, encoder, {}), {})
    alike = ValueWords(values.texts.values(), encoder, values.words).unsaid(view, question)
    numbers = said_numbers(question, [])
    found = endings(schema, values, "Boat", ["BERTH"], question, numbers, alike)
    dense, elements = parts.of(found, view, numbers, 1.0, rows, "Boat", alike)
    return found, dense, [[ELEMENTS[e] for e in row if e < len(ELEMENTS)] for row in elements]


def place_of(found: list[Ending], name: str, value: object) -> int:
    """The place of the ending that keeps what has this value."""
    for place, ending in enumerate(found):
        tests = ending.final.filters
        if ending.final.kind == "set" and tests and (tests[0].property, tests[0].value) == (name, value):
            return place
    return -1


def test_what_is_true_or_false_may_be_asked_for_either_way() -> None:
    found, dense, elements = looked_at("boats without a licence")
    yes, no = place_of(found, "licensed", True), place_of(found, "licensed", False)
    assert ("true" in elements[yes], "false" in elements[no]) == (True, True)
    differs = np.flatnonzero(dense[yes] != dense[no]).tolist()
    assert differs == [DENSE.index("not said")]  # "without" speaks for what is not true
    assert dense[yes][DENSE.index("yes or no")] == 1
    assert dense[yes][DENSE.index("property named")] > 0.3
    assert dense[yes][DENSE.index("number used")] == dense[yes][DENSE.index("value said")] == 0


def test_a_decade_uses_no_number_and_is_told() -> None:
    found, dense, elements = looked_at("5 boats founded in the eighties")
    place = next(i for i, e in enumerate(found) if e.final.kind == "set" and len(conditions_of(e)) == 2)
    said = dict(zip(DENSE, dense[place], strict=True))
    assert (said["decade said"], said["number used"], said["number left"]) == (1, 1, 1)
    assert "range" in elements[place]
    assert {len(conditions_of(found[i])) for i in np.flatnonzero(dense[:, DENSE.index("decade said")])} == {2}


def test_what_is_taken_away_speaks_for_the_other_values_and_turns_a_comparison_round() -> None:
    found, dense, _ = looked_at("boats without steel")
    said = {
        e.final.filters[0].op: dense[i]
        for i, e in enumerate(found)
        if e.final.kind == "set" and e.final.filters[:1] and e.final.filters[0].value is not False
    }
    assert said["ne"][DENSE.index("not said")] > said["eq"][DENSE.index("not said")] == 0
    found, dense, _ = looked_at("boats, except those founded after 1960")
    said = {e.final.filters[0].op: dense[i] for i, e in enumerate(found) if e.final.kind == "set" and e.final.filters}
    turned = DENSE.index("turned round")
    assert said["le"][turned] == said["lt"][turned] > 0.5
    assert said["ge"][turned] < said["le"][turned]
    assert looked_at("boats founded after 1960")[1][:, turned].max() < 0.5


def test_the_two_numbers_of_a_range_are_used() -> None:
    found, dense, _ = looked_at("boats founded between 1980 and 1995")
    left = {len(conditions_of(e)): dense[i, DENSE.index("number left")] for i, e in enumerate(found) if not e.none}
    assert left == {0: 2, 1: 1, 2: 0}


def test_a_value_may_be_said_by_a_word_that_is_like_it() -> None:
    found, dense, elements = looked_at("wooden boats")
    wood = place_of(found, "hull", "wood")
    assert dense[wood][DENSE.index("value near")] > 0.4
    assert dense[wood][DENSE.index("value said")] == 0
    assert "alike" in elements[wood]
    assert place_of(found, "hull", "steel") == -1


def test_a_value_that_is_said_is_not_also_like_a_word() -> None:
    found, dense, elements = looked_at("boats of wood")
    wood = place_of(found, "hull", "wood")
    assert (dense[wood][DENSE.index("value near")], dense[wood][DENSE.index("value said")]) == (0, 1)
    assert "text" in elements[wood]


WORDED = BOAT.model_copy(
    update={
        "words": (
            ElementWords(element="Boat.hull=wood", words="hölzern; aus Holz; 木造"),
            ElementWords(element="Boat.founded_year", words="Gründungsjahr; gegründet"),
        )
    }
)


@pytest.mark.parametrize("question", ["Boote aus Holz", "木造の船", "hölzern"])
def test_a_value_may_be_said_in_words_that_the_schema_has_for_it(question: str) -> None:
    found, dense, elements = looked_at(question, WORDED)
    wood = place_of(found, "hull", "wood")
    assert dense[wood][DENSE.index("value said")] == 1
    assert "text" in elements[wood]
    assert place_of(found, "hull", "steel") == -1


def test_a_property_may_be_told_in_words_that_the_schema_has_for_it() -> None:
    _, dense, _ = looked_at("wann gegründet", WORDED)
    assert dense[:, DENSE.index("property named")].max() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("question", "done"),
    [("wie viele Boote", "count"), ("сколько лодок", "count"), ("neuestes Boot", "order"), ("pourquoi", "none")],
)
def test_words_for_what_an_ending_does_speak_for_it_in_any_language(question: str, done: str) -> None:
    found, dense, _ = looked_at(question)
    own = np.array([ending.none if done == "none" else ending.final.kind == done for ending in found])
    own &= np.array([condition_of(ending) is None and ending.final.descending for ending in found])
    said, left = dense[:, DENSE.index("done said")], dense[:, DENSE.index("done left out")]
    assert said[own].min() == pytest.approx(said.max())
    assert said.max() > 0.5
    assert left[own].max() < left[~own].max()


def test_whether_something_is_true_is_read_from_a_graph_that_declares_nothing() -> None:
    bare = GraphSchema(nodes=(NodeType(name="Boat", properties=("licensed",)),))
    assert values_of(bare, [("Boat", {"licensed": True})]).flags == {("Boat", "licensed")}


def test_a_graph_that_lists_nothing_has_no_values() -> None:
    assert values_of(GraphSchema(nodes=(NodeType(name="A", properties=("p",)),))) == Values()


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ("D:a >E", {"a": "start"}),
        ("D:a >E & D:b >E", {"a": "start", "b": "start"}),
        ("D:a >E & G:b", {"a": "start", "b": "bare"}),
        ("D:a >E \\ G:b", {"a": "start", "b": "excluded"}),
        ("D:a >E \\ D:b >E", {"a": "start", "b": "taken"}),
        ("(D:a >E \\ G:b) <E", {"a": "start", "b": "excluded"}),
        ("D:a >E <E!", {"a": "start"}),
    ],
)
def test_the_part_that_each_name_plays_is_read_from_the_plan(said: str, parts: dict[str, Any]) -> None:
    assert {name: part for (name, _), part in parts_of(read_plan(said)).items()} == parts


# --- learned from labels


@pytest.fixture(scope="module")
def cases(taught: Any, lesson_source: Source) -> list[Case]:
    """Some questions of a lesson as endings are ranked for them."""
    some = replace(lesson_source, questions=lesson_source.questions[::3])
    ranker = Ranker(PathTable(some.schema), default_encoder(), taught.paths)
    return cases_of(some, values_of(some.schema), ranker, default_encoder())


@pytest.fixture(scope="module")
def unheard(cases: list[Case]) -> EndingWeights:
    """Weights learned elsewhere, of n-grams that no case has but the last."""
    heard = sorted({int(gram) for case in cases for gram in case.view.grams})
    grams = sorted({*(gram for gram in range(7, 5000, 601) if gram not in heard), heard[-1]})
    table = np.random.default_rng(3).normal(size=(len(ELEMENTS), len(grams) + VECTOR)).astype(np.float32)
    return EndingWeights(starting_endings().dense, np.array(grams, dtype=np.uint32), table)


def column(weights: EndingWeights, gram: int) -> np.ndarray:
    """What a gram says for each element."""
    return weights.table[:, weights.grams.tolist().index(gram)]


def test_only_questions_whose_labelled_ending_is_a_candidate_are_cases(cases: list[Case]) -> None:
    assert cases
    for case in cases:
        assert case.right.any()
        assert not case.right.all()
        assert case.dense.shape == (len(case.right), len(DENSE))


def test_what_no_case_speaks_of_keeps_to_where_it_started(cases: list[Case], unheard: EndingWeights) -> None:
    fitted = fit_endings(cases, unheard)
    for gram in unheard.grams.tolist()[:-1]:
        assert column(fitted, gram) == pytest.approx(column(unheard, gram), abs=1e-6)
    used = {int(element) for case in cases for element in case.elements.ravel() if element < len(ELEMENTS)}
    last = int(unheard.grams[-1])
    idle = [row for row in range(len(ELEMENTS)) if row not in used]
    assert column(fitted, last)[idle] == pytest.approx(column(unheard, last)[idle], abs=1e-6)


def test_what_cases_speak_of_moves_from_where_it_started(cases: list[Case], unheard: EndingWeights) -> None:
    fitted = fit_endings(cases, unheard)
    assert set(unheard.grams.tolist()) < set(fitted.grams.tolist())
    assert fitted.grams.tolist() == sorted(fitted.grams.tolist())
    assert not np.allclose(column(fitted, int(unheard.grams[-1])), column(unheard, int(unheard.grams[-1])))
    assert not np.allclose(fitted.dense, unheard.dense)


def test_without_cases_the_start_is_all(unheard: EndingWeights) -> None:
    assert fit_endings([], unheard).table.tolist() == unheard.table.tolist()
    assert fit_endings([]).dense.tolist() == starting_endings().dense.tolist()


def test_what_was_fitted_ranks_the_labelled_ending_higher(cases: list[Case]) -> None:
    def mean_rank(weights: EndingWeights) -> float:
        scores = [case.dense @ weights.dense + _told(case, weights) for case in cases]
        return float(np.mean([(s > s[c.right].max()).sum() for s, c in zip(scores, cases, strict=True)]))

    assert mean_rank(fit_endings(cases)) < mean_rank(starting_endings())


def _told(case: Case, weights: EndingWeights) -> np.ndarray:
    known = np.flatnonzero(np.isin(weights.grams, case.view.grams))
    heard = weights.table[:, known].sum(axis=1) + weights.table[:, len(weights.grams) :] @ case.view.sound
    return np.append(heard, 0.0)[case.elements].sum(axis=1)


def test_what_is_counted_is_at_the_other_end_of_the_edge() -> None:
    nodes = (NodeType(name="Drug"), NodeType(name="Illness"), NodeType(name="Company"))
    encoder, made = default_encoder(), EdgeType(name="MADE", source="Company", target="Drug")
    schema = GraphSchema(nodes=nodes, edges=(made, EdgeType(name="FOR", source="Drug", target="Illness")))
    view = view_of("most illnesses", Hypothesis((), ()), SchemaWords(schema, encoder, {}), {})
    rows = {name: i for i, name in enumerate(ELEMENTS)}
    found = [Ending(Final("degree", "MADE")), Ending(Final("degree", "FOR"))]
    dense, _ = EndingParts(schema, encoder).of(found, view, SaidNumbers(), 0.4, rows, "Drug")
    of_company, of_illness = dense[:, DENSE.index("counted named")]
    assert of_illness > of_company + 0.3
