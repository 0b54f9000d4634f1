"""What spoils a set is found, named by row, and clean sets stay clean."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import domain_folder
from queryplan.data.checking import ACROSS, STARTER, CheckReport, LabelledSet, check_set, open_set
from queryplan.data.rows import SESSION_KEYS, LabelledRow, write_rows
from queryplan.errors import DataError

MakeRow = Callable[..., LabelledRow]
LONG = "which guests recommended books about sleep"
OUT = {"is_relevant": False, "rejection_kind": "news", "intent": "out_of_scope"}


def check(**splits: list[LabelledRow]) -> CheckReport:
    return check_set(LabelledSet("here", None, splits))


def found(report: CheckReport) -> dict[str, tuple[str, ...]]:
    return {finding.kind: finding.examples for finding in report.findings}


def test_the_shipped_podcast_is_clean() -> None:
    report = check_set(open_set("podcast"))
    assert report.findings == report.notes == ()
    assert set(report.fingerprints) == {"data", "card", "schema"}
    assert report.statistics.splits["train"].rows == 9652


def test_duplicates_are_told_apart_by_split(make_row: MakeRow) -> None:
    rows = [make_row(LONG, "a"), make_row(f"{LONG} debt", "b")]
    assert found(check(train=rows)) == {
        "near-duplicates inside a split (over 0.8)": ("train a.1 and train b.1 (0.86)",)
    }
    apart = found(check(train=rows[:1], dev=rows[1:]))
    assert apart == {"near-duplicates across splits (over 0.6)": ("train a.1 and dev b.1 (0.86)",)}


def test_pairs_between_the_thresholds_count_across_splits_only(make_row: MakeRow) -> None:
    rows = [make_row(LONG, "a"), make_row(f"{LONG} after long winters", "b")]
    assert found(check(train=rows)) == {}
    assert len(found(check(train=rows[:1], dev=rows[1:]))) == 1


def test_a_conversation_in_two_splits_is_named(make_row: MakeRow) -> None:
    report = check(train=[make_row(LONG, "a")], test=[make_row("why?", "a", 2)])
    assert found(report) == {"conversations in two splits": ("a in train, test",)}
    assert "queryplan data split" in report.findings[0].advice


def test_an_id_in_two_splits_is_named(make_row: MakeRow) -> None:
    report = check(train=[make_row("one?", "a", row_id="x")], dev=[make_row("two?", "b", row_id="x")])
    assert found(report) == {"ids used in two splits": ("x in train, dev",)}


def test_labels_against_the_guide_are_named_with_their_row(make_row: MakeRow) -> None:
    report = check(train=[make_row("hello", "a", intent="greeting", complexity="moderate")])
    assert found(report) == {"labels against the guide": ("train a.1: a greeting is simple",)}


def test_the_same_text_must_have_the_same_labels(make_row: MakeRow) -> None:
    alike = [make_row("Hi", "a"), make_row("hi ", "b")]
    other = make_row("hi", "c", **OUT)
    assert found(check(train=alike)) == {}
    report = check(train=[*alike, other])
    assert found(report) == {"same query and history, other labels": ("train a.1 and train c.1",)}
    late = make_row("hi", "c", 2, **OUT)
    assert found(check(train=[*alike, late])) == {}, "another history"


def test_examples_are_cut_and_counted(make_row: MakeRow) -> None:
    rows = [make_row("hello", f"{n}", intent="greeting", complexity="moderate") for n in range(30)]
    (finding,) = check(train=rows).findings
    assert (finding.count, len(finding.examples), finding.more) == (30, 20, False)


def test_counting_pairs_stops(make_row: MakeRow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("queryplan.data.checking.MAX_PAIRS", 5)
    report = check(train=[make_row(LONG, f"{n}") for n in range(30)])
    (finding,) = report.findings
    assert (finding.count, finding.more) == (5, True)
    assert report.notes == ("stopped counting after 5 pairs of near-duplicates inside a split; there are more",)


def test_many_duplicates_inside_a_split_hide_no_leak(make_row: MakeRow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("queryplan.data.checking.MAX_PAIRS", 5)
    rows = [make_row(LONG, f"{n}") for n in range(30)] + [make_row(f"why do {LONG} so often", "x")]
    report = check(train=rows, dev=[make_row(f"why do {LONG} very often", "y"), make_row(LONG, "z")])
    kinds = {finding.kind: (finding.count, finding.more) for finding in report.findings}
    assert kinds["near-duplicates inside a split (over 0.8)"] == (5, True)
    assert kinds["near-duplicates across splits (over 0.6)"] == (5, True)
    few = check(train=rows, dev=[make_row(f"why do {LONG} very often", "y")])
    leaks = found(few)["near-duplicates across splits (over 0.6)"]
    assert leaks == ("train x.1 and dev y.1 (0.82)",)


def test_wordings_that_were_not_compared_are_counted(make_row: MakeRow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("queryplan.data.checking.MAX_ALIKE", 3)
    rows = [make_row(f"{LONG} number{n}", f"{n}") for n in range(6)]
    assert check(train=rows).notes == ("stopped at wording 1 of 6: the others were not compared",)


def test_short_queries_word_by_word_in_two_splits_are_found(make_row: MakeRow) -> None:
    hello = {"intent": "greeting"}
    train = [make_row("Who is Ann Lee?", "a"), make_row("hello", "b", **hello), make_row("why?", "c")]
    dev = [make_row("who is Ann Lee", "d"), make_row("hello", "e", **hello), make_row("who is Lee Ann?", "f")]
    assert found(check(train=train, dev=dev)) == {
        "short queries in two splits": ("train a.1 and dev d.1: Who is Ann Lee?",)
    }


def test_a_set_or_a_split_without_rows_is_not_clean() -> None:
    assert found(check(train=[])) == {"no rows": ("train",)}


def test_rows_of_one_template_are_compared_at_what_can_be_paid(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [make_row(f"what did guest x{n} say about topic y{n} in episode z{n}", f"{n}") for n in range(50)]
    monkeypatch.setattr("queryplan.data.checking.BUDGET", 200)
    (note,) = check(train=rows).notes
    assert f"comparing splits at {ACROSS[0]} would take" in note
    assert "compared at 0.8 instead" in note


def test_values_that_are_never_trained_and_starters_are_noted(make_row: MakeRow) -> None:
    report = check(train=[make_row("hello", row_tags=[STARTER])], dev=[make_row("hi", "b", intent="greeting")])
    assert report.findings == ()
    assert report.notes == (
        "1 starter rows are left from queryplan new-domain: put real queries in their place",
        "intent greeting occurs in dev and never in train",
    )


@pytest.mark.parametrize(
    ("key", "meant"), [("nwo", "now"), ("Now", "now"), ("activ_entity", "active_entity"), ("time_zone", "timezone")]
)
def test_a_slip_in_a_key_of_a_session_is_found(make_row: MakeRow, key: str, meant: str) -> None:
    row = make_row("hello").model_copy(update={"session": {key: "x", "paradigm": "facts"}})
    (line,) = found(check(train=[row]))["session keys that are not read"]
    assert line.endswith(f"{key!r} is not read; {meant} is")


def test_other_keys_of_a_session_are_noted(make_row: MakeRow) -> None:
    rows = [make_row(f"hello {n}", str(n)).model_copy(update={"session": {"user": n, "now": "x"}}) for n in range(2)]
    report = check(train=rows)
    assert report.findings == ()
    assert report.notes[0].startswith("session keys that change no plan: 'user' (2); read are active_entity, now, ")


def test_keys_of_a_session_are_those_that_are_read() -> None:
    program = Path(check_set.__code__.co_filename).parent.parent / "program"
    said = "".join(path.read_text(encoding="utf-8") for path in program.rglob("*.py"))
    read = set(re.findall(r"session\.get\(\"(\w+)\"", said)) | {"active_entity"}
    assert read == set(SESSION_KEYS)


# -- reading


@pytest.fixture
def folder(tmp_path: Path, make_row: MakeRow) -> Path:
    made = tmp_path / "mine"
    made.mkdir()
    shutil.copy(domain_folder("podcast") / "domain.toml", made)
    write_rows(made / "train.jsonl", [make_row("Who is Nell?", "a")])
    return made


def test_bad_rows_are_findings_and_the_others_are_checked(folder: Path) -> None:
    with (folder / "train.jsonl").open("a") as file:
        file.write('{"id": "b"}\n')
    report = check_set(open_set(folder))
    assert report.statistics.splits["train"].rows == 1
    (line,) = found(report)["rows that cannot be read"]
    assert line.startswith("train.jsonl:2: conversation: this field is missing")
    assert report.notes[0] == "no dev, calibrate, test rows yet"


def test_a_rejection_kind_that_the_card_does_not_have_is_found(folder: Path, make_row: MakeRow) -> None:
    write_rows(folder / "dev.jsonl", [make_row("rye?", "b", **{**OUT, "rejection_kind": "cakes"})])
    assert found(check_set(open_set(folder))) == {"rejection kinds that the card does not have": ("dev b.1: 'cakes'",)}


def test_labels_that_a_converted_set_does_not_have_are_left_alone(folder: Path) -> None:
    (folder / "labels.json").write_text(json.dumps({"known": ["is_relevant", "entities"], "unknown": []}))
    labelled = open_set(folder)
    assert labelled.known == ("is_relevant",)
    assert set(check_set(labelled).statistics.labels) == {"is_relevant"}
    (folder / "labels.json").write_text("[]")
    with pytest.raises(DataError, match="must be"):
        open_set(folder)


def test_a_card_alone_is_checked(folder: Path) -> None:
    (folder / "train.jsonl").unlink()
    report = check_set(open_set(folder))
    assert report.findings == ()
    assert report.notes[0].startswith("no labelled rows yet: plans are made with the card alone; queryplan label")
    with (folder / "domain.toml").open("a") as card:
        card.write('[[names]]\nname = "Nell Arkwright-Osei"\ntype = "Host"\naliases = [""]\n')
    assert "the card" in found(check_set(open_set(folder)))


def test_a_folder_without_a_card_says_so(folder: Path) -> None:
    (folder / "domain.toml").unlink()
    assert check_set(open_set(folder)).notes[0].startswith("there is no domain.toml, so that no row was held against")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ((), r"is empty: begin a domain in it with queryplan new-domain NAME --out"),
        (("notes.md",), r"has neither a domain\.toml nor labelled rows: give the folder that has them"),
    ],
)
def test_a_folder_without_either_says_what_to_do(tmp_path: Path, files: tuple[str, ...], said: str) -> None:
    for name in files:
        (tmp_path / name).write_text("x")
    with pytest.raises(DataError, match=said):
        open_set(tmp_path)


@pytest.mark.parametrize("text", ["hello there\nthis is text\n", "[1]\n", '[{"id": 1}]', "id,query\n1,x\n", '"a"\n3\n'])
def test_a_file_of_something_else_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(DataError, match=r"^x\.txt is no file of labelled rows, .*: write one row a line"):
        open_set(tmp_path / "x.txt")


def test_a_file_of_bad_rows_is_not_called_empty(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"id": "a"}\n{\n')
    assert list(found(check_set(open_set(tmp_path / "x.jsonl")))) == ["rows that cannot be read"]


def test_rows_without_a_card_can_be_checked(folder: Path) -> None:
    labelled = open_set(folder / "train.jsonl")
    assert (labelled.card, list(labelled.splits), list(labelled.fingerprints)) == (None, ["train"], ["data"])


@pytest.mark.parametrize("source", ["bakery", "nowhere/at/all"])
def test_a_source_that_is_none_is_one_sentence(source: str) -> None:
    with pytest.raises(DataError, match="there is no"):
        open_set(source)


def test_a_card_with_an_unknown_edge_type_is_named(folder: Path) -> None:
    card = (folder / "domain.toml").read_text()
    edge = '\n[[graph.edges]]\nname = "X"\nsource = "Guest"\ntarget = "Nowhere"\n'
    (folder / "domain.toml").write_text(card + edge)
    with pytest.raises(DataError, match=r"domain\.toml of mine: graph: .*Nowhere"):
        open_set(folder)


def test_checking_changes_no_file(folder: Path) -> None:
    before: dict[str, Any] = {p.name: p.read_bytes() for p in folder.iterdir()}
    check_set(open_set(folder))
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
