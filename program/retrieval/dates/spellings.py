"""Other spellings of date words: without accents, in traditional characters, with a typing slip."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache

from .slips import WORDS, double_slips, other_letters
from .words import Word, date_words, world_only

_LETTERS = str.maketrans("łøıđ", "loid")
_TRADITIONAL = str.maketrans("个这后过冲礼从开现间号当", "個這後過衝禮從開現間號當")
_PLAIN = str.maketrans("άέήίόύώϊϋΐΰёأإآٱ'țș", "αεηιουωιυιυеاااا’ţş")
"""Letters of scripts of which no word becomes another one without their marks."""
_FEWEST_FOLDED = 5
"""The least letters of a word that is also read without its accents; shorter ones are then other words (``até``)."""
_FEWEST = 6
"""The least letters of a word in which a missing or doubled letter is accepted."""
_FEWEST_SWAPPED = 5
_FEWEST_NEAR = 4
_NEAR = frozenset("month weekday unit relation since before after until between ago day ordinal".split())
_MISTYPED = frozenset({"month", "weekday"})
_MISTYPED_TOO = frozenset(
    "yesterday tomorrow quarter quarters sprint sprints month months week weeks weekend previous current"
    " since before after between until first second third gestern letzte letzten letzter woche dernier dernière semaine"
    " último última últimos pasado pasada passado passada settimana"
    " settimane scorsa scorso vorige afgelopen ostatni".split()
)
"""Other words of dates that are often typed. With all of them *domain* and *score* would be slips."""


def written_otherwise(known: Mapping[str, frozenset[Word]]) -> dict[str, frozenset[Word]]:
    """Further spellings of known words, without accents or in traditional characters, with what they stand for."""
    found: dict[str, frozenset[Word]] = {}
    for surface, words in known.items():
        for other in (_folded(surface), surface.translate(_TRADITIONAL), surface.translate(_PLAIN)):
            if other not in known and other not in WORDS:
                found[other] = found.get(other, frozenset()) | words
    return found


def _folded(surface: str) -> str:
    if len(surface) < _FEWEST_FOLDED:
        return surface
    plain = "".join(c for c in unicodedata.normalize("NFKD", surface) if not unicodedata.combining(c))
    # Words of other scripts (Chinese, Japanese, Korean, Cyrillic) stay as they are.
    return plain.translate(_LETTERS) if plain.translate(_LETTERS).isascii() else surface


def mistyped(known: Mapping[str, frozenset[Word]]) -> dict[str, str]:
    """From words with a slip to the surface that was meant: a letter left out or doubled, or two changed places.

    Only in long names is a letter another one (``spring`` is no sprint), and two slips are those of ``slips.py``. No
    slip stands that would be a surface itself or one of two that mean different things.
    """
    meant: dict[str, set[str]] = defaultdict(set)
    for slip, surface in double_slips():
        if surface in known:
            meant[slip].add(surface)
    for surface, words in known.items():
        if not surface.isalpha() or ord(surface[0]) >= 0x250 or surface in _without_slips():
            continue
        for slip in other_letters(surface, words):
            meant[slip].add(surface)
        if surface not in _MISTYPED_TOO and not _MISTYPED & {word.kind for word in words}:
            continue
        slips = [*_doubled(surface, thrice=len(surface) < _FEWEST)] if len(surface) > 3 else []
        slips += [*_too_few(surface)] if len(surface) >= _FEWEST else []
        slips += [*_swapped(surface)] if len(surface) >= _FEWEST_SWAPPED else []
        for slip in slips:
            meant[slip].add(surface)
    return {
        slip: min(surfaces)
        for slip, surfaces in meant.items()
        if slip not in known and slip not in WORDS and len({known[surface] for surface in surfaces}) == 1
    }


@lru_cache(maxsize=1)
def _without_slips() -> frozenset[str]:
    """Words of languages in which nobody has looked whether a slip of them is another word."""
    return frozenset(one for surface in world_only() for one in (surface, _folded(surface)))


@lru_cache(maxsize=1)
def _may_be_meant() -> dict[str, frozenset[Word]]:
    """The date words that a possible slip is compared with."""
    return {
        surface: words
        for surface, words in date_words().items()
        if len(surface) >= _FEWEST_NEAR - 1 and surface.isalpha() and any(word.kind in _NEAR for word in words)
    }


@lru_cache(maxsize=256)
def nearly(word: str) -> str | None:
    """The date word that a word is one slip away from (*dyas*, *sice*); None where there is none, or several.

    This is only for phrases given as dates: in a text too many words are near one (*domain*, *score*).
    """
    from rapidfuzz.distance import OSA

    if len(word) < _FEWEST_NEAR or not word.isalpha() or not word[0].isascii():
        return None
    known = _may_be_meant()
    near = [each for each in known if each[0] == word[0] and OSA.distance(word, each, score_cutoff=1) == 1]
    near = [surface for surface in near if word != f"{surface}s"]  # "Montags" means every Monday and is no slip
    near = [surface for surface in near if sorted(surface) == sorted(word)] or near
    return near[0] if near and len({known[surface] for surface in near}) == 1 else None


def _too_few(word: str) -> Iterator[str]:
    yield from (word[:i] + word[i + 1 :] for i in range(1, len(word)))


def _doubled(word: str, *, thrice: bool) -> Iterator[str]:
    """The word with one letter doubled; with ``thrice``, only letters that are doubled already."""
    for i in range(len(word)):
        if not thrice or word[i] in (word[i - 1 : i], word[i + 1 : i + 2]):
            yield word[: i + 1] + word[i:]


def _swapped(word: str) -> Iterator[str]:
    for i in range(1, len(word) - 1):
        yield word[:i] + word[i + 1] + word[i] + word[i + 2 :]
