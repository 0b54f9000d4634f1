"""Kinds of information chosen together, from heads for each, for sets of them and for their number."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.heads.heads import SOURCE, HeadAnswer
from queryplan.program.retrieval.sources.kind_choice import (
    COUNT,
    LEAST,
    NONE,
    RARE,
    TOGETHER,
    count_label,
    set_label,
    set_labels,
    together,
)

KINDS = ("a", "b", "c")
SETS = ("a", "b", "c", "a+b", "a+b+c", NONE)


def answer(probabilities: Mapping[str, float]) -> HeadAnswer:
    return HeadAnswer(max(probabilities, key=lambda label: probabilities[label]), probabilities)


def said(
    kinds: Mapping[str, float], sets: Mapping[str, float] | None = None, count: Mapping[str, float] | None = None
) -> dict[str, HeadAnswer]:
    """What heads say; those that are left out find everything as likely."""
    even: dict[str, float] = dict.fromkeys(SETS, 1 / len(SETS))
    return {
        **{kind: answer({"true": p, "false": 1 - p}) for kind, p in kinds.items()},
        TOGETHER.removeprefix(SOURCE): answer(sets or even),
        COUNT.removeprefix(SOURCE): answer(count or {"1": 0.25, "2": 0.25, "3": 0.25, "0": 0.25}),
    }


def test_without_a_word_of_the_others_each_kind_is_for_itself() -> None:
    likely, chosen = together(said({"a": 0.9, "b": 0.8, "c": 0.1}))
    assert chosen == ("a", "b")
    assert likely["a"] > likely["b"] > likely["c"]


def test_the_number_of_kinds_settles_what_is_open() -> None:
    kinds = {"a": 0.7, "b": 0.48, "c": 0.05}
    assert together(said(kinds))[1] == ("a",)
    assert together(said(kinds, count={"1": 0.2, "2": 0.8}))[1] == ("a", "b")


def test_sets_settle_what_is_open() -> None:
    kinds = {"a": 0.7, "b": 0.53, "c": 0.05}
    assert together(said(kinds))[1] == ("a", "b")
    assert together(said(kinds, sets={"a": 0.7, "a+b": 0.05, "b": 0.25}))[1] == ("a",)


def test_only_sets_that_were_labelled_are_chosen() -> None:
    _, chosen = together(said({"a": 0.1, "b": 0.9, "c": 0.9}))
    assert chosen in (("b",), ("c",), ("a", "b", "c"))


def test_a_rare_set_is_chosen_where_its_kinds_are_sure_and_rare_sets_are_likely() -> None:
    kinds = {"a": 0.1, "b": 0.9, "c": 0.9}
    sets = {"a": 0.1, "b": 0.3, "c": 0.3, NONE: 0.1, RARE: 0.2}
    assert together(said(kinds, sets=sets, count={"1": 0.3, "2": 0.7}))[1] == ("b", "c")


def test_rare_sets_share_what_is_said_of_all_of_them() -> None:
    kinds = {"a": 0.5, "b": 0.5, "c": 0.02}
    alone, shared = {"a": 0.3, "b": 0.2, "c": 0.2, "a+b": 0.3}, {"a": 0.3, "b": 0.2, "c": 0.2, RARE: 0.3}
    assert together(said(kinds, sets=alone, count={"1": 0.49, "2": 0.51}))[1] == ("a", "b")
    assert together(said(kinds, sets=shared, count={"1": 0.49, "2": 0.51}))[1] == ("a",)


def test_a_set_has_at_most_three_rare_kinds() -> None:
    kinds = {name: answer({"true": 0.99, "false": 0.01}) for name in "abcd"}
    sets, count = answer({"a": 0.5, RARE: 0.5}), answer({"1": 0.1, "3": 0.9})
    _, chosen = together({**kinds, TOGETHER.removeprefix(SOURCE): sets, COUNT.removeprefix(SOURCE): count})
    assert len(chosen) == 3


def test_sets_of_few_rows_are_one_label_and_single_kinds_never() -> None:
    wanted = [["a", "b"]] * LEAST + [["a", "c"]] * (LEAST - 1) + [["b", "c"], ["c"], []]
    assert set_labels(wanted) == ["a+b"] * LEAST + [RARE] * LEAST + ["c", NONE]
    assert set_labels([]) == []


def test_something_is_always_wanted() -> None:
    _, chosen = together(said({"a": 0.02, "b": 0.03, "c": 0.01}, sets={NONE: 0.99, "a": 0.01}, count={"0": 1.0}))
    assert chosen == ("a",)


def test_a_set_with_a_kind_that_has_no_head_is_not_chosen() -> None:
    assert together(said({"a": 0.6, "c": 0.1}))[1] == ("a",)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3), st.lists(st.floats(0.01, 1), min_size=6, max_size=6))
def test_probabilities_are_between_nought_and_one_and_the_choice_is_a_label(ps: list[float], raw: list[float]) -> None:
    sets = {label: share / sum(raw) for label, share in zip(SETS, raw, strict=True)}
    likely, chosen = together(said(dict(zip(KINDS, ps, strict=True)), sets=sets))
    assert all(-1e-9 <= p <= 1 + 1e-9 for p in likely.values())
    assert set_label(chosen) in SETS[:-1]


@pytest.mark.parametrize(("count", "label"), [(0, "0"), (1, "1"), (3, "3"), (5, "3")])
def test_three_stands_for_more(count: int, label: str) -> None:
    assert count_label(count) == label


def test_nothing_wanted_has_a_label() -> None:
    assert set_label([]) == NONE
    assert set_label(["a", "b"]) == "a+b"
