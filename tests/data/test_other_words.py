"""Other words for a card's names: read from a table beside it, every mistake named, and shipped without a clash."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import CARD_FILE, DomainCard, KnownName, domain_folder, load_card
from queryplan.data.other_words import BETWEEN, NAMES_FILE, OtherWords, add_other_words, each_word, read_other_words
from queryplan.errors import DataError
from queryplan.program.graph.question.words import fold
from queryplan.program.text.linker import Linker

CARD = """
name = "clinic"
title = "Ills"
description = "Ills and harms."
covers = ["ills"]
excluded = [
  {kind = "cake", answer = "cake", description = "cakes", reason = "No cakes."},
  {kind = "other", answer = "else", description = "the rest", reason = "Only ills."},
]
names = [
  {name = "gout", type = "Disease"},
  {name = "edema", type = "Symptom", aliases = ["swelling"]},
  {name = "edema", type = "Harm"},
]
"""
SHIPPED = load_card(domain_folder("biomedical"))
SHARED = {
    frozenset({"depression", "major depressive disorder"}),
    frozenset({"peptic ulcer", "peptic ulcer disease"}),
}
"""A disease and the harm of a drug that languages, English too, have one word for; the types tell them apart."""


def folder_with(tmp_path: Path, table: str) -> Path:
    (tmp_path / CARD_FILE).write_text(CARD, encoding="utf-8")
    (tmp_path / NAMES_FILE).write_text(table, encoding="utf-8")
    return tmp_path


def names_with(tmp_path: Path, table: str) -> tuple[KnownName, ...]:
    return load_card(folder_with(tmp_path, table)).names


# Reading


def test_words_of_all_languages_are_read_in_order_and_once(tmp_path: Path) -> None:
    names = names_with(tmp_path, "name\tes\tpt\thi-Latn\ngout\tgota; la gota\tgota\tgathiya\n\n")
    assert names[0].other_words == "gota; la gota; gota; gathiya"
    assert names[0].spellings == ("gout", "gota", "la gota", "gathiya")


def test_without_a_type_every_name_so_spelled_has_the_words(tmp_path: Path) -> None:
    names = names_with(tmp_path, "name\tde\nedema\tÖdem\n")
    assert [name.other_words for name in names] == ["", "Ödem", "Ödem"]
    assert names[1].spellings == ("edema", "swelling", "Ödem")


def test_with_a_type_only_that_name_has_them(tmp_path: Path) -> None:
    names = names_with(tmp_path, "name\ttype\tde\nedema\tHarm\tÖdem\ngout\t\tGicht\n")
    assert [name.other_words for name in names] == ["Gicht", "", "Ödem"]


def test_a_card_without_a_table_or_with_an_empty_one_is_as_it_was(tmp_path: Path) -> None:
    (tmp_path / CARD_FILE).write_text(CARD, encoding="utf-8")
    bare = load_card(tmp_path)
    assert all(not name.other_words for name in bare.names)
    assert load_card(folder_with(tmp_path, "")) == load_card(folder_with(tmp_path, "name\tde\n")) == bare
    assert load_card(tmp_path).fingerprint == bare.fingerprint


def test_words_change_the_fingerprint(tmp_path: Path) -> None:
    one = load_card(folder_with(tmp_path, "name\tde\ngout\tGicht\n")).fingerprint
    assert one != load_card(folder_with(tmp_path, "name\tde\ngout\tPodagra\n")).fingerprint


def test_a_card_may_have_them_itself() -> None:
    name = KnownName.model_validate({"name": "gout", "type": "Disease", "other_words": "Gicht; Zipperlein; Gicht"})
    assert name.spellings == ("gout", "Gicht", "Zipperlein")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("es\tname\ngota\tgout\n", "first line must be name"),
        ("name\tSpanish\ngout\tgota\n", "first line must be name"),
        ("name\tes\tes\ngout\tgota\tla gota\n", "first line must be name"),
        ("name\tes\ttype\ngout\tgota\tDisease\n", "first line must be name"),
        ("name\tes\tde\ngout\tgota\n", r"line 2: it has 2 cells under 3 headings"),
        ("name\tes\ngout\tgota\tGicht\n", r"line 2: it has 3 cells under 2 headings"),
        ("name\tes\n\tgota\n", "line 2: it needs a name and words"),
        ("name\tes\ngout\t\n", "line 2: it needs a name and words"),
        ("name\tes\ngout\tgota; ; la gota\n", "line 2: it needs a name and words"),
        ("name\tes\ngota\tgota\n", "the card has no name 'gota'"),
        ("name\ttype\tes\ngout\tHarm\tgota\n", "the card has no name 'gout' of type Harm"),
        ("name\tes\ngout\tgota\ngout\tla gota\n", "'gout' has its other words twice"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, table: str, said: str) -> None:
    with pytest.raises(DataError, match=f"names.tsv of {tmp_path.name}.*{said}"):
        load_card(folder_with(tmp_path, table))


def test_a_table_that_is_no_text_is_named(tmp_path: Path) -> None:
    folder_with(tmp_path, "")
    (tmp_path / NAMES_FILE).write_bytes(b"name\tes\ngout\t\xff\n")
    with pytest.raises(DataError, match=r"names\.tsv of .* cannot be read"):
        load_card(tmp_path)


def test_a_wrong_card_is_named_before_its_words_are_missed(tmp_path: Path) -> None:
    (tmp_path / NAMES_FILE).write_text("name\tes\ngout\tgota\n", encoding="utf-8")
    (tmp_path / CARD_FILE).write_text(CARD.replace('{name = "gout", type = "Disease"}', '"gout"'), encoding="utf-8")
    with pytest.raises(DataError):
        load_card(tmp_path)


WORDS = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters=";"), min_size=1, max_size=8)


@given(st.lists(WORDS, min_size=1, max_size=6, unique=True), st.lists(WORDS, max_size=3))
def test_what_is_written_is_read(first: list[str], second: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAMES_FILE
        row = "\t".join(["gout", BETWEEN.join(first), BETWEEN.join(second)])
        path.write_text(f"name\tde\tja\n{row}\n", encoding="utf-8")
        (read,) = read_other_words(path)
        assert (read.name, read.type) == ("gout", None)
        assert each_word(read.words) == tuple(dict.fromkeys([*first, *second]))


def test_words_are_added_to_names_as_toml_has_them() -> None:
    names = [{"name": "gout", "type": "Disease"}, "no name"]
    add_other_words(names, [OtherWords("gout", None, "Gicht")], "here")
    assert names[0] == {"name": "gout", "type": "Disease", "other_words": "Gicht"}


# The shipped table


def test_no_spelling_of_the_shipped_card_means_two_names() -> None:
    meant: dict[str, set[str]] = defaultdict(set)
    for name in SHIPPED.names:
        for spelling in name.spellings:
            meant[fold(spelling)].add(name.name)
    assert {frozenset(names) for names in meant.values() if len(names) > 1} == SHARED
    assert "" not in meant


def test_every_shipped_name_but_genes_has_words_in_the_scripts_that_are_not_latin() -> None:
    lines = (domain_folder("biomedical") / NAMES_FILE).read_text(encoding="utf-8").splitlines()
    header = lines[0].split("\t")
    rows = [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]]
    genes = {name.name for name in SHIPPED.names if name.type == "Gene"}
    others = [row for row in rows if row["name"] not in genes]
    assert {row["name"] for row in others} == {name.name for name in SHIPPED.names} - genes
    assert all(row[tag] for row in others for tag in ("ru", "zh", "ja", "ko", "hi", "ar", "uk", "el", "zh-Hant"))
    # The symbol of a gene is the same everywhere; what it makes is called in English all over the world.
    assert all(row["en"] for row in rows if row["name"] in genes)
    assert len(header) == 29


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("genes for high BP", "hypertension"),
        ("¿Qué fármacos causan tos seca?", "dry cough"),
        ("Welche Gene hängen mit Bluthochdruck zusammen?", "hypertension"),
        ("traitement du diabète de type 2", "type 2 diabetes mellitus"),
        ("при ангиоотёк что делать", "angioedema"),
        ("gene del morbo di Parkinson", "Parkinson's disease"),
        ("उच्च रक्तचाप की दवा", "hypertension"),
        ("thuốc gây ho khan", "dry cough"),
    ],
)
def test_shipped_words_are_linked(text: str, name: str) -> None:
    assert [link.name.name for link in Linker(SHIPPED.names).links(text)] == [name]


def test_other_words_are_in_no_text_for_a_prompt() -> None:
    assert "Bluthochdruck" in json.dumps(SHIPPED.model_dump(), ensure_ascii=False)
    assert "Bluthochdruck" not in SHIPPED.domain_text()
    assert isinstance(SHIPPED, DomainCard)
