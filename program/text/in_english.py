"""Puts the function words of other languages into English, so that heads know the form of a question in any of them.

Labelled queries are mostly English, and static vectors know other languages badly. What a head has learned of "who ...
and what does she ..." it cannot know of "wer ... und was ... sie"; after this it reads "who ... and what ... they".
Names and the words that say what a question is about stay as they are, and so does the order of words.

``languages.py`` tells the language. Scripts that one language has, and that are written without spaces or with endings
on the word, are searched for the longest surfaces.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise

from ...data.function_words import languages_with_function_words, read_function_words
from .languages import MOST_CHARACTERS, SEARCHED, TOKEN

VERSION = "2"
"""Raise it when a file of function words changes, or how ``languages.py`` tells languages: a program says that it was
compiled with another."""
_BETWEEN_WORDS = re.compile(r"[ '\-]{1,2}")
Ways = dict[str, list[tuple[tuple[str, ...], str]]]
"""By first word, the rest of each phrase and the English for it, the longest first."""

Surfaces = dict[str, list[tuple[str, str]]]
"""By first character, what is looked for in a text without spaces and the English for it, the longest first."""


@cache
def _ways(language: str) -> Ways:
    found: Ways = {}
    for english, typed in read_function_words(language):
        for text in typed:
            if (words := tuple(TOKEN.findall(text))) and not text.isdigit():
                found.setdefault(words[0], []).append((words[1:], english))
    for ways in found.values():
        ways.sort(key=lambda way: -len(way[0]))
    return found


@cache
def _surfaces(language: str) -> Surfaces:
    found: Surfaces = {}
    for english, typed in read_function_words(language):
        for text in typed:
            found.setdefault(text[0], []).append((text, english))
    for surfaces in found.values():
        surfaces.sort(key=lambda one: -len(one[0]))
    return found


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    return frozenset(languages_with_function_words())


def in_english(text: str, language: str) -> str:
    """A text in small letters with the function words of its language in English.

    Args:
        language: as ``language_of`` says.
    """
    if language not in _known():
        return text
    return _searched(text, _surfaces(language)) if language in SEARCHED else _replaced(text, _ways(language))


def _searched(text: str, surfaces: Surfaces) -> str:
    head, tail = text[:MOST_CHARACTERS], text[MOST_CHARACTERS:]
    made, place = list[str](), 0
    while place < len(head):
        starting = surfaces.get(head[place], ())
        text, english = next((one for one in starting if head.startswith(one[0], place)), (head[place], ""))
        made.append(f" {english} " if english else text)
        place += len(text)
    return " ".join("".join(made).split()) + tail


def _replaced(text: str, ways: Ways) -> str:
    tokens = list(TOKEN.finditer(text, 0, MOST_CHARACTERS))
    joined = [bool(_BETWEEN_WORDS.fullmatch(text, a.end(), b.start())) for a, b in pairwise(tokens)]
    made: list[str] = []
    done = place = 0
    while place < len(tokens):
        length, english = _longest(tokens, joined, place, ways)
        if length:
            end = tokens[place + length - 1].end()
            made += [text[done : tokens[place].start()], english]
            done = end
            if text[end : end + 1] == "'" and place + length < len(tokens):  # an elision: "l'homme"
                made.append(" ")
                done += 1
        place += length or 1
    return "".join(made) + text[done:]


def _longest(tokens: list[re.Match[str]], joined: list[bool], place: int, ways: Ways) -> tuple[int, str]:
    """How many words the longest phrase from here on has, and the English for it; (0, "") for none."""
    for rest, english in ways.get(tokens[place][0], ()):
        end = place + len(rest) + 1
        fits = end <= len(tokens) and all(joined[place : end - 1])
        if fits and all(token[0] == word for token, word in zip(tokens[place + 1 : end], rest, strict=True)):
            return len(rest) + 1, english
    return 0, ""
