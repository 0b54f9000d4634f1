"""Read everything or search: right on every labelled row, honest where statistics lie."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.domain import load_domain
from queryplan.data.sources import CollectionRules
from queryplan.errors import DataError
from queryplan.program.retrieval.collection import collection
from queryplan.program.retrieval.collection.collection import (
    CollectionStats,
    ContextResult,
    ItemStore,
    choose_method,
    formatted_context,
    open_items,
    read_everything,
    read_stats,
    token_count,
)

NOW = datetime.fromisoformat("2025-11-27T19:05:00+01:00")
RULES = CollectionRules()
FRESH = "2025-11-27T12:00:00+00:00"


def stats(count: Any = 9, updated: Any = FRESH, **more: Any) -> dict[str, Any]:
    return {"composition_count": count, "last_stats_update": updated, **more}


def method(given_stats: object, measure: Any = None) -> str:
    return choose_method(given_stats, NOW, RULES, measure).method


def test_every_labelled_row_is_right() -> None:
    domain = load_domain("journal", splits=("train", "dev"))
    items, rules = open_items(domain.folder / "posts.jsonl"), domain.card.collection
    assert rules is not None
    for row in (*domain.rows("train"), *domain.rows("dev")):
        if row.gold is not None:
            now = datetime.fromisoformat(row.session["now"])
            chosen = choose_method(row.session.get("collection"), now, rules, items.tokens)
            assert chosen.method == row.gold.retrieval_method, row.id


@pytest.mark.parametrize(
    ("given_stats", "expected"),
    [
        (stats(), "direct"),
        (stats(0), "direct"),
        (stats(15), "direct"),
        (stats(16), "semantic"),
        (stats(250_017), "semantic"),
        (None, "semantic"),
        (stats(updated=None), "semantic"),
        (stats(updated="soon"), "semantic"),
        (stats(updated="2025-11-26T19:05:00+01:00"), "direct"),
        (stats(updated="2025-11-26T19:04:59+01:00"), "semantic"),
        (stats(updated="2025-11-27T19:05:00+01:00"), "direct"),
        (stats(updated="2025-11-27T19:05:01+01:00"), "semantic"),
        (stats(updated="2025-11-27T12:00:00"), "direct"),
        (stats(token_count=4000), "direct"),
        (stats(token_count=4001), "semantic"),
        (CollectionStats(composition_count=3, last_stats_update=FRESH), "direct"),
        (stats(surprise=1), "direct"),
    ],
)
def test_what_the_statistics_decide(given_stats: object, expected: str) -> None:
    assert method(given_stats) == expected


@pytest.mark.parametrize("bad", [stats(-1), stats("9"), stats(True), stats(2.5), {}, "many", 3, ["x"], stats(None)])
def test_statistics_that_are_none_mean_searching_and_are_named(bad: object) -> None:
    chosen = choose_method(bad, NOW, RULES)
    assert chosen.method == "semantic"
    assert chosen.gap is not None
    assert chosen.gap.what == "session.collection"


def test_missing_and_stale_statistics_are_no_gap() -> None:
    assert choose_method(None, NOW, RULES).gap is None
    assert choose_method(stats(updated=None), NOW, RULES).gap is None


@pytest.mark.parametrize(("tokens", "expected"), [(4000, "direct"), (4001, "semantic"), (None, "direct")])
def test_a_text_that_is_too_long_is_searched(tokens: int | None, expected: str) -> None:
    assert method(stats(), lambda known, day: tokens) == expected


def test_the_text_is_measured_only_where_it_matters() -> None:
    def never(known: CollectionStats, day: object) -> int:
        raise AssertionError("measured")

    assert method(stats(16), never) == method(None, never) == "semantic"
    assert method(stats(token_count=5), never) == "direct"


def test_statistics_are_seen_from_the_time_of_the_session() -> None:
    assert choose_method(stats(), NOW + timedelta(days=2), RULES).why == "the statistics are older than 24 hours"
    assert choose_method(stats(), NOW - timedelta(days=2), RULES).why == "the statistics are from the future"


def test_the_cards_limits_are_used() -> None:
    rules = CollectionRules(direct_max_items=3, stale_after_hours=1)
    recent = "2025-11-27T18:30:00+01:00"
    assert choose_method(stats(4, recent), NOW, rules).why == "more than 3 items"
    assert choose_method(stats(3, recent), NOW, rules).method == "direct"
    assert choose_method(stats(3), NOW, rules).why == "the statistics are older than 1 hours"


def test_the_fields_of_the_statistics_are_those_of_the_seed() -> None:
    read = read_stats({"composition_count": 1, "conversation_count": 2, "total_message_count": 3})
    assert read == CollectionStats(composition_count=1, conversation_count=2, total_message_count=3)
    assert read_stats(read) is read


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("abcd", 1), ("abcde", 2), ("你好", 2), ("你好 abc", 3)])
def test_tokens_are_chinese_characters_or_four_others(text: str, tokens: int) -> None:
    assert token_count(text) == tokens


# -- reading --------------------------------------------------------------------------------------------


def items(count: int, text: str = "rain") -> list[dict[str, Any]]:
    return [{"id": f"p{n}", "date": f"2025-01-{n + 1:02}", "text": f"{text} {n}"} for n in range(count)]


def test_everything_is_read_formatted_and_certain() -> None:
    result, gaps = read_everything("What about rain?", items(3), stats(3), NOW, RULES)
    assert gaps == ()
    assert (result.retrieval_method, result.confidence, result.coverage) == ("direct", 1.0, 1.0)
    assert (result.total_available, result.source, len(result.results)) == (3, "graph", 3)
    assert result.formatted_context is not None
    assert "Direct (complete history)" in result.formatted_context


def test_an_empty_collection_is_wholly_read() -> None:
    result, gaps = read_everything("anything?", [], stats(0), NOW, RULES)
    assert (gaps, result.coverage, result.confidence) == ((), 1.0, 1.0)


def test_fewer_items_than_announced_are_read_with_a_gap() -> None:
    result, gaps = read_everything("anything?", items(3), stats(12), NOW, RULES)
    assert (result.coverage, result.confidence, result.total_available) == (0.25, 0.25, 12)
    assert "12 items were announced and 3 are there" in gaps[0].why
    assert result.formatted_context is not None
    assert "newest 3 of 12" in result.formatted_context


@pytest.mark.parametrize("there", [items(16), items(5, "word " * 2000)])
def test_more_than_announced_is_searched_instead(there: list[dict[str, Any]]) -> None:
    result, gaps = read_everything("anything?", there, stats(3), NOW, RULES)
    assert (result.retrieval_method, result.results, result.formatted_context) == ("semantic", (), None)
    assert gaps[0].instead == "it is searched"


def test_formatting_that_fails_falls_back_to_json(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> str:
        raise RuntimeError("odd")

    monkeypatch.setattr(collection, "format_items", broken)
    result, gaps = read_everything("anything?", items(2), stats(2), NOW, RULES)
    assert json.loads(result.formatted_context or "") == items(2)
    assert gaps[0].what == "formatting"


class Odd:
    def __str__(self) -> str:
        raise ValueError("no text")

    def __repr__(self) -> str:
        return "odd"


def test_an_item_that_cannot_be_formatted_is_still_handed_over() -> None:
    text, problem = formatted_context([{"text": "fine"}, {"text": "x", "date": object()}], "q")
    assert problem is None or "odd" in problem
    assert "fine" in text


def test_an_item_that_cannot_be_shown_is_named_by_its_type() -> None:
    class Mute:
        def __str__(self) -> str:
            raise ValueError("no words")

    text, problem = formatted_context([{"text": Mute(), "id": "1"}], "q")
    assert json.loads(text) == [{"text": "Mute", "id": "1"}]
    assert problem == "an item was odd (ValueError)"


def test_a_context_result_has_the_fields_and_defaults_of_the_seed() -> None:
    assert ContextResult(question="q").model_dump() == {
        "question": "q",
        "results": (),
        "source": "graph",
        "retrieval_method": "semantic",
        "confidence": 0.0,
        "coverage": 0.0,
        "total_available": 0,
        "formatted_context": None,
    }


# -- a domain's own collection -----------------------------------------------------------------------


def test_the_newest_items_up_to_a_day_are_counted_and_measured() -> None:
    store = ItemStore(items(10, "four"))
    day = datetime(2025, 1, 4).date()
    assert [item["id"] for item in store.newest(2, day)] == ["p3", "p2"]
    assert store.tokens(CollectionStats(composition_count=2), day) == 4
    assert store.tokens(CollectionStats(composition_count=99), day) == 8
    assert store.newest(2, datetime(2024, 1, 1).date()) == []


@given(st.integers(0, 30), st.integers(1, 31))
def test_sums_and_items_agree(count: int, day: int) -> None:
    store = ItemStore(items(28, "some words"))
    until = datetime(2025, 1, day).date()
    said = sum(token_count(item["text"]) for item in store.newest(count, until))
    assert store.tokens(CollectionStats(composition_count=count), until) == said


@pytest.mark.parametrize("content", ["{not json", "[1]\n", '{"date": "2026-01-01", "text": "no id"}\n'])
def test_a_broken_collection_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text(content)
    with pytest.raises(DataError, match=r"posts\.jsonl"):
        open_items(path)


def test_a_line_separator_inside_an_item_ends_no_line(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text('\ufeff{"id": "a", "date": "2026-01-01", "text": "one\u2028two\u0085three"}\n', encoding="utf-8")
    assert [item["text"] for item in open_items(path).items] == ["one\u2028two\u0085three"]


def test_a_missing_collection_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.jsonl cannot be read"):
        open_items(tmp_path / "none.jsonl")


def test_a_line_of_a_collection_ends_only_where_the_line_does(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text(json.dumps({"id": "a", "text": "a\u2028b"}, ensure_ascii=False) + "\n", encoding="utf-8")
    assert [item["text"] for item in open_items(path).items] == ["a\u2028b"]


def test_a_collection_is_read_once_until_its_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "diary.jsonl"
    path.write_text('{"id": "a", "text": "one"}\n')
    first = open_items(path)
    assert open_items(path) is first
    path.write_text('{"id": "a", "text": "one"}\n{"id": "b", "text": "two"}\n')
    assert [item["text"] for item in open_items(path).items] == ["one", "two"]
