"""The fast search for overlapping sets finds exactly what comparing all pairs finds."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.overlap import WordSets

SETS = st.lists(st.frozensets(st.sampled_from("abcdefghijkl"), max_size=9), max_size=14)


@given(SETS, st.sampled_from([0.0, 0.3, 0.5, 0.6, 2 / 3, 0.75, 0.8, 0.9, 1.0]))
def test_the_same_pairs_as_by_comparing_all(sets: list[frozenset[str]], threshold: float) -> None:
    searched = WordSets(sets)
    found = {
        frozenset((a, b)): jaccard
        for g, h, jaccard in searched.pairs(threshold)
        for a in searched.groups[g]
        for b in searched.groups[h]
    }
    overlap = {
        frozenset((a, b)): len(sets[a] & sets[b]) / len(sets[a] | sets[b])
        for a, b in combinations(range(len(sets)), 2)
        if sets[a] != sets[b] and sets[a] and sets[b]
    }
    assert found == {pair: jaccard for pair, jaccard in overlap.items() if jaccard > threshold}


def test_equal_sets_are_one_group_and_empty_ones_are_in_none() -> None:
    assert WordSets([{"a", "b"}, set(), {"b", "a"}, {"c"}]).groups == [[0, 2], [3]]


def test_blocks_do_not_change_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [{f"w{n % 7}", f"w{n % 5}", f"w{n % 3}", "same"} for n in range(60)]
    whole = sorted(WordSets(sets).pairs(0.4))
    monkeypatch.setattr("queryplan.data.overlap._BLOCK", 1)
    assert sorted(WordSets(sets).pairs(0.4)) == whole != []


def test_the_first_threshold_within_the_budget_is_taken() -> None:
    template = WordSets({"what", "did", "guest", "say", "about", f"x{n}", f"y{n}", f"z{n}"} for n in range(100))
    assert template.comparisons(0.6) > 10 * template.comparisons(0.8)
    assert template.affordable((0.6, 0.8), template.comparisons(0.8)) == 0.8
    assert template.affordable((0.6, 0.8), template.comparisons(0.6)) == 0.6
    assert template.affordable((0.6, 0.8), 0) == 0.8
    assert WordSets([]).comparisons(0.6) == 0
