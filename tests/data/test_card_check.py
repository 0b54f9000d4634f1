"""What of a card can be read and not be meant is named by its place."""

from __future__ import annotations

from typing import Any

import pytest
from queryplan.data.card import DomainCard, lending_folders, load_card
from queryplan.data.card_check import card_problems
from queryplan.data.checking import LabelledSet, check_set

CARD: dict[str, Any] = {
    "name": "bakery",
    "title": "Bread",
    "description": "A help desk about bread.",
    "covers": ["flour and what it is made of", "ovens"],
    "excluded": [
        {"kind": "cake", "answer": "cake", "description": "cakes and tarts", "reason": "No cakes."},
        {"kind": "other", "answer": "else", "description": "the rest", "reason": "Only bread."},
    ],
}
GRAPH = {
    "nodes": [{"name": "Grain"}, {"name": "Bread"}],
    "edges": [{"name": "IN", "source": "Grain", "target": "Bread"}],
}
RYE, SPELT = {"name": "Rye", "type": "Grain"}, {"name": "Spelt", "type": "Grain"}
OVEN = {
    "name": "oven",
    "description": "bakes",
    "fields": [{"name": "states", "kind": "value", "values": ["raw", "done"]}],
}


def problems(**change: Any) -> list[str]:
    return list(card_problems(DomainCard.model_validate({**CARD, **change})))


def names(*made: dict[str, Any]) -> dict[str, Any]:
    return {"names": list(made)}


def excluded(**change: str) -> dict[str, Any]:
    return {"excluded": [CARD["excluded"][0], {**CARD["excluded"][1], **change}]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (names(RYE, SPELT, RYE), "names 3 (Rye): it stands at 1 already"),
        (names(RYE, {**RYE, "name": "rye"}), "names 2 (rye): it stands at 1 already"),
        (names(RYE, {**RYE, "type": "Bread"}), "names 2 (Rye): it is a Bread here and a Grain at 1"),
        (names({**RYE, "aliases": ["secale", ""]}), "names 1.aliases 2: it is empty"),
        (names({**RYE, "aliases": [" "]}), "names 1.aliases 1: it is nothing but spaces"),
        (names({**RYE, "name": " "}), "names 1.name: it is nothing but spaces"),
        (
            names({**RYE, "aliases": ["spelt"]}, SPELT),
            "names 1 (Rye): the alias 'spelt' is a spelling of Spelt at 2 too",
        ),
        (
            names({**RYE, "aliases": ["korn"]}, {**SPELT, "aliases": ["Korn"]}),
            "names 2 (Spelt): the alias 'Korn' is a spelling of Rye at 1 too",
        ),
        (names({**RYE, "aliases": ["Rye"]}), "names 1 (Rye): the alias 'Rye' is the name itself"),
        (names({**RYE, "aliases": ["secale", "secale"]}), "names 1 (Rye): the alias 'secale' is given twice"),
        ({"covers": ["ovens", "Ovens!"]}, "covers 2 (Ovens!): it stands at 1 already"),
        ({"covers": ["ovens", " "]}, "covers 2: it is nothing but spaces"),
        (excluded(description="Ovens."), "excluded 2 (other): it is what covers 2 says"),
        (excluded(kind="ovens"), "excluded 2 (ovens): it is what covers 2 says"),
        (excluded(description="tarts and cakes"), "excluded 2 (other): its description is that of 1 too"),
        (excluded(reason="  "), "excluded 2.reason: it is nothing but spaces"),
        ({"greetings": ["hi", ""]}, "greetings 2: it is empty"),
        (
            {"paradigms": [{"name": "facts", "description": "facts first"}]},
            "paradigms 1 (facts): it has neither modifiers nor operators, and asks nothing",
        ),
        (
            {"paradigms": [{"name": "facts", "description": " ", "modifiers": ["study"]}]},
            "paradigms 1.description: it is nothing but spaces",
        ),
        ({"synonyms": [{"words": ["loaf", "Loaf"]}]}, "synonyms 1: a word is given twice"),
        (
            {
                "sources": [OVEN],
                "filter_values": [
                    {"filter": "states", "value": "raw", "aliases": ["ready"]},
                    {"filter": "states", "value": "done", "aliases": ["Ready"]},
                ],
            },
            "filter_values 2 (done): 'Ready' means raw at 1 too",
        ),
    ],
)
def test_what_cannot_be_meant_is_named_by_its_place(change: dict[str, Any], said: str) -> None:
    assert problems(**change) == [said]


@pytest.mark.parametrize(
    "change",
    [
        {},
        names(RYE, SPELT),
        names({**RYE, "aliases": ["rye", "secale"]}),
        {**names(RYE, {**RYE, "type": "Bread", "aliases": ["rye bread"]}), "graph": GRAPH},
        {**names({**RYE, "aliases": ["loaf"]}, {"name": "Loaf", "type": "Bread"}), "graph": GRAPH},
        {"paradigms": [{"name": "facts", "description": "facts first", "modifiers": ["study"]}]},
    ],
)
def test_what_can_be_meant_is_clean(change: dict[str, Any]) -> None:
    assert problems(**change) == []


@pytest.mark.parametrize("folder", lending_folders(), ids=lambda folder: folder.name)
def test_shipped_cards_are_clean(folder: Any) -> None:
    assert list(card_problems(load_card(folder))) == []


def test_a_card_is_checked_with_its_rows() -> None:
    card = DomainCard.model_validate({**CARD, **names(RYE, RYE)})
    (finding,) = [f for f in check_set(LabelledSet("here", card, {})).findings if f.kind == "the card"]
    assert (finding.count, finding.examples) == (1, ("names 2 (Rye): it stands at 1 already",))
    assert "domain.toml" in finding.advice


LONG = "flour " * 1500


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"description": LONG}, "description"),
        ({"covers": ["ovens", LONG]}, "covers 2"),
        ({"excluded": [{**CARD["excluded"][0], "description": LONG}, CARD["excluded"][1]]}, "excluded 1"),
        ({"covers": [f"flour number {n}, which is ground from grain" for n in range(300)]}, "covers 101"),
    ],
)
def test_a_card_that_is_a_book_is_named(change: dict[str, Any], place: str) -> None:
    (said,) = [one for one in problems(**change) if "characters together" in one]
    assert said.startswith(f"{place}: it has ")
    assert said.endswith("keep them under 8,000")
    assert not [one for one in problems() if "characters" in one]
