"""Names that a question says are the only ones are told from other uses of "only", in many languages."""

from __future__ import annotations

import pytest
from queryplan.program.graph.names.linking import NameIndex
from queryplan.program.graph.question.asked_type import TypeWords
from queryplan.program.graph.question.denying import told_words
from queryplan.program.graph.question.only import only_names
from queryplan.program.graph.values import values_of
from queryplan.signatures.graph_steps import GraphSchema

SCHEMA = GraphSchema.model_validate(
    {
        "nodes": [
            {"name": "Dish", "properties": ["vegan"], "details": [{"name": "vegan", "kind": "boolean"}]},
            {"name": "Ingredient"},
            {"name": "Cook"},
        ],
    }
)
NAMES = {"Ingredient": ("tahini", "miso", "tofu"), "Cook": ("Jun", "Leila")}
INDEX = NameIndex((name, name, kind) for kind, names in NAMES.items() for name in names)
TYPES = TypeWords(SCHEMA)
TOLD = told_words(values_of(SCHEMA), TYPES)


def read(question: str) -> tuple[set[str], frozenset[int]]:
    mentions = INDEX.mentions(question)
    only = only_names(question, mentions, TOLD, TYPES)
    return {mentions[place].readings[0].name for place in only.places}, only.kinds


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("dishes with only tahini", {"tahini"}),
        ("dishes that only use miso", {"miso"}),
        ("which dishes by Jun are made with nothing but tofu?", {"tofu"}),
        ("dishes that use just tofu and miso", {"tofu", "miso"}),
        ("dishes that need solely tahini, miso or tofu", {"tahini", "miso", "tofu"}),
        ("dishes containing tahini and nothing else", {"tahini"}),
        ("what did Jun cook with tahini and miso and no others", {"tahini", "miso"}),
        ("who cooks exclusively with tofu", {"tofu"}),
        ("dishes that need only tofu for Jun", {"tofu"}),
        ("does Jun use only miso?", {"miso"}),
        ("Gerichte, die nur tofu enthalten", {"tofu"}),
        ("dishes that only Jun likes", {"Jun"}),
        ("dishes made just with tofu", {"tofu"}),
        ("Gerichte mit ausschließlich tofu", {"tofu"}),
        ("Gerichte mit tofu und sonst nichts", {"tofu"}),
        ("platos que solo llevan tofu", {"tofu"}),
        ("platos con tofu y nada más", {"tofu"}),
        ("plats faits uniquement avec tofu", {"tofu"}),
        ("piatti che usano soltanto miso", {"miso"}),
        ("pratos feitos apenas com tofu", {"tofu"}),
        ("gerechten die uitsluitend tofu bevatten", {"tofu"}),
        ("dania zrobione tylko z tofu", {"tofu"}),
        ("блюда, в которых есть только tofu", {"tofu"}),
        ("只用tofu的菜", {"tofu"}),
        ("tofuだけを使う料理", {"tofu"}),
        ("tahini만 쓰는 요리", {"tahini"}),
        ("rätter med bara tofu", {"tofu"}),
        ("retter med kun tofu", {"tofu"}),
        ("jídla pouze s tofu", {"tofu"}),
    ],
)
def test_a_name_that_is_the_only_one_is_read(question: str, names: set[str]) -> None:
    assert read(question)[0] == names


@pytest.mark.parametrize(
    "question",
    [
        "only the tofu dishes",
        "just tofu dishes please",
        "dishes only for Jun",
        "dishes with not only tofu",
        "I only want dishes with tofu",
        "only vegan dishes with tofu",
        "dishes with tofu, but only Jun's",
        "I have only tofu. what can I cook with it",
        "we own only tofu; which cooks use it",
        "what has only tahini and not miso",
        "dishes that only Jun cooks with tofu and others do not",
        "only three dishes with tofu",
        "tofu dishes only",
        "dishes that merely resemble tofu",
        "tofu only: uses miso",
        "dishes with only tofu and without miso",
        "dishes with tofu",
    ],
)
def test_only_of_something_else_is_passed_over(question: str) -> None:
    assert not read(question)[0]


@pytest.mark.parametrize(
    ("question", "kind"),
    [("cooks of dishes that only use tofu", "Dish"), ("cooks who use only tofu", "Cook"), ("who uses only tofu", None)],
)
def test_what_has_only_these_is_told_by_the_word_for_a_type_before(question: str, kind: str | None) -> None:
    places = [node.name for node in SCHEMA.nodes]
    assert read(question)[1] == ({places.index(kind)} if kind else set())
