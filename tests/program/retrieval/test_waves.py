"""Sub-queries that wait for answers, and the names that answer them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import KnownName
from queryplan.program.plan import QueryCandidate, QueryPlan, RetrievalStrategy
from queryplan.program.retrieval.answers import NamesInEvidence
from queryplan.program.retrieval.passages import Passage
from queryplan.program.retrieval.placeholders import filled, open_references
from queryplan.program.retrieval.results import Evidence, RankedList, SearchResult
from queryplan.program.retrieval.waves import Waves
from queryplan.program.text.linker import Linker
from queryplan.signatures.types import SubQuery

NAMES = [
    KnownName(name="Nell", type="Host"),
    KnownName(name="Ada Finch", type="Guest", aliases=("Ada",)),
    KnownName(name="Slow Water", type="Book"),
]


def plan(*subs: tuple[str, tuple[int, ...]]) -> QueryPlan:
    return QueryPlan(
        query="whole",
        standalone_query="whole",
        is_follow_up=False,
        is_relevant=True,
        complexity="complex",
        intent="multi_part",
        needs_decomposition=True,
        sub_queries=tuple(SubQuery(id=n, text=t, depends_on=d) for n, (t, d) in enumerate(subs, 1)),
        retrieval_strategy=RetrievalStrategy(use_rag=True, use_kg=False),
    )


CHAIN = plan(("who wrote Slow Water", ()), ("what does {1} say of ice", (1,)), ("where did {1} and {2} meet", (1, 2)))
STANDALONE = QueryCandidate(query="whole", stage="rule_based", label="standalone")


def found(query: str, *texts: str) -> RankedList:
    results = tuple(SearchResult(Passage(t, t, "talks"), 1.0, "p") for t in texts)
    return RankedList("p", "words", query, "v", results)


def evidence(*texts: str) -> list[Evidence]:
    return [Evidence(Passage(t, t, "talks"), 1.0, "v", ("v",), ("p",)) for t in texts]


def queries(candidates: Sequence[QueryCandidate]) -> list[str]:
    return [candidate.query for candidate in candidates]


def test_what_others_wait_for_is_asked_even_if_no_candidate_asks_it() -> None:
    waves = Waves(CHAIN, lambda question, seen: ())
    assert queries(waves.first([STANDALONE])) == ["whole", "who wrote Slow Water"]


def test_what_a_candidate_asks_already_is_not_asked_again() -> None:
    there = QueryCandidate(query="Who wrote slow water?", stage="rule_based", label="sub_query_1")
    assert queries(Waves(CHAIN, lambda question, seen: ()).first([there])) == ["Who wrote slow water?"]


def test_a_plan_that_searches_nothing_has_no_waves() -> None:
    waves = Waves(CHAIN, lambda question, seen: ["Ada"])
    assert waves.first([]) == ()


def test_answers_go_from_wave_to_wave() -> None:
    answers = {"who wrote Slow Water": ["Ada Finch"], "what does Ada Finch say of ice": ["Bo"]}
    waves = Waves(CHAIN, lambda question, seen: answers[question])
    waves.first([STANDALONE])
    second = waves.next([], 10)
    assert queries(second) == ["what does Ada Finch say of ice", "what does wrote Slow Water say of ice"]
    assert [c.weight for c in second] == [1.0, 0.5]
    assert queries(waves.next([], 10))[0] == "where did Ada Finch and Bo meet"
    assert waves.next([], 10) == ()
    assert waves.questions()[2] == "where did Ada Finch and Bo meet"
    assert [(a.id, a.answers) for a in waves.answered()] == [(1, ("Ada Finch",)), (2, ("Bo",))]


def test_the_answerer_sees_only_what_its_own_question_found() -> None:
    seen: dict[str, list[str]] = {}

    def answerer(question: str, evidence: Sequence[Evidence]) -> list[str]:
        seen[question] = [item.id for item in evidence]
        return ["x"]

    waves = Waves(CHAIN, answerer)
    waves.first([STANDALONE])
    waves.next([found("whole", "other"), found("who wrote Slow Water?", "mine")], 10)
    assert seen == {"who wrote Slow Water": ["mine"]}


@pytest.mark.parametrize("fails", [False, True])
def test_without_an_answer_the_words_of_the_question_stand_in_and_a_gap_says_so(fails: bool) -> None:
    def answerer(question: str, evidence: Sequence[Evidence]) -> list[str]:
        if fails:
            raise RuntimeError("no")
        return []

    waves = Waves(CHAIN, answerer)
    waves.first([STANDALONE])
    assert queries(waves.next([], 10)) == ["what does wrote Slow Water say of ice"]
    assert [(gap.kind, gap.what) for gap in waves.gaps] == [("dependency", "who wrote Slow Water")]
    assert ("RuntimeError" in waves.gaps[0].why) is fails


def test_independent_sub_queries_wait_for_nobody() -> None:
    waves = Waves(plan(("a", ()), ("b", ())), lambda question, seen: ())
    assert queries(waves.first([STANDALONE])) == ["whole"]
    assert waves.next([], 10) == ()
    assert waves.gaps == []


def test_a_dependency_without_a_place_in_the_text_still_waits() -> None:
    waves = Waves(plan(("a thing", ()), ("the other thing", (1,))), lambda question, seen: ["x"])
    waves.first([STANDALONE])
    assert queries(waves.next([], 10))[0] == "the other thing"


# -- names as answers -------------------------------------------------------------------------------


def test_the_name_in_the_best_passages_that_the_question_has_not_is_the_answer() -> None:
    answer = NamesInEvidence(Linker(NAMES), lambda term: 1.0)
    assert answer("who wrote Slow Water?", evidence("Slow Water by Ada", "Nell asks", "Ada smiles"))[0] == "Ada Finch"
    assert "Slow Water" not in answer("who wrote Slow Water?", evidence("Slow Water by Ada"))


def test_a_name_that_is_everywhere_answers_less() -> None:
    weights = {"nell": 0.1, "ada": 3.0}
    answer = NamesInEvidence(Linker(NAMES), lambda term: weights.get(term, 1.0))
    assert answer("who?", evidence("Nell asks Ada about it"))[0] == "Ada Finch"


def test_what_the_graph_joins_with_the_question_counts_double() -> None:
    joined = {"Slow Water": {"Ada Finch"}}
    near = NamesInEvidence(Linker(NAMES), lambda term: 1.0, lambda names: joined[names[0]])
    assert near("who wrote Slow Water?", evidence("Nell and Ada"))[0] == "Ada Finch"


def test_evidence_without_names_answers_nothing() -> None:
    assert NamesInEvidence(Linker(NAMES), lambda term: 1.0)("who?", evidence("nobody here")) == []


# -- places -----------------------------------------------------------------------------------------


def test_places_are_found_and_filled() -> None:
    assert open_references("what did {2} and {1} do, {2}?") == (2, 1)
    assert filled("{1} met {2}", {1: "Ada"}) == "Ada met {2}"


def test_an_answer_with_a_place_in_it_is_not_filled_again() -> None:
    assert filled("{1} met {2}", {1: "{2}", 2: "Bo"}) == "{2} met Bo"


@given(st.text(), st.dictionaries(st.integers(1, 9), st.text(alphabet="abc", min_size=1, max_size=5)))
def test_filling_everything_leaves_no_known_place(text: str, answers: dict[int, str]) -> None:
    assert not set(open_references(filled(text, answers))) & set(answers)


def test_a_long_answer_is_filled_in_short_and_kept_whole() -> None:
    long = "Ada " * 100
    waves = Waves(CHAIN, lambda question, seen: [long])
    waves.first([STANDALONE])
    asked = queries(waves.next([], 10))[0]
    assert asked.startswith("what does Ada Ada")
    assert len(asked) < 240
    assert waves.answered()[0].answers == (long,)
    assert [(gap.why, gap.instead) for gap in waves.gaps] == [
        ("its answer has 400 characters", "what waits for it was asked with the first 200 of them")
    ]


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (plan(("who", ()), ("what did {7} say", ())), "it waits for {7}, which the plan does not ask"),
        (plan(("what did {1} say", ())), "it waits for {1}, which the plan does not ask"),
        (CHAIN, "what it waits for never came"),
    ],
)
def test_what_was_never_asked_is_named(plan: QueryPlan, why: str) -> None:
    waves = Waves(plan, lambda question, seen: ["Ada"])
    waves.first([STANDALONE])
    waves.end()
    assert {gap.why for gap in waves.gaps} == {why}
    assert {gap.instead for gap in waves.gaps} == {"it was not asked"}


def test_a_plan_that_searches_nothing_names_nothing() -> None:
    waves = Waves(CHAIN, lambda question, seen: ["Ada"])
    waves.first([])
    waves.end()
    assert waves.gaps == []
