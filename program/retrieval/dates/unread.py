"""Finds times in a text that cannot be resolved to days: *since easter*, *over thanksgiving*, *since the outage*.

Such words are no filter, by the labels and because wrong days are worse than none. Left out without a word, they would
make an answer about all time look like one about theirs. They are told by their form: a word that bounds time and does
not begin a date, with what stands behind it; a season or a feast behind a word that places it in time; so many of a
unit that are counted as dates are not; and what is said of records alone (``events.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...text.asking_words import asking_word
from .context import stands
from .english import as_spoken
from .events import NEXT_WORD, Span, unread_of_records
from .finding import MAX_CHARACTERS, find_dates
from .forms import only_fills
from .reader import DateReader
from .stories import SEASONS
from .tokens import Token

_BOUND = frozenset("since during seit während depuis pendant sinds tijdens".split())
"""Words that bound time and stand only before nouns. *Before* also stands before what is no time (*before we close*,
*review before lunch*), *until* behind *how long*, and *nach*, *bis* or *desde* as often mean a place."""
_STANDS_FOR = frozenset("then that this it them me us you one each both too dem damals alors lors ça cela toen".split())
_PLACES = frozenset(
    "in on at over around by from before after until till since this last next every im an am zu über von vor nach seit"
    " en à au aux cet du depuis pour na em no a w på om met sinds".split()
)
"""Words before a season or a feast that place it in time."""
_ARTICLES = frozenset("the der die das dem den les la le el los il het".split())
_HAVE = frozenset("a ai as ont avons avez avait avaient avais aurait auraient ayant avoir aura auront".split())
"""Before *été* they make it a verb: *ce qui a été fusionné*."""
_ENDS = frozenset("in on at of for from with by to and or but is are was were did does do has have".split())
_LONGEST_COUNT = 7
"""The most tokens that a relation (*last*), a count and its unit span."""
_MOST = 3
"""The most words behind a bound that are reported."""


def unread_dates(text: str, records: Sequence[Span] = ()) -> tuple[str, ...]:
    """The words of a text that say when and are no date, as typed, in order, each once.

    Args:
        records: where words for records stand, of which more may be said.
    """
    text = text[:MAX_CHARACTERS]
    tokens = as_spoken(text)
    reader, known, found, i = DateReader(tokens), list[Span](), list[Span](), 0
    while i < len(tokens):
        read = reader.phrase(i)
        if read is not None and stands(tokens, i, read):
            known.append((tokens[i].start, tokens[read.end - 1].end))
            i = read.end
            continue
        end = _bounded(text, tokens, i, reader) or _placed(tokens, i) or _counted(tokens, i)
        found += [(tokens[i].start, end)] if end else []
        i = next((k for k in range(i + 1, len(tokens)) if tokens[k].start >= end), len(tokens))
    more = unread_of_records(text, records)
    found += [span for span in more if not _meets(span, known) and not _meets(span, found)]
    return tuple(dict.fromkeys(text[start:end] for start, end in sorted(found)))


def _bounded(text: str, tokens: Sequence[Token], i: int, reader: DateReader) -> int:
    """Where a bound with a noun that begins here ends; 0 if none does, or it is with a verb or a date."""
    if tokens[i].text.casefold() not in _BOUND:
        return 0
    j = i + 1
    while j < len(tokens) and only_fills(tokens[j]) and tokens[j].text.isalpha():
        j += 1
    if j >= len(tokens):
        return 0
    words = [*_words(text, tokens, j, reader)]
    if not words:
        return 0
    # To rule out "has any release since touched it", the noun must have an article, a capital or nothing behind it.
    is_noun = j > i + 1 or tokens[j].text.istitle() or (len(words) == 1 and _ends(text, words[0]))
    return words[-1] if is_noun else 0


def _words(text: str, tokens: Sequence[Token], j: int, reader: DateReader) -> Iterator[int]:
    """Where each word of the noun that begins here ends (*lock-out*, *12.1*); none if it is no noun or has a date."""
    at = tokens[j].start
    for _ in range(_MOST):
        match = NEXT_WORD.match(text, at)
        if match is None or match[1].casefold() in _ENDS | _STANDS_FOR or asking_word(match[1].casefold()) is not None:
            return
        inside = (k for k in range(j, len(tokens)) if match.start(1) <= tokens[k].start < match.end(1))
        if any(reader.phrase(k) is not None for k in inside):
            return
        yield match.end(1)
        at = match.end(1)


def _ends(text: str, at: int) -> bool:
    """Whether a noun that ends here has no more words."""
    match = NEXT_WORD.match(text, at)
    return match is None or match[1].casefold() in _ENDS


def _placed(tokens: Sequence[Token], i: int) -> int:
    """Where a season or a feast that begins here ends; 0 if none does, or no word places it in time."""
    named = any(tokens[i].value(kind) is not None for kind in ("feast", "fixed"))
    if not named and tokens[i].text.casefold() not in SEASONS:
        return 0
    before = [token.text.casefold() for token in tokens[max(0, i - 2) : i]]
    if tokens[i].text.casefold() == "été" and _HAVE.intersection(before[-1:]):
        return 0
    placed = before[-1:] if before and before[-1] not in _ARTICLES else before[:-1]
    return tokens[i].end if _PLACES.intersection(placed) else 0


def _counted(tokens: Sequence[Token], i: int) -> int:
    """Where a number of units that is no date ends: *last 1.5 weeks*, *last ten (10) days*; 0 if there is none."""
    if tokens[i].value("relation") is None:
        return 0
    counts = False
    for j in range(i + 1, min(len(tokens), i + _LONGEST_COUNT)):
        if tokens[j].value("unit") is not None:
            return tokens[j].end if counts else 0
        number = tokens[j].text.isdigit() or tokens[j].value("number") is not None
        other = (tokens[j].text.isalpha() and not tokens[j].words) or tokens[j].value("relation") is not None
        if other and not number:
            return 0
        counts = counts or number
    return 0


_FISCAL = re.compile(
    r"\b(?:(?:last|this|next|previous|current)\s+)?(?:fiscal\s+\w+|fy\s?['’]?\d{2,4})\b", re.IGNORECASE
)
_WORKDAYS = re.compile(r"\b\w+\s+(?:working|business)\s?days?\b", re.IGNORECASE)


class Assumed(NamedTuple):
    """Words of a date that are not read exactly as they are meant, why, and what was done instead."""

    said: str
    why: str
    instead: str


def assumed_dates(text: str) -> tuple[Assumed, ...]:
    """The fiscal years and working days in a text, which are read as the calendar's, or not at all."""
    read = [span for phrase in find_dates(text) for span in _spans(text, phrase)]
    fiscal = "the card does not say when a fiscal year begins", "it is taken for the calendar's"
    working = "working days are not told from others", "all days are counted"
    told = [(m, *said) for form, said in ((_FISCAL, fiscal), (_WORKDAYS, working)) for m in form.finditer(text)]
    return tuple(
        Assumed(match.group(), why, instead if _meets(match.span(), read) else "the sources are asked without it")
        for match, why, instead in told
    )


def _spans(text: str, phrase: str) -> Iterator[tuple[int, int]]:
    yield from (match.span() for match in re.finditer(re.escape(phrase), text))


def _meets(span: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in others)
