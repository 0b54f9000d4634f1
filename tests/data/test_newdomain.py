"""A begun domain loads, is clean, and says of every row that it is a starter."""

from __future__ import annotations

import errno
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from queryplan.data import newdomain
from queryplan.data.card import DomainCard
from queryplan.data.checking import STARTER, LabelledSet, check_set, open_set
from queryplan.data.domain import load_domain
from queryplan.data.duplicates import tokens
from queryplan.data.newdomain import EXCLUDED, DomainAnswers, check_name, make_card, parse_excluded, write_domain
from queryplan.data.rows import LabelledRow
from queryplan.data.starters import starter_notes, starter_rows
from queryplan.errors import DataError

BREAD = DomainAnswers(
    name="bread-help",
    title="Bread Help",
    description="A help desk about baking.",
    covers=("sourdough starters: feeding, storing", "oven temperatures", "flour"),
    excluded={"weather": "weather reports", "weather_news": "news of storms"},
)
INTENTS = {"definition", "causal", "factual", "comparison", "greeting", "out_of_scope"}


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
    assert {label.intent for label in labels} == INTENTS
    assert {label.rejection_kind for label in labels} == {None, *BREAD.excluded}
    assert any(label.is_follow_up for label in labels)
    assert any(label.sub_queries for label in labels)


@pytest.mark.parametrize(
    ("line", "subject"),
    [
        ("wines and where they lie", "wines and where they lie"),
        ("recipes and their ingredients", "recipes and their ingredients"),
        ("Passwort und Konto zurücksetzen", "Passwort und Konto zurücksetzen"),
        ("The network in the wards, and who mends it", "The network in the wards"),
        ("sourdough starters: feeding, storing", "sourdough starters"),
        ("Opening hours. Also on holidays.", "Opening hours"),
        ("Mr. Smith's notes (the old ones)", "Mr. Smith's notes"),
        ("What do trains cost?", "What do trains cost"),
        ("Node.js 3.5 and e-mail", "Node.js 3.5 and e-mail"),
        ("保险条款：理赔和保费", "保险条款"),
        ("مواعيد القطارات", "مواعيد القطارات"),
        ("{curly} {1} braces", "curly 1 braces"),
        (": odd", "odd"),
        ("long " * 60, " ".join(["long"] * 24)),
    ],
)
def test_a_subject_is_named_as_it_was_given(line: str, subject: str) -> None:
    rows = starter_rows(make_card(replace(BREAD, covers=(line,))))["train"]
    assert rows[0].query == f"What is meant by {subject}?"
    assert rows[0].labels.entities == (subject,)


WORDS = (
    "garden permits permit bylaws the of and Gärten Gärten, 学校 学校の規則 правила school-rules 3 a I'd (old) {1} VPN"
).split()
SUBJECTS = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=25).map(" ".join),
    st.text(min_size=1, max_size=60),
    st.sampled_from(["What is meant by this?", "the main subject", "hello", "our second area", "Domain"]),
).filter(lambda line: any(c.isalnum() for c in line) and line.isprintable())


@settings(max_examples=150, deadline=None)
@given(
    covers=st.lists(SUBJECTS, min_size=1, max_size=6),
    title=st.one_of(st.just("Domain"), SUBJECTS),
    excluded=st.dictionaries(st.sampled_from(["weather", "weather_news", "a", "hot_news"]), SUBJECTS, max_size=3),
)
@example(covers=["bylaws", "permits"], title="Bylaws", excluded={})
@example(covers=["recipes and their ingredients"], title="Kitchen", excluded={})
@example(covers=["rye"] * 3, title="Rye!", excluded={"a": "rye bread", "b": "wheat"})
@example(covers=["а б в г д е ж з и к л м н о п р с т у ф х ц ч ш щ"], title="я", excluded={})
def test_whatever_is_covered_the_starters_are_clean(covers: list[str], title: str, excluded: dict[str, str]) -> None:
    kinds = parse_excluded([f"{kind}={line}" for kind, line in excluded.items() if line.strip()])
    answers = replace(BREAD, covers=tuple(covers), title=title, excluded=kinds)
    words = [tokens(line) for line in kinds.values()]
    if len(set(words)) < len(words) or {*words, *map(tokens, kinds)} & {*map(tokens, covers)}:
        with suppress(DataError):  # in and out at once, or two kinds of one description
            make_card(answers)
        return
    card = make_card(answers)
    splits = starter_rows(card)
    report = check_set(LabelledSet("begun", card, splits))
    assert report.findings == ()
    for rows in splits.values():
        assert {row.labels.intent for row in rows} == INTENTS
        assert any(row.labels.is_follow_up for row in rows)
        assert all(row.query.endswith("?") for row in rows if row.labels.intent != "greeting")
        assert all(row.tags == (STARTER,) for row in rows)


def test_every_subject_gets_its_rows_where_none_is_like_another() -> None:
    covers = ("wines and where they lie", "growers and their years", "tastings")
    for rows in starter_rows(make_card(replace(BREAD, covers=covers, title="C"))).values():
        assert [row.query for row in rows if row.turn == 3][-1].count(" C") == 1
        asked = [row.labels for row in rows if row.labels.intent in ("definition", "comparison")]
        assert [labels.entities[0] for labels in asked] == [*covers, *covers]


def test_what_is_covered_twice_stands_once_and_what_is_in_and_out_is_refused() -> None:
    assert make_card(replace(BREAD, covers=("rye", "ovens", "Rye!"))).covers == ("rye", "ovens")
    for covers, excluded in ((("rye",), {"a": "Rye", "b": "cakes"}), (("tasks",), EXCLUDED)):
        with pytest.raises(DataError, match="it is what covers 1 says: say it otherwise, or give two --excluded"):
            make_card(replace(BREAD, covers=covers, excluded=excluded))


def test_nothing_of_the_users_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="is there already; give another --out"):
        write_domain(tmp_path, BREAD)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_answers_of_the_excluded_differ() -> None:
    for kinds in (("weather", "weather_news"), ("weather_news", "weather"), ("a_b", "a_c", "a")):
        words = [
            topic.answer
            for topic in make_card(replace(BREAD, excluded={kind: f"all of {kind}" for kind in kinds})).excluded
        ]
        assert len(set(words)) == len(kinds)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "My Bread"}, "'My Bread' is no name"),
        ({"title": ""}, "title: "),
        ({"covers": ()}, "covers: "),
        ({"covers": (" ",)}, "covers: "),
        ({"covers": ("?!",)}, "covers: say in some words"),
    ],
)
def test_an_answer_that_a_card_cannot_hold_is_named(change: dict[str, object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        make_card(DomainAnswers(**{**BREAD.__dict__, **change}))


def test_excluded_topics_are_read_and_filled_up() -> None:
    assert parse_excluded([]) == EXCLUDED
    assert parse_excluded(["Hot News = of today"]) == {"hot_news": "of today", **EXCLUDED}
    assert parse_excluded(["tasks=chores"]) == {**EXCLUDED, "tasks": "chores"}
    assert list(parse_excluded(["a=1", "b=2"])) == ["a", "b"]
    with pytest.raises(DataError, match="say KIND=DESCRIPTION"):
        parse_excluded(["weather"])
    with pytest.raises(DataError, match="say it in letters"):
        parse_excluded(["?!=weather"])
    with pytest.raises(DataError, match="'hot_news' is given twice"):
        parse_excluded(["hot news=today", "Hot-News=yesterday"])


@pytest.mark.parametrize("there", [True, False])
def test_a_full_disk_leaves_nothing_half_and_a_folder_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    folder = tmp_path / "cellar"
    if there:
        folder.mkdir()

    def full(path: Path, rows: object) -> None:
        path.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(newdomain, "write_rows", full)
    with pytest.raises(OSError, match="No space"):
        write_domain(folder, BREAD)
    assert folder.exists() is there
    assert not there or not any(folder.iterdir())


@pytest.mark.parametrize("real", [0, 1, 5])
def test_a_report_on_starters_says_what_they_are_worth(folder: Path, real: int) -> None:
    tags = [row.tags for row in load_domain(folder).rows("test")]
    used = [("typo",)] * real
    assert starter_notes(used) == ()
    (said,) = starter_notes([*used, *tags[real:]])
    assert said.startswith(f"{len(tags) - real} of {len(tags)} rows are starters")


def test_two_do_not_write_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other, refused = replace(BREAD, covers=("vinyl records", "sleeves")), []

    def interrupted(card: DomainCard) -> dict[str, list[LabelledRow]]:
        with pytest.raises(DataError, match=r"is being written by another process: .* another folder") as caught:
            write_domain(tmp_path / "bread", other)
        refused.append(caught)
        return starter_rows(card)

    monkeypatch.setattr(newdomain, "starter_rows", interrupted)
    write_domain(tmp_path / "bread", BREAD)
    assert len(refused) == 1
    assert load_domain(tmp_path / "bread").card.covers == BREAD.covers
    assert [path.name for path in tmp_path.iterdir()] == ["bread"]


def test_a_name_that_a_shipped_domain_has_is_refused() -> None:
    with pytest.raises(DataError, match="podcast ships with queryplan"):
        check_name("podcast")
    assert check_name("podcasts") == "podcasts"
