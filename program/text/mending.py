"""Corrects typing slips: an unknown word that is one slip away from a word of the training queries is read as that.

A slip is one letter too many or too few, a wrong letter, or two that are swapped. Known words nearby are found by an
index of words with one letter deleted (Garbe, "SymSpell", 2012), where two words that are one letter apart meet. So a
known word costs one look-up, an unknown one some 10 microseconds the first time, and the very first of all 7 ms.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np

from ..heads.packed import deflated, inflated

FEWEST_TEXTS = 2
"""The least training queries that must have a word for it to be known, so that a slip of one writer is not."""
SHORTEST = 4
"""The least letters of a word that is corrected; most words of three letters are one slip away from several."""
OFTENER = 4
"""Of several words that may be meant, the most frequent is taken if the next one's rank is this many times its rank."""
SHARE = 0.5
"""The share of a text's words that must be known; otherwise it is in another language than the training queries."""
KEPT = 4096
LONG = 7
"""The least letters of a word in which any letter may be wrong, since such a word hardly has other words near it."""
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_AT = {letter: (x + y / 2, y) for y, row in enumerate(_ROWS) for x, letter in enumerate(row)}
NEAR = frozenset(a + b for a, (x, y) in _AT.items() for b, (u, v) in _AT.items() if abs(x - u) <= 1 >= abs(y - v))
"""Pairs of letters whose keys are the same or side by side on this layout; others move only some letters."""
_WORD = re.compile(r"\w+")


class Mending:
    """Corrects slips in words of texts, by the words of the training queries.

    Attributes:
        words: the known words, the most frequent first, in lower case.
    """

    def __init__(self, words: Iterable[str], is_word: Callable[[str], bool] = lambda _: False) -> None:
        """
        Args:
            words: the known words, the most frequent first.
            is_word: tells of a word that is not among them whether it is a word all the same, and so no slip.
        """
        self.words = tuple(words)
        self._known = {word: rank for rank, word in enumerate(self.words)}
        self._is_word = is_word
        self._of_word = lru_cache(maxsize=KEPT)(self._find)

    def slips(self, words: Sequence[str]) -> dict[str, str]:
        """The slips among all words of a text, given in lower case, with what was meant by each."""
        known, of_word = self._known, self._of_word
        found = {word: meant for word in words if word not in known and (meant := of_word(word))}
        if not found:
            return found
        letters = sum(word[0].isalpha() for word in words)
        return found if sum(word in known for word in words) >= SHARE * letters else {}

    def packed(self) -> np.ndarray:
        """The words as compressed UTF-8 behind a nought, which no word has; shape (bytes,), for a file."""
        return np.concatenate([np.zeros(1, np.uint8), deflated("\n".join(self.words).encode())])

    @classmethod
    def unpacked(cls, packed: np.ndarray, is_word: Callable[[str], bool] = lambda _: False) -> Mending:
        """From what ``packed`` gave; older programs have the words as they are.

        Raises:
            ValueError: the bytes are no words.
        """
        raw = packed.tobytes()
        if raw.startswith(b"\0"):
            raw = inflated(raw[1:])
        return cls(raw.decode().split("\n") if raw else (), is_word)

    @cached_property
    def _longer(self) -> dict[str, str]:
        """For each text, the known words that become it without one inner letter, separated by spaces."""
        found: dict[str, str] = {}
        for word in self.words:
            if len(word) >= SHORTEST:
                for i in range(1, len(word) - 1):
                    key = word[:i] + word[i + 1 :]
                    found[key] = f"{found[key]} {word}" if key in found else word
        return found

    def _find(self, word: str) -> str:
        """The known word of which this one is a slip; empty for none."""
        if len(word) < SHORTEST or not word.isalpha() or self._is_word(word):
            return ""
        ranks = sorted({rank for meant in self._near(word) if (rank := self._known.get(meant)) is not None})
        sure = ranks and (len(ranks) == 1 or OFTENER * (ranks[0] + 1) <= ranks[1] + 1)
        return self.words[ranks[0]] if sure else ""

    def _near(self, word: str) -> Iterator[str]:
        """Texts that may be meant by a word; not all of them are known words.

        *Swept* is one letter from *slept* and no slip of it: a wrong or extra letter is mostly from a neighbouring key.
        The first and last letters of a word are mostly right, and a word with another ending is another word. In long
        words any inner letter may be wrong. In 2,045 queries of three domains 56 words are corrected so; 240 would be
        if any word one letter away were taken.
        """
        yield from (word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1))
        yield from self._longer.get(word, "").split()
        for i in range(1, len(word) - 1):
            rest, typed = word[:i] + word[i + 1 :], word[i]
            if len(rest) >= LONG or (len(rest) >= SHORTEST and {typed + word[i - 1], typed + word[i + 1]} & NEAR):
                yield rest
            for meant in self._longer.get(rest, "").split():
                same = meant[:i] == word[:i] and meant[i + 1 :] == word[i + 1 :]
                if same and (len(meant) >= LONG or typed + meant[i] in NEAR):
                    yield meant


def learned_words(texts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The words that at least ``FEWEST_TEXTS`` texts have, the most frequent first."""
    counts = Counter(word for words in texts for word in set(words) if word.isalpha())
    enough = [(-count, word) for word, count in counts.items() if count >= FEWEST_TEXTS]
    return tuple(word for _, word in sorted(enough))


def mended(text: str, slips: Mapping[str, str]) -> str:
    """A lower-case text with its slips replaced by what was meant."""
    return _WORD.sub(lambda found: slips.get(found[0], found[0]), text)
