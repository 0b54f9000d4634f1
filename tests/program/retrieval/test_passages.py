"""Transcripts, posts and records as passages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import SHIPPED
from queryplan.errors import DataError
from queryplan.program.retrieval.passages import Passage, read_passages, read_records
from queryplan.program.retrieval.terms import singular, terms

FRONT = "---\nnumber: 7\ntitle: On Ice\ndate: 2024-02-03\nguests: [Ada Finch, Bo]\n---\n\n"


def transcript(folder: Path, body: str, name: str = "07.md") -> Path:
    (folder / "transcripts").mkdir(exist_ok=True)
    (folder / "transcripts" / name).write_text(body, encoding="utf-8")
    return folder


def test_paragraphs_are_named_as_evidence_names_them(tmp_path: Path) -> None:
    first, second = read_passages(transcript(tmp_path, FRONT + "[1] Nell: What is ice?\n\n[2] Ada: Slow water.\n"))
    assert (first.id, second.id) == ("7[1]", "7[2]")
    assert (second.text, second.title, second.date) == ("Ada: Slow water.", "On Ice", "2024-02-03")
    assert second.fields["speaker"] == "Ada"
    assert second.fields["guests"] == ("Ada Finch", "Bo")


def test_a_paragraph_is_found_by_the_words_of_its_neighbours_but_does_not_say_them(tmp_path: Path) -> None:
    body = FRONT + "[1] Nell: What is ice?\n\n[2] Ada: Slow water.\n\n[3] Nell: Thank you.\n"
    _, answer, _ = read_passages(transcript(tmp_path, body))
    assert {"ice", "thank"} <= answer.known_terms
    assert not {"ice", "thank"} & answer.said_terms
    assert "Ada Finch" in answer.searchable


def test_neighbours_are_of_the_same_transcript(tmp_path: Path) -> None:
    transcript(tmp_path, "Alone here.", "01.md")
    alone, other = read_passages(transcript(tmp_path, "Alone there.", "02.md"))
    assert alone.context == other.context == ""


def test_paragraphs_without_numbers_are_counted(tmp_path: Path) -> None:
    found = read_passages(transcript(tmp_path, "One thing.\n\nAnother thing.\n", "talk.md"))
    assert [passage.id for passage in found] == ["talk[1]", "talk[2]"]


def test_a_line_of_spaces_parts_paragraphs_like_an_empty_one(tmp_path: Path) -> None:
    found = read_passages(transcript(tmp_path, "One thing.\n \t\nAnother thing.\n\n\n\nA third.\n"))
    assert [passage.text for passage in found] == ["One thing.", "Another thing.", "A third."]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("阿梅：我祖母在洪水之后用红薯做面包。", "阿梅"),
        ("ジョン・スミス：川が来た。", "ジョン・スミス"),
        ("她沉默了很久，最后还是对大家说：没有面粉。", None),
        ("Nell：What is ice?", "Nell"),
    ],
)
def test_a_full_width_colon_is_a_speakers_too(tmp_path: Path, text: str, speaker: str | None) -> None:
    (passage,) = read_passages(transcript(tmp_path, text))
    assert passage.fields.get("speaker") == speaker


def test_fields_of_any_kind_are_searched_as_text() -> None:
    passage = Passage("1", "text", "mine", fields={"years": (2020, 2021), "tags": ["a", None], "n": 3})
    assert {"2020", "2021", "a", "3"} <= passage.known_terms


def test_a_colon_in_a_sentence_makes_no_speaker(tmp_path: Path) -> None:
    long = "This sentence goes on and on before it has a colon: here."
    (passage,) = read_passages(transcript(tmp_path, long))
    assert "speaker" not in passage.fields


def test_a_mark_of_byte_order_is_no_part_of_a_text(tmp_path: Path) -> None:
    (first,) = read_passages(transcript(tmp_path, "\ufeff" + FRONT + "[1] Nell: What is ice?\n"))
    assert (first.id, first.title) == ("7[1]", "On Ice")
    (tmp_path / "posts.jsonl").write_text('\ufeff{"id": "p1", "text": "one"}\n', encoding="utf-8")
    assert len(read_records(tmp_path / "posts.jsonl", "posts")) == 1


def test_front_matter_without_an_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"07\.md.*three dashes"):
        read_passages(transcript(tmp_path, "---\nnumber: 7\ntitle: On Ice\n"))


def test_front_matter_may_have_dashes_in_it_and_a_mark_of_its_bytes_before_it(tmp_path: Path) -> None:
    (passage,) = read_passages(transcript(tmp_path, "\ufeff---\nnumber: 7\ntitle: What now---\n---\n\n[1] One.\n"))
    assert (passage.id, passage.title, passage.text) == ("7[1]", "What now---", "One.")


def test_two_passages_of_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"7\[1\]"):
        read_passages(transcript(tmp_path, FRONT + "[1] One.\n\n[1] Again one.\n"))


def test_a_transcript_that_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = transcript(tmp_path, "x")
    (folder / "transcripts" / "07.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match=r"07\.md cannot be read"):
        read_passages(folder)


def test_a_folder_without_texts_has_no_passages(tmp_path: Path) -> None:
    assert read_passages(tmp_path) == ()


def test_records_keep_their_fields_and_a_title_may_be_the_text(tmp_path: Path) -> None:
    file = tmp_path / "issues.jsonl"
    file.write_text('{"id": "A-1", "title": "Lost parcel", "status": "open", "date": "2025-01-02"}\n\n')
    (record,) = read_records(file, "tracker")
    assert (record.id, record.text, record.title, record.source) == ("A-1", "Lost parcel", "", "tracker")
    assert dict(record.fields) == {"status": "open"}
    assert "open" in record.known_terms


def test_a_line_separator_inside_a_record_ends_no_line(tmp_path: Path) -> None:
    file = tmp_path / "posts.jsonl"
    file.write_text('{"id": "p1", "text": "one\u2028two"}\n', encoding="utf-8")
    assert len(read_records(file, "posts")) == 1


NO_RECORDS = (
    *('{"id": "A"}', "[1]", "not json", '{"text": "no id"}', '{"id": "A", "text": ""}', '{"id": "A", "text": null}'),
    *('{"id": null, "text": "x"}', '{"id": " ", "text": "x"}', '{"id": [1], "text": "x"}'),
)


@pytest.mark.parametrize("line", NO_RECORDS)
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text(f'{{"id": "ok", "text": "fine"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"notes\.jsonl:2: expected an object with id"):
        read_records(file, "notes")


def test_two_records_of_one_id_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"id": 1, "text": "one"}\n\n{"id": "1", "text": "other"}\n')
    with pytest.raises(DataError, match=r"notes\.jsonl:3: the id '1' is that of line 1 too"):
        read_records(file, "notes")


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("2024-02-03", "2024-02-03"),
        ("2024-02-03T10:00:00+01:00", "2024-02-03T10:00:00+01:00"),
        ("2022-13-45", ""),
        ("2024-02-30", ""),
        ("2024-02-03 or so", ""),
        ("February", ""),
        (None, ""),
        (2024, ""),
    ],
)
def test_a_date_that_is_no_day_is_left_out(tmp_path: Path, said: object, day: str) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text(json.dumps({"id": "a", "text": "one", "date": said}) + "\n")
    assert read_records(file, "notes")[0].date == day
    (passage,) = read_passages(transcript(tmp_path, f"---\ndate: {said}\ntitle: 'Ice: a talk'\n---\nOne."))
    assert (passage.date, passage.title) == (day, "Ice: a talk")


@pytest.mark.parametrize(("domain", "count"), [("podcast", 431), ("journal", 60), ("biomedical", 0)])
def test_shipped_domains_have_their_passages(domain: str, count: int) -> None:
    assert len(read_passages(SHIPPED / domain)) == count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cafés, STORIES!", ["cafe", "story"]),
        ("glass bus stories aloes", ["glass", "bus", "story", "aloe"]),
        ("汤圆 cat", ["汤", "圆", "汤圆", "cat"]),
        ("Übung", ["ubung"]),
        ("ABC ab", ["abc", "ab"]),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
        ("", []),
    ],
)
def test_terms_fold_case_accents_and_plurals(text: str, expected: list[str]) -> None:
    assert terms(text)[: len(expected)] == expected


@given(st.text())
def test_terms_of_any_text_have_neither_spaces_nor_nothing(text: str) -> None:
    for term in terms(text):
        assert term
        assert not any(character.isspace() for character in term)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1))
def test_plural_endings_leave_a_word(word: str) -> None:
    assert word.startswith(singular(word)[:-1])
