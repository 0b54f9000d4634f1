"""Labelled rows: file, line and field of every mistake; what is written is what is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from queryplan.data.domain import load_domain, rows_hash
from queryplan.data.rows import LabelledRow, read_rows, write_rows
from queryplan.errors import DataError

LABELS: dict[str, Any] = {
    "is_follow_up": False,
    "standalone_query": "Who is Nell?",
    "is_relevant": True,
    "complexity": "simple",
    "intent": "definition",
    "needs_decomposition": False,
    "entities": ["Nell"],
}
ROW: dict[str, Any] = {"id": "p-1.1", "conversation": "p-1", "turn": 1, "query": "Who is Nell?", "labels": LABELS}
HISTORY = [{"role": "user", "content": "Who hosts it?"}]
SUBS = [{"id": 1, "text": "a"}, {"id": 2, "text": "b {1}", "depends_on": [1]}]
SAME, CIRCLE = {"id": 2, "text": "who is nell? "}, {"id": 1, "text": "a", "depends_on": [2]}
LOST = {"id": 3, "text": "b", "depends_on": [7]}
OUT = {"is_relevant": False, "rejection_kind": "news", "intent": "out_of_scope", "entities": []}


def labels(**change: Any) -> dict[str, Any]:
    return {**ROW, "labels": {**LABELS, **change}}


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "row",
    [
        ROW,
        labels(**OUT),
        labels(needs_decomposition=True, sub_queries=SUBS, complexity="complex"),
        {
            **labels(is_follow_up=True, standalone_query="Who is Nell Arkwright?", referenced_entities=["it"]),
            "history": HISTORY,
        },
        {**ROW, "session": {"active_entity": "Nell"}, "tags": ["typo"], "language": "de", "history": HISTORY},
    ],
)
def test_a_row_that_follows_the_guide_is_read(tmp_path: Path, row: dict[str, Any]) -> None:
    assert len(read_rows(write(tmp_path / "a.jsonl", row))) == 1


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("nonsense", "row: not JSON"),
        ("[1]", "row: "),
        ({**ROW, "turn": 0}, r"turn: must be at least 1 \(got 0\)"),
        ({**ROW, "id": ""}, "id: "),
        ({**ROW, "colour": 1}, "colour: there is no such field"),
        ({**ROW, "conversaton": "a"}, r"conversaton: there is no such field; is conversation meant\?"),
        (labels(intnet="factual"), r"labels\.intnet: there is no such field; is intent meant\?"),
        ({k: v for k, v in ROW.items() if k != "query"}, "query: this field is missing"),
        ({**ROW, "history": [{"role": "robot", "content": "x"}]}, r"history\.0\.role: .*got \"robot\""),
        (labels(intent="follow_up"), r"labels\.intent: "),
        (labels(complexity="hard"), r"labels\.complexity: .*got \"hard\""),
        (labels(is_follow_up=True), "labels.is_follow_up must be false without history"),
        (labels(standalone_query="other"), "standalone_query must equal query"),
        (labels(referenced_entities=["x"]), "referenced_entities must be empty"),
        (labels(needs_decomposition=True), "exactly when needs_decomposition"),
        (labels(sub_queries=SUBS), "exactly when needs_decomposition"),
        (labels(needs_decomposition=True, sub_queries=SUBS[:1]), "must be 2 to 4"),
        (labels(needs_decomposition=True, sub_queries=[SUBS[0], SAME]), "repeats the query"),
        (labels(needs_decomposition=True, sub_queries=[SUBS[1], CIRCLE]), r"labels\.sub_queries: .*cycle"),
        (labels(needs_decomposition=True, sub_queries=[SUBS[0]] * 2), r"labels\.sub_queries: .*same id"),
        (labels(needs_decomposition=True, sub_queries=[SUBS[0], LOST]), r"do not exist: \[7\]"),
        (labels(intent="out_of_scope"), "out_of_scope needs is_relevant false"),
        (labels(rejection_kind="news"), "rejection_kind needs is_relevant false"),
        (labels(**{**OUT, "rejection_kind": None}), "must name an excluded topic"),
        (labels(**OUT, complexity="complex"), "must be simple and out_of_scope"),
        (labels(**{**OUT, "entities": ["Nell"]}), "out of domain has no entities"),
    ],
)  # fmt: skip
def test_a_bad_line_names_file_line_and_field(tmp_path: Path, row: Any, said: str) -> None:
    with pytest.raises(DataError, match=rf"(?s)^dev\.jsonl:3: .*{said}"):
        read_rows(write(tmp_path / "dev.jsonl", ROW, "", row))


def test_up_to_twenty_bad_lines_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_rows(write(tmp_path / "a.jsonl", ROW, *[{**ROW, "turn": 0}] * 25))
    lines = str(caught.value).splitlines()
    assert len(lines) == 21
    assert lines[0].startswith("a.jsonl:2: turn: ")
    assert lines[-1] == "… and 5 more"


def test_an_id_used_twice_names_both_lines(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.jsonl:3: id: 'p-1\.1' was used on line 1 already"):
        read_rows(write(tmp_path / "a.jsonl", ROW, "", ROW))


def test_a_long_value_is_shortened(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_rows(write(tmp_path / "a.jsonl", {**ROW, "turn": "x" * 500}))
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(("content", "said"), [(None, "there is no file"), (b"\xff\n", "cannot be read as UTF-8")])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "a.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=said):
        read_rows(path)


TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(TEXT, TEXT, st.dictionaries(TEXT, TEXT, max_size=2))
def test_written_rows_are_read_again_the_same(tmp_path: Path, query: str, said: str, session: dict[str, str]) -> None:
    made = {**labels(standalone_query=query), "query": query, "session": session,
            "history": [{"role": "user", "content": said}]}  # fmt: skip
    row = LabelledRow.model_validate(made)
    write_rows(tmp_path / "a.jsonl", [row])
    assert read_rows(tmp_path / "a.jsonl") == [row]


def test_the_hash_of_rows_ignores_their_order_alone() -> None:
    one, two = LabelledRow.model_validate(ROW), LabelledRow.model_validate({**ROW, "id": "p-2"})
    assert rows_hash([one, two]) == rows_hash([two, one])
    assert rows_hash([one]) != rows_hash([two])


# --- domains


def domain(folder: Path, **splits: list[dict[str, Any]]) -> Path:
    card = (Path(str(load_domain("podcast", splits=()).folder)) / "domain.toml").read_text(encoding="utf-8")
    (folder / "domain.toml").write_text(card, encoding="utf-8")
    for name, rows in splits.items():
        write(folder / f"{name}.jsonl", *rows)
    return folder


def test_a_folder_of_ones_own_has_the_splits_that_are_there(tmp_path: Path) -> None:
    read = load_domain(domain(tmp_path, train=[ROW], dev=[labels(**OUT)]))
    assert set(read.splits) == {"train", "dev"}
    assert read.rows("train")[0].query == "Who is Nell?"
    with pytest.raises(DataError, match=r"podcast has no test\.jsonl; label some queries first"):
        read.rows("test")


def test_a_rejection_kind_that_the_card_does_not_know_is_named(tmp_path: Path) -> None:
    folder = domain(tmp_path, dev=[labels(**{**OUT, "rejection_kind": "cakes"})])
    with pytest.raises(
        DataError, match=r"dev\.jsonl: row p-1\.1: labels\.rejection_kind: 'cakes' is none of the card's: math"
    ):
        load_domain(folder)


def test_the_fingerprint_of_a_domain_is_of_all_its_rows(tmp_path: Path) -> None:
    one = load_domain(domain(tmp_path, train=[ROW])).fingerprint
    two = load_domain(domain(tmp_path, train=[ROW], dev=[{**ROW, "id": "x"}])).fingerprint
    assert one != two
