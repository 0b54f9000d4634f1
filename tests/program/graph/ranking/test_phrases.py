"""Phrases for a schema's elements, and for what every plan may do, in the words of a question."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.element_words import DONE, UNSAYABLE, unsayable_words
from queryplan.program.graph.learning.fit_ranking import starting_weights
from queryplan.program.graph.names.linking import NameIndex
from queryplan.program.graph.question.words import folded_words, spelled_out, stands_alone
from queryplan.program.graph.ranking.evidence import DENSE, Sight, dense_of
from queryplan.program.graph.ranking.paths import PathTable
from queryplan.program.graph.ranking.phrases import PhraseBook, Phrases, Told, denied, phrases_of_plans
from queryplan.program.graph.ranking.ranking import Ranker
from queryplan.program.graph.ranking.schema_words import SchemaWords
from queryplan.program.graph.ranking.shape import Shape
from queryplan.program.heads.encoder import default_encoder
from queryplan.signatures.graph_steps import EdgeType, ElementWords, GraphSchema, NodeType

BARE = GraphSchema(
    nodes=(NodeType(name="Drug", properties=("year",)), NodeType(name="Illness"), NodeType(name="Harm")),
    edges=(
        EdgeType(name="TREATS", source="Drug", target="Illness"),
        EdgeType(name="EASES", source="Drug", target="Illness"),
        EdgeType(name="CAUSES", source="Drug", target="Harm", properties=("often",)),
    ),
)
WORDS = [
    ("Drug", "", "Medikament; Mittel; лекарство; 药物; 薬"),
    ("Harm", "", "Nebenwirkung; побочный эффект; 副作用; 부작용"),
    ("TREATS", "out", "wird angewendet bei; лечит; 治疗什么"),
    ("TREATS", "in", "hilft gegen; Mittel gegen; лечение; 治疗"),
    ("EASES", "in", "lindert; Linderung bei; облегчает"),
    ("Drug.year", "", "Zulassungsjahr; zugelassen"),
    ("CAUSES.often", "", "wie oft; Häufigkeit"),
    ("Drug.year=1990", "", "neunzig"),
]
SCHEMA = BARE.model_copy(
    update={"words": tuple(ElementWords(element=e, side=s, words=w) for e, s, w in WORDS)}  # type: ignore[arg-type]
)
PHRASES = Phrases(SCHEMA)
TREATS, EASES, CAUSES = range(3)
DRUG, ILLNESS, HARM = range(3)
OUT, IN = range(2)


def look(question: str) -> Told:
    return PHRASES.look(folded_words(question))


# Words


@pytest.mark.parametrize(
    ("question", "told", "other"),
    [
        ("with fewer than four beds", "lt", "gt"),
        ("with no fewer than four beds", "gt", ""),
        ("mit weniger als vier Betten", "lt", "gt"),
        ("more than four beds", "gt", "lt"),
        ("no more than four beds", "lt", ""),
    ],
)
def test_a_phrase_is_not_told_by_another_ones_phrase_in_it(question: str, told: str, other: str) -> None:
    said = dict(zip(DONE, phrases_of_plans().look(folded_words(question))[0].tolist(), strict=True))
    assert said[told] > 0.7
    assert not other or said[other] < said[told] / 2


@pytest.mark.parametrize(
    ("question", "sure"),
    [
        ("step-free stations", False),
        ("stations that are step-free", False),
        ("stations without step-free access", True),
        ("stations that aren't step free", True),
        ("unstepped stations", False),
    ],
)
def test_the_words_of_a_propertys_name_deny_nothing(question: str, sure: bool) -> None:
    words = folded_words(question)
    away = float(phrases_of_plans().look(spelled_out(words))[0][DONE.index("difference")])
    assert (denied("step_free", words, away) > 0.6) == sure


@pytest.mark.parametrize(
    ("word", "sure"),
    [("electrified", False), ("unelectrified", True), ("nonelectrified", True), ("hyperelectrified", False)],
)
def test_a_few_letters_before_the_word_of_a_property_deny_it(word: str, sure: bool) -> None:
    assert denied("electrified", [word, "lines"], 0.0) == float(sure)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("welche Nebenwirkungen hat es", HARM),  # another ending
        ("Hauptnebenwirkung", HARM),  # behind another word
        ("какие побочные эффекты", HARM),
        ("부작용은 무엇", HARM),  # with a particle
        ("有什么副作用吗", HARM),  # without spaces
        ("どんな薬ですか", DRUG),  # one sign
        ("какие лекарства есть", DRUG),
    ],
)
def test_a_type_is_told_in_any_language_and_form(question: str, kind: int) -> None:
    types = look(question).types.max(axis=0)
    assert types.argmax() == kind
    assert types[kind] > 0.5


def test_each_word_says_what_it_is_for() -> None:
    told = look("Medikamente mit Nebenwirkungen")
    assert told.types.shape == (3, 3)
    assert told.types[0].argmax() == DRUG
    assert told.types[2].argmax() == HARM
    assert not told.types[1].any()


def test_signs_that_stand_alone_are_told_by_pairs() -> None:
    told = look("副作用")
    assert told.types[:, HARM].tolist() == [1.0, 1.0, 1.0]
    assert not look("作副").types[:, HARM].any()


def test_an_edge_is_told_in_the_direction_of_its_phrase() -> None:
    told = look("was hilft gegen Gicht")
    assert told.ways[TREATS, IN] == pytest.approx(1.0)
    assert told.ways[TREATS, OUT] == 0
    assert told.edges[1].argmax() == TREATS


def test_a_word_that_many_elements_have_tells_less_than_one_that_few_have() -> None:
    shared = [(0, "Mittel gegen; taugt bei"), (1, "lindert bei"), (2, "tritt auf bei")]
    said, _ = PhraseBook(shared, 3).look(["taugt"])
    assert said[0] == pytest.approx(1.0)
    assert PhraseBook(shared, 3).look(["bei"])[0].max() == 0


def test_properties_are_told_whatever_has_them() -> None:
    assert look("wann zugelassen").properties[1].tolist() == [1.0, 0.0]
    assert look("Häufigkeit").properties[0].tolist() == [0.0, 1.0]


def test_words_for_a_value_are_no_words_for_an_element() -> None:
    told = look("neunzig")
    assert not told.types.any()
    assert not told.properties.any()


@pytest.mark.parametrize("question", ["", "?", "xyzzy", "be"])
def test_nothing_is_told_by_words_of_no_phrase(question: str) -> None:
    told = look(question)
    assert not told.ways.any()
    assert not told.edges.any()
    assert len(told.types) == len(folded_words(question))


def test_a_book_without_phrases_says_nothing() -> None:
    said, by_word = PhraseBook([], 2).look(["a", "b"])
    assert said.tolist() == [0, 0]
    assert by_word.shape == (2, 2)


SOME = ["hilft", "gegen", "Mittel", "副", "作", "用", "lindert", "x", "лечит", "Nebenwirkungen"]
QUESTIONS = st.lists(st.sampled_from(SOME), max_size=9)


@given(QUESTIONS)
def test_what_is_told_lies_between_nothing_and_all(words: list[str]) -> None:
    told = look(" ".join(words))
    for part in (told.ways, told.edges, told.types, told.properties):
        assert ((part >= 0) & (part <= 1 + 1e-9)).all()


@given(QUESTIONS, st.sampled_from(["hilft", "xyz", "lindert"]))
def test_a_word_more_never_tells_less(words: list[str], more: str) -> None:
    assert (look(" ".join([*words, more])).ways >= look(" ".join(words)).ways - 1e-9).all()


@pytest.mark.parametrize(("word", "alone"), [("薬", True), ("の", True), ("약", False), ("a", False), ("薬学", False)])
def test_signs_of_scripts_without_spaces_stand_alone(word: str, alone: bool) -> None:
    assert stands_alone(word) == alone


# What every plan may do


@pytest.mark.parametrize(
    ("question", "done"),
    [
        ("how many of them", "count"),
        ("wie viele davon", "count"),
        ("有多少种", "count"),
        ("сколько их", "count"),
        ("ohne Kopfschmerzen", "difference"),
        ("tranne questi", "difference"),
        ("ambas cosas", "intersect"),
        ("両方に共通", "intersect"),
        ("le plus récent", "order desc"),
        ("najstarszy", "order asc"),
        ("en çok", "degree desc"),
        ("pourquoi donc", "none"),
    ],
)
def test_what_a_plan_does_is_told_in_any_language(question: str, done: str) -> None:
    said, _ = phrases_of_plans().look(folded_words(question))
    assert said[DONE.index(done)] == pytest.approx(said.max())
    assert said.max() > 0.6


# Evidence


def numbers(schema: GraphSchema, question: str) -> tuple[dict[str, np.ndarray], list[str]]:
    """The numbers of every path from gout, and what the paths are."""
    ranker = Ranker(PathTable(schema), default_encoder(), starting_weights({}))
    mentions = NameIndex([("i", "gout", "Illness"), ("h", "rash", "Harm")]).mentions(question)
    (hypothesis, *_) = ranker.hypotheses(question, mentions)
    ranked = ranker.of(question, hypothesis)[0]
    view = ranked.view
    dense = dense_of(ranked.pool, Shape(ranked.pool, ranker.table), Sight(view, ranker.told(view)), 0.0)
    paths = [str(ranked.pool.sketch(i, ranker.table).canonical()) for i in range(len(ranked.pool))]
    return {name: dense[:, i] for i, name in enumerate(DENSE)}, paths


def test_a_schema_says_what_it_cannot_say() -> None:
    lines = (*SCHEMA.words, ElementWords(element=UNSAYABLE, words="contagious; while pregnant; ansteckend"))
    words = SchemaWords(SCHEMA.model_copy(update={"words": lines}), default_encoder(), {})
    without = SchemaWords(SCHEMA, default_encoder(), {})
    place = DONE.index(UNSAYABLE)
    for question in ("is gout contagious", "ist das ansteckend", "aspirin while pregnant"):
        assert words.done(folded_words(question))[place] == 1.0
        assert without.done(folded_words(question))[place] < 1.0
    assert (words.done(folded_words("drugs for gout")) == without.done(folded_words("drugs for gout"))).all()
    # A word that says nothing by itself is no word for a type.
    assert "ansteckend" not in {m.text for m in NameIndex((), words=lines).mentions("ansteckend")}


def test_a_type_may_have_the_name_of_what_cannot_be_said() -> None:
    schema = GraphSchema(nodes=(NodeType(name=UNSAYABLE),), words=(ElementWords(element=UNSAYABLE, words="nobody"),))
    assert unsayable_words(schema) == ""
    assert unsayable_words(SCHEMA) == ""


def test_phrases_speak_for_the_paths_that_they_tell() -> None:
    dense, paths = numbers(SCHEMA, "was hilft gegen gout")
    treated, eased = (next(i for i, p in enumerate(paths) if f"{edge}:in" in p) for edge in ("TREATS", "EASES"))
    assert dense["ways told"][treated] == pytest.approx(1.0)
    assert dense["weakest way told"][treated] == pytest.approx(1.0)
    assert dense["way left out"][treated] == 0
    assert dense["ways told"][eased] == 0
    assert dense["way left out"][eased] == pytest.approx(1.0)
    back = next(i for i, p in enumerate(paths) if "TREATS:in" in p and "TREATS:out" in p)
    assert dense["other way told"][back] == pytest.approx(1.0)


def test_a_schema_without_phrases_has_none_of_their_numbers() -> None:
    dense, _ = numbers(BARE, "was hilft gegen gout")
    for name in ("ways told", "weakest way told", "other way told", "way left out"):
        assert not dense[name].any(), name


def test_words_for_putting_sets_together_speak_for_plans_that_do() -> None:
    ranker = Ranker(PathTable(SCHEMA), default_encoder(), starting_weights({}))
    question = "Medikamente gegen gout ohne rash"
    mentions = NameIndex([("i", "gout", "Illness"), ("h", "rash", "Harm")]).mentions(question)
    hypothesis = next(h for h in ranker.hypotheses(question, mentions) if len(h.mentions) == 2)
    said, left = DENSE.index("combine said"), DENSE.index("combine left out")
    found = {
        ranked.pool.sketch(i, ranker.table).combine: ranked.dense[i]
        for ranked in ranker.of(question, hypothesis)
        for i in range(len(ranked.pool))
    }
    assert found["difference"][said] > found["intersect"][said]
    assert found["difference"][left] == 0 < found["union"][left]
