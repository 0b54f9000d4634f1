"""How people say a schema's elements: read from a table beside the card, every mistake named."""

from __future__ import annotations

from pathlib import Path

import pytest
from queryplan.data import element_words
from queryplan.data.card import CARD_FILE, domain_folder, load_card
from queryplan.data.element_words import (
    DONE,
    WORDS_FILE,
    elements_of,
    read_element_words,
    read_words_of_plans,
    with_words_of,
)
from queryplan.data.other_words import BETWEEN
from queryplan.errors import DataError
from queryplan.signatures.graph_steps import EdgeType, ElementWords, GraphSchema, NodeType

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Boat", properties=("length", "hull")), NodeType(name="Skipper")),
    edges=(
        EdgeType(name="STEERED_BY", source="Boat", target="Skipper", properties=("since",)),
        EdgeType(name="Skipper", source="Skipper", target="Boat"),
    ),
)
HEAD = "element\tside\ten\tde\n"
CARD = """
name = "harbour"
title = "Boats"
description = "Boats and skippers."
covers = ["boats"]
excluded = [
  {kind = "cake", answer = "cake", description = "cakes", reason = "No cakes."},
  {kind = "other", answer = "else", description = "the rest", reason = "Only boats."},
]
[graph]
nodes = [{name = "Boat"}, {name = "Skipper"}]
edges = [{name = "STEERED_BY", source = "Boat", target = "Skipper"}]
"""


def table(folder: Path, text: str) -> Path:
    path = folder / WORDS_FILE
    path.write_text(text, encoding="utf-8")
    return path


# Reading


def test_words_of_all_languages_are_read_in_order(tmp_path: Path) -> None:
    path = table(tmp_path, f"{HEAD}Boat\t\tvessel; ship\tSchiff\n\nSTEERED_BY\tin\tsteers\t\n")
    first, second = read_element_words(path, SCHEMA)
    assert first == ElementWords(element="Boat", words="vessel; ship; Schiff")
    assert second == ElementWords(element="STEERED_BY", side="in", words="steers")


def test_properties_and_their_values_have_words_too(tmp_path: Path) -> None:
    path = table(tmp_path, f"{HEAD}Boat.length\t\thow long\tLänge\nBoat.hull=steel\t\tof steel\tstählern\n")
    assert [line.element for line in read_element_words(path, SCHEMA)] == ["Boat.length", "Boat.hull=steel"]


def test_an_edge_type_that_is_called_as_a_node_type_is_told_from_it_by_its_side(tmp_path: Path) -> None:
    path = table(tmp_path, f"{HEAD}Skipper\t\tcaptain\t\nSkipper\tout\tsails\t\n")
    assert [line.side for line in read_element_words(path, SCHEMA)] == ["", "out"]


def test_a_card_has_the_words_in_its_schema_and_another_fingerprint(tmp_path: Path) -> None:
    (tmp_path / CARD_FILE).write_text(CARD, encoding="utf-8")
    bare = load_card(tmp_path)
    assert bare.graph is not None
    assert bare.graph.words == ()
    table(tmp_path, f"{HEAD}Boat\t\tship\tSchiff\n")
    worded = load_card(tmp_path)
    assert worded.graph is not None
    assert [line.words for line in worded.graph.words] == ["ship; Schiff"]
    assert worded.fingerprint != bare.fingerprint
    assert worded.graph.model_copy(update={"words": ()}) == bare.graph


def test_without_a_table_or_with_an_empty_one_there_are_none(tmp_path: Path) -> None:
    assert read_element_words(tmp_path / WORDS_FILE, SCHEMA) == ()
    assert read_element_words(table(tmp_path, ""), SCHEMA) == ()
    assert read_element_words(table(tmp_path, HEAD), SCHEMA) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("element\ten\nBoat\tship\n", "first line must be element"),
        ("element\tside\nBoat\t\n", "first line must be element"),
        ("element\tside\tGerman\nBoat\t\tSchiff\n", "first line must be element"),
        ("element\tside\tde\tde\nBoat\t\tSchiff\tBoot\n", "first line must be element"),
        (f"{HEAD}Boat\t\tship\n", "line 2: it has 3 cells under 4 headings"),
        (f"{HEAD}Boat\t\tship\t\nCar\t\tcar\t\n", "line 3: the schema has no 'Car'"),
        (f"{HEAD}Boat.name\t\tcalled\t\n", "line 2: the schema has no 'Boat.name'"),
        (f"{HEAD}Boat.weight=5\t\theavy\t\n", "line 2: the schema has no 'Boat.weight=5'"),
        (f"{HEAD}STEERED_BY\t\tsteers\t\n", "line 2: the side of 'STEERED_BY' must be out or in, not ''"),
        (f"{HEAD}Boat\tout\tship\t\n", "line 2: the side of 'Boat' must be nothing, not 'out'"),
        (f"{HEAD}Boat.length\tin\tlong\t\n", "line 2: the side of 'Boat.length' must be nothing, not 'in'"),
        (f"{HEAD}Boat\t\t\t\n", "line 2: it needs words"),
        (f"{HEAD}Boat\t\tship; ; hull\t\n", "line 2: it needs words"),
        (f"{HEAD}Boat\t\tship\t\nBoat\t\thull\t\n", "line 3: 'Boat' has this side twice"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError, match=f"{WORDS_FILE} of {tmp_path.name}.*{said}"):
        read_element_words(table(tmp_path, text), SCHEMA)


def test_a_table_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (line,) = read_element_words(table(tmp_path, f"\ufeff{HEAD}Boat\t\tship\t\n"), SCHEMA)
    assert line.words == "ship"


def test_a_table_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / WORDS_FILE).write_bytes(HEAD.encode() + b"Boat\t\t\xff\t\n")
    with pytest.raises(DataError, match=r"words\.tsv of .* cannot be read"):
        read_element_words(tmp_path / WORDS_FILE, SCHEMA)


# A graph's own schema


def test_a_schema_without_words_gets_those_of_a_card_for_what_both_have() -> None:
    words = tuple(
        ElementWords(element=element, side=side, words="x")  # type: ignore[arg-type]
        for element, side in [
            ("Boat", ""),
            ("Boat.hull=steel", ""),
            ("Boat.length", ""),
            ("STEERED_BY", "in"),
            ("Skipper", ""),
        ]
    )
    other = GraphSchema(
        nodes=(NodeType(name="Boat", properties=("hull",)), NodeType(name="Quay")),
        edges=(EdgeType(name="STEERED_BY", source="Boat", target="Quay"),),
    )
    worded = with_words_of(other, SCHEMA.model_copy(update={"words": words}))
    assert [line.element for line in worded.words] == ["Boat", "Boat.hull=steel"]
    assert worded.model_copy(update={"words": ()}) == other


def test_words_of_its_own_stay() -> None:
    own = SCHEMA.model_copy(update={"words": (ElementWords(element="Boat", words="ship"),)})
    other = SCHEMA.model_copy(update={"words": (ElementWords(element="Boat", words="hull"),)})
    assert with_words_of(own, other) is own
    assert with_words_of(SCHEMA, SCHEMA) is SCHEMA
    assert with_words_of(SCHEMA, own) == own


# What is shipped


def test_the_shipped_words_are_of_every_element_in_every_language() -> None:
    path = domain_folder("biomedical") / WORDS_FILE
    graph = load_card(path.parent).graph
    assert graph is not None
    wanted = {(element, side) for element, sides in elements_of(graph) for side in sides}
    assert wanted <= {(line.element, line.side) for line in graph.words}
    for line in path.read_text(encoding="utf-8").splitlines():
        assert all(line.split("\t")[2:]), line[:60]


def test_phrases_for_what_every_plan_may_do_are_of_every_language_and_each_once() -> None:
    header, *lines = element_words.PLANS_FILE.read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[0] for line in lines] == list(DONE)
    assert list(read_words_of_plans()) == list(DONE)
    for line in lines:
        cells = line.split("\t")[1:]
        assert len(cells) == len(header.split("\t")) - 1
        for cell in cells:
            phrases = cell.split(BETWEEN)
            assert all(phrase == phrase.strip() and phrase for phrase in phrases)
            assert len(set(phrases)) == len(phrases), cell


def test_a_package_without_the_phrases_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_words_of_plans.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(element_words, "PLANS_FILE", tmp_path / "graph-words.tsv")
        with pytest.raises(DataError, match=r"graph-words\.tsv of the package cannot be read"):
            read_words_of_plans()
        (tmp_path / "graph-words.tsv").write_text("element\ten\ncount\thow many\n", encoding="utf-8")
        with pytest.raises(DataError, match=r"graph-words\.tsv of the package cannot be read"):
            read_words_of_plans()
    read_words_of_plans.cache_clear()
