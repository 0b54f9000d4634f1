"""Names found in questions: exact, alias, id, near; with every reading kept."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import KnownName
from queryplan.program.graph.names.linking import Mention, NameIndex
from queryplan.program.graph.question.view import Hypothesis, view_of
from queryplan.program.graph.question.words import fold
from queryplan.program.graph.ranking.schema_words import SchemaWords
from queryplan.program.heads.encoder import default_encoder
from queryplan.signatures.graph_steps import ElementWords, GraphSchema, NodeType

NODES = (
    ("f1", "It", "Film"),
    ("f2", "The Hours", "Film"),
    ("f3", "Hours", "Film"),
    ("f4", "What Women Want", "Film"),
    ("f5", "Kismet", "Film"),
    ("f6", "Kismet", "Film"),
    ("t1", "kismet", "Tag"),
    ("p1", "Björn Ångström", "Person"),
    ("p2", "50/50 mix?x=1", "Person"),
    ("p3", "x'}) DETACH DELETE n //", "Person"),
    ("d1", "hemochromatosis", "Disease"),
    ("d2", "type 2 diabetes mellitus", "Disease"),
    ("DOID:1438", "gout", "Disease"),
)
ALIASES = (
    KnownName(
        name="type 2 diabetes mellitus",
        type="Disease",
        aliases=("T2D", "diabetes type 2"),
        other_words="2型糖尿病; cukrzyca typu 2",
    ),
    KnownName(name="gout", type="Disease", other_words="podagra; подагра; 통풍"),
    KnownName(name="not in the graph", type="Disease", aliases=("nowhere",)),
)


@pytest.fixture(scope="module")
def index() -> NameIndex:
    return NameIndex(NODES, ALIASES)


def found(index: NameIndex, text: str, common: Sequence[str] = ()) -> dict[str, Mention]:
    return {m.text: m for m in index.mentions(text, frozenset(common))}


def test_an_exact_name_is_found_without_regard_to_case_marks_and_punctuation(index: NameIndex) -> None:
    mention = found(index, "films with BJORN angstrom?")["BJORN angstrom"]
    assert [(r.name, r.how, r.score) for r in mention.readings] == [("Björn Ångström", "exact", 1.0)]
    assert (mention.start, mention.end) == (11, 25)


def test_a_name_inside_a_longer_name_is_kept_as_an_alternative(index: NameIndex) -> None:
    mentions = found(index, "who directed The Hours", ["who", "directed"])
    assert set(mentions) == {"The Hours", "Hours"}
    assert mentions["Hours"].inside(mentions["The Hours"])
    assert mentions["Hours"].overlaps(mentions["The Hours"])


def test_titles_of_common_words_are_found_and_left_to_the_ranking(index: NameIndex) -> None:
    assert {"It", "What Women Want"} <= set(found(index, "It or What Women Want"))
    assert "it" in found(index, "when was it made")


def test_one_name_of_several_types_keeps_each_reading_and_the_one_spelled_so_comes_first(index: NameIndex) -> None:
    assert [r.type for r in found(index, "about Kismet")["Kismet"].readings] == ["Film", "Tag"]
    assert [r.type for r in found(index, "about kismet")["kismet"].readings] == ["Tag", "Film"]


def test_an_alias_leads_to_the_name_in_the_graph(index: NameIndex) -> None:
    [reading] = found(index, "what treats t2d")["t2d"].readings
    assert (reading.name, reading.how) == ("type 2 diabetes mellitus", "alias")
    assert "nowhere" not in found(index, "what treats nowhere", ["nowhere"])


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("who climbed dont look down", "Don't Look Down"),
        ("routes of ruth omalley", "Ruth O’Malley"),
        ("who climbed don't look down", "Don't Look Down"),
        ("routes of Ruth O'Malley", "Ruth O’Malley"),
    ],
)
def test_a_name_is_found_with_and_without_its_apostrophes(question: str, name: str) -> None:
    names = NameIndex([("r1", "Don't Look Down", "Route"), ("c1", "Ruth O’Malley", "Climber")])
    common = {"who", "climbed", "routes", "of", "dont", "look", "down"}
    assert [mention.readings[0].name for mention in names.mentions(question, common)] == [name]


def test_an_id_is_found_as_it_is_written(index: NameIndex) -> None:
    [reading] = found(index, "which drugs for (DOID:1438)?")["DOID:1438"].readings
    assert (reading.name, reading.type, reading.how) == ("DOID:1438", "Disease", "id")


def test_a_misspelled_name_is_found_with_its_score(index: NameIndex) -> None:
    mention = found(index, "genes of haemochromatosis", ["genes", "of"])["haemochromatosis"]
    assert mention.readings[0].name == "hemochromatosis"
    assert mention.readings[0].how == "fuzzy"
    assert 0.9 < mention.readings[0].score < 1


def test_common_words_are_not_compared_by_edits(index: NameIndex) -> None:
    assert found(index, "hour after hour", ["hour", "after"]) == {}


def test_names_that_try_to_be_code_are_names(index: NameIndex) -> None:
    for _, name, _ in NODES:
        assert name in {r.name for m in index.mentions(f"tell me about {name} please") for r in m.readings} | {"gout"}


def test_an_unknown_name_has_near_ones(index: NameIndex) -> None:
    assert index.near("Bjoern Angstroem")[0].name == "Björn Ångström"
    assert index.near("") == ()


def test_an_empty_graph_finds_nothing() -> None:
    assert NameIndex(()).mentions("anything at all?") == ()
    assert NameIndex(()).near("anything") == ()


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    for mention in NameIndex(NODES, ALIASES).mentions(text):
        assert text[mention.start : mention.end] == mention.text
        assert mention.readings


@given(st.lists(st.text("abcdefgh ", min_size=1, max_size=12), min_size=1, max_size=8), st.data())
def test_every_name_is_found_in_a_sentence_that_holds_it(names: list[str], data: st.DataObject) -> None:
    nodes = [(str(i), name, "T") for i, name in enumerate(names)]
    name = data.draw(st.sampled_from([n for n in names if n.strip()] or ["a"]))
    readings = {r.name for m in NameIndex(nodes).mentions(f"xx {name} yy") for r in m.readings}
    assert name in readings or not any(name == n for n in names)


def test_forty_thousand_names_are_searched_in_milliseconds() -> None:
    words = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("a", "e", "io", "ou") for c in "lmnrstx"]
    nodes = [(str(i), f"{words[i % len(words)]} {words[i // len(words)]} {i}", "T") for i in range(40_000)]
    index = NameIndex(nodes)
    times = []
    for i in range(0, 40_000, 1_000):
        began = time.process_time()
        assert index.mentions(f"what about {nodes[i][1]} then", frozenset(("what", "about", "then")))
        times.append(time.process_time() - began)
    assert sorted(times)[len(times) // 2] < 0.005


def named(index: NameIndex, question: str) -> set[tuple[str, str, str]]:
    return {(m.text, r.name, r.field) for m in index.mentions(question) for r in m.readings if r.how != "fuzzy"}


@pytest.fixture
def valued() -> NameIndex:
    names = [("n1", "type 1 diabetes", "Disease"), ("n2", "type 2 diabetes", "Disease"), ("n3", "breast", "Organ")]
    names += [("n4", "breast cancer", "Disease"), ("n5", "lung cancer", "Disease")]
    values = {("Disease", "kind"): ("cancer", "rare"), ("Gene", "chromosome"): ("7", "X")}
    return NameIndex(names, values={**values, ("Gene", "summary"): [f"text {n}" for n in range(100)]})


def test_a_value_names_the_nodes_that_have_it_in_both_numbers(valued: NameIndex) -> None:
    assert ("cancers", "cancer", "kind") in named(valued, "how many cancers are there")
    assert ("rare", "rare", "kind") in named(valued, "anything rare?")


def test_a_value_of_one_sign_is_read_beside_its_property_alone(valued: NameIndex) -> None:
    assert ("chromosome X", "X", "chromosome") in named(valued, "genes on chromosome X")
    assert ("X chromosome", "X", "chromosome") in named(valued, "genes on the X chromosome")
    assert not named(valued, "give me 7 chromosome pictures")
    assert not named(valued, "give me 7 genes, x of them")


def test_a_property_with_a_text_for_each_node_names_nothing(valued: NameIndex) -> None:
    assert not named(valued, "what about text 5 then")


def test_a_name_may_leave_out_the_end_that_a_later_one_has(valued: NameIndex) -> None:
    assert ("type 1", "type 1 diabetes", "name") in named(valued, "what do type 1 and type 2 diabetes share")
    both = named(valued, "breast or lung cancer")
    assert {("breast", "breast", "name"), ("breast", "breast cancer", "name")} <= both


def test_a_name_too_far_before_does_not_share_the_end(valued: NameIndex) -> None:
    assert ("breast", "breast cancer", "name") not in named(valued, "breast as an organ and then also lung cancer")


@pytest.mark.parametrize(
    ("question", "said", "name", "how"),
    [
        ("2型糖尿病の薬は?", "2型糖尿病", "type 2 diabetes mellitus", "alias"),
        ("Czym leczy się CUKRZYCA TYPU 2?", "CUKRZYCA TYPU 2", "type 2 diabetes mellitus", "alias"),
        ("leki na podagrę", "podagrę", "gout", "fuzzy"),
        ("чем лечат подагру", "подагру", "gout", "fuzzy"),
        ("통풍의 치료제는?", "통풍의", "gout", "fuzzy"),
    ],
)
def test_other_words_are_found_as_they_are_and_with_another_ending(
    index: NameIndex, question: str, said: str, name: str, how: str
) -> None:
    readings = found(index, question)[said].readings
    assert (readings[0].name, readings[0].how) == (name, how)


def test_what_is_only_a_little_like_other_words_is_not_taken_for_them() -> None:
    own = NameIndex([("d1", "podagra", "Disease")])
    other = NameIndex([("d1", "gout", "Disease")], [KnownName(name="gout", type="Disease", other_words="podagra")])
    assert "pedagog" not in found(other, "pedagog")
    assert found(own, "podagry x")["podagry"].readings[0].name == "podagra"
    assert "pogoda" not in found(other, "jaka pogoda")


def test_a_spelling_of_the_graph_stays_its_own_when_a_card_has_it_as_another_word() -> None:
    nodes = [("d1", "gout", "Disease"), ("d2", "podagra", "Disease")]
    index = NameIndex(nodes, [KnownName(name="gout", type="Disease", other_words="podagra")])
    assert [r.name for r in found(index, "podagra")["podagra"].readings] == ["podagra", "gout"]
    # As alike as a name of the graph must be, and less than another word must be.
    assert "podagrxy" in found(index, "podagrxy")


@pytest.mark.parametrize(
    ("word", "spelling"),
    [("Gichtmittel", "Gicht"), ("Epilepsiemittel", "Epilepsie"), ("두통이랑", "두통"), ("통풍을", "통풍")],
)
def test_a_word_may_begin_with_a_name_and_go_on(word: str, spelling: str) -> None:
    index = NameIndex([("d1", spelling, "Disease")])
    mention = found(index, f"??? {word} ???")[word]
    assert (mention.readings[0].name, mention.readings[0].how) == (spelling, "fuzzy")
    assert 0.7 < mention.readings[0].score < 1


KINDS = (
    ElementWords(element="Disease", words="Krankheit; Krankheiten; aandoening; ziekten; krank machen; 病"),
    ElementWords(element="Gene.chromosome", words="Chromosom; хромосома; 染色体"),
    ElementWords(element="Disease.category=cancer", words="Krebserkrankungen; 癌症"),
    ElementWords(element="TREATS", side="in", words="Mittel"),
)
VALUED = NameIndex(
    [("a1", "Herz", "Anatomy"), ("a2", "Lunge", "Anatomy"), ("a3", "hart", "Anatomy"), ("a4", "Gicht", "Disease")],
    values={("Disease", "category"): ("cancer",), ("Gene", "chromosome"): ("7", "X")},
    words=KINDS,
)


@pytest.mark.parametrize(
    ("word", "name", "rest"),
    [
        ("Herzkrankheiten", "Herz", "krankheiten"),
        ("hartziekten", "hart", "ziekten"),
        ("Lungenkrankheit", "Lunge", "krankheit"),
        ("Herzenskrankheit", "", ""),
        ("Herzmittel", "", ""),  # a word for an edge, and a name too short for what is written on
        ("Gichtmittel", "Gicht", "mittel"),
    ],
)
def test_a_word_for_a_type_may_be_written_behind_a_short_name(word: str, name: str, rest: str) -> None:
    mentions = found(VALUED, f"viele {word} hier")
    assert (word in mentions) == bool(name)
    if name:
        assert (mentions[word].readings[0].name, mentions[word].rest) == (name, rest)


def test_what_follows_a_name_in_its_word_is_a_word_of_the_question() -> None:
    mention = found(VALUED, "Welche Herzkrankheiten gibt es")["Herzkrankheiten"]
    words = SchemaWords(GraphSchema(nodes=(NodeType(name="Disease"),)), default_encoder(), {})
    view = view_of("Welche Herzkrankheiten gibt es", Hypothesis((mention,), mention.readings[:1]), words, {})
    assert view.words == ("welche", "krankheiten", "gibt", "es")
    assert view.names == (1,)


@pytest.mark.parametrize(
    ("question", "said", "value"),
    [
        ("Gene auf Chromosom 7", "Chromosom 7", "7"),
        ("7号染色体x 染色体 X の遺伝子", "染色体 X", "X"),
        ("alle Krebserkrankungen", "Krebserkrankungen", "cancer"),
        ("哪些癌症", "癌症", "cancer"),
    ],
)
def test_values_are_found_by_the_words_that_a_schema_has_for_them(question: str, said: str, value: str) -> None:
    reading = found(VALUED, question)[said].readings[0]
    assert (reading.name, reading.how) == (value, "value")


def test_a_short_name_or_a_common_word_does_not_begin_another() -> None:
    index = NameIndex([("g1", "WAS", "Gene"), ("g2", "heart", "Anatomy")])
    assert "washing" not in found(index, "washing")
    assert index.mentions("heartwarming", {"heartwarming"}) == ()


# Names written as catalogues do, in brackets, in another number, and as signs

CATALOGUE = (
    ("s1", "Sleep Apnea, Obstructive", "Symptom"),
    ("s2", "Dysarthria", "Symptom"),
    ("g1", "KCNH2", "Gene"),
    ("g2", "NCAN", "Gene"),
    ("g3", "KIT", "Gene"),
    ("m1", "IBUPROFEN", "Medicine"),
    ("c1", "Calcium Channel Blocker", "Class"),
    ("c2", "Calcium", "Compound"),
    ("x1", "Ham, Eggs, and a Very, Long, List", "Film"),
)


@pytest.fixture(scope="module")
def catalogue() -> NameIndex:
    return NameIndex(CATALOGUE)


def test_a_name_with_its_end_in_front_is_found_as_it_is_said(catalogue: NameIndex) -> None:
    [reading] = found(catalogue, "who has obstructive sleep apnea")["obstructive sleep apnea"].readings
    assert (reading.name, reading.how) == ("Sleep Apnea, Obstructive", "alias")
    assert "Sleep Apnea, Obstructive" in found(catalogue, "Sleep Apnea, Obstructive?")
    assert not catalogue.knows(fold("List Long and a Very Eggs Ham"))


def test_a_name_of_several_words_is_found_in_the_other_number(catalogue: NameIndex) -> None:
    mention = found(catalogue, "which calcium channel blockers are there")["calcium channel blockers"]
    assert [(r.name, r.how) for r in mention.readings] == [("Calcium Channel Blocker", "alias")]


def test_what_stands_in_brackets_behind_a_name_may_mean_the_same(catalogue: NameIndex) -> None:
    mentions = found(catalogue, "binds kcnh3 (KCNH2) or causes dysarthria")
    assert [r.name for r in mentions["KCNH2"].readings] == ["KCNH2"]
    aliased = NameIndex(CATALOGUE, [KnownName(name="Dysarthria", type="Symptom", aliases=("slurred speech",))])
    mentions = found(aliased, "slurred speech (KCNH2)")
    assert [r.name for r in mentions["slurred speech"].readings] == ["Dysarthria", "KCNH2"]
    assert [(r.name, r.how) for r in mentions["KCNH2"].readings] == [("KCNH2", "exact"), ("Dysarthria", "alias")]
    apart = found(aliased, "slurred speech and (KCNH2)")
    assert [r.name for r in apart["slurred speech"].readings] == ["Dysarthria"]


@pytest.mark.parametrize(
    ("typed", "read"),
    [("Narcan", ""), ("narcan", ""), ("NCANN", "NCAN"), ("kcnh3", "KCNH2"), ("ibuprofin", "IBUPROFEN")],
)
def test_a_word_is_no_misspelled_sign_but_may_be_a_word_in_capitals(
    catalogue: NameIndex, typed: str, read: str
) -> None:
    mentions = found(catalogue, f"what binds {typed}", ["what", "binds"])
    assert [m.readings[0].name for m in mentions.values()] == ([read] if read else [])
