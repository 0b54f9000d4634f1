"""Learning where a query falls apart, cutting it, and keeping what was learned as plain data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import DomainCard
from queryplan.data.rows import LabelledRow
from queryplan.program.decomposing import decomposer as module
from queryplan.program.decomposing import likely
from queryplan.program.decomposing.cuts import MOST_SEGMENTS, cuts
from queryplan.program.decomposing.decomposer import Decomposer, load_decomposer, may_be
from queryplan.program.decomposing.family import NOTHING, Cut
from queryplan.program.decomposing.fit import MIN_DECOMPOSED, merits, train_decomposer
from queryplan.program.decomposing.lexicon import Lexicon, learned
from queryplan.program.decomposing.reading import Reading
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.text.linker import Linker
from queryplan.signatures.types import MAX_SUB_QUERIES, SubQuery, check_dependencies

from .conftest import decomposed, pointing_rows

WORDS = "and , or who taught Ada Bruno them which guests sell wool ; it salt ? {1} {2}".split()


def asked(made: Decomposer, query: str, linker: Linker) -> list[tuple[str, tuple[int, ...]]]:
    found = made.decompose(query, linker)
    return [] if found is None else [(one.text, one.depends_on) for one in found.sub_queries]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (
            "what do Hana and Emil say about tides?",
            [("what do Hana say about tides", ()), ("what do Emil say about tides", ())],
        ),
        ("who taught Dora, and where was silk made?", [("who taught Dora", ()), ("where was silk made", ())]),
        ("which guests sell tides, and who taught them?", [("which guests sell tides", ()), ("who taught {1}", (1,))]),
    ],
)
def test_what_rows_taught_is_done_with_other_words(
    query: str, wanted: list[tuple[str, tuple[int, ...]]], decomposer: Decomposer, linker: Linker
) -> None:
    assert asked(decomposer, query, linker) == wanted


def test_a_cut_says_how_sure_it_is_and_what_was_done(decomposer: Decomposer, linker: Linker) -> None:
    listed = decomposer.decompose("what do Hana and Emil say about tides?", linker)
    apart = decomposer.decompose("who taught Dora, and where was silk made?", linker)
    assert listed is not None
    assert apart is not None
    assert 0 < listed.certainty <= 1
    assert listed.reason == "what is said of a list, of each of its 2 items"
    assert apart.reason in (listed.reason, "cut at 1 joint")  # two clauses may be two items without a frame


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?!",
        "who taught Ada",
        "and",
        "who taught {7}, and where was wool made?",
        ", ".join(["who taught Ada"] * (MOST_SEGMENTS + 1)),
        "wool and wool",
        "a" * 5000,
    ],
)
def test_what_cannot_be_cut_is_left(query: str, decomposer: Decomposer, linker: Linker) -> None:
    assert decomposer.decompose(query, linker) is None


def test_an_unlikely_cut_is_none(decomposer: Decomposer, linker: Linker, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "who taught Dora, and where was silk made?"
    assert decomposer.decompose(query, linker) is not None
    monkeypatch.setattr(module, "LEAST", 1.1)
    assert decomposer.decompose(query, linker) is None


@given(query=st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))
def test_whatever_is_cut_is_a_plan(query: str, decomposer: Decomposer, linker: Linker) -> None:
    found = decomposer.decompose(query, linker)
    if found is None:
        return
    texts = [one.text for one in found.sub_queries]
    assert 2 <= len(texts) <= MAX_SUB_QUERIES
    assert may_be(query, texts)
    assert check_dependencies(found.sub_queries) == found.sub_queries
    said = set(query.split())
    assert all(word.removesuffix("'s") in said or word.startswith("{") for text in texts for word in text.split())


@given(query=st.lists(st.sampled_from(WORDS[:-2]), max_size=10).map(" ".join))
def test_the_choice_is_the_best_of_all_cuts_that_may_be(query: str, decomposer: Decomposer, linker: Linker) -> None:
    reading = Reading(query, decomposer.lexicon, linker)
    every = list(cuts(reading))
    weights = decomposer.likely.weights
    scores = [sum(weights.get(name, 0.0) for own in cut.seen for name in own.traits()) for cut in every]
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SIDES", "OUTLINES", "DIVISIONS"):
            patch.setattr(likely, name, 999)
        patch.setattr(module, "TRIED", 9999)
        patch.setattr(module, "LEAST", 0.0)
        found = decomposer.decompose(query, linker)
    good = [s for s, cut in zip(scores, every, strict=True) if module.checked(query, cut, reading)]
    assert (found is None) == (not good)
    if found is not None:
        together = sum(np.exp(np.array(scores) - max(good)))
        assert found.certainty == pytest.approx(module.SURE * together**-0.5, rel=1e-6)


def test_a_loaded_decomposer_says_the_same_as_the_trained_one(
    decomposer: Decomposer, rows: list[LabelledRow], linker: Linker
) -> None:
    loaded = load_decomposer(decomposer.tensors(), default_encoder())
    assert loaded is not None
    assert loaded.lexicon == decomposer.lexicon
    assert loaded.likely.weights == decomposer.likely.weights
    for row in rows:
        assert loaded.decompose(row.query, linker) == decomposer.decompose(row.query, linker)


def test_a_program_of_before_has_none() -> None:
    assert load_decomposer({"is_relevant.dual": np.zeros((1, 1))}, default_encoder()) is None


def test_the_same_rows_teach_the_same(
    rows: list[LabelledRow], card: DomainCard, linker: Linker, decomposer: Decomposer
) -> None:
    again = train_decomposer([*rows, *pointing_rows()], card, linker, default_encoder())
    assert again is not None
    assert again.likely.weights == decomposer.likely.weights


def test_too_few_rows_teach_nothing(rows: list[LabelledRow], card: DomainCard, linker: Linker) -> None:
    assert train_decomposer(rows[: MIN_DECOMPOSED - 1], card, linker, default_encoder()) is None


def test_rows_that_cannot_be_cut_teach_nothing(card: DomainCard, linker: Linker) -> None:
    odd = [decomposed(number, f"wool{number} history", "who made wool", "when") for number in range(MIN_DECOMPOSED)]
    assert train_decomposer(odd, card, linker, default_encoder()) is None


def test_rows_show_what_joins() -> None:
    made = [
        decomposed(number, f"who made {what} sowie where is {what}", f"who made {what}", f"where is {what}")
        for number, what in enumerate("wool salt iron glass paint bread".split())
    ]
    lexicon = learned(made)
    assert "sowie" in lexicon.joining
    assert "made" not in lexicon.joining


def test_merit_is_higher_for_what_asks_the_same(rows: list[LabelledRow]) -> None:
    gold = (SubQuery(id=1, text="which guests sell wool"), SubQuery(id=2, text="who taught {1}", depends_on=(1,)))
    right = (["which guests sell wool", "who taught {1}"], [set(), {1}])
    unchained = (["which guests sell wool", "who taught them"], [set(), set()])
    other = (["which guests sell wool", "who taught {1}", "who is Ada"], [set(), {1}, set()])
    found = merits([right, unchained, other], gold, default_encoder())
    assert found[0] == pytest.approx(2.0, abs=1e-3)
    assert found[0] > found[1]
    assert found[0] > found[2]


def test_other_numbers_ask_something_else() -> None:
    gold = (SubQuery(id=1, text="what came in sprint 42"), SubQuery(id=2, text="what came in sprint 43"))
    same, other = merits(
        [
            (["what came in sprint 42", "what came in sprint 43"], [set(), set()]),
            (["what came in sprint 42", "what came in sprint 44"], [set(), set()]),
        ],
        gold,
        default_encoder(),
    )
    assert same > other + 1


def test_what_denies_asks_or_points_does_not_join() -> None:
    made = [
        decomposed(number, f"who made {what} not where is {what} that", f"who made {what}", f"where is {what}")
        for number, what in enumerate("wool salt iron glass paint bread".split())
    ]
    assert not learned(made).joining & {"not", "where", "who", "is"}


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("what happened at 10:30 and at 11:45?", ["what happened at 10:30", "at 11:45"]),
        ("is it 24 km/h or c++", ["is it 24 km/h", "c++"]),
        ("code/tickets", ["code", "tickets"]),
        ("see https://example.com/a-b, e.g. that", ["see https://example.com/a-b", "e.g. that"]),
        ("was it -5 – or €10, half-time", ["was it -5", "€10", "half-time"]),
        ("मुझे और चाय", ["मुझे और चाय"]),
        ("睡眠，运动", ["睡眠", "运动"]),
    ],
)
def test_signs_in_a_word_are_no_joints(query: str, parts: list[str], linker: Linker) -> None:
    reading = Reading(query, learned([]), linker)
    assert [reading.text(segment) for segment in reading.segments] == parts


def test_words_that_join_do_not_point(rows: list[LabelledRow], linker: Linker) -> None:
    lexicon = learned(rows)
    both = type(lexicon)(lexicon.common, lexicon.joining, frozenset({"and", "and in", "them"}))
    assert [site[2] for site in Reading("who taught them and in Bern", both, linker).sites] == ["them"]


@pytest.mark.parametrize(
    ("query", "texts", "good"),
    [
        ("who is (Ada) and Bo", ["who is (Ada)", "who is Bo"], True),
        ("who is (Ada and Bo)", ["who is (Ada", "who is Bo)"], False),
        ("who is Ada and Bo", ["who is Ada", "who is Ada?"], False),
        ("who is Ada and Bo", ["who is Ada", "and Bo Bo"], False),
        ("who is Ada and Bo", ["who is Ada", "?!"], False),
        ("who is Ada and Bo", ["who is Ada", "WHO IS ADA AND BO?"], False),
    ],
)
def test_a_part_is_well_formed_and_another_than_the_others(query: str, texts: list[str], good: bool) -> None:
    assert may_be(query, texts) == good


def test_no_name_is_lost(decomposer: Decomposer, linker: Linker) -> None:
    for query in ("what do Hana, Emil and Dora say about 1984?", "who taught Ada, and where was Goran in 2001?"):
        found = decomposer.decompose(query, linker)
        said = " ".join(one.text for one in found.sub_queries) if found else query
        assert all(name in said for name in ("Hana Emil Dora" if "Hana" in query else "Ada Goran").split())


def test_what_and_joins_to_a_clause_is_not_told_with_it(decomposer: Decomposer, linker: Linker) -> None:
    reading = Reading("compare Ada and Bruno on wool, and who taught Chidi", decomposer.lexicon, linker)
    texts = [text for cut in cuts(reading) if cut.kind == "clauses" for text in cut.texts(reading)]
    assert "Bruno on wool" in texts
    assert "compare Ada Bruno on wool" not in texts


def test_listed_questions_are_cut_where_they_begin_and_what_points_is_put(
    decomposer: Decomposer, linker: Linker
) -> None:
    found = decomposer.of_questions(["which guests sell tides", "who taught them"], linker)
    assert [(one.text, one.depends_on) for one in found] == [("which guests sell tides", ()), ("who taught {1}", (1,))]
    apart = decomposer.of_questions(["who taught Dora, or Ada", "where was silk made"], linker)
    assert [one.text for one in apart] == ["who taught Dora, or Ada", "where was silk made"]
    braces = decomposer.of_questions(["who taught {7}", "where is silk"], linker)
    assert [one.text for one in braces] == ["who taught {7}", "where is silk"]


def test_every_name_of_a_list_is_asked_about_as_the_first_is(linker: Linker) -> None:
    reading = Reading(
        "what do Hana and Emil say", Lexicon(frozenset("what do say".split()), frozenset(), frozenset()), linker
    )
    units = [unit.low for unit in reading.units]
    first, second = (0, units.index("hana") + 1), (units.index("emil"), len(units))
    cut = Cut("list", NOTHING, [(first,), (second,)], NOTHING, (0, 0), ())
    assert module.asked_alike(cut, reading).texts(reading) == ["what do Hana", "what do Emil say"]
    clauses = cut._replace(kind="clauses")
    assert module.asked_alike(clauses, reading) == clauses
