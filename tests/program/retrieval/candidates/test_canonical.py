"""Sameness of queries: one form, one measure, one removal; the first stays and takes over what it lacks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.plan import QueryCandidate
from queryplan.program.retrieval.candidates.canonical import Distinct, canonical, jaccard, merged, token_set


def candidate(query: str, **more: Any) -> QueryCandidate:
    return QueryCandidate(**{"query": query, "stage": "rule_based", "label": "x", **more})


def test_case_width_and_punctuation_do_not_matter() -> None:
    assert canonical("What’s ＦＬＯＷ?!") == canonical("what s flow") == "what s flow"


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
def test_plain_text_is_read_as_any_other(text: str) -> None:
    words = "".join(c if c.isalnum() else " " for c in text.casefold()).split()
    known = canonical(text).split(" ") if canonical(text) else []
    assert known[: len(words)] == words
    # The same text with a sign that is no word goes the way of other scripts.
    assert canonical(f"{text} \u2026") == canonical(f"{text} ...")


def test_operators_matter() -> None:
    assert canonical('"flow state" book') != canonical("flow state book")
    assert canonical("flow -state") != canonical("flow state")


@pytest.mark.parametrize(
    ("one", "other"),
    [("C++", "C#"), ("C++", "C"), ("10%", "10$"), ("10 €", "10€"), ("2⁵", "25"), ("R&D", "R D"), ("<5", ">5")],
)
def test_a_sign_that_is_a_part_of_a_word_matters(one: str, other: str) -> None:
    long = "what was said in the third series about the long and winding history of {} by the people who made it"
    assert canonical(one) != canonical(other)
    distinct = Distinct(0.5)
    assert distinct.add(candidate(long.format(one)))
    assert distinct.add(candidate(long.format(other)))
    assert not distinct.add(candidate(long.format(one).upper() + "?!"))


def test_a_sign_by_itself_does_not_matter() -> None:
    assert canonical("flow - & focus, 'C++'!") == canonical("flow focus c++")


def test_jaccard_is_of_sets() -> None:
    assert jaccard(frozenset("ab"), frozenset("bc")) == 1 / 3
    assert jaccard(frozenset(), frozenset()) == 1.0
    assert jaccard(frozenset("a"), frozenset()) == 0.0


def test_near_duplicates_are_one_from_the_threshold_on() -> None:
    words = "one two three four five six seven eight nine ten eleven twelve".split()
    near = Distinct(11 / 12)
    assert near.add(candidate(" ".join(words)))
    assert not near.add(candidate(" ".join(words[:-1])))
    assert near.removed == 1
    strict = Distinct(0.95)
    assert strict.add(candidate(" ".join(words)))
    assert strict.add(candidate(" ".join(words[:-1])))


def test_queries_that_differ_in_a_number_are_never_the_same() -> None:
    long = "what was said about the two minute doorway and how it changed for all of them in episode"
    distinct = Distinct(0.5)
    assert distinct.add(candidate(f"{long} 12"))
    assert distinct.add(candidate(f"{long} 13"))


def test_the_first_stays_and_takes_tags_and_sources_over() -> None:
    distinct = Distinct(0.92)
    distinct.add(candidate("flow", tags=("a",), source_filter=("notes",), weight=0.4))
    distinct.add(candidate("Flow?", label="y", tags=("b", "a"), source_filter=("posts",), weight=0.9))
    assert distinct.kept == [candidate("flow", tags=("a", "b"), source_filter=("notes", "posts"), weight=0.4)]


def test_no_source_filter_means_everywhere_and_stays_so() -> None:
    everywhere, somewhere = candidate("flow"), candidate("flow", source_filter=("notes",))
    assert merged(everywhere, somewhere).source_filter == ()
    assert merged(somewhere, everywhere).source_filter == ()


def test_what_was_asked_already_is_not_new_and_is_not_kept() -> None:
    distinct = Distinct(0.92)
    distinct.forbid(["What is flow?"])
    assert not distinct.add(candidate("what is flow"))
    assert distinct.add(candidate("what is grit"))
    assert [c.query for c in distinct.kept] == ["what is grit"]
    assert not distinct.add(candidate("What is grit?", tags=("t",)))
    assert distinct.kept[0].tags == ("t",)


@given(st.lists(st.text(alphabet="ab 1?", max_size=8), max_size=12), st.floats(0.1, 1.0))
def test_of_any_queries_those_kept_are_far_apart_and_none_is_lost(queries: list[str], threshold: float) -> None:
    distinct = Distinct(threshold)
    added = [distinct.add(candidate(query)) for query in queries]
    assert sum(added) == len(distinct.kept)
    assert len(distinct.kept) + distinct.removed == len(queries)
    forms = [canonical(c.query) for c in distinct.kept]
    assert len(set(forms)) == len(forms)
    for i, one in enumerate(distinct.kept):
        for other in distinct.kept[:i]:
            a, b = token_set(one.query), token_set(other.query)
            digits = {t for t in a if any(map(str.isdigit, t))} != {t for t in b if any(map(str.isdigit, t))}
            assert digits or not (a and b) or jaccard(a, b) < threshold
