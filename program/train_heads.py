"""Heads from labelled rows: which rows and which label each head learns from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from ..data.card import DomainCard
from ..data.rows import LabelledRow
from .context import clean_input
from .encoder import Encoder
from .features import Features, Seen
from .fit_head import fit_head
from .heads import Head, Heads
from .joint import fit_joint
from .linker import Linker
from .ngrams import count_grams, inverse_frequencies

Label = Callable[[LabelledRow], str | None]

# A label of None leaves the row out: only turns after the first say something about follow-ups, and
# only relevant rows about complexity.
LABELS: dict[str, Label] = {
    "is_follow_up": lambda r: _truth(r.labels.is_follow_up) if r.history else None,
    "is_relevant": lambda r: _truth(r.labels.is_relevant),
    "rejection_kind": lambda r: r.labels.rejection_kind,
    "complexity": lambda r: r.labels.complexity if r.labels.is_relevant else None,
    "intent": lambda r: r.labels.intent if r.labels.is_relevant else None,
    "needs_decomposition": lambda r: _truth(r.labels.needs_decomposition) if r.labels.is_relevant else None,
}


def train_heads(rows: Sequence[LabelledRow], card: DomainCard, encoder: Encoder, seed: int = 0) -> Heads:
    """Every head that the rows can teach; seconds on a few hundred rows."""
    linker = Linker(card.names)
    counted = [count_grams(row.labels.standalone_query, linker) for row in rows]
    # Half precision, as it is saved, so that a loaded head says exactly what the trained one says.
    features = Features(encoder, linker, inverse_frequencies(counted).astype(np.float16))
    # The matrices are small: with more threads than idle cores they take twenty times as long.
    with threadpool_limits(1):
        heads = {name: _train_one(name, label, rows, card, features, seed) for name, label in LABELS.items()}
    return Heads({name: head for name, head in heads.items() if head is not None}, features, fit_joint(rows))


def _train_one(
    name: str, label: Label, rows: Sequence[LabelledRow], card: DomainCard, features: Features, seed: int
) -> Head | None:
    used = [(row, value) for row in rows if (value := label(row)) is not None]
    if not used:
        return None
    seen = [features_of(name, row, card, features) for row, _ in used]
    return fit_head(name, seen, [value for _, value in used], [row.conversation for row, _ in used], seed)


def features_of(name: str, row: LabelledRow, card: DomainCard, features: Features) -> Seen:
    """What the head of that name is shown of a row: its turn, or its gold standalone form."""
    if name != "is_follow_up":
        return features.of_query(row.labels.standalone_query)
    clean = clean_input(row.query, row.history, row.session, card.history)
    return features.of_turn(clean.query, clean.turns)


def _truth(value: bool) -> str:
    return "true" if value else "false"
