"""Trains the heads that look closer: for relevance with its looks, for the other labels, follow-ups and sources.

They learn from the same rows as the first heads, with vectors of whole sentences along the directions in which the
rows' vectors differ (``narrowed.py``).
"""

from __future__ import annotations

from collections.abc import Sequence

from ...data.card import DomainCard
from ...data.rows import LabelledRow
from .closer import RELEVANT
from .closer_features import CloserFeatures
from .encoder import Encoder
from .features import Features
from .file import compact
from .fit_head import Fitted
from .heads import Heads
from .joint import COMPLEXITY_OUTPUTS
from .learning import (
    FOLLOW_UP,
    LABELS,
    NO_GRAMS,
    Learning,
    Taught,
    as_typed,
    condensed_alike,
    train_follow_up,
    train_looks,
    train_one,
    train_typed,
)
from .lending import Lent
from .looks import KERNELS, MEANING, WORDS, seen_closer
from .narrowed import Narrowed, Remembering, learned_axes
from .source_heads import train_source_heads


def read_sentences(
    rows: Sequence[LabelledRow], card: DomainCard, first: Features, encoder: Encoder, lent: Sequence[Lent] = ()
) -> Remembering:
    """Read every text that the heads learn from once, all of them together: half of the time of their training.

    Args:
        first: the features of the first heads.
        encoder: what reads a whole sentence.
    """
    remembering = Remembering(encoder)
    taught = Learning(rows, card, CloserFeatures(first, remembering, written_out=False), lent=lent)
    remembering.encode(_texts(taught))
    return remembering


def train_closer(
    rows: Sequence[LabelledRow],
    card: DomainCard,
    first: Features,
    sentences: Remembering,
    seed: int = 0,
    lent: Sequence[Lent] = (),
    words: Fitted | None = None,
) -> Heads | None:
    """Train the heads that look closer, see ``closer.py``; None if the rows cannot teach them.

    Args:
        first: the features of the first heads.
        sentences: what has read the rows' texts.
        words: the first heads' look at words, which is asked here, too (``looks.seen_closer``).
    """
    axes = learned_axes(sentences.known, seed)
    if axes is None:
        return None
    seen = CloserFeatures(first, Narrowed(sentences, axes), written_out=False)
    fits = _fits(Learning(rows, card, seen, seed, lent), words)
    features = CloserFeatures(first, Narrowed(sentences.encoder, axes))
    if not fits:
        return None
    sources = train_source_heads(rows, card, seen, seed)
    known = {name: head for name, head in sources.items() if head is not None}
    kept = compact({**condensed_alike(fits), **known}, features.vector_length)
    if words is not None and MEANING in kept:
        kept[WORDS] = seen_closer(compact({WORDS: words.head}, first.vector_length)[WORDS], kept[MEANING])
    return Heads(kept, features)


def _fits(learning: Learning, words: Fitted | None) -> dict[str, Fitted]:
    looks = train_looks(learning, words)
    relevance = {RELEVANT: train_one(RELEVANT, learning)} if len(looks) == len(KERNELS) else {}
    # What these heads say is pooled with what the first ones say, who see n-grams. Kinds of rejection, of which there
    # are many, are left to the first ones: weights for them would take 0.08 MB.
    alone = {name: learning.fit(name, LABELS[name], [NO_GRAMS]) for name in COMPLEXITY_OUTPUTS}
    typed = train_typed(learning, {**dict.fromkeys(LABELS), **alone})
    learning.forget()
    fits = {**relevance, **alone, FOLLOW_UP: train_follow_up(learning), **typed, **looks}
    trained_before = {WORDS} if words is not None else set[str]()
    return {name: fitted for name, fitted in fits.items() if fitted is not None and name not in trained_before}


def _texts(learning: Learning) -> list[str]:
    """Every text whose vector the heads will see, each once: standalone forms, and turns as typed."""
    found: dict[str, None] = {}
    for one in learning.taught:
        assert isinstance(one.features, CloserFeatures), "these features were made above"
        found[one.features.texts(one.row.labels.standalone_query)[0]] = None
        found |= dict.fromkeys(one.features.texts(_typed(one)))
    return list(found)


def _typed(one: Taught) -> str:
    return as_typed(one.row, one.card).labels.standalone_query
