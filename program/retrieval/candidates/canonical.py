"""Near-duplicate queries: one canonical form, one similarity, one removal of near-duplicates."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from ...plan import QueryCandidate
from ..terms import terms

# Search operators: an exact phrase in quotation marks, and an excluded word.
_OPERATORS = re.compile(r'"[^"]+"|(?<!\S)-\w+')
_ASCII_WORD = re.compile(r"[a-z0-9]+")
# Unicode categories of signs that change what a word means: mathematics, currencies, other symbols, raised digits.
_KINDS = ("Sm", "Sc", "So", "No")
_SIGNS = frozenset("#%&@").union(c for c in map(chr, range(0x2400)) if unicodedata.category(c) in _KINDS)
_SIGN = re.compile(f"[{re.escape(''.join(sorted(_SIGNS)))}]")
_AROUND = ".,;:!?…\"'’‘“”«»()[]{}"


def canonical(query: str) -> str:
    """A query in lower case and normal width without punctuation; its operators and words with signs are appended."""
    if query.isascii():  # nearly always, and twenty times as fast
        folded = query.lower()
        return " ".join((*_ASCII_WORD.findall(folded), *_operators(folded), *_signed(folded)))
    folded = unicodedata.normalize("NFKC", query).casefold()
    kept = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in folded)
    return " ".join((*kept.split(), *_operators(folded), *_signed(query.casefold())))


def _signed(folded: str) -> list[str]:
    """The words that contain a sign: "c++" is not "c#", and "10%" not "10$"."""
    if _SIGN.search(folded) is None:
        return []
    pieces = (piece.strip(_AROUND) for piece in folded.split())
    return [piece for piece in pieces if _SIGN.search(piece) and any(map(str.isalnum, piece))]


def _operators(folded: str) -> list[str]:
    return _OPERATORS.findall(folded) if '"' in folded or "-" in folded else []


# The stages of one plan need the words of the same few texts.
@lru_cache(maxsize=64)
def token_set(query: str) -> frozenset[str]:
    """The words of a query, its operators and its words with signs; unspaced scripts give characters and pairs."""
    folded = query.casefold()
    return frozenset((*terms(query), *_operators(folded), *_signed(folded)))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Size of the intersection over that of the union; 1 for two empty sets."""
    if not a and not b:
        return 1.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


def exact(tokens: frozenset[str]) -> frozenset[str]:
    """The tokens with a digit or a sign: queries that differ in one ask for something else, however long they are."""
    there = (token for token in tokens if not token.isalpha())
    return frozenset(token for token in there if any(c.isdigit() or c in _SIGNS for c in token))


@dataclass(frozen=True)
class _Form:
    text: str
    tokens: frozenset[str]
    exact: frozenset[str]

    def repeats(self, other: _Form, threshold: float) -> bool:
        if self.text == other.text:
            return True
        if not self.tokens or self.exact != other.exact:
            return False
        return jaccard(self.tokens, other.tokens) >= threshold


@dataclass
class Distinct:
    """A collection of candidates without near-duplicates; the first of each kind stays.

    Attributes:
        threshold: token Jaccard from which two are near-duplicates.
        kept: in the order in which they came.
        removed: number of near-duplicates that were merged.
    """

    threshold: float
    kept: list[QueryCandidate] = field(default_factory=list)
    removed: int = 0
    _asked: list[str] = field(default_factory=list)

    def add(self, candidate: QueryCandidate) -> bool:
        """Keep a candidate, or merge it into the one that it repeats; returns whether it was new."""
        for i, known in enumerate(self._asked):
            if _form(candidate.query).repeats(_form(known), self.threshold):
                self.removed += 1
                if i < len(self.kept):
                    self.kept[i] = merged(self.kept[i], candidate)
                return False
        self.kept.append(candidate)
        self._asked.insert(len(self.kept) - 1, candidate.query)
        return True

    def forbid(self, queries: Iterable[str]) -> None:
        """Mark queries as already asked: a near-duplicate of one of them is not new."""
        self._asked += queries

    def room_for(self, limit: int) -> bool:
        """Whether fewer than this many are kept."""
        return len(self.kept) < limit


# Computed only when a second query has to be compared with it, which for most never happens.
@lru_cache(maxsize=64)
def _form(query: str) -> _Form:
    tokens = token_set(query)
    return _Form(canonical(query), tokens, exact(tokens))


def merged(first: QueryCandidate, second: QueryCandidate) -> QueryCandidate:
    """The first candidate, for the sources and with the tags of both. No source filter means all sources."""
    everywhere = not first.source_filter or not second.source_filter
    sources = () if everywhere else tuple(dict.fromkeys((*first.source_filter, *second.source_filter)))
    tags = tuple(dict.fromkeys((*first.tags, *second.tags)))
    if (sources, tags) == (first.source_filter, first.tags):
        return first
    return first.model_copy(update={"source_filter": sources, "tags": tags})
