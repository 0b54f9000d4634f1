"""Fits the choice of an edit to labelled follow-ups and their standalone forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...data.card import DomainCard
from ...data.rows import LabelledRow
from ..context import clean_row
from ..heads.lending import Lent
from ..heads.log_linear import fitted
from ..text.linker import Linker
from ..text.words import is_unspaced, words_of
from .edits import Edit, edits
from .lexicon import Lexicon, learned_lexicon
from .rewriter import Rewriter

MIN_FOLLOW_UPS = 30
"""The least labelled follow-ups to learn from; with fewer there is no rewriter, and queries are left as typed."""
OTHERS = 80
"""The most edits of a row that are learned from beside the best ones; all of them would take four times as long."""
LEAST_ROWS = 8
"""The least rows that must have a trait for it to get a weight."""
RIDGE = 0.002
SHARPNESS = 15.0
"""How strongly the target prefers edits with a better F1: one with 1 has e^15 times the probability of one with 0."""
RIGHT_F1, RIGHT_BONUS = 0.8, 0.5
KEPT_PIECES = 4096
"""How many pieces of texts are kept: those of a few conversations, since only edits of one query share theirs."""


class Lesson(NamedTuple):
    """The edits of one follow-up, and how good each is, shape (edits,)."""

    edits: list[Edit]
    merit: np.ndarray


def train_rewriter(
    rows: Sequence[LabelledRow], card: DomainCard, linker: Linker, seed: int = 0, lent: Sequence[Lent] = ()
) -> Rewriter | None:
    """A rewriter learned from the follow-ups among ``rows`` and those that are lent; None if they are too few.

    Args:
        lent: rows of other domains, since words point back in the same way everywhere. A weight is the sum of one that
            all follow-ups share and one of the domain's own.
    """
    taught = [(row, card, linker) for row in rows]
    for one in lent:
        taught += [(row, one.card, one.linker) for row in one.rows]
    follow_ups = [one for one in taught if one[0].labels.is_follow_up]
    if len(follow_ups) < MIN_FOLLOW_UPS:
        return None
    lexicon, rng = learned_lexicon([rows, *(one.rows for one in lent)]), np.random.default_rng(seed)
    lessons = [_lesson(row, card, lexicon, linker, rng) for row, card, linker in follow_ups]
    return Rewriter(lexicon, _weights(lessons, [of is card for _, of, _ in follow_ups]))


def _lesson(row: LabelledRow, card: DomainCard, lexicon: Lexicon, linker: Linker, rng: np.random.Generator) -> Lesson:
    clean = clean_row(row, card)
    found = edits(clean.query, clean.turns, clean.active_entity, lexicon, linker)
    merit = np.array(merits([edit.text for edit in found], row.labels.standalone_query))
    best = np.flatnonzero(merit >= merit.max() - 0.1)
    others = rng.permutation(len(found))[:OTHERS]
    kept = np.unique(np.concatenate([[0], best, others]))
    return Lesson([found[place] for place in kept.tolist()], merit[kept])


def merits(texts: Sequence[str], gold: str) -> list[float]:
    """The token F1 of each text with the gold form, plus a bonus for those that count as right."""
    wanted = _bag(gold)
    return [f1 + RIGHT_BONUS * (f1 >= RIGHT_F1) for f1 in (_f1(text, wanted) for text in texts)]


def _bag(text: str) -> Counter[str]:
    """The words of a text, as often as it has them; in scripts without spaces, its signs."""
    return Counter(_said(text))


def _said(text: str) -> list[str]:
    return [said for piece in text.split() for said in _of_piece(piece)]


@lru_cache(maxsize=KEPT_PIECES)
def _of_piece(piece: str) -> tuple[str, ...]:
    """The words of what stands between two spaces. The edits of a query are made of the same few pieces."""
    spoken = (word.low for word in words_of(piece) if word.spoken)
    return tuple(part for word in spoken for part in (word if is_unspaced(word) else (word,)))


def _f1(text: str, wanted: Counter[str]) -> float:
    said, left, shared = _said(text), dict(wanted), 0
    for word in said:
        if found := left.get(word, 0):
            left[word] = found - 1
            shared += 1
    total = len(said) + wanted.total()
    return 2 * shared / total if total else 1.0


def _weights(lessons: Sequence[Lesson], own: Sequence[bool]) -> dict[str, float]:
    """The weights of traits, fitted to targets in proportion to exp(``SHARPNESS`` * merit) within each row."""
    traits = [[edit.traits() for edit in lesson.edits] for lesson in lessons]
    return fitted(traits, [lesson.merit for lesson in lessons], SHARPNESS, LEAST_ROWS, RIDGE, own)
