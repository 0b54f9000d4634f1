"""What of a domain's own texts is not read is named, and texts as they should be are clean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import SHIPPED, DomainCard, load_card
from queryplan.data.sources import SourceContract
from queryplan.program.retrieval.own_texts import check_texts

GOOD = "---\nnumber: 1\ntitle: On Ice\ndate: 2024-02-03\nguests: [Ada]\n---\n\n[1] Nell: What is ice?\n"


def found(folder: Path, card: DomainCard | None = None) -> dict[str, tuple[str, ...]]:
    return {finding.kind: finding.examples for finding in check_texts(folder, card)}


def baker(source: dict[str, Any]) -> DomainCard:
    """A card with one source and no collection."""
    sources = (SourceContract.model_validate(source),)
    return load_card(SHIPPED / "journal").model_copy(update={"sources": sources, "collection": None})


def transcript(folder: Path, text: str, name: str = "01.md") -> Path:
    (folder / "transcripts").mkdir(exist_ok=True)
    (folder / "transcripts" / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("domain", ["podcast", "journal", "engineering", "biomedical"])
def test_shipped_texts_are_clean(domain: str) -> None:
    assert found(SHIPPED / domain, load_card(SHIPPED / domain)) == {}


@pytest.mark.parametrize("name", ["02.txt", "02.docx", "02.MD", "02"])
def test_a_file_beside_transcripts_that_is_not_read_is_named(tmp_path: Path, name: str) -> None:
    transcript(tmp_path, GOOD)
    transcript(tmp_path, "text", name)
    transcript(tmp_path, "", ".hidden")
    assert found(tmp_path) == {"texts that are not read": (f"transcripts/{name}",)}


@pytest.mark.parametrize("name", ["posts.json", "posts.csv", "Posts.jsonl", "transcripts.md", "transcript"])
def test_a_file_that_is_called_nearly_so_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    (tmp_path / "notes.md").write_text("x")
    assert found(tmp_path) == {"texts that are not read": (name,)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("2024-02-03", "2022-13-45"), "transcripts/01.md: date: '2022-13-45' is no day, YYYY-MM-DD"),
        (GOOD.replace("2024-02-03", "3 February 2024"), "date: '3 February 2024' is no day"),
        (GOOD.replace("2024-02-03", "20240203"), "date: '20240203' is no day"),
        (GOOD.replace("title: On Ice", "On Ice"), "transcripts/01.md:3: 'On Ice' is no key: value"),
        (GOOD.replace("guests: [Ada]", "guests:\n- Ada"), "transcripts/01.md:6: '- Ada' is no key: value; a list is"),
        (GOOD.replace("\n---\n", "\n"), "transcripts/01.md: its front matter has no end"),
        ("--- \n" + GOOD, "must begin on the first line, with three dashes and nothing else"),
        ("\n" + GOOD, "must begin on the first line"),
        ("", "transcripts/01.md: it has no paragraphs"),
        (GOOD.replace("[1] Nell: What is ice?", ""), "it has no paragraphs"),
        (GOOD + "\n[1] Nell: Again.\n", "two passages have the id '1[1]'"),
    ],
)
def test_what_of_a_transcript_is_not_read_is_named(tmp_path: Path, text: str, said: str) -> None:
    transcript(tmp_path, text)
    ((kind, (line, *_)),) = found(tmp_path).items()
    assert kind == "texts that are not read as they were meant"
    assert said in line


@pytest.mark.parametrize("text", [GOOD, "Only words.\n", GOOD.replace("date: ", "date:"), "---\ntitle: 'a: b'\n---\nx"])
def test_a_transcript_as_it_should_be_is_clean(tmp_path: Path, text: str) -> None:
    assert found(transcript(tmp_path, text)) == {}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "b", "text": "x", "date": "2022-13-45"}', "posts.jsonl:2: date: '2022-13-45' is no day"),
        ('{"id": "b", "text": "x", "date": "May"}', "posts.jsonl:2: date: 'May' is no day"),
        ('{"id": "", "text": "x"}', "posts.jsonl:2: expected an object with id"),
        ('{"id": null, "text": "x"}', "posts.jsonl:2: expected an object with id"),
        ("no JSON", "posts.jsonl:2: expected an object with id"),
        ('{"id": "a", "text": "x"}', "posts.jsonl:2: the id 'a' is that of line 1 too"),
    ],
)
def test_what_of_a_post_is_not_read_is_named(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "posts.jsonl").write_text('{"id": "a", "text": "x", "date": "2025-01-02T10:00"}\n' + line + "\n")
    ((_, (first,)),) = found(tmp_path).items()
    assert first.startswith(said)


def test_a_store_of_the_card_that_is_not_there_is_named(tmp_path: Path) -> None:
    card = load_card(SHIPPED / "engineering")
    named = found(tmp_path, card)["stores that are not there"]
    assert named[0] == f"{card.sources[0].store} of the card is not there"
    assert len(named) == len({source.store for source in card.sources if source.store})


def test_a_filter_that_no_record_has_is_named(tmp_path: Path) -> None:
    field = {"kind": "value", "values": ["raw"]}
    fields = [{"name": "states", **field}, {"name": "moods", **field}, {"name": "providers", **field}]
    days = {"name": "dates", "kind": "date"}
    source = {"name": "oven", "description": "loaves", "store": "oven.jsonl", "fields": [*fields, days]}
    card = baker(source)
    (tmp_path / "oven.jsonl").write_text('{"id": "a", "text": "x"}\n{"id": "b", "text": "y", "state": "raw"}\n')
    assert found(tmp_path, card) == {
        "filters that no record has": (
            "source 'oven': no record of oven.jsonl has 'moods'",
            "source 'oven': no record of oven.jsonl has a day for 'dates'",
        )
    }


def test_the_collection_is_the_file_that_the_card_names(tmp_path: Path) -> None:
    card = load_card(SHIPPED / "journal")
    assert card.collection is not None
    named = card.model_copy(update={"collection": card.collection.model_copy(update={"store": "diary.jsonl"})})
    assert found(tmp_path, named) == {"stores that are not there": ("diary.jsonl of the card is not there",)}
    (tmp_path / "diary.jsonl").write_text('{"id": "a", "text": "x", "date": "May"}\n')
    (tmp_path / "posts.jsonl").write_text('{"id": "a", "text": "x"}\n')
    assert found(tmp_path, named) == {
        "texts that are not read": ("posts.jsonl",),
        "texts that are not read as they were meant": (
            "diary.jsonl:1: date: 'May' is no day, YYYY-MM-DD; it is left out",
        ),
    }


def test_a_day_that_no_filter_can_pass_is_named(tmp_path: Path) -> None:
    fields = [{"name": name, "kind": "date"} for name in ("bake_dates", "dates")]
    source = {"name": "oven", "description": "loaves", "store": "oven.jsonl", "fields": fields}
    card = baker(source)
    records = ['{"id": "a", "text": "x", "bake_date": "8 Oct", "date": "2025-01-02"}']
    records += ['{"id": "b", "text": "x", "bake_date": "2025-10-08T10:00"}']
    (tmp_path / "oven.jsonl").write_text("\n".join(records) + "\n")
    assert found(tmp_path, card) == {
        "filters that no record has": ("source 'oven': bake_dates of a: '8 oct' is no day",)
    }
