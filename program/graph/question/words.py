"""Folds texts into the words that linking and ranking compare.

Folding removes what people leave out when they type: case, diacritics and punctuation. "Sjögren" and "sjogren" are then
the same, and "Crohn's disease" and "crohns DISEASE" similar enough for the fuzzy search. Scripts without spaces are
read character by character, so that a name is found inside a sentence, too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

CODE = re.compile(r"(?=.*[a-z])(?=.*[A-Z])[A-Za-z]{2,6}$")
CONTRACTED = frozenset("don doesn didn isn aren wasn weren won can couldn wouldn shouldn hasn haven hadn ain".split())
"""What stands before the "t" of contracted English negations, folded: "doesn" of "doesn't"."""
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W\d_]+")


@dataclass(frozen=True)
class Word:
    """One word of a text: folded, and where it stands in the text."""

    text: str
    start: int
    end: int


@lru_cache(maxsize=1024)
def words_of(text: str) -> tuple[Word, ...]:
    """The words of a text in order, folded.

    Some twenty readers of a question ask for its words; on Hetionet that took a millisecond of every plan.
    """
    found: list[Word] = []
    letters: list[str] = []
    begun = 0
    for place, sign in enumerate(text):
        folded = _fold_sign(sign)
        if folded is None:  # a diacritic of the letter before it
            continue
        if not folded:
            _close(found, letters, begun, place)
        for letter in folded:
            if _alone(letter):  # one sign may give a figure and such a letter: ㋀ (January) is "1月"
                _close(found, letters, begun, max(place, begun + 1))
                found.append(Word(letter, place, place + 1))
            else:
                begun = begun if letters else place
                letters.append(letter)
    _close(found, letters, begun, len(text))
    return tuple(found)


def fold(text: str) -> str:
    """A text as its folded words with single spaces."""
    return " ".join(folded_words(text))


def is_whole_in(folded: str, said: str) -> bool:
    """Whether folded words stand as whole words in ``said``, in singular or plural.

    ``said`` is a folded text with a space before and after it.
    """
    return f" {folded} " in said or f" {folded}s " in said


def folded_words(text: str) -> list[str]:
    """The texts of ``words_of`` without their places, five times as fast; indexes of names are built with it."""
    return text.translate(_FOLDED).split()


def spelled_out(words: Sequence[str]) -> list[str]:
    """Folded words with the "t" of "doesn't" and the like replaced by "not"."""
    pairs = zip(["", *words], words, strict=False)
    return ["not" if word == "t" and before in CONTRACTED else word for before, word in pairs]


def _close(found: list[Word], letters: list[str], begun: int, end: int) -> None:
    if letters:
        found.append(Word("".join(letters), begun, end))
        letters.clear()


@lru_cache(maxsize=4096)
def _fold_sign(sign: str) -> str | None:
    """A letter or digit without case and diacritics; empty for what separates words; None for a diacritic by itself.

    A vowel sign of an Indian script is kept, since people do not leave it out: without it खांसी (cough) would be खास
    (special).
    """
    if unicodedata.category(sign)[0] == "M":
        return sign if "VOWEL SIGN" in unicodedata.name(sign, "") and not _alone(sign) else None
    plain = unicodedata.normalize("NFKD", sign).casefold()
    return "".join(c for c in plain if unicodedata.category(c)[0] in "LN")


def stands_alone(word: str) -> bool:
    """Whether a folded word is a single character of a script that writes words without spaces."""
    return len(word) == 1 and _alone(word)


@lru_cache(maxsize=4096)
def _alone(sign: str) -> bool:
    """Whether a character is of a script that writes words without spaces."""
    name = unicodedata.name(sign, "")
    return name.startswith(("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "IDEOGRAPHIC"))


class _Folded(dict[int, str]):
    """A table for ``str.translate``, filled as characters come: folded letters, a space, or nothing for diacritics."""

    def __missing__(self, code: int) -> str:
        folded = _fold_sign(chr(code))
        apart = "".join(f" {letter} " if _alone(letter) else letter for letter in folded or "")
        text = "" if folded is None else apart or " "
        self[code] = text
        return text


_FOLDED = _Folded()


def shared_start(word: str, other: str) -> int:
    """How many first letters two words share."""
    return next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))


def folded_name(name: str) -> list[str]:
    """The words of an identifier as `name_words` has them, folded as those of a text."""
    return [folded for word in name_words(name) for folded in folded_words(word)]


def name_words(name: str) -> tuple[str, ...]:
    """The words of an identifier: ``PARTICIPATES_GpPW`` is "participates", ``SideEffect`` "side effect".

    A short code of mixed case beside other words is the schema's own shorthand, and is left out.
    """
    parts = [part for part in re.split(r"[\W_]+", name) if part]
    plain = [part for part in parts if not CODE.match(part) or part.istitle()] if len(parts) > 1 else parts
    return tuple(piece.casefold() for part in plain or parts for piece in PARTS.findall(part))
