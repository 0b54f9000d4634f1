"""Corrects typing slips: an unknown word that is one slip away from a word of the training queries is read as that.

A slip is a letter too many or too few, another letter, or two that changed places. Known words nearby are found by
keyed deletes (Garbe, "SymSpell", 2012): two words that are one letter apart become equal without it. So a text of
known words costs one look-up for each, an unknown word some 10 microseconds the first time, and the very first of all
7 ms.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
_AT = {letter: (x + y / 2, y) for y, row in enumerate(_ROWS) for x, letter in enumerate(row)}
NEAR = frozenset(a + b for a, (x, y) in _AT.items() for b, (u, v) in _AT.items() if abs(x - u) <= 1 >= abs(y - v))
"""Pairs of letters whose keys are the same or side by side; other layouts than this change places of some."""
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
        self._known = {word: rank for rank, word in enumerate(self.words)}
        self._is_word = is_word
        self._of_word = lru_cache(maxsize=KEPT)(self._find)

    def slips(self, words: Sequence[str]) -> dict[str, str]:
        """Words among these that are slips, with what was meant; ``words`` are all of a text, in small letters."""
        known, of_word = self._known, self._of_word
        found = {word: meant for word in words if word not in known and (meant := of_word(word))}
        if not found:
            return found
        letters = sum(word[0].isalpha() for word in words)
        return found if sum(word in known for word in words) >= SHARE * letters else {}

    def packed(self) -> np.ndarray:
        """The words as UTF-8, shape (bytes,), for a file."""
        return np.frombuffer("\n".join(self.words).encode(), dtype=np.uint8)

    @classmethod
    def unpacked(cls, packed: np.ndarray, is_word: Callable[[str], bool] = lambda _: False) -> Mending:
        """From what ``packed`` gave."""
        return cls(packed.tobytes().decode().split("\n") if len(packed) else (), is_word)

    @cached_property
    def _longer(self) -> dict[str, str]:
        """The words that are left as each text without one letter, with spaces between; made when first needed."""
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
        """What may be meant by a word; not all of it is known.

        *Swept* is one letter off *slept* and no slip: what is typed for a letter, or beside one, is mostly a key
        beside it. Both ends of a word are mostly right, and what ends otherwise is another word. In long words any
        letter may be wrong. Of 2,045 queries of three domains 56 words are mended so, 240 if each one letter off is.
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
    """The words that enough of some texts have, the most frequent first."""
    counts = Counter(word for words in texts for word in set(words) if word.isalpha())
    enough = [(-count, word) for word, count in counts.items() if count >= FEWEST_TEXTS]
    return tuple(word for _, word in sorted(enough))


def mended(text: str, slips: Mapping[str, str]) -> str:
    """A text in small letters with what was meant in place of its slips."""
    return _WORD.sub(lambda found: slips.get(found[0], found[0]), text)
