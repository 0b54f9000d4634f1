"""Rows that other domains lend to a domain with few labels.

Whether a question is a follow-up, how hard it is, what it intends and whether it needs decomposing shows in much the
same words whatever the question is about. So a domain also learns these labels from others' rows: from the shipped
domains, and from small ones that exist for nothing else (``data/domains/lenders``). All lend about the same number,
since it is their variety that helps: 34 domains with at most 100 rows each teach two unseen domains better than the
same 34 with up to 800 rows of the larger ones.

What is in scope differs between domains. But a question that was asked in another domain is seldom in scope here,
whether or not it was in scope there. And whoever labels a domain writes few out-of-scope questions (*strangers*), while
users ask many. So others' questions are lent as strangers until strangers are a fifth of the rows.

A shipped domain lends nothing to a copy of itself, whose other splits may be its training rows.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from ...data.card import DomainCard, lending_folders
from ...data.domain import load_domain, split_files
from ...data.rows import LabelledRow
from ...errors import DataError
from ..text.linker import Linker

LENDS_BELOW = 6_000
"""Number of own rows from which a domain borrows none."""
MOST = 100
"""The most rows that one domain lends, in whole conversations."""
STRANGERS_BELOW = 2000
"""Number of own rows from which no strangers are lent: ``training._by_quota`` then moves the threshold instead."""
STRANGERS = 0.2
"""Share of strangers, lent ones included, in the rows from which relevance is learned."""
ELSEWHERE = "elsewhere"
"""The kind of rejection of a lent stranger; no card declares it, and no head learns it."""
SAME = 0.1
"""The share of a domain's queries that a lender has, too, above which the domain is taken for a copy of that lender."""


@dataclass(frozen=True)
class Lent:
    """Labelled rows of another domain, with the card that has its names.

    Attributes:
        rows: as labelled there, to learn the labels that are alike everywhere from.
        strangers: its standalone queries, in its scope or out of it, labelled here as out of scope.
    """

    card: DomainCard
    rows: tuple[LabelledRow, ...] = ()
    strangers: tuple[LabelledRow, ...] = ()

    @cached_property
    def linker(self) -> Linker:
        """The linker of that card's names, made once, since a training needs it five times."""
        return Linker(self.card.names)


def lent_rows(rows: Sequence[LabelledRow], card: DomainCard) -> tuple[Lent, ...]:
    """The rows that other domains lend to one with these training rows; empty for one that has enough."""
    few, wanted = _lacking(rows)
    if not few:
        return ()
    asked = {row.query for row in rows}
    found = (_lender(folder, MOST) for folder in lending_folders() if folder.name != card.name)
    lenders = [one for one in found if one is not None and len(asked & one.asked) <= SAME * len(asked)]
    shares = _shares([len(one.questions) for one in lenders], wanted)
    return tuple(Lent(one.card, one.rows, one.questions[:share]) for one, share in zip(lenders, shares, strict=True))


def lending_key(rows: Sequence[LabelledRow]) -> tuple[str, ...]:
    """A key that changes with the lenders' files and the rules of lending; empty if nothing is lent.

    Files are hashed and not parsed, which takes a hundredth of the time.
    """
    if not _lacking(rows)[0]:
        return ()
    files = (path for folder in lending_folders() for path in split_files(folder).values())
    trained = (path for path in files if path.name.startswith("train"))
    hashed = (hashlib.sha256(path.read_bytes()).hexdigest() for path in trained)
    return (repr((LENDS_BELOW, MOST, STRANGERS_BELOW, STRANGERS, SAME)), *hashed)


def _lacking(rows: Sequence[LabelledRow]) -> tuple[bool, int]:
    """Whether the rows are so few that others are lent, and the number of strangers that are missing."""
    known = [row.labels.is_relevant for row in rows]
    wanted = math.ceil(STRANGERS / (1 - STRANGERS) * sum(known)) - known.count(False)
    few = len(rows) < LENDS_BELOW
    return few, max(wanted, 0) if len(rows) < STRANGERS_BELOW else 0


def _shares(sizes: Sequence[int], wanted: int) -> list[int]:
    """How many of ``wanted`` items each lender gives: equal parts as far as ``sizes``, what each has, allow."""
    shares, left = [0] * len(sizes), wanted
    for done, place in enumerate(sorted(range(len(sizes)), key=lambda i: sizes[i])):
        shares[place] = min(sizes[place], math.ceil(left / (len(sizes) - done)))
        left -= shares[place]
    return shares


def lending_counts(lent: Iterable[Lent]) -> dict[str, dict[str, int]]:
    """The number of rows that each domain lends, as a manifest has it under ``lent``."""
    return {one.card.name: {"rows": len(one.rows), "strangers": len(one.strangers)} for one in lent}


def lending_words(counts: Mapping[str, Mapping[str, int]]) -> str:
    """How many rows were lent for what, as a part of a sentence; empty for none.

    Args:
        counts: the counts of each lender, as ``lending_counts`` gives them.
    """
    rows, strangers = (sum(one[kind] for one in counts.values()) for kind in ("rows", "strangers"))
    said = [f"{rows} for what is alike everywhere"] * bool(rows)
    said += [f"{strangers} for what is not its own"] * bool(strangers)
    return f", and rows of other domains: {' and '.join(said)}" if said else ""


@dataclass(frozen=True)
class _Lender:
    """A lending domain: its card, the rows that it lends, its strangers for others, and all of its queries."""

    card: DomainCard
    rows: tuple[LabelledRow, ...]
    questions: tuple[LabelledRow, ...]
    asked: frozenset[str]


@lru_cache(maxsize=32)
def _lender(folder: Path, most: int) -> _Lender | None:
    """A domain as a lender; None if the package came without labelled rows."""
    try:
        read = load_domain(folder, splits=("train",))
        rows = read.rows("train")
    except DataError:
        return None
    names = list(dict.fromkeys(row.conversation for row in rows))
    drawn = {names[i]: place for place, i in enumerate(np.random.default_rng(0).permutation(len(names)).tolist())}
    places = [drawn[row.conversation] for row in rows]
    last = sorted(places)[min(most, len(rows)) - 1]
    lent = [row for row, place in zip(rows, places, strict=True) if place <= last]
    questions = tuple(_stranger(row) for row in _both_kinds(lent))
    return _Lender(read.card, tuple(lent), questions, frozenset(row.query for row in rows))


def _both_kinds(rows: Sequence[LabelledRow]) -> list[LabelledRow]:
    """Equal numbers of a domain's in-scope and out-of-scope rows, in random order.

    On five domains that learned from none of their own strangers, the area under the curve of relevance is 0.805 with
    both kinds and 0.776 with the lenders' in-scope questions alone. With their out-of-scope questions alone it is 0.82,
    but then a fortieth of the in-domain queries is rejected.
    """
    rng = np.random.default_rng(1)
    kinds = [[row for row in rows if row.labels.is_relevant is ours] for ours in (True, False)]
    most = min(map(len, kinds)) or max(map(len, kinds))
    both = [kind[i] for kind in kinds for i in rng.permutation(len(kind))[:most].tolist()]
    return [both[i] for i in rng.permutation(len(both)).tolist()]


def _stranger(row: LabelledRow) -> LabelledRow:
    """A row of one domain, relabelled as out of scope for another."""
    query = row.labels.standalone_query
    labels = {"is_follow_up": False, "standalone_query": query, "is_relevant": False, "rejection_kind": ELSEWHERE}
    no_more = {"complexity": "simple", "intent": "out_of_scope", "needs_decomposition": False}
    return LabelledRow.model_validate(
        {"id": row.id, "conversation": row.conversation, "turn": 1, "query": query, "labels": {**labels, **no_more}}
    )
