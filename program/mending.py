"""Slips of the fingers: an unknown word that is one slip away from a word of the training queries is read as that.

A slip is a letter too many or too few, another letter, or two that changed places. Which known words are near is found
by keyed deletes (Garbe, "SymSpell", 2012): two words one slip apart have a text in common that either is, or that is
left of it without one of its letters. So a text of known words costs a look into a set for each word, and an unknown
word some deletes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np

FEWEST_TEXTS = 2
"""Training queries that have a word that is known: a slip of one of their writers is none."""
SHORTEST = 4
"""Letters of a word that is mended; most words of three letters are a slip away from several."""
OFTENER = 4
"""Of several words that may be meant, one is if it is so many times as frequent, by rank, as the next."""
SHARE = 0.5
"""Of the words of a text that must be known, for its language to be that of the training queries."""
KEPT = 4096
LONG = 7
"""Letters of a word in which any letter may be wrong: hardly another word is so near."""
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
"""Keys as they are laid; other layouts change places of some."""
_WORD = re.compile(r"\w+")


class Mending:
    """Mends words of texts by those of the training queries.

    Attributes:
        words: known, the most frequent first, in small letters.
    """

    def __init__(self, words: Iterable[str], is_word: Callable[[str], bool] = lambda _: False) -> None:
        """
        Args:
            words: known, the most frequent first.
            is_word: whether a word that is not among them is none the less no slip.
        """
        self.words = tuple(words)
        self._known = frozenset(self.words)
        self._is_word = is_word
        self._of_word = lru_cache(maxsize=KEPT)(self._find)

    def slips(self, words: Sequence[str]) -> dict[str, str]:
        """Words among these that are slips, with what was meant; ``words`` are all of a text, in small letters."""
        unknown = [word for word in words if word not in self._known]
        if not unknown:
            return {}
        letters = sum(word[0].isalpha() for word in words)
        if len(words) - len(unknown) < SHARE * letters:
            return {}
        return {word: meant for word in unknown if (meant := self._of_word(word))}

    def packed(self) -> np.ndarray:
        """The words as UTF-8, shape (bytes,), for a file."""
        return np.frombuffer("\n".join(self.words).encode(), dtype=np.uint8)

    @classmethod
    def unpacked(cls, packed: np.ndarray, is_word: Callable[[str], bool] = lambda _: False) -> Mending:
        """From what ``packed`` gave."""
        return cls(packed.tobytes().decode().split("\n") if len(packed) else (), is_word)

    @cached_property
    def _ranks(self) -> dict[str, list[int]]:
        """Ranks of the words that each text is, or is left of without one letter; made when a slip first needs it."""
        found: dict[str, list[int]] = {}
        for rank, word in enumerate(self.words):
            if len(word) >= SHORTEST:
                for key in (word, *_deletes(word)):
                    found.setdefault(key, []).append(rank)
        return found

    def _find(self, word: str) -> str:
        """The known word of which this one is a slip; empty for none."""
        if len(word) < SHORTEST or not word.isalpha() or self._is_word(word):
            return ""
        keys = (word, *_deletes(word))
        ranks = sorted({rank for key in keys for rank in self._ranks.get(key, ()) if _slipped(word, self.words[rank])})
        sure = ranks and (len(ranks) == 1 or OFTENER * (ranks[0] + 1) <= ranks[1] + 1)
        return self.words[ranks[0]] if sure else ""


def learned_words(texts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The words that enough of some texts have, the most frequent first."""
    counts = Counter(word for words in texts for word in set(words) if word.isalpha())
    enough = [(-count, word) for word, count in counts.items() if count >= FEWEST_TEXTS]
    return tuple(word for _, word in sorted(enough))


def mended(text: str, slips: Mapping[str, str]) -> str:
    """A text in small letters with what was meant in place of its slips."""
    return _WORD.sub(lambda found: slips.get(found[0], found[0]), text)


def _deletes(word: str) -> set[str]:
    return {word[:i] + word[i + 1 :] for i in range(len(word))}


def _slipped(word: str, meant: str) -> bool:
    """Whether a word is likely a slip of another, with which it has such a text in common.

    *Swept* is one letter off *slept* and no slip: what is typed for a letter, or beside one, is mostly a key beside it.
    Both ends of a word are mostly right, and another word is one that ends otherwise. In long words any letter may be
    wrong. Of 2,045 queries of three domains, 56 words are mended so, and 240 if each that is one letter off is.
    """
    start = _alike(word, meant)
    end = _alike(word[start:][::-1], meant[start:][::-1])
    typed, wanted = word[start : len(word) - end], meant[start : len(meant) - end]
    if len(typed) == 2 and typed == wanted[::-1]:
        return True
    if max(len(typed), len(wanted)) > 1 or not start or not end:
        return False
    beside = wanted or (word[start - 1], word[start + 1]) if typed else ()
    return not typed or len(meant) >= LONG or any(typed + key in _NEAR for key in beside)


def _alike(one: str, other: str) -> int:
    """How many letters two words begin with alike."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _near_keys() -> frozenset[str]:
    """Pairs of letters that are the same or stand side by side or one below the other."""
    at = {letter: (x + y / 2, y) for y, row in enumerate(_ROWS) for x, letter in enumerate(row)}
    return frozenset(a + b for a, (x, y) in at.items() for b, (u, v) in at.items() if abs(x - u) <= 1 >= abs(y - v))


_NEAR = _near_keys()
