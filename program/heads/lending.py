"""Rows that other domains lend to a domain with few labels.

Whether a question is a follow-up, how hard it is, what it intends and whether it needs decomposing shows in much the
same words whatever the question is about. So a domain also learns these labels from others' rows: from the shipped
domains, and from small ones that exist for nothing else (``data/domains/lenders``). All lend about the same number,
since it is their variety that helps: 34 domains with at most 100 rows each teach two unseen domains better than the
same 34 with up to 800 rows of the larger ones.

What is in scope differs between domains, but what people ask that no domain answers is much the same: the weather now,
advice, a poem, code, a price. So a domain with few rows learns relevance from others' rows, too, as these were
labelled there. A model of sentences (``closer.py``) tells such strangers of a domain by which nothing was learned with
an area under the curve of 0.84 to 0.95; with 150 of a domain's own rows beside, 0.88 to 0.93.

A shipped domain lends nothing to a copy of itself, whose other splits may be its training rows.
"""

from __future__ import annotations

import hashlib
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

LENDS_BELOW = 20_000
"""Number of own rows from which a domain borrows none."""
LABELS_BELOW = 6_000
"""Number of own rows from which heads borrow none, but only the rewriter, which needs the variety: taught by
engineering's 5,856 rows alone it wrote "!98: and in cinder?". Heads of these rows have all labels right for 621 of 895
fresh queries without what is lent, and for 628 with; those of the podcast's 8,455 rows for 479 and 474 of 611. Training
takes two thirds of the time without."""
RELEVANCE_BELOW = 2000
"""Number of own rows from which relevance is learned from these alone: ``learning._by_quota`` then moves the threshold
where strangers are rare."""
MOST = 100
"""The most rows that one domain lends, in whole conversations."""
SAME = 0.1
"""The share of a domain's queries that a lender has, too, above which the domain is taken for a copy of that lender."""


@dataclass(frozen=True)
class Lent:
    """Labelled rows of another domain, with the card that has its names.

    Attributes:
        rows: as labelled there.
    """

    card: DomainCard
    rows: tuple[LabelledRow, ...] = ()

    @cached_property
    def linker(self) -> Linker:
        """The linker of that card's names, made once, since a training needs it five times."""
        return Linker(self.card.names)


def lent_rows(rows: Sequence[LabelledRow], card: DomainCard) -> tuple[Lent, ...]:
    """The rows that other domains lend to one with these training rows; empty for one that has enough."""
    if len(rows) >= LENDS_BELOW:
        return ()
    asked = {row.query for row in rows}
    found = (_lender(folder, MOST) for folder in lending_folders() if folder.name != card.name)
    lenders = [one for one in found if one is not None and len(asked & one.asked) <= SAME * len(asked)]
    return tuple(Lent(one.card, one.rows) for one in lenders)


def lent_to_heads(rows: Sequence[LabelledRow], lent: Sequence[Lent]) -> Sequence[Lent]:
    """What of the lent rows heads learn from."""
    return lent if len(rows) < LABELS_BELOW else ()


def lends_relevance(rows: Sequence[LabelledRow], lent: Sequence[Lent]) -> bool:
    """Whether relevance is learned from the lent rows, too."""
    return bool(lent) and len(rows) < RELEVANCE_BELOW


def lending_key(rows: Sequence[LabelledRow]) -> tuple[str, ...]:
    """A key that changes with the lenders' files and the rules of lending; empty if nothing is lent.

    Files are hashed and not parsed, which takes a hundredth of the time.
    """
    if len(rows) >= LENDS_BELOW:
        return ()
    files = (path for folder in lending_folders() for path in split_files(folder).values())
    trained = (path for path in files if path.name.startswith("train"))
    hashed = (hashlib.sha256(path.read_bytes()).hexdigest() for path in trained)
    return (repr((LENDS_BELOW, LABELS_BELOW, RELEVANCE_BELOW, MOST, SAME)), *hashed)


def lending_counts(lent: Iterable[Lent]) -> dict[str, dict[str, int]]:
    """The number of rows that each domain lends, as a manifest has it under ``lent``."""
    return {one.card.name: {"rows": len(one.rows)} for one in lent}


def lending_words(counts: Mapping[str, Mapping[str, int]]) -> str:
    """How many rows were lent, as a part of a sentence; empty for none.

    Args:
        counts: the counts of each lender, as ``lending_counts`` gives them; those of older programs have more.
    """
    total = sum(one["rows"] for one in counts.values())
    return f", and {total} rows of other domains for what is alike everywhere" if total else ""


@dataclass(frozen=True)
class _Lender:
    """A lending domain: its card, the rows that it lends, and all of its queries."""

    card: DomainCard
    rows: tuple[LabelledRow, ...]
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
    lent = tuple(row for row, place in zip(rows, places, strict=True) if place <= last)
    return _Lender(read.card, lent, frozenset(row.query for row in rows))
