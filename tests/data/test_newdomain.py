"""A begun domain loads, is clean, and says of every row that it is a starter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from queryplan.data.checking import STARTER, check_set, open_set
from queryplan.data.domain import load_domain
from queryplan.data.newdomain import EXCLUDED, DomainAnswers, make_card, parse_excluded, starter_rows, write_domain
from queryplan.errors import DataError

BREAD = DomainAnswers(
    name="bread-help",
    title="Bread Help",
    description="A help desk about baking.",
    covers=("sourdough starters: feeding, storing", "oven temperatures", "flour"),
    excluded={"weather": "weather reports", "weather_news": "news of storms"},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_domain(tmp_path / "bread", BREAD)
    return tmp_path / "bread"


def test_what_is_written_loads(folder: Path) -> None:
    read = load_domain(folder)
    assert (read.card.title, read.card.covers, read.card.kinds) == (BREAD.title, BREAD.covers, tuple(BREAD.excluded))
    assert set(read.splits) == {"train", "dev", "calibrate", "test"}


def test_every_row_is_marked_and_the_set_is_clean(folder: Path) -> None:
    report = check_set(open_set(folder))
    rows = [row for part in load_domain(folder).splits.values() for row in part]
    assert report.findings == ()
    assert all(row.tags == (STARTER,) and row.id.startswith(STARTER) for row in rows)
    assert report.notes[0].startswith(f"{len(rows)} starter rows are left")
    assert "Every row here is a starter" in (folder / "README.md").read_text()


def test_starters_about_topics_of_several_words_are_clean(tmp_path: Path) -> None:
    covers = ("Protokolle der Versammlungen", "Obstsorten auf den Parzellen", "how late trains are announced")
    excluded = {"recht": "Rechtsberatung zu Pacht und Steuern", "wetter": "tomorrow's weather report"}
    write_domain(tmp_path / "long", replace(BREAD, covers=covers, excluded=excluded))
    assert check_set(open_set(tmp_path / "long")).findings == ()


def test_starters_show_every_kind_of_label(folder: Path) -> None:
    labels = [row.labels for row in load_domain(folder).rows("train")]
    assert {label.intent for label in labels} == {
        "definition", "causal", "factual", "comparison", "greeting", "out_of_scope"
    }  # fmt: skip
    assert {label.rejection_kind for label in labels} == {None, *BREAD.excluded}
    assert any(label.is_follow_up for label in labels)
    assert any(label.sub_queries for label in labels)


@pytest.mark.parametrize(
    ("line", "topic"),
    [
        ("The network in the wards, and who mends it", "The network"),
        ("Passwort und Konto zurücksetzen", "Passwort und Konto"),
        ("access by VPN at home", "access by VPN"),
    ],
)
def test_a_topic_that_is_cut_does_not_end_in_the_middle_of_a_phrase(line: str, topic: str) -> None:
    rows = starter_rows(make_card(replace(BREAD, covers=(line,))), "train")
    assert rows[0].query == f"What is {topic}?"


@pytest.mark.parametrize("covers", [("Bread Help",), ("a",), ("a, b", "a, c"), (": odd",)])
def test_odd_topics_make_rows_too(tmp_path: Path, covers: tuple[str, ...]) -> None:
    odd = DomainAnswers("odd", "Bread Help", "About bread.", covers, EXCLUDED)
    write_domain(tmp_path / "odd", odd)
    assert len(load_domain(tmp_path / "odd").rows("test")) >= 6


def test_nothing_of_the_users_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="is there already; give another --out"):
        write_domain(tmp_path, BREAD)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_answers_of_the_excluded_differ() -> None:
    assert [topic.answer for topic in make_card(BREAD).excluded] == ["weather", "weather_news"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "My Bread"}, "'My Bread' is no name"),
        ({"title": ""}, "title: "),
        ({"covers": ()}, "covers: "),
        ({"covers": (" ",)}, "covers: "),
    ],
)
def test_an_answer_that_a_card_cannot_hold_is_named(change: dict[str, object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        make_card(DomainAnswers(**{**BREAD.__dict__, **change}))


def test_excluded_topics_are_read_and_filled_up() -> None:
    assert parse_excluded([]) == EXCLUDED
    assert parse_excluded(["Hot News = of today"]) == {"hot_news": "of today", **EXCLUDED}
    assert list(parse_excluded(["a=1", "b=2"])) == ["a", "b"]
    with pytest.raises(DataError, match="say KIND=DESCRIPTION"):
        parse_excluded(["weather"])
