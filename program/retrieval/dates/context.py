"""Decides by the words around a phrase whether it is a date or other words of the same form."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .forms import FILLS, Parse, is_fill
from .tokens import Token
from .words import FIRM

SIGNS = ("since", "before", "until", "after")
"""The kinds of words that bound time. A *sign* is such a kind."""
# A year by itself is a date only behind one of these: versions, amounts and names look the same.
_INTRODUCED = frozenset("in during for im en nel em i v w since в во у în pada vào hôm".split())
_BEHIND_I = frozenset("may march set".split())
"""Verbs behind an English *I*."""
_BEFORE_MONTHS = frozenset("in during im en nel em".split())
"""Of these, those that stand before no weekday: *two women in sun hats*."""
_SHORT = frozenset({"sept", "mar", "jun", "dez"})
_SAYS_NO_YEAR = {"minus", "ahead", "too_many", "day_said", "day_of"}
"""Kinds of date words that do not make a number behind them a year."""
_EVERY = frozenset("every each any jeden chaque cada ogni elke varje każdy".split())
_SAYS_DAY = frozenset("on from dated am vom le du el del em op på il".split())
"""Words before *3/4* that make it a day and no fraction, though not which day."""
_GENITIVES = frozenset("der des du della dello van av".split())
_HANGUL = re.compile("[\uac00-\ud7a3]")
_NO_DAY = frozenset({"guten", "god", "في"})
"""Words before *Morgen* that make it a greeting, where else it means tomorrow; and Arabic *a day* (*twice a day*)."""


def _is_today(tokens: Sequence[Token]) -> bool:
    return any(token.value("day") == 0 for token in tokens)


def _is_share(tokens: Sequence[Token], parse: Parse) -> bool:
    """Whether a phrase ends with a fraction of something: *3/4 of the tickets*."""
    last = tokens[parse.end - 1].value("day_month")
    behind = tokens[parse.end] if parse.end < len(tokens) else None
    of = behind is not None and (behind.value("of_strict") is not None or behind.text.casefold() in _GENITIVES)
    return last is not None and str(last).endswith("?") and of


def _introduces(before: Token, kind: str, bare: str) -> bool:
    """Whether the word before a month or weekday that may be another word makes it a date: *in may*, not *if I may*."""
    said = before.text.casefold()
    if said == "i" and (kind == "weekday" or bare in _BEHIND_I):
        return False
    return said in _INTRODUCED and (kind == "month" or said not in _BEFORE_MONTHS)


def says_nothing(tokens: Sequence[Token], i: int, parse: Parse) -> bool:
    """Whether a phrase is *until now* or *until today*, which excludes nothing."""
    return parse.kind == "until now" or (parse.kind == "until day" and _is_today(tokens[i : parse.end]))


def stands(tokens: Sequence[Token], i: int, parse: Parse) -> bool:
    """Whether a phrase found in a text is a date there, and not other words of the same form."""
    first, before = tokens[i], tokens[i - 1] if i else None
    if says_nothing(tokens, i, parse):
        return False
    bare = re.sub(r"['’]s?$", "", first.text.casefold()).rstrip(".")
    if parse.kind in ("month", "weekday") and bare in FIRM:
        if before is not None and _introduces(before, parse.kind, bare):
            return True
        last = i + 1 == len(tokens) and bare in _SHORT
        return i > 0 and bare == first.text.casefold() and (last or first.text.istitle())
    if _is_share(tokens, parse):
        return False
    if parse.kind == "weekday" and first.value("unit") is not None and before is not None and before.value("number"):
        return False  # Romanian "3 luni" are months
    if parse.kind == "day_month":
        apart = i + 1 == len(tokens) or not tokens[i + 1].text[:1].isalnum()
        if str(first.value("day_month")).endswith("?"):
            return before is not None and before.text.casefold() in _SAYS_DAY
        return apart or bool(before and before.words)
    if parse.kind == "year" and not bare.startswith("fy"):
        said = {word.kind for word in before.words} - FILLS - _SAYS_NO_YEAR if before is not None else set()
        return before is not None and (before.text.casefold() in _INTRODUCED or bool(said))
    if parse.kind.endswith(" number") and parse.kind.split()[0] in SIGNS and parse.kind.count(" ") == 1:
        return before is not None and before.value("unit") == "sprint"
    before_it = before.text.casefold() if before is not None else ""
    relations = {token.value("relation") or token.value("relation_after") for token in tokens[i : parse.end]}
    if (parse.unit == "hour" and not relations & {"last", "past"}) or (parse.kind == "weekday" and before_it in _EVERY):
        return False  # "am I allowed to merge at this hour", "every Monday"
    counted = any(token.value("number") is not None for token in tokens[i : parse.end])
    if parse.unit == "minute" and not (counted and relations & {"last", "past"}):
        return False  # "last minute fixes", "the call is in ten minutes"
    if parse.kind == "day" and before_it in _NO_DAY:
        return False
    if parse.kind == "weekend":
        return before is not None and (is_fill(before) or before.text.casefold() in ("over", "at"))
    if parse.kind.endswith("unit number"):
        units = {token.value("unit") for token in tokens[i : parse.end]}
        if "year" in units:
            return False  # "in year 10 at school"; a year of the calendar is no number of a year
        if _HANGUL.match(first.text):
            return False  # "알려 주세요" has a week and a three in it, which would stand in the other order
        if "day" in units and not any(t.value("dia") is not None for t in tokens[i : parse.end]):
            return False  # "by day twenty"
    return parse.kind not in ("length", "fixed")
