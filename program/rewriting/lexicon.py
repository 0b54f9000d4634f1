"""Word statistics of labelled follow-ups: which words they replace, and which words join what they add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from ...data.rows import LabelledRow
from ..text.unspaced import pieces_of, small_words
from .likeness import Likeness
from .pointing import as_in_english

LEAST = 2
"""The least rows that must show a pointing word or a joint."""
OFTEN = 0.08
"""The share of the follow-ups with a word that must have it replaced, for it to count as pointing."""
JOINTS = 6
COMMON = 0.004
"""A word is common if its share of texts, the mean over domains, is above this, and more than three texts have it."""
LEAST_COMMON = 3
FRONT, END = "front", "end"
_MAY_BEGIN_A_NAME = frozenset("of the in to a for".split())


@dataclass(frozen=True)
class Lexicon:
    """Words of a domain's follow-ups, in lower case.

    Attributes:
        pointing: words and pairs of words that stand for something said before (*he*, *those two*).
        joints: (place, words) that come before what is added at the front or the end (*of*, *about*, nothing).
        common: words that many texts have.
    """

    pointing: frozenset[str]
    joints: tuple[tuple[str, str], ...]
    common: frozenset[str]

    @cached_property
    def ordinary(self) -> frozenset[str]:
        """The common words, and the small words of scripts without spaces, of which few labelled texts are."""
        return self.common | small_words()

    @cached_property
    def likeness(self) -> Likeness:
        """Compares names with the pointing words."""
        return Likeness(self.pointing)


def learned_lexicon(domains: Sequence[Sequence[LabelledRow]]) -> Lexicon:
    """The common words of all rows, and the pointing words and joints of the follow-ups among them.

    Args:
        domains: the rows of each domain. A word is common only if several domains have it: if a domain's own rows alone
            counted, a guest of the podcast would be common, and could not be what is new in "and Dario?".
    """
    rows = [row for of in domains for row in of]
    replaced, having, joints = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    for row in rows:
        if row.labels.is_follow_up:
            _count(row, replaced, having, joints)
    pointing = {
        words
        for words, count in replaced.items()
        if count >= LEAST and (" " in words or count >= OFTEN * having[words]) and words[0].isalnum()
    }
    enough = [joint for joint, count in joints.most_common(JOINTS) if count >= LEAST]
    return Lexicon(frozenset(pointing), tuple(enough), _common(domains))


def _count(row: LabelledRow, replaced: Counter[str], having: Counter[str], joints: Counter[tuple[str, str]]) -> None:
    before = {word.low for turn in row.history for word in pieces_of(turn.content)}
    typed = as_in_english(pieces_of(row.query), row.query)
    gold = [word.low for word in pieces_of(row.labels.standalone_query)]
    having.update(set(typed))
    for kind, start, end, first, last in SequenceMatcher(None, typed, gold, autojunk=False).get_opcodes():
        new = gold[first:last]
        if kind == "replace" and end - start <= 2 and any(_of(before, word) for word in new):
            replaced[" ".join(typed[start:end])] += 1
        elif kind == "insert" and (start == 0 or start >= len(typed) - 1):
            joint = _joint(new, before)
            if joint is not None:
                joints[FRONT if start == 0 else END, joint] += 1


def _of(before: set[str], word: str) -> bool:
    return word in before or word.removesuffix("'s").removesuffix("’s") in before


def _joint(new: Sequence[str], before: set[str]) -> str | None:
    """The words before the first one that was said before (``before``), at most two; None if there are more."""
    for place, word in enumerate(new[:3]):
        if word in before and word not in _MAY_BEGIN_A_NAME:
            return " ".join(new[:place])
    return None


def _common(domains: Iterable[Iterable[LabelledRow]]) -> frozenset[str]:
    counts, shares, parts = Counter[str](), dict[str, float](), 0
    for rows in domains:
        having, total = Counter[str](), 0
        for row in rows:
            for text in (row.query, *(turn.content for turn in row.history)):
                having.update({word.low for word in pieces_of(text)})
                total += 1
        counts.update(having)
        for word, count in having.items():
            shares[word] = shares.get(word, 0.0) + count / total
        parts += total > 0
    return frozenset(word for word, share in shares.items() if share > COMMON * parts and counts[word] > LEAST_COMMON)
