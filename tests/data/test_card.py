"""Domain cards: every wrong field is named, and a folder of one's own works like a shipped one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import CARD_FILE, DomainCard, domain_folder, load_card
from queryplan.data.checking import open_set
from queryplan.errors import DataError, UserError

CARD: dict[str, Any] = {
    "name": "bakery",
    "title": "Bread",
    "description": "A help desk about bread.",
    "covers": ["flour"],
    "excluded": [
        {"kind": "cake", "answer": "cake", "description": "cakes", "reason": "No cakes."},
        {"kind": "other", "answer": "else", "description": "the rest", "reason": "Only bread."},
    ],
}
GRAPH = {"nodes": [{"name": "Flour"}, {"name": "Oven"}], "edges": [{"name": "IN", "source": "Flour", "target": "Oven"}]}
SHIPPED = load_card(domain_folder("podcast"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "My Domain"}, "name: must be small letters, digits, - and _"),
        ({"title": ""}, "title: "),
        ({"covers": []}, "covers: "),
        ({"excluded": CARD["excluded"][:1]}, "excluded: "),
        ({"excluded": [CARD["excluded"][0]] * 2}, "excluded: .*different kinds"),
        ({"excluded": [{**e, "answer": "no"} for e in CARD["excluded"]]}, "excluded: .*different answers"),
        ({"excluded": [{**CARD["excluded"][0], "reason": ""}, CARD["excluded"][1]]}, r"excluded\.0\.reason: "),
        ({"history": {"messages": 0}}, r"history\.messages: "),
        ({"history": {"letters": 3}}, r"history\.letters: "),
        ({"names": [{"name": "Rye"}]}, r"names\.0\.type: this field is missing"),
        ({"names": [{"name": "Rye", "type": "Grain"}], "graph": GRAPH}, r"types that the graph does not: \['Grain'\]"),
        (
            {"graph": {**GRAPH, "edges": [{"name": "X", "source": "Flour", "target": "Y"}]}},
            r"graph: .*undeclared .*'Y'",
        ),
        ({"graph": {"nodes": []}}, r"graph\.nodes: "),
        ({"colour": "red"}, "colour: there is no such field"),
        ({"greeting": ["hi"]}, "greeting: there is no such field; is greetings meant?"),
        ({"history": {"message": 3}}, r"history\.message: there is no such field; is messages meant\?"),
        ({"names": [{"name": "Rye", "type": "x", "alias": []}]}, r"names\.0\.alias: .*; is aliases meant\?"),
        ({"graph": {**GRAPH, "node": []}}, r"graph\.node: .*; is nodes meant\?"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    write(tmp_path, {**CARD, **change})
    with pytest.raises(DataError, match=f"domain.toml of {tmp_path.name}: .*{said}"):
        load_card(tmp_path)


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    for field in ("name", "title", "description", "covers", "excluded"):
        write(tmp_path, {k: v for k, v in CARD.items() if k != field})
        with pytest.raises(DataError, match=f"{field}: this field is missing"):
            load_card(tmp_path)


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    write(tmp_path, {**CARD, "title": "", "covers": [], "colour": "red"})
    with pytest.raises(DataError) as caught:
        load_card(tmp_path)
    assert all(f"{field}: " in str(caught.value) for field in ("title", "covers", "colour"))


@pytest.mark.parametrize("content", [b"name = ", b"\xff\xfe", b"a = 1\na = 2"])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / CARD_FILE).write_bytes(content)
    with pytest.raises(DataError, match=r"domain\.toml of .* cannot be read"):
        load_card(tmp_path)


def test_a_card_of_ones_own_is_read(tmp_path: Path) -> None:
    write(tmp_path, {**CARD, "names": [{"name": "Rye", "type": "Flour", "aliases": ["secale"]}], "graph": GRAPH})
    card = load_card(domain_folder(tmp_path))
    assert card.kinds == ("cake", "other")
    assert card.names[0].aliases == ("secale",)
    assert (card.history.messages, card.history.characters) == (3, 200)
    assert card.reason("cake") == "No cakes."
    assert card.reason(None) == card.reason("unknown") == "This is outside what Bread covers."
    assert card.domain_text().splitlines() == ["A help desk about bread.", "Inside:", "- flour",
                                               "Outside: cakes; the rest."]  # fmt: skip


def test_a_domain_that_is_none_lists_the_shipped_ones() -> None:
    with pytest.raises(UserError, match=r"there is no domain 'bakery': give one of .*podcast.* or a folder"):
        domain_folder("bakery")
    Path("bakery").mkdir()
    with pytest.raises(UserError, match=r"bakery is there, but has no domain\.toml: give one of"):
        domain_folder("bakery")


def test_a_folder_comes_before_a_shipped_name() -> None:
    write(Path("podcast"), CARD)
    assert load_card(domain_folder("podcast")).title == "Bread"


def test_the_fingerprint_changes_with_every_field() -> None:
    card = DomainCard.model_validate(CARD)
    assert card.fingerprint == DomainCard.model_validate(CARD).fingerprint
    prints = {DomainCard.model_validate({**CARD, "title": t}).fingerprint for t in "abc"} | {card.fingerprint}
    assert len(prints) == 4
    assert all(re.fullmatch(r"[0-9a-f]{16}", p) for p in prints)


def test_every_answer_word_of_the_shipped_card_differs_and_is_one_word() -> None:
    words = [topic.answer for topic in SHIPPED.excluded]
    assert len({w.casefold() for w in words}) == len(words) == 8
    assert all(word.isalpha() for word in words)


def test_every_name_of_the_shipped_card_is_a_node_of_its_graph() -> None:
    import json

    lines = (domain_folder("podcast") / "graph" / "nodes.jsonl").read_text(encoding="utf-8").splitlines()
    nodes = {(n["type"], n["name"].casefold()) for n in map(json.loads, lines)}
    assert {(n.type, n.name.casefold()) for n in SHIPPED.names} <= nodes
    assert len(nodes) == len(lines)


def write(folder: Path, card: dict[str, Any]) -> None:
    folder.mkdir(exist_ok=True)
    text = "\n".join(f"{key} = {toml(value)}" for key, value in card.items())
    tomllib.loads(text)
    (folder / CARD_FILE).write_text(text, encoding="utf-8")


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return str(value) if isinstance(value, int) else f'"{value}"'


@pytest.mark.parametrize(
    ("added", "line"),
    [
        ("[[name]]", "[[name]]"),
        ('title = "a', 'title = "a'),
        ("  covers = [1,,2]", "covers = [1,,2]"),
        ("a b = 1", "a b"),
    ],
)
def test_the_line_that_is_no_toml_is_shown(tmp_path: Path, added: str, line: str) -> None:
    (tmp_path / CARD_FILE).write_text(f'name = "x"\n\n{added}\n', encoding="utf-8-sig")
    with pytest.raises(DataError, match=rf"cannot be read: .*at line 3.*, in '{re.escape(line)}"):
        load_card(tmp_path)


@pytest.mark.parametrize(
    ("encoding", "place"), [("latin-1", "line 3: .*byte 0xe2"), ("cp1253", "line 3: "), ("utf-16", "line 1")]
)
def test_the_line_that_is_no_utf8_is_named(tmp_path: Path, encoding: str, place: str) -> None:
    said = "κελάρι" if encoding == "cp1253" else "le château"
    (tmp_path / CARD_FILE).write_bytes(f'name = "x"\n\ntitle = "{said}"\n'.encode(encoding))
    with pytest.raises(
        DataError, match=rf"domain\.toml of .* cannot be read as UTF-8 text \({place}.*; save it as UTF-8"
    ):
        load_card(tmp_path)


@pytest.mark.parametrize("name", ["domain.toml", "train.jsonl"])
def test_a_file_of_a_domain_is_told_to_give_the_folder(tmp_path: Path, name: str) -> None:
    write(tmp_path, CARD)
    (tmp_path / name).touch()
    with pytest.raises(DataError, match=f"is a file of a domain: give its folder, {tmp_path}$"):
        domain_folder(tmp_path / name)
    if name == CARD_FILE:
        with pytest.raises(DataError, match="give its folder"):
            open_set(tmp_path / name)


def test_a_card_that_is_no_utf8_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "domain.toml").write_text('name = "x"\n', encoding="utf-16")
    with pytest.raises(DataError, match=r"domain\.toml of .* cannot be read as UTF-8 text .*; save it as UTF-8"):
        load_card(tmp_path)
