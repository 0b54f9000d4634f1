"""Many ranked lists become one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.retrieval.fusion import distinct, fuse, rank
from queryplan.program.retrieval.passages import Passage
from queryplan.program.retrieval.results import RankedList, SearchResult, ids

WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "islet", "juniper")


def passage(name: str, text: str | None = None, source: str = "texts") -> Passage:
    return Passage(name, text or f"about {name} alone", source)


def ranking(names: Sequence[str], variant: str = "rule_based:a", weight: float = 1.0) -> RankedList:
    results = tuple(SearchResult(passage(name), 1.0, "p", "words", "q", variant) for name in names)
    return RankedList("p", "words", "q", variant, results, weight)


def test_one_list_keeps_its_order() -> None:
    assert ids(fuse([ranking(["c", "a", "b"])])) == ("c", "a", "b")


def test_scores_are_the_sum_of_weighted_reciprocal_ranks() -> None:
    best, *_ = fuse([ranking(["a", "b"]), ranking(["b", "a"], weight=0.5)], constant=10)
    assert best.id == "a"
    assert best.score == pytest.approx(1 / 11 + 0.5 / 12)


def test_what_many_lists_have_comes_before_what_one_has() -> None:
    lists = [ranking(["x", "both"]), ranking(["y", "both"])]
    assert ids(fuse(lists))[0] == "both"


def test_evidence_names_the_list_that_counted_most_first() -> None:
    lists = [ranking(["b", "a"], "rule_based:far"), ranking(["a"], "llm:near")]
    item = next(item for item in fuse(lists) if item.id == "a")
    assert (item.query_variant, item.variants) == ("llm:near", ("llm:near", "rule_based:far"))


def test_a_passage_that_a_list_repeats_counts_once() -> None:
    once, twice = fuse([ranking(["a"])])[0], fuse([ranking(["a", "a"])])[0]
    assert once.score == twice.score


def test_passages_of_two_sources_with_one_id_are_two() -> None:
    other = SearchResult(passage("a", source="notes"), 1.0, "p", "words", "q", "v")
    assert len(fuse([ranking(["a"]), RankedList("p", "words", "q", "v", (other,))])) == 2


def test_no_lists_give_no_evidence() -> None:
    assert fuse([]) == []
    assert rank([], 10).evidence == ()


def test_near_duplicate_content_is_shown_once() -> None:
    long = " ".join(WORDS)
    results = [passage("one", long), passage("two", long + " extra"), passage("three", "something else")]
    lists = [RankedList("p", "", "q", "v", tuple(SearchResult(p, 1.0, "p") for p in results))]
    ranked = rank(lists, 10)
    assert ids(ranked.evidence) == ("one", "three")
    assert ranked.duplicates == 1


def test_texts_that_share_most_words_only_are_both_shown() -> None:
    first, second = " ".join(WORDS[:8]), " ".join((*WORDS[:6], "x", "y"))
    lists = [RankedList("p", "", "q", "v", tuple(SearchResult(passage(t, t), 1.0, "p") for t in (first, second)))]
    assert len(rank(lists, 10).evidence) == 2


def test_the_limit_holds() -> None:
    assert len(rank([ranking([f"passage {w}" for w in WORDS])], 3).evidence) == 3


def test_the_relevance_filter_takes_out_and_counts() -> None:
    lists = [ranking(["amber", "birch"])]
    ranked = rank(lists, 10, relevance=lambda items: [item for item in items if item.id == "birch"])
    assert ids(ranked.evidence) == ("birch",)
    assert ranked.irrelevant == 1


names = st.lists(st.sampled_from(WORDS), unique=True, max_size=6)


@given(st.lists(st.tuples(names, st.floats(0.1, 3)), max_size=5), st.integers(1, 60))
def test_fusion_has_every_passage_once_and_falling_scores(parts: list[tuple[list[str], float]], constant: int) -> None:
    fused = fuse([ranking(found, weight=weight) for found, weight in parts], constant)
    assert sorted(ids(fused)) == sorted({name for found, _ in parts for name in found})
    assert [item.score for item in fused] == sorted((item.score for item in fused), reverse=True)


@given(st.lists(names, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_lists_changes_no_score(parts: list[list[str]], random: object) -> None:
    lists = [ranking(found) for found in parts]
    shuffled = list(lists)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    scores = {item.id: pytest.approx(item.score) for item in fuse(lists)}
    assert {item.id: item.score for item in fuse(shuffled)} == scores


@given(names, st.integers(0, 6))
def test_distinct_keeps_the_first_ones(found: list[str], limit: int) -> None:
    kept, duplicates = distinct(fuse([ranking(found)]), limit)
    assert ids(kept) == tuple(found[:limit])
    assert duplicates == 0
