"""Candidates of a query: caps, order and merging are the same whatever the stages propose."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from queryplan.data.card import DomainCard, KnownName, domain_folder, load_card
from queryplan.data.paradigms import CandidateRules, Paradigm, SynonymSet
from queryplan.program.plan import QueryCandidate
from queryplan.program.retrieval.candidates.candidates import CandidateConfig, CandidatePlanner, kind_of
from queryplan.program.retrieval.candidates.canonical import canonical
from queryplan.program.retrieval.candidates.stages import VariationCache
from queryplan.signatures.types import SubQuery

TWO = "How do Ilse and Takeda differ on sleep debt?"
NAMES = ("Ilse", "Takeda", "sleep debt")
SCEPTIC = Paradigm(
    name="sceptic", description="doubts", modifiers=("doubt", "wrong"), operators=('"{entity}" disagree',), weight=0.9
)


@pytest.fixture(scope="module")
def every_kind() -> DomainCard:
    """The podcast's card with no kind of candidate left out."""
    card = load_card(domain_folder("podcast"))
    synonyms = (SynonymSet(words=("sleep", "rest")), SynonymSet(language="de", words=("Schlaf", "Ruhe")))
    return card.model_copy(
        update={
            "candidates": CandidateRules(),
            "paradigms": (SCEPTIC, SCEPTIC.model_copy(update={"name": "plain"})),
            "default_paradigm": None,
            "synonyms": synonyms,
        }
    )


def plan(card: DomainCard, query: str = TWO, names: Any = NAMES, expand: bool = True, **more: Any) -> Any:
    """The candidates of a query, for which a model has written what is ``written``."""
    planner, written = CandidatePlanner(card, config=more.pop("config", None)), more.pop("written", None)
    seed = planner.seed(query, names, **more)
    if written is not None:
        planner.cache.put(seed.query, seed.paradigm.name if seed.paradigm else "", written)
    return planner.plan(seed, expand)


def labels(planned: Any) -> list[str]:
    return [candidate.label for candidate in planned.candidates]


# -- what there is by default -------------------------------------------------------------------------


def test_the_defaults_are_those_of_the_seed() -> None:
    config = CandidateConfig()
    assert config.max_candidates == 12
    assert config.per_stage_caps == {"rule_based": 6, "paradigm": 6, "llm": 4, "agentic": 6}
    assert config.stage_order == ("rule_based", "paradigm", "llm")
    assert (config.enable_llm, config.dedup_jaccard) == (False, 0.92)


def test_stages_without_a_cap_of_ones_own_keep_theirs(every_kind: DomainCard) -> None:
    config = CandidateConfig(per_stage_caps={"agentic": 1})
    planner = CandidatePlanner(every_kind, config=config)
    assert planner.plan(planner.seed("what is grief?")).candidates == tuple(
        CandidatePlanner(every_kind).plan(planner.seed("what is grief?")).candidates
    )


def test_no_paradigm_and_an_empty_one_are_the_same(every_kind: DomainCard) -> None:
    planner = CandidatePlanner(every_kind)
    assert planner.strange_paradigm("") is planner.strange_paradigm(None) is None
    assert planner.strange_paradigm("nobody") is not None


def test_a_gap_without_words_is_not_asked(every_kind: DomainCard) -> None:
    planner = CandidatePlanner(every_kind)
    seed = planner.seed("what is grief?", gaps=("", " ", "?!", "sleep"))
    assert [candidate.query for candidate in planner.follow_ups(seed, ()).candidates] == ["sleep"]


def test_the_question_itself_is_always_first(every_kind: DomainCard) -> None:
    first = plan(every_kind, paradigm="sceptic").candidates[0]
    assert (first.query, first.stage, first.label, first.weight) == (TWO, "rule_based", "standalone", 1.0)


def test_stages_beyond_the_rules_are_switched_on_by_expansion(every_kind: DomainCard) -> None:
    narrow = plan(every_kind, expand=False, paradigm="sceptic")
    assert {c.stage for c in narrow.candidates} == {"rule_based"}
    assert {c.stage for c in plan(every_kind, paradigm="sceptic").candidates} == {"rule_based", "paradigm"}


def test_a_query_without_anything_but_itself_has_one_candidate(every_kind: DomainCard) -> None:
    assert labels(plan(every_kind, "why?", ())) == ["standalone"]


def test_the_language_is_passed_on_with_every_candidate(every_kind: DomainCard) -> None:
    spoken = plan(every_kind, "Was sagen Ilse und Takeda über den Schlaf?", ("Ilse", "Takeda")).candidates
    assert all("language:de" in c.tags for c in spoken)


def test_what_is_excepted_is_asked_for_by_no_candidate_of_key_terms(every_kind: DomainCard) -> None:
    asked = plan(every_kind, "What do Ilse and Takeda say, but not about sleep debt?", paradigm="sceptic").candidates
    made = [c.query for c in asked if c.label.startswith(("terms", "entity", "operator", "modifier"))]
    assert made
    assert not [query for query in made if "sleep debt" in query]
    assert any("not about sleep debt" in c.query for c in asked)


# -- rule-based ---------------------------------------------------------------------------------------


def test_sub_queries_are_asked_unless_they_wait_for_an_answer(every_kind: DomainCard) -> None:
    subs = [SubQuery(id=1, text="Who wrote about grief?"), SubQuery(id=2, text="What does {1} say?", depends_on=(1,))]
    found = plan(every_kind, "What does the author on grief say?", (), sub_queries=subs)
    assert [c.query for c in found.candidates if kind_of(c) == "sub_query"] == ["Who wrote about grief?"]
    assert found.candidates[1].tags[0] == "sub_query:1"


def test_a_name_is_asked_without_others_of_its_type_only(every_kind: DomainCard) -> None:
    found = plan(every_kind)
    assert [c.query for c in found.candidates if kind_of(c) == "entity"] == [
        "Ilse differ sleep debt",
        "Takeda differ sleep debt",
    ]


def test_full_names_are_put_in_once_for_all(every_kind: DomainCard) -> None:
    config = CandidateConfig(per_stage_caps={"rule_based": 20})
    found = plan(every_kind, config=config)
    assert [c.query for c in found.candidates if c.label == "full_names"] == [
        "How do Ilse Brandvold and Ansei Takeda differ on sleep debt?"
    ]


def test_full_names_that_add_no_word_are_left_out(every_kind: DomainCard) -> None:
    assert "full_names" not in labels(plan(every_kind, "What is the two-minute doorway?", ("two-minute doorway",)))


def test_a_name_inside_another_word_is_left_alone(every_kind: DomainCard) -> None:
    found = plan(every_kind, "Nellie and Nell", ("Nell",))
    assert [c.query for c in found.candidates if c.label == "full_names"] == ["Nellie and Nell Arkwright-Osei"]


@pytest.mark.parametrize("query", ["Nell-12 is late", "Was Nell/7 merged?"])
def test_an_identifier_is_not_spelled_as_a_name(every_kind: DomainCard, query: str) -> None:
    assert "full_names" not in labels(plan(every_kind, query, ("Nell",)))


def test_a_name_whose_rest_follows_is_put_in_once(every_kind: DomainCard) -> None:
    names = (KnownName(name="Tadeusz Brill", type="Guest", aliases=("Tad",)),)
    card = every_kind.model_copy(update={"names": names})
    found = plan(
        card, "what did tad brill say about tad", ("tad",), config=CandidateConfig(per_stage_caps={"rule_based": 20})
    )
    assert [c.query for c in found.candidates if c.label == "full_names"] == ["what did Tadeusz Brill say about tad"]


def test_synonyms_are_of_the_language_of_the_query(every_kind: DomainCard) -> None:
    english = plan(every_kind, "What do they say about sleep?", (), expand=False)
    assert [c.query for c in english.candidates if kind_of(c) == "synonym"] == ["rest"]
    german = plan(every_kind, "Was sagt man über sleep und den Schlaf?", (), expand=False)
    assert [c.query for c in german.candidates if kind_of(c) == "synonym"] == ["sleep Ruhe"]


def test_a_synonym_stands_for_whole_words_alone(every_kind: DomainCard) -> None:
    card = every_kind.model_copy(update={"synonyms": (SynonymSet(words=("ai", "machines")),)})
    found = plan(card, "What does the brain have to do with ai?", (), expand=False)
    assert [c.query for c in found.candidates if kind_of(c) == "synonym"] == ["brain machines"]


@pytest.mark.parametrize("query", ["sleep", "Co mówi o sleep?", "sleep ですか", "sleep 怎么样"])
def test_synonyms_are_muted_where_the_language_is_another_or_unknown(every_kind: DomainCard, query: str) -> None:
    assert not [c for c in plan(every_kind, query, ()).candidates if kind_of(c) == "synonym"]


# -- paradigms ----------------------------------------------------------------------------------------


def test_a_paradigm_puts_its_words_and_forms_to_the_key_terms(every_kind: DomainCard) -> None:
    found = [c for c in plan(every_kind, paradigm="sceptic").candidates if c.stage == "paradigm"]
    assert [(c.label, c.query) for c in found] == [
        ("operator_1", '"Ilse" disagree'),
        ("modifier_1", "Ilse Takeda differ sleep debt doubt"),
        ("operator_2", '"Takeda" disagree'),
        ("modifier_2", "Ilse Takeda differ sleep debt wrong"),
        ("operator_3", '"sleep debt" disagree'),
    ]
    assert all("paradigm:sceptic" in c.tags for c in found)


def test_words_that_the_query_has_are_not_put_to_it_again(every_kind: DomainCard) -> None:
    found = plan(every_kind, "Do Ilse and Takeda doubt it?", ("Ilse", "Takeda"), paradigm="sceptic")
    assert [c.query for c in found.candidates if kind_of(c) == "modifier"] == ["Ilse Takeda doubt wrong"]


def test_the_callers_paradigm_goes_before_the_cards(every_kind: DomainCard) -> None:
    card = every_kind.model_copy(update={"default_paradigm": "plain"})
    planner = CandidatePlanner(card)
    assert planner.paradigm("sceptic") == SCEPTIC
    for unknown in (None, "astrologer", 3, ["sceptic"]):
        chosen = planner.paradigm(unknown)
        assert chosen is not None
        assert chosen.name == "plain"
    assert CandidatePlanner(every_kind).paradigm("astrologer") is None


def test_modifiers_stay_away_from_queries_in_another_language(every_kind: DomainCard) -> None:
    found = plan(every_kind, "Was sagen Ilse und Takeda über Schlaf?", ("Ilse", "Takeda"), paradigm="sceptic")
    assert {kind_of(c) for c in found.candidates if c.stage == "paradigm"} == {"operator"}


def test_source_preferences_become_source_filters(every_kind: DomainCard) -> None:
    choosy = SCEPTIC.model_copy(update={"sources": ("notes",)})
    found = plan(every_kind.model_copy(update={"paradigms": (choosy,)}), paradigm="sceptic").candidates
    assert {c.source_filter for c in found if c.stage == "paradigm"} == {("notes",)}
    assert {c.source_filter for c in found if c.stage == "rule_based"} == {()}


# -- what the card keeps ------------------------------------------------------------------------------


def test_kinds_that_earned_nothing_are_left_out(every_kind: DomainCard) -> None:
    card = every_kind.model_copy(update={"candidates": CandidateRules(kinds=("terms",)), "default_paradigm": "sceptic"})
    assert labels(plan(card)) == ["standalone", "terms"]


def test_a_paradigm_that_the_caller_chose_is_used_nevertheless(every_kind: DomainCard) -> None:
    card = every_kind.model_copy(update={"candidates": CandidateRules(kinds=())})
    assert {c.stage for c in plan(card, paradigm="sceptic").candidates} == {"rule_based", "paradigm"}


# -- a language model ---------------------------------------------------------------------------------

LLM = CandidateConfig(enable_llm=True)


def test_variations_are_those_that_were_written_for_the_query_and_its_paradigm(every_kind: DomainCard) -> None:
    planner = CandidatePlanner(every_kind, config=LLM)
    wordings = ["Do Ilse and Takeda agree?", "", "  do ilse and takeda agree ", "Sleep debt, twice seen"]
    planner.cache.put(TWO, "", wordings)
    planner.cache.put(TWO, "sceptic", ["Is either of them wrong?"])

    def llm(paradigm: str | None) -> list[str]:
        found = planner.plan(planner.seed(TWO, NAMES, paradigm=paradigm))
        return [c.query for c in found.candidates if c.stage == "llm"]

    assert llm(None) == ["Do Ilse and Takeda agree?", "Sleep debt, twice seen"]
    assert llm("sceptic") == ["Is either of them wrong?"]
    assert llm("plain") == []


def test_variations_are_left_out_unless_switched_on(every_kind: DomainCard) -> None:
    written = ["Do Ilse and Takeda agree?"]
    assert plan(every_kind, written=written).candidates == plan(every_kind).candidates
    narrow = plan(every_kind, config=LLM, expand=False)
    assert plan(every_kind, written=written, config=LLM, expand=False).candidates == narrow.candidates


def test_without_a_model_the_stage_is_silent(every_kind: DomainCard) -> None:
    assert plan(every_kind, config=LLM).candidates == plan(every_kind).candidates


def test_kept_variations_forget_the_oldest() -> None:
    cache = VariationCache(size=1)
    cache.put("a", "", ["x"])
    cache.put("b", "", ["y", "y"])
    assert (cache.get("a", ""), cache.get("B?", ""), cache.get("b", "other")) == (None, ("y",), None)


WORDS = st.lists(st.text(alphabet="abc é7", min_size=1, max_size=12), max_size=8)


@settings(max_examples=100, deadline=None)
@given(WORDS, st.sampled_from([None, "sceptic"]), st.integers(1, 14))
def test_with_a_model_there_is_never_less(
    every_kind: DomainCard, variations: list[str], paradigm: str | None, most: int
) -> None:
    without = plan(every_kind, paradigm=paradigm, config=CandidateConfig(max_candidates=most))
    with_model = plan(
        every_kind,
        paradigm=paradigm,
        config=CandidateConfig(max_candidates=most, enable_llm=True),
        written=variations,
    )
    before, after = ({(c.stage, c.label, c.query) for c in p.candidates} for p in (without, with_model))
    assert before <= after
    assert len(after) <= most
    assert sum(c.stage == "llm" for c in with_model.candidates) <= 4


# -- follow-ups ---------------------------------------------------------------------------------------


def test_follow_ups_ask_for_the_gaps_and_nothing_that_was_asked(every_kind: DomainCard) -> None:
    planner = CandidatePlanner(every_kind)
    asked = [QueryCandidate(query="what does ilse say", stage="rule_based", label="x")]
    seed = planner.seed(TWO, NAMES, gaps=["What does Ilse say?", "Takeda"])
    found = planner.follow_ups(seed, asked).candidates
    assert [(c.stage, c.label, c.query) for c in found] == [
        ("agentic", "gap_2", "Takeda"),
        ("agentic", "gap_1_terms", "Ilse differ"),
        ("agentic", "gap_2_terms", "Takeda differ"),
    ]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(alphabet="abc é7", max_size=20), max_size=8), st.lists(st.text("abc", max_size=6), max_size=5))
def test_follow_ups_only_add(every_kind: DomainCard, gaps: list[str], asked: list[str]) -> None:
    planner = CandidatePlanner(every_kind)
    first = planner.plan(planner.seed(TWO, NAMES)).candidates
    there = [*first, *(QueryCandidate(query=q, stage="rule_based", label="x") for q in asked)]
    more = planner.follow_ups(planner.seed(TWO, NAMES, gaps=gaps), there).candidates
    assert len(more) <= 6
    assert not {canonical(c.query) for c in there} & {canonical(c.query) for c in more}
    assert all(c.stage == "agentic" for c in more)


# -- all together -------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(
    st.text(max_size=120),
    st.lists(st.text(min_size=1, max_size=10), max_size=4),
    st.lists(st.text(min_size=1, max_size=40), max_size=4),
    st.sampled_from([None, "sceptic", "plain"]),
    st.booleans(),
)
def test_any_query_keeps_the_caps_and_comes_out_the_same_again(
    every_kind: DomainCard, query: str, names: list[str], subs: list[str], paradigm: str | None, expand: bool
) -> None:
    parts = [SubQuery(id=n, text=text) for n, text in enumerate(subs, 1)]
    found = plan(every_kind, query, names, expand, sub_queries=parts, paradigm=paradigm)
    again = plan(every_kind, query, names, expand, sub_queries=parts, paradigm=paradigm)
    assert found == again
    assert len(found.candidates) <= 12
    for stage in ("rule_based", "paradigm"):
        assert sum(c.stage == stage for c in found.candidates) <= 6
    forms = [canonical(c.query) for c in found.candidates]
    assert len(set(forms)) == len(forms)
    assert all(c.query for c in found.candidates)
    config = CandidateConfig()
    scores = [config.priors[c.stage] * c.weight for c in found.candidates]  # type: ignore[index]
    assert scores == sorted(scores, reverse=True)


def test_the_summary_counts_what_was_proposed_removed_and_over(every_kind: DomainCard) -> None:
    subs = [SubQuery(id=1, text=TWO.lower()), SubQuery(id=2, text="What is sleep debt?")]
    found = plan(every_kind, sub_queries=subs, config=CandidateConfig(max_candidates=3))
    assert labels(found) == ["standalone", "sub_query_2", "terms"]
    assert found.duplicates == 1
    assert found.summary == "candidates: rule_based 3 of 8, paradigm 0 of 0; near-duplicates 1; over a cap 4"


def test_a_config_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        CandidateConfig().max_candidates = 3  # type: ignore[misc]


def test_a_wording_that_runs_on_is_not_kept() -> None:
    cache = VariationCache()
    cache.put("who is Nell", "", ["who was Nell", "Nell is " + "a guest who talked about doors and " * 9, "", "  "])
    assert cache.get("who is Nell", "") == ("who was Nell",)


@pytest.mark.parametrize(
    "wrong",
    [
        {"per_stage_caps": {"rule_based": -1}},
        {"priors": {"rule_based": -1}},
        {"priors": {"rule_based": float("nan")}},
        {"stage_order": ("rule_based", "agentic")},
        {"stage_order": ("rule_based", "rule_based")},
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CandidateConfig(**wrong)


def test_what_a_model_writes_that_is_no_text_is_left_out() -> None:
    cache = VariationCache()
    cache.put("what is ice", "", [None, 3, "of what is ice made"])  # type: ignore[list-item]
    assert cache.get("what is ice", "") == ("of what is ice made",)
