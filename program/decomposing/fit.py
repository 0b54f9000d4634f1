"""Fits the choice among a query's cuts, from labelled queries and their sub-queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...data.card import DomainCard
from ...data.rows import LabelledRow
from ...signatures.types import SubQuery
from ..heads.encoder import Encoder
from ..heads.lending import Lent
from ..heads.log_linear import fitted
from ..retrieval.placeholders import REFERENCE
from ..text.asking_words import denials
from ..text.linker import Linker
from ..text.words import words_of
from .analogies import Written, learned_analogies
from .cuts import cuts
from .decomposer import Decomposer, loses, may_be
from .lexicon import learned
from .reading import Reading

MIN_DECOMPOSED = 30
"""The fewest labelled decompositions to learn from; with less, queries are searched whole."""
OWN_DECOMPOSED = 100
"""Labelled decompositions of its own from which on a domain learns nothing more from those of other domains."""
MOST_READ, MOST_CUTS = 200, 100
"""Per row: how many cuts, drawn at random, are compared with gold, and how many of these are learned from beside the
best ones. Learning from all takes twice as long."""
LEAST_ROWS = 6
"""A trait found in fewer rows gets no weight."""
RIDGE = 0.002
SHARPNESS = 15.0
"""How strongly the target prefers cuts of more merit: one with 1 has e^15 times the probability of one with 0."""
ALIKE = 0.8
"""The cosine from which two sub-queries ask the same, as in evaluations."""
EACH_BONUS, RIGHT_BONUS = 0.3, 0.7
"""The bonus for the share of sub-queries that ask what labelled ones do, and that for a wholly right decomposition."""
KEPT_PIECES = 4096
"""How many pieces of texts are kept: those of a few queries, since only cuts of one query share theirs."""
_NUMBER = re.compile(r"\d+")


class Lesson(NamedTuple):
    """The features of the cuts of one query, and how good each is, shape (cuts,)."""

    traits: list[list[tuple[str, float]]]
    merit: np.ndarray


def train_decomposer(
    rows: Sequence[LabelledRow],
    card: DomainCard,
    linker: Linker,
    encoder: Encoder,
    seed: int = 0,
    lent: Sequence[Lent] = (),
) -> Decomposer | None:
    """A decomposer learned from the rows with sub-queries and those that are lent; None if they are too few.

    Args:
        linker: finds the card's names.
        encoder: tells which sub-queries ask the same.
        lent: rows of other domains, since questions are joined in the same way everywhere.
    """
    taught = [(row, linker) for row in rows]
    if sum(bool(row.labels.sub_queries) for row in rows) < OWN_DECOMPOSED:
        taught += [(row, one.linker) for one in lent for row in one.rows]
    if sum(bool(row.labels.sub_queries) for row, _ in taught) < MIN_DECOMPOSED:
        return None
    lexicon, rng = learned([row for row, _ in taught]), np.random.default_rng(seed)
    made = Decomposer(lexicon, {})
    lessons = [lesson for row, names in taught for lesson in _lesson(row, made, names, encoder, rng)]
    traits, merit = [lesson.traits for lesson in lessons], [lesson.merit for lesson in lessons]
    weights = fitted(traits, merit, SHARPNESS, LEAST_ROWS, RIDGE) if lessons else {}

    def right(row: LabelledRow, parts: Written) -> bool:
        asked = [text for text, _ in parts], [set(needs) for _, needs in parts]
        return bool(merits([asked], row.labels.sub_queries, encoder)[0] > 1 + EACH_BONUS)

    analogies = learned_analogies(rows, linker, encoder, right)
    return Decomposer(lexicon, weights, analogies) if weights or analogies is not None else None


def _lesson(
    row: LabelledRow, made: Decomposer, linker: Linker, encoder: Encoder, rng: np.random.Generator
) -> Iterator[Lesson]:
    """One lesson from a row; none if it is not decomposed or cannot be cut."""
    if not row.labels.sub_queries:
        return
    query = row.labels.standalone_query
    reading = Reading(query, made.lexicon, linker)
    every = list(cuts(reading))
    some = [every[place] for place in rng.permutation(len(every))[:MOST_READ].tolist()]
    found = [
        one
        for one in ((cut, cut.texts(reading)) for cut in some)
        if may_be(query, one[1]) and not loses(reading, one[1])
    ]
    if not found:
        return
    merit = merits(
        [(texts, [{need} - {0} for need in cut.needs]) for cut, texts in found], row.labels.sub_queries, encoder
    )
    best = np.flatnonzero(merit >= merit.max() - 0.1)
    kept = np.unique(np.concatenate([best, rng.permutation(len(found))[:MOST_CUTS]])).tolist()
    seen = [found[place][0].seen for place in kept]
    yield Lesson([[(name, 1.0) for own in of for name in own.traits()] for of in seen], merit[kept])


Attempt = tuple[Sequence[str], Sequence[set[int]]]
"""Sub-queries, and for each the numbers of those whose answers it needs."""


def merits(found: Sequence[Attempt], gold: Sequence[SubQuery], encoder: Encoder) -> np.ndarray:
    """How near each decomposition is to the labelled one: the mean cosine of the best pairing, plus bonuses.

    Two sub-queries with different numbers, or that do not negate equally often, count as a cosine of 0. The result has
    shape (found,).
    """
    texts = list(dict.fromkeys(text for of, _ in found for text in of))
    column = {text: place for place, text in enumerate(texts)}
    said = [_said(text) for text in (*(one.text for one in gold), *texts)]
    vectors = encoder.encode([one.plain for one in said])
    alike = vectors[: len(gold)] @ vectors[len(gold) :].T
    wanted, there = ([one.facts for one in side] for side in (said[: len(gold)], said[len(gold) :]))
    for line, facts in zip(alike, wanted, strict=True):
        line[[other != facts for other in there]] = 0.0
    return np.array([_merit(alike[:, [column[text] for text in of]], needs, gold) for of, needs in found])


def _merit(alike: np.ndarray, needs: Sequence[set[int]], gold: Sequence[SubQuery]) -> float:
    lines, columns = linear_sum_assignment(np.where(alike >= ALIKE, 10 + alike, alike / 2), maximize=True)
    near, most = alike[lines, columns], max(alike.shape)
    right = len(needs) == len(gold) and bool((near >= ALIKE).all())
    if right:
        number = {gold[line].id: column + 1 for line, column in zip(lines.tolist(), columns.tolist(), strict=True)}
        wanted = {number[one.id]: {number[need] for need in one.depends_on} for one in gold}
        right = all(wanted[place] == need for place, need in enumerate(needs, 1))
    return float(near.sum() / most + EACH_BONUS * (near >= ALIKE).sum() / most + RIGHT_BONUS * right)


class Said(NamedTuple):
    """What of a text is compared.

    Attributes:
        plain: in lower case without signs, with "that" in the place of an answer such as ``{1}``.
        facts: its numbers, sorted, and how often it negates: mean vectors hardly show either.
    """

    plain: str
    facts: tuple[list[str], int]


def _said(text: str) -> Said:
    words, numbers, denied = list[str](), list[str](), 0
    for piece in text.split():
        of_piece = _of_piece(piece)
        words += of_piece[0]
        numbers += of_piece[1]
        denied += of_piece[2]
    return Said(" ".join(words), (sorted(numbers), denied))


@lru_cache(maxsize=KEPT_PIECES)
def _of_piece(piece: str) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """The words, the numbers and the negations of what stands between two spaces; all cuts of a query share these."""
    plain = tuple(word.low for word in words_of(REFERENCE.sub("that", piece)) if word.spoken)
    numbers = tuple(_NUMBER.findall(REFERENCE.sub("", piece)))
    return plain, numbers, denials(word.low for word in words_of(piece))
