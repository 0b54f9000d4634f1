"""Rows that the shipped domains lend to one with few labels.

Whether a question follows up, how hard it is, what it intends and whether it has to be taken apart is said much the
same whatever it is about. So a domain with few labelled rows learns that from theirs, too. Whether a question is ours
is not; but what another domain calls its own is seldom ours, and who labels a domain writes few strangers, where users
ask many. So such a domain is lent strangers, too, until they are a fifth of its rows.

A shipped domain lends nothing to a copy of itself, whose other splits may be its training rows.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..data.card import DomainCard, domain_folder, shipped_domains
from ..data.domain import load_domain, split_files
from ..data.rows import LabelledRow
from ..errors import DataError

LENDS_BELOW = 2000
"""Rows from which on a domain needs no others'."""
MOST = 800
"""Rows of one domain at most, of whole conversations."""
STRANGERS = 0.2
"""Of the rows that relevance is learned from so many are strangers', those that are lent among them."""
ELSEWHERE = "elsewhere"
"""What a lent stranger is rejected for; no card's kind, and no head learns it."""
SAME = 0.1
"""Of a domain's queries that are a shipped domain's, too, from which on it is taken for a copy of that."""


@dataclass(frozen=True)
class Lent:
    """Labelled rows of another domain, and the card that says what its names are.

    Attributes:
        rows: as they are labelled there, for what is alike everywhere.
        strangers: its questions as they stand alone, labelled as none of ours.
    """

    card: DomainCard
    rows: tuple[LabelledRow, ...] = ()
    strangers: tuple[LabelledRow, ...] = ()


def lent_rows(rows: Sequence[LabelledRow], card: DomainCard) -> tuple[Lent, ...]:
    """What the shipped domains lend to a domain with these training rows; nothing to one that has enough, or none."""
    few, wanted = _lacking(rows)
    if not few:
        return ()
    asked = {row.query for row in rows}
    found = (_lender(name, MOST) for name in shipped_domains() if name != card.name)
    lenders = [one for one in found if one is not None and len(asked & one.asked) <= SAME * len(asked)]
    shares = _shares([len(one.questions) for one in lenders], wanted)
    return tuple(Lent(one.card, one.rows, one.questions[:share]) for one, share in zip(lenders, shares, strict=True))


def lending_key(rows: Sequence[LabelledRow]) -> tuple[str, ...]:
    """What tells what is lent to these rows from what is lent by other files or rules; empty where nothing is.

    Files are hashed and not read, which takes a hundredth of the time.
    """
    if not _lacking(rows)[0]:
        return ()
    files = (path for name in shipped_domains() for path in split_files(domain_folder(name)).values())
    trained = (path for path in files if path.name.startswith("train"))
    hashed = (hashlib.sha256(path.read_bytes()).hexdigest() for path in trained)
    return (repr((LENDS_BELOW, MOST, STRANGERS, SAME)), *hashed)


def _lacking(rows: Sequence[LabelledRow]) -> tuple[bool, int]:
    """Whether rows are few, and how many strangers are missing among them if so."""
    known = [row.labels.is_relevant for row in rows]
    wanted = math.ceil(STRANGERS / (1 - STRANGERS) * sum(known)) - known.count(False)
    few = 0 < len(rows) < LENDS_BELOW
    return few, max(wanted, 0) if few else 0


def _shares(sizes: Sequence[int], wanted: int) -> list[int]:
    """As even parts of what is wanted as the sizes allow, the smallest filled first."""
    shares, left = [0] * len(sizes), wanted
    for done, place in enumerate(sorted(range(len(sizes)), key=lambda i: sizes[i])):
        shares[place] = min(sizes[place], math.ceil(left / (len(sizes) - done)))
        left -= shares[place]
    return shares


def lending_counts(lent: Iterable[Lent]) -> dict[str, dict[str, int]]:
    """How many rows each domain lends, as a program's manifest has it under ``lent``."""
    return {one.card.name: {"rows": len(one.rows), "strangers": len(one.strangers)} for one in lent}


def lending_words(counts: Mapping[str, Mapping[str, int]]) -> str:
    """How many rows are lent for what, in words that go on; empty for none.

    Args:
        counts: of each lender, as ``lending_counts`` has them.
    """
    rows, strangers = (sum(one[kind] for one in counts.values()) for kind in ("rows", "strangers"))
    said = [f"{rows} for what is alike everywhere"] * bool(rows)
    said += [f"{strangers} for what is not its own"] * bool(strangers)
    return f", and rows of other domains: {' and '.join(said)}" if said else ""


@dataclass(frozen=True)
class _Lender:
    """A shipped domain: its card, the rows that it lends, their questions as strangers, and all that it was asked."""

    card: DomainCard
    rows: tuple[LabelledRow, ...]
    questions: tuple[LabelledRow, ...]
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
    places = [drawn[row.conversation] for row in rows]
    last = sorted(places)[min(most, len(rows)) - 1]
    lent = [row for row, place in zip(rows, places, strict=True) if place <= last]
    ours = [row for row in lent if row.labels.is_relevant]
    order = np.random.default_rng(1).permutation(len(ours)).tolist()
    questions = tuple(_stranger(ours[i]) for i in order)
    return _Lender(read.card, tuple(lent), questions, frozenset(row.query for row in rows))


def _stranger(row: LabelledRow) -> LabelledRow:
    """A question of one domain as another may be asked it, and rejects it."""
    query = row.labels.standalone_query
    labels = {"is_follow_up": False, "standalone_query": query, "is_relevant": False, "rejection_kind": ELSEWHERE}
    no_more = {"complexity": "simple", "intent": "out_of_scope", "needs_decomposition": False}
    return LabelledRow.model_validate(
        {"id": row.id, "conversation": row.conversation, "turn": 1, "query": query, "labels": {**labels, **no_more}}
    )
