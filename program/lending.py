"""Rows that the shipped domains lend to one with few labels.

Whether a question follows up, how hard it is, what it intends and whether it has to be taken apart is said much the
same whatever it is about; whether it is ours is not. So a domain with few labelled rows learns the former from theirs,
too. A shipped domain lends nothing to a copy of itself, whose other splits may be its training rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..data.card import DomainCard, shipped_domains
from ..data.domain import load_domain, rows_hash
from ..data.rows import LabelledRow
from ..errors import DataError

LENDS_BELOW = 2000
"""Rows from which on a domain needs no others'."""
MOST = 800
"""Rows of one domain at most, of whole conversations."""
SAME = 0.1
"""Of a domain's queries that are a shipped domain's, too, from which on it is taken for a copy of that."""


@dataclass(frozen=True)
class Lent:
    """Labelled rows of another domain, and the card that says what its names are."""

    card: DomainCard
    rows: tuple[LabelledRow, ...]


def lent_rows(rows: Sequence[LabelledRow], card: DomainCard) -> tuple[Lent, ...]:
    """What the shipped domains lend to a domain with these training rows; nothing to one that has enough."""
    if not rows or len(rows) >= LENDS_BELOW:
        return ()
    asked = {row.query for row in rows}
    lenders = (_lender(name, MOST) for name in shipped_domains() if name != card.name)
    return tuple(one.lent for one in lenders if one is not None and len(asked & one.asked) <= SAME * len(asked))


def lending_print(lent: Iterable[Lent]) -> list[str]:
    """What tells these lent rows from others, a text a domain."""
    return [f"{one.card.name}:{rows_hash(one.rows)}" for one in lent]


def lending_counts(lent: Iterable[Lent]) -> dict[str, dict[str, int]]:
    """How many rows each domain lends, as a program's manifest has it; empty for none."""
    counts = {one.card.name: len(one.rows) for one in lent}
    return {"lent": counts} if counts else {}


def lending_words(lent: Iterable[Lent]) -> str:
    """Who lends how many, in words that go on; empty for none."""
    said = [f"{len(one.rows)} of {one.card.name}" for one in lent]
    return f", with rows of others for what is alike everywhere ({', '.join(said)})" if said else ""


@dataclass(frozen=True)
class _Lender:
    """A shipped domain: what it lends, and all queries of its training rows."""

    lent: Lent
    asked: frozenset[str]


@lru_cache(maxsize=8)
def _lender(name: str, most: int) -> _Lender | None:
    """A shipped domain as it lends to whoever asks; None where the package came without labelled rows."""
    try:
        read = load_domain(name, splits=("train",))
        rows = read.rows("train")
    except DataError:
        return None
    names = list(dict.fromkeys(row.conversation for row in rows))
    drawn = {names[i]: place for place, i in enumerate(np.random.default_rng(0).permutation(len(names)).tolist())}
    places = np.array([drawn[row.conversation] for row in rows])
    last = int(np.sort(places)[min(most, len(rows)) - 1])
    lent = Lent(read.card, tuple(row for row, place in zip(rows, places.tolist(), strict=True) if place <= last))
    return _Lender(lent, frozenset(row.query for row in rows))
