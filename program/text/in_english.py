"""Puts the function words of other languages into English, so that heads know the form of a question in any of them.

Labelled queries are mostly English, and static vectors know other languages badly. What a head has learned of "who ...
and what does she ..." it cannot know of "wer ... und was ... sie"; after this it reads "who ... and what ... they".
Names and the words that say what a question is about stay as they are, and so does the order of words.

A text is in the language that has more of its words among its usual function words than any other has, and than
English. Scripts that one language has, and that are written without spaces or with endings on the word, are searched
for the longest surfaces.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise

from ...data.function_words import languages_with_function_words, read_function_words
from .function_words import FUNCTION_WORDS

ENGLISH = "en"
MOST_CHARACTERS = 1000
"""No more of a text is looked at; heads see less."""
USUAL = 2
"""So many words of each line, the most usual ones, tell the language."""
FEWEST, LONG = 2, 3
"""So many words tell a language, or a single one of so many letters where none is English."""
TYPED_IN_ENGLISH = (
    "hi hey yo ok lol haha thx ty cheers ta u r ur n y k pls plz wat wut teh dat dis da wich vs w im ive dont cant"
    " whats hows s t am an per plus van set due die pot perfect content total on off my"
).split()
"""Words of English that are function words of another language, and what is typed for English ones in a chat."""
SPOKEN_BY_MOST = ("es", "pt", "fr", "de", "ru", "it", "id", "tr", "vi", "pl", "nl", "uk", "ar", "ro", "sv")
"""Of languages that have as many of a text's words, the first of these, and then by letter."""
# Vowel signs of Indian scripts, points of Hebrew and Arabic: parts of words that are no letters by themselves.
_TOKEN = re.compile("[\\w\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff]+")
_BETWEEN_WORDS = re.compile(r"[ '\-]{1,2}")
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
_SEARCHED = frozenset(language for language, _ in _SCRIPTS)

Ways = dict[str, list[tuple[tuple[str, ...], str]]]
"""By first word, the rest of each phrase and the English for it, the longest first."""

Surfaces = dict[str, list[tuple[str, str]]]
"""By first character, what is looked for in a text without spaces and the English for it, the longest first."""


@lru_cache(maxsize=1)
def _spoken_in() -> dict[str, tuple[str, ...]]:
    """The languages that have a word among their usual function words, English and then those spoken by most first."""
    rank = {language: place for place, language in enumerate(SPOKEN_BY_MOST)}
    languages = [one for one in languages_with_function_words() if one not in _SEARCHED]
    found = {word: [ENGLISH] for word in (*FUNCTION_WORDS[ENGLISH], *TYPED_IN_ENGLISH)}
    for language in sorted(languages, key=lambda one: (rank.get(one, len(rank)), one)):
        mine: dict[str, None] = {}
        for english, typed in read_function_words(language):
            for word in english.split():
                found.setdefault(word, [ENGLISH])
            mine.update(dict.fromkeys(" ".join(typed[:USUAL]).replace("'", " ").replace("-", " ").split()))
        for word in mine:
            found.setdefault(word, []).append(language)
    return {word: tuple(of) for word, of in found.items() if not word.isdigit() and (len(word) > 1 or word > "z")}


@lru_cache(maxsize=1)
def _foreign() -> frozenset[str]:
    """The words that are function words of some language and not of English."""
    return frozenset(word for word, languages in _spoken_in().items() if languages[0] != ENGLISH)


@cache
def _ways(language: str) -> Ways:
    found: Ways = {}
    for english, typed in read_function_words(language):
        for text in typed:
            if (words := tuple(_TOKEN.findall(text))) and not text.isdigit():
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


def language_of(text: str, words: Sequence[str] | None = None) -> str:
    """The language whose function words a text in small letters has most of; English where none has more.

    Args:
        words: of the text, where they are known; other scripts are read by this module's own idea of a word.
    """
    if not text.isascii():
        for language, script in _SCRIPTS:
            if script.search(text):
                return language
    if words is None or not text.isascii():
        words = _TOKEN.findall(text, 0, MOST_CHARACTERS)
    if not any(map(_foreign().__contains__, words)):  # no other language can have more of them
        return ENGLISH
    spoken_in = _spoken_in()
    known = [(word, languages) for word in words if (languages := spoken_in.get(word))]
    counts = Counter(language for _, languages in known for language in languages)
    most = max(counts.values())
    if counts[ENGLISH] == most:
        return ENGLISH
    if most < FEWEST and (counts[ENGLISH] or (len(known[0][0]) < LONG and len(words) > FEWEST)):
        return ENGLISH
    return next(language for language in counts if language != ENGLISH and counts[language] == most)


def in_english(text: str, language: str) -> str:
    """A text in small letters with the function words of its language in English.

    Args:
        language: as ``language_of`` says.
    """
    if language not in _known():
        return text
    return _searched(text, _surfaces(language)) if language in _SEARCHED else _replaced(text, _ways(language))


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
    tokens = list(_TOKEN.finditer(text, 0, MOST_CHARACTERS))
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
