"""A preposition said again with something else behind it asks the same of that."""

from __future__ import annotations

import pytest
from queryplan.data.card import KnownName
from queryplan.program.rewriting.lexicon import Lexicon
from queryplan.program.rewriting.parallel import paralleled
from queryplan.program.rewriting.rewriter import Rewriter
from queryplan.program.text.linker import Linker

from .conftest import said

LEXICON = Lexicon(frozenset({"he", "it", "that", "them"}), (("front", ""),), frozenset("what does say about".split()))
ROADS = [
    KnownName(name="Ada", type="Guest"),
    KnownName(name="Bruno", type="Guest"),
    KnownName(name="salt", type="Idea"),
]


def turned(query: str, asked: str) -> str | None:
    found = paralleled(query, asked, LEXICON, Linker(ROADS))
    return found and found[0]


@pytest.mark.parametrize(
    ("query", "asked", "text"),
    [
        ("what about bread?", "what does Ada say about sleep?", "what does Ada say about bread?"),
        ("and about salt", "what does Ada say about sleep?", "what does Ada say about salt?"),
        ("how about naps then", "what does Ada say about sleep?", "what does Ada say about naps?"),
        ("which about bread", "which guests talk about sleep?", "which guests talk about bread?"),
        ("what about with Bruno?", "who talked about rain with Ada", "who talked about rain with Bruno"),
        ("and about Bruno?", "what does Ada say about sleep?", "what does Bruno say about sleep?"),
        ("and in 2025?", "what did Ada sell in 2023?", "what did Ada sell in 2025?"),
        ("and in June", "who spoke in May?", "who spoke in June?"),
        ("and in French", "which books are there in German?", "which books are there in French?"),
        ("in autumn?", "what did I write on ropes in spring", "what did I write on ropes in autumn"),
        ("und über den Schlaf?", "Was sagt Ada über das Brot?", "Was sagt Ada über den Schlaf?"),
        ("Und in der Leber?", "Wie viele Gene sind in der Niere aktiv?", "Wie viele Gene sind in der Leber aktiv?"),
        ("et sur le courage ?", "que dit Ada sur le pain ?", "que dit Ada sur le courage ?"),
        ("e della calma?", "Cosa dice Ada del pane?", "Cosa dice Ada della calma?"),
        ("en met hardlopen?", "wanneer begon ik met cello", "wanneer begon ik met hardlopen"),
        ("und Bruno?", "Was sagt Ada über das Brot?", "Was sagt Bruno über das Brot?"),
        ("Bruno.", "has Ada a book out?", "has Bruno a book out?"),
        ("et cinq ?", "quand ai-je couru dix kilomètres ?", "quand ai-je couru cinq kilomètres ?"),
        ("and 43?", "points of sprint 42", "points of sprint 43"),
        ("¿y en octubre?", "¿qué hubo en noviembre?", "¿qué hubo en octubre?"),
    ],
)
def test_what_is_new_stands_behind_the_preposition(query: str, asked: str, text: str) -> None:
    assert turned(query, asked) == text


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("and in German?", "what did Ada sell in 2023?"),
        ("and in Bergen?", "who spoke in May?"),
        ("in one line", "what did Ada say in the last episode?"),
        ("for example?", "what does Ada recommend for beginners?"),
        ("in English please", "what did Ada say in the kitchen?"),
        ("what about it?", "what does Ada say about sleep?"),
        ("about which of them?", "what does Ada say about sleep?"),
        ("what about sleep?", "what does Ada say about sleep?"),
        ("what was in the folder?", "what did Ada put in the box?"),
        ("with an example?", "what does Ada say about sleep?"),
        ("and in June?", "who spoke in May in Oslo"),
        ("what about bread?", "what does Ada say?"),
        ("in", "who spoke in May?"),
        ("and Bruno?", "what do Ada and Bruno say about sleep?"),
        ("and salt?", "what does Ada say about sleep?"),
        ("or Bruno?", "is it Ada?"),
        ("and five?", "points of sprint 42"),
        ("and 43?", "compare 41 and 42"),
        ("and 43 points?", "points of sprint 42"),
        ("and about bread?", ""),
        ("y de qué va", "¿qué libro recomienda Ada a la mitad de sus alumnos?"),
    ],
)
def test_other_queries_are_none_such(query: str, asked: str) -> None:
    assert turned(query, asked) is None


def test_it_is_said_before_any_learned_edit_is_made() -> None:
    rewriter = Rewriter(LEXICON, {"add front": 9.0})
    before = said("what does Ada say about sleep?", "That it passes.")
    found = rewriter.rewrite("what about bread?", before, "", Linker(ROADS))
    assert (found.text, found.move, found.referent) == ("what does Ada say about bread?", "turn", "sleep")
