"""Near duplicates: what is compared with what, and how far apart it must be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.duplicates import comparable, content_words, near_duplicates, tokens
from queryplan.data.rows import LabelledRow

LONG = "which guests recommended books about sleep"


def row(query: str, conversation: str = "a", said: str = "") -> LabelledRow:
    history = [{"role": "assistant", "content": said}] if said else []
    labels = {"is_follow_up": False, "standalone_query": query, "is_relevant": True, "complexity": "simple",
              "intent": "factual", "needs_decomposition": False}  # fmt: skip
    made = {"id": f"{conversation}.1", "conversation": conversation, "turn": 1, "query": query, "history": history}
    return LabelledRow.model_validate({**made, "labels": labels})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Who? who!", {"who"}),
        ("snake_case 3rd", {"snake", "case", "3rd"}),
        ("睡眠とは", set("睡眠とは")),
        ("ÉTÉ été", {"été"}),
    ],
)
def test_words_are_folded_and_unspaced_scripts_split(text: str, found: set[str]) -> None:
    assert tokens(text) == found


def test_words_of_content_are_long_or_unspaced() -> None:
    assert content_words("who is it") == 0
    assert content_words("which guests sleep") == 3
    assert content_words("睡眠") == 2


def test_a_short_query_is_compared_with_its_last_turn() -> None:
    assert comparable(row("why?", said="Because of sleep debt")) == {"why", "because", "of", "sleep", "debt"}
    assert comparable(row(LONG, said="unrelated")) == tokens(LONG)


def test_pairs_over_the_threshold_are_found_with_their_overlap() -> None:
    rows = [row(LONG, "a"), row(LONG + " debt", "b"), row("what does kiln patience teach potters", "c")]
    (found,) = near_duplicates(rows, 0.8)
    assert (found.first.conversation, found.second.conversation) == ("a", "b")
    assert found.jaccard == pytest.approx(6 / 7)
    assert list(near_duplicates(rows, 6 / 7)) == []


def test_rows_of_one_conversation_may_repeat() -> None:
    assert list(near_duplicates([row(LONG, "a"), row(LONG, "a")], 0.5)) == []


def test_short_first_turns_are_not_compared() -> None:
    assert list(near_duplicates([row("hi", "a"), row("hi", "b")], 0.5)) == []
    assert len(list(near_duplicates([row("why?", "a", "the same"), row("why?", "b", "the same")], 0.5))) == 1


@given(st.lists(st.text("abcd ", min_size=1), max_size=6), st.floats(0, 1))
def test_every_pair_is_symmetric_and_over_the_threshold(texts: list[str], threshold: float) -> None:
    rows = [row(f"{text} enough content words here", str(n)) for n, text in enumerate(texts)]
    there = {frozenset((d.first.id, d.second.id)): d.jaccard for d in near_duplicates(rows, threshold)}
    back = {frozenset((d.first.id, d.second.id)): d.jaccard for d in near_duplicates(rows[::-1], threshold)}
    assert there == back
    assert all(j > threshold for j in there.values())
