"""Finds dates in a text and resolves them to days.

A text is cut into date words (``words.py``), figures, and the rest. ``forms.py`` has the ways of naming a period, and
``inner.py`` the days and ranges within a period that is named behind them. Bounds and ranges are found in
``reader.py`` and built in ``spans.py``. Of the phrases that fit at a place the longest is taken, unless it is other
words of the same form (``context.py``). ``periods.py`` says which days a period has.

A phrase that is a date in form but not in the calendar (31 September, Q5) is found, too: leaving it out silently
would ask for more than was wanted. A phrase that somebody gives as one date is read in further ways if it is not one
as it stands: without words that say nothing (``rest.py``), written out (``written_out.py``), or as a date told twice
or with a story (``stories.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from ....data.sources import Calendar
from .context import stands
from .english import as_spoken
from .forms import Parse, only_fills
from .period_parts import Almanac
from .periods import NoSuchDateError, Period
from .reader import DateReader
from .rest import until_yesterday, with_less, without_today
from .spans import bounded, referred
from .stories import (
    contradicts,
    denies,
    is_bound_inclusive,
    made,
    sign_of,
    told_twice,
    with_a_story,
)
from .tokens import Token, tokens_of
from .written_out import taken_back, with_figure, without_brackets, written_out

MAX_CHARACTERS = 2000
LONGEST = 200
"""The most characters of a phrase that is read in other ways if it is no date as it stands; a longer one is a text."""
_UNREAD = "it cannot be read as a date"
_MAY_BE_OTHER = (_UNREAD, "weekends have no numbers", "it would end on")
"""Beginnings of the reasons why a phrase is no date that make it worth reading in other ways."""

# Words that may stand before the date in a phrase that is given as one.
_LEADING = frozenset(
    "of in on at over during within throughout for all whole entire each every am im um während pendant dans"
    " au cours ces"
    " en courant under ciągu durante nos nas na no nel nella negli nelle nell i w we op om de den för"
    " przez durant a 在 于 az bulan tháng tahun năm luna μήνα місяці місяць в у".split()
)


@dataclass(frozen=True)
class Resolved:
    """A phrase with the days that it means, or ``why`` there are none."""

    phrase: str
    period: Period | None
    why: str = ""


@lru_cache(maxsize=64)
def find_dates(text: str) -> tuple[str, ...]:
    """The phrases of a text that are dates in form, as typed, in order, each once.

    A phrase includes the words that bound it (*since Monday*, *between 1 and 10 October*), but no prepositions.
    """
    tokens = as_spoken(text[:MAX_CHARACTERS])
    reader = DateReader(tokens)
    found, i = [], 0
    while i < len(tokens):
        best = reader.phrase(i)
        if best is None and found and not (only_fills(tokens[i]) and tokens[i].value("bare_article") is None):
            best = reader.reference(i)
        if best is not None and stands(tokens, i, best):
            start = reader.with_article(i, best.kind)
            found.append(text[tokens[start].start : tokens[best.end - 1 - best.says_no_more].end].strip(" ,"))
        i = best.end if best is not None else i + 1
    return tuple(dict.fromkeys(found))


def starts_with_date(text: str) -> bool:
    """Whether a date is the first thing in a text, fillers aside."""
    tokens = as_spoken(text[:MAX_CHARACTERS])
    first = next((i for i, token in enumerate(tokens) if not only_fills(token)), None)
    if first is None:
        return False
    best = DateReader(tokens).phrase(first)
    return best is not None and stands(tokens, first, best)


def resolve_dates(phrases: Sequence[str], today: date, calendar: Calendar | None = None) -> list[Resolved]:
    """The days of each phrase, seen from a day; *the one before* refers to the phrase before it."""
    found: list[Resolved] = []
    before: Period | None = None
    for phrase in phrases:
        resolved = _resolve(phrase, Almanac(today, calendar), before)
        before = resolved.period or before
        found.append(resolved)
    return found


def _resolve(phrase: str, almanac: Almanac, before: Period | None) -> Resolved:
    phrase = phrase[:MAX_CHARACTERS]
    found = _resolve_whole(phrase, almanac, before)
    if found.period is not None or not found.why.startswith(_MAY_BE_OTHER):
        return found
    if (bare := without_today(phrase)) is not None:
        inner = _resolve_whole(bare, almanac, before).period
        try:
            return Resolved(phrase, until_yesterday(almanac, inner)) if inner is not None else found
        except NoSuchDateError as error:
            return Resolved(phrase, None, str(error))
    for less in with_less(phrase):
        if (read := _resolve_whole(less, almanac, before)).why != _UNREAD:
            return Resolved(phrase, read.period, read.why)
    if len(phrase) > LONGEST:
        return found
    again = (phrase, *written_out(phrase))
    ways = tuple(dict.fromkeys(way for one in again for way in (one, *with_less(one))))
    whole = (_resolve_whole(way, almanac, before).period for way in ways[1:])
    period = next(filter(None, whole), None)
    # Written out in full, a phrase may have a bound that it seems to lack as typed: the fullest form is tried first.
    ways = (*ways[1:][::-1], phrase)
    if taken_back(phrase) is not None:  # what was taken back is not meant, even if what is meant cannot be read
        readings: tuple[Reading, ...] = (_corrected,)
    else:
        readings = () if denies(tokens_of(phrase)) else (_told_twice, _first_clause, _told)
    for read in readings:
        period = period or next(filter(None, (read(way, almanac) for way in ways)), None)
    return Resolved(phrase, period) if period is not None else found


_BESIDE = frozenset({"relation", "before", "after", "previous", "subsequent"})
Reading = Callable[[str, Almanac], "Period | None"]
"""Another way of reading a phrase: its days, or None."""


def _corrected(phrase: str, almanac: Almanac) -> Period | None:
    """The days of a phrase in which a word is taken back (*sprint 41, sorry, 42*); None if it cannot be read.

    What is said instead must be of the same kind of period, and keeps the bound before it.
    """
    parts = taken_back(phrase)
    if parts is None:
        return None
    first, last = parts
    if (whole := with_figure(first, last)) is not None:
        return _resolve_whole(whole, almanac, None).period
    tokens, meant = tokens_of(first), _whole(_trimmed(tokens_of(last)))
    sign = tokens[0].text if tokens and sign_of(tokens[0]) is not None else ""
    before = _whole(_trimmed(tokens[1:] if sign else tokens))
    alike = before.unit == meant.unit if before is not None and meant is not None else meant is not None and not sign
    if not alike or meant is None or meant.kind.startswith("range"):
        return None
    if before is None and meant.unit != "day":
        return None
    again = last if sign_of(tokens_of(last)[0]) is not None else f"{sign} {last}"
    return _resolve_whole(again, almanac, None).period


def _told_twice(phrase: str, almanac: Almanac) -> Period | None:
    return told_twice(phrase, _phrases_of, _whole, almanac)


def _first_clause(phrase: str, almanac: Almanac) -> Period | None:
    """The days of a date with more words that do not contradict it: *sprint 30, the very first one*.

    What stands behind the date may also be a part of it: *October, the first week*.
    """
    bare, within = without_brackets(phrase)
    head, rest = (part.strip() for part in _first_comma(bare))
    said = {word.kind for token in tokens_of(rest) for word in token.words}
    says_part = said & {"unit", "edge", "weekday"} and not said & _BESIDE
    if says_part and (part := _resolve_whole(f"{rest} of {head}", almanac, None).period) is not None:
        return part
    named = within if find_dates(bare) else ""  # "summer (last year)" is not last year
    for clause, other in ((bare, within), (named, bare), (head, rest), (rest, head)):
        if is_bound_inclusive(clause, other):
            continue
        read = (_resolve_whole(less, almanac, None).period for less in (clause, *with_less(clause)))
        period = next(filter(None, read), None) if clause and other else None
        if period is not None and not contradicts(other, period, _phrases_of, almanac):
            return period
    return None


def _first_comma(phrase: str) -> tuple[str, str]:
    """What stands before the first comma or colon, and behind it."""
    head, *rest = re.split(r"[,;:，、]\s*", phrase, maxsplit=1)
    return head, rest[0] if rest else ""


def _told(phrase: str, almanac: Almanac) -> Period | None:
    story = with_a_story(phrase, _phrases_of)
    return made(story, almanac) if story is not None else None


def _resolve_whole(phrase: str, almanac: Almanac, before: Period | None) -> Resolved:
    """The days of a phrase that is nothing but a date."""
    tokens = tokens_of(phrase)
    best = _whole(tokens)
    if best is None or best.kind != "ahead":  # "in ten days" is none without its first word
        tokens = _trimmed(tokens)
        best = _whole(tokens)
    if best is None and tokens and tokens[0].text.casefold() in _LEADING:
        tokens = _trimmed(tokens, _LEADING)
        best = _whole(tokens)
    if best is None and tokens:
        best = _behind_from(tokens)
    reader = DateReader(tokens)
    if (
        (best is None or best.end < len(tokens))
        and (refers := reader.reference(0, alone=True))
        and refers.end == len(tokens)
    ):
        if before is None:
            return Resolved(phrase, None, "no period was named before it")
        best = refers._replace(make=lambda here: referred(here, refers, before))
    if best is None and len(tokens) == 1 and isinstance(number := tokens[0].value("number"), int) and number > 31:
        best = Parse(lambda here: here.sprint(number), 1, "number")  # above 31, so no day of a month: "and in 44?"
    if best is None:
        return Resolved(phrase, None, _UNREAD)
    try:
        return Resolved(phrase, best.make(almanac))
    except NoSuchDateError as error:
        return Resolved(phrase, None, str(error))
    except (ValueError, OverflowError):
        return Resolved(phrase, None, "it is beyond the calendar")


def _behind_from(tokens: Sequence[Token]) -> Parse | None:
    """A phrase behind "from": *from Monday* means since then; *vom 3. November* and *du 3 novembre* mean that day.

    A phrase with "da" is not read, since that means *since* in Italian and *of* in Portuguese.
    """
    first = tokens[0]
    if first.value("from") is None or first.text.casefold() == "da" or (inner := _whole(tokens[1:])) is None:
        return None
    return inner if first.value("of") is not None else inner._replace(make=bounded("since", inner))


def _phrases_of(tokens: Sequence[Token]) -> Callable[[int], Parse | None]:
    return DateReader(tokens).phrase


def _whole(tokens: Sequence[Token]) -> Parse | None:
    """The meaning of tokens that together are one phrase; None if they are not."""
    best = DateReader(tokens).phrase(0) if tokens else None
    return best if best is not None and best.end == len(tokens) else None


def _trimmed(tokens: Sequence[Token], more: frozenset[str] = frozenset()) -> tuple[Token, ...]:
    """The tokens without filling words at both ends, and without ``more`` at the beginning."""
    kept = list(tokens)
    while kept and (only_fills(kept[0]) or kept[0].text.casefold() in more):
        kept.pop(0)
    # A "whole" at the end is kept, since it has a meaning there: only periods that are over.
    while kept and ((only_fills(kept[-1]) and kept[-1].value("whole") is None) or kept[-1].text == "."):
        kept.pop()
    return tuple(kept)
