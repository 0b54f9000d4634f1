"""Trains all heads of a domain from labelled rows, with its rewriter and its decomposer."""

from __future__ import annotations

from collections.abc import Sequence

from threadpoolctl import threadpool_limits

from ...data.card import DomainCard
from ...data.rows import LabelledRow
from ..decomposing.decomposer import Decomposer
from ..decomposing.fit import train_decomposer
from ..rewriting.fit import train_rewriter
from ..rewriting.rewriter import Rewriter
from ..text.greetings import greetings_of
from ..text.linker import Linker
from ..threads import in_thread
from .closer_training import read_sentences, train_closer
from .encoder import Encoder
from .features import Features, learned_features
from .file import compact
from .heads import Heads
from .joint import fit_joint
from .learning import LABELS, Learning, condensed_alike, train_looks, train_one, train_typed
from .lending import Lent, lent_to_heads
from .looks import WORDS
from .source_heads import train_source_heads

RECIPE = "42"
"""Version of the training recipe; another number makes heads on disk be trained again."""


ROWS_A_MINUTE = 4000
"""Number of rows, lent ones too, that heads are trained from in a minute, where two cores have nothing else to do."""


def training_time(rows: Sequence[LabelledRow], lent: Sequence[Lent]) -> str:
    """The end of a sentence on about how long heads of these rows take; empty for less than a minute."""
    minutes = round((len(rows) + sum(len(one.rows) for one in lent)) / ROWS_A_MINUTE)
    return f": about {minutes} to {2 * minutes} minutes" if minutes else ""


def train_heads(
    rows: Sequence[LabelledRow],
    card: DomainCard,
    encoder: Encoder,
    seed: int = 0,
    lent: Sequence[Lent] = (),
    closer: Encoder | None = None,
) -> Heads:
    """Train every head that the rows can teach, the rewriter and the decomposer; takes seconds on a few hundred rows.

    Args:
        lent: rows of other domains. The rewriter learns from them, and where the domain has few rows the heads in
            ``ALIKE``, too, as from its own, and with still fewer relevance. For other labels there is a head only if
            the domain's own rows teach one.
        closer: the encoder of the heads that look closer (``closer_training.py``); without it there are none.
    """
    others = lent_to_heads(rows, lent)
    features = features_from(rows, card, encoder, others)
    features.remember(None, None)  # every head reads the same texts
    # With more threads than idle cores, matrices take twenty times as long. So each step has one thread, and what needs
    # no results of others goes on beside.
    with threadpool_limits(1):
        learning = Learning(rows, card, features, seed, others)
        reading = in_thread(lambda: read_sentences(rows, card, features, closer, others)) if closer else None
        looks = train_looks(learning)
        alone = {name: train_one(name, learning) for name in LABELS}
        learning.forget()
        fits = {**alone, **train_typed(learning, alone), **looks}
        heads = condensed_alike({name: fitted for name, fitted in fits.items() if fitted is not None})
        sentences = reading.result() if reading is not None else None
        writing = in_thread(lambda: _rewriter_and_decomposer(rows, card, features.linker, encoder, seed, lent))
        words = looks.get(WORDS)
        look = train_closer(rows, card, features, sentences, seed, others, words) if sentences is not None else None
        closer_sources = look is not None and look.sources  # they answer alone
        sources = {} if closer_sources else train_source_heads(rows, card, features, seed)
        rewriter, decomposer = writing.result()
    features.remember()
    every = {**heads, **{name: head for name, head in sources.items() if head is not None}}
    kept = compact(every, features.vector_length)
    taught = [*rows, *(row for one in others for row in one.rows)]
    return Heads(kept, features, fit_joint(taught), greetings_of(card.greetings), rewriter, decomposer, look)


def _rewriter_and_decomposer(
    rows: Sequence[LabelledRow], card: DomainCard, linker: Linker, encoder: Encoder, seed: int, lent: Sequence[Lent]
) -> tuple[Rewriter | None, Decomposer | None]:
    rewriter = train_rewriter(rows, card, linker, seed, lent)
    return rewriter, train_decomposer(rows, card, linker, encoder, seed, lent)


def features_from(
    rows: Sequence[LabelledRow], card: DomainCard, encoder: Encoder, lent: Sequence[Lent] = ()
) -> Features:
    """The features for heads that learn from these rows and from lent ones."""
    domains = ((rows, Linker(card.names)), *((one.rows, one.linker) for one in lent))
    read = [([row.labels.standalone_query for row in of], linker) for of, linker in domains]
    (texts, linker), *others = read
    return learned_features(texts, encoder, linker, others)
