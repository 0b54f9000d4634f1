"""Paradigms and candidate rules on a card: what cannot be is refused, what is shipped fits together."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from queryplan.data.card import DomainCard, domain_folder, load_card, shipped_domains
from queryplan.data.paradigms import CandidateRules

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
WAY = {"name": "sceptic", "description": "doubts"}
OVEN = {"name": "oven", "description": "what bakes"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"paradigms": [WAY, WAY]}, r"a paradigm is given twice: \['sceptic'\]"),
        ({"paradigms": [WAY], "default_paradigm": "poet"}, "default_paradigm 'poet' is none of the paradigms"),
        ({"default_paradigm": "poet"}, "default_paradigm 'poet' is none"),
        ({"paradigms": [{**WAY, "sources": ["shelf"]}], "sources": [OVEN]}, r"prefers \['shelf'\], which are no"),
        ({"paradigms": [{**WAY, "operators": ["site:x"]}]}, "must name some of query, terms, entity"),
        ({"paradigms": [{**WAY, "operators": ["{query} {secret}"]}]}, "must name some of query, terms, entity"),
        ({"paradigms": [{**WAY, "operators": ["{query"]}]}, "operators"),
        ({"paradigms": [{**WAY, "weight": 0}]}, "greater than 0"),
        ({"paradigms": [{**WAY, "name": "The Sceptic"}]}, "pattern"),
        ({"synonyms": [{"words": ["alone"]}]}, "at least 2 items"),
        ({"candidates": {"noise": ["?!"]}}, "noise must have words"),
        ({"candidates": {"caps": 3}}, "caps"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        DomainCard.model_validate({**CARD, **change})


def test_sources_of_a_paradigm_are_free_where_the_card_declares_none() -> None:
    card = DomainCard.model_validate({**CARD, "paradigms": [{**WAY, "sources": ["transcripts"]}]})
    assert card.paradigms[0].sources == ("transcripts",)


def test_a_card_without_these_parts_keeps_its_fingerprint() -> None:
    bare = DomainCard.model_validate(CARD)
    assert bare.fingerprint == "de0d4cda5cc4827f"
    assert bare.candidates == CandidateRules()
    assert DomainCard.model_validate({**CARD, "paradigms": [WAY]}).fingerprint != bare.fingerprint


@pytest.mark.parametrize("name", shipped_domains())
def test_every_shipped_card_has_ways_of_looking_and_says_what_is_kept(name: str) -> None:
    card = load_card(domain_folder(name))
    assert len(card.paradigms) >= 2
    assert card.candidates.kinds is not None
    assert card.default_paradigm is None
