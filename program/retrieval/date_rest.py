"""Phrases that have more in them than a date: words that say nothing, and a period that is told twice.

*Exactly 4 weeks ago*, *any time before 15 November*, *10 October at the latest*; *last Friday, the 12th*, *week 43,
Monday to Friday*, *late September (21st to 30th)*. Only somebody who gives a phrase as one date can mean one by these;
in a text each date is found by itself (``dates.find_dates``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import islice

from .date_context import SIGNS
from .date_forms import FILLS, Parse, is_fill, only_fills
from .date_spans import bounded
from .date_tokens import Token, tokens_of
from .period_parts import Almanac
from .periods import DAY, Period

_BEFORE = re.compile(
    r"(?:at )?any ?time(?: in| during)?|(?:the )?(?:inclusive )?interval"
    r"|exactly|precisely|roughly|about|only|just|iso|anything|everything|all of"
    r"|the whole of"
    r"|genau|ungefähr|nur|gesamte[ns]?|ganze[nrs]?|irgendwann"
    r"|exactement|environ|seulement|tout(?: le| au long de)?|toute la"
    r"|exactamente|aproximadamente|solo|sólo|todo el|toda la|exatamente|apenas|só|todo o|toda a"
    r"|esattamente|circa|solo|tutto il|tutta la|precies|ongeveer|alleen|heel|hele|exakt|ungefär|bara|hela"
    r"|dokładnie|tylko|cały|całą|całe|całego|z całego",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"(?:already|only|or so|or thereabouts|itself|alone|inclusive|included|incl|both (?:included|inclusive|days)"
    r"|in total|taken together|together|combined|and no longer|and no more|or less|tops|max"
    r"|overall|in full|no later|no earlier"
    r"|exactly|just gone|last|and no others?|straight|in a row|all told|ish"
    r"|schon|nur|genau|einschließlich|inklusive|inkl|ungefähr|oder so"
    r"|dernier|dernière|passé|passée|pasado|pasada|passado|passada|scorso|scorsa|déjà|seulement|environ|inclus(?:e"
    r"|es)?|compris(?:e|es)?|entier|entière|entiers|entières"
    r"|ya|solo|inclusive|incluid[oa]s?|enter[oa]s?|complet[oa]s?|já|apenas|inteir[oa]s?|complet[oa]s?"
    r"|già|solo|compres[oai]|inclus[oai]|inter[oai]|al|inbegrepen|inclusief|redan|inklusive"
    r"|już|włącznie|tylko|roku|года|г|くらい|ぐらい|ほど|程度|左右|内|以内|之间|之間|の間|間)$",
    re.IGNORECASE,
)
_WITHOUT_TODAY = re.compile(
    r"[\s,(]*(?:without|excluding|except(?: for)?|not (?:counting|including)|leaving out|ohne|sans|sin|sem|senza"
    r"|zonder|utan|bez)"
    r" (?:today|heute|aujourd['’]hui|hoy|hoje|oggi|vandaag|idag|dzisiaj|dziś)\)?$",
    re.IGNORECASE,
)
_APPOSED = frozenset(
    "( ) （ ） , ; : . – - — i e ie namely meaning number no nr i.e. d h also on the aka so just say a only solo"
    " nur bara fast seulement tylko alleen apenas".split()
)
_SPACE = " \t,.;:!?"
_MOST = 6
"""So many words are left out at most; each time the rest is read again."""

Whole = Callable[[Sequence[Token]], "Parse | None"]
Find = Callable[[Sequence[Token]], "Callable[[int], Parse | None]"]
"""From tokens to what finds the longest phrase that begins at one of them."""


def with_less(phrase: str) -> Iterator[str]:
    """A phrase with ever fewer of the words at its ends that say nothing; those at its beginning go first."""
    return islice(_with_ever_less(phrase.strip(_SPACE)), _MOST)


def _with_ever_less(text: str) -> Iterator[str]:
    while (first := _BEFORE.match(text)) and text[first.end() : first.end() + 1] in ("", *_SPACE):
        text = text[first.end() :].strip(_SPACE)
        yield text
    while (last := _last_that_says_nothing(text)) is not None:
        text = text[:last].strip(_SPACE)
        yield text


def _last_that_says_nothing(text: str) -> int | None:
    """Where the last word begins, if it says nothing."""
    last = _BEHIND.search(text)
    while last is not None:
        if last.start() == 0 or not text[last.start() - 1].isalnum() or not last.group().isascii():
            return last.start()
        last = _BEHIND.search(text, last.start() + 1)
    return None


def without_today(phrase: str) -> str | None:
    """The phrase before *without today*; None where it does not end so."""
    match = _WITHOUT_TODAY.search(phrase)
    return phrase[: match.start()] if match is not None and match.start() else None


def until_yesterday(here: Almanac, period: Period) -> Period:
    """A period without today, with which it ends.

    Raises:
        NoSuchDateError: it has no other day.
    """
    return here.span(period.first, here.today - DAY) if period.last == here.today else period


def told_twice(phrase: str, find: Find, whole: Whole, here: Almanac) -> Period | None:
    """The period that a phrase tells twice: the narrower of two, or a part of the other; None where it does not.

    Two with *until* between are the ends of one, whatever else is told of them: *freeze (18 Dec) to release (22 Dec)*.
    """
    tokens = tokens_of(phrase)
    pieces, others = _pieces(tokens, find)
    if len(pieces) != 2:
        return None
    (a, first), (b, second) = pieces
    one, other = made(first, here), made(second, here)
    if one is not None and other is not None and _is_range(tokens, pieces, others):
        return here.span(one.first, other.last) if one.first is not None and one.first <= other.last else None
    if one is not None and other is not None and _are_added(tokens, pieces, others):
        early, late = sorted((one, other), key=lambda period: period.last)
        touch = early.first is not None and late.first is not None and early.first <= late.first <= early.last + DAY
        return here.span(early.first, late.last) if touch else None
    if not all(tokens[i].text.casefold() in _APPOSED or only_fills(tokens[i]) for i in others):
        return None
    if one is not None and other is not None:
        alike = _ends_of(one) & _ends_of(other) or _same_weekdays(tokens[b], other, one)
        if (first.kind.startswith((*SIGNS, "range")) or first.unit == "day") and alike:
            return one  # "since the 16th, two weeks back", "week 47 through yesterday, Nov 30"
        if _inside(one, other):
            return one
        if _inside(other, one):
            return other
    of = tokens_of("of") if whole((*tokens[b : second.end], *tokens[a : first.end])) is None else ()
    part = made(whole((*tokens[b : second.end], *of, *tokens[a : first.end])), here)
    return part if part is not None and one is not None and _inside(part, one) else None


def _pieces(tokens: Sequence[Token], find: Find) -> tuple[list[tuple[int, Parse]], list[int]]:
    """The dates among tokens with their places, and the places of all other tokens."""
    pieces: list[tuple[int, Parse]] = []
    others: list[int] = []
    phrase_at = find(tokens)
    i = 0
    while i < len(tokens):
        parse = None if only_fills(tokens[i]) else phrase_at(i)
        if parse is not None:
            pieces.append((i, parse))
        else:
            others.append(i)
        i = parse.end if parse is not None else i + 1
    return pieces, others


def _is_range(tokens: Sequence[Token], pieces: Sequence[tuple[int, Parse]], others: Sequence[int]) -> bool:
    """Whether *until* stands between two dates, and nothing else that is of a date."""
    (_, first), (b, second) = pieces
    if first.kind.startswith(SIGNS) or (second.kind.startswith(SIGNS) and not second.kind.startswith("until")):
        return False
    inner = [i for i in others if first.end <= i < b]
    joints = [i for i in inner if tokens[i].value("to") is not None or tokens[i].value("until") is not None]
    if (
        not joints and others and tokens[others[0]].value("between") is not None
    ):  # "between the retro (3 Nov) and today"
        joints = [i for i in inner if tokens[i].value("and") is not None]
        others = others[1:]
    said = second.kind.startswith("until") or len(joints) == 1
    told = (tokens[i] for i in others if i not in joints)
    return said and all(
        _tells(token) or not token.text.isalnum() or is_fill(token) or _kinds(token) <= _SAYS_NOTHING for token in told
    )


def _are_added(tokens: Sequence[Token], pieces: Sequence[tuple[int, Parse]], others: Sequence[int]) -> bool:
    """Whether *and* or *plus* stands between two dates, and nothing else anywhere."""
    (_, first), (b, _) = pieces
    ands = [i for i in others if tokens[i].value("and") is not None or tokens[i].text.casefold() in _PLUS]
    fills = all(only_fills(tokens[i]) for i in others if i not in ands)
    return len(ands) == 1 and first.end <= ands[0] < b and fills


_PLUS = frozenset({"plus", "+", "più", "más", "mais", "samt", "sowie", "加", "加上"})


def with_a_story(phrase: str, find: Find) -> Parse | None:
    """The one date of a phrase whose other words are of none: *during the freeze, 4 to 15 August*.

    Words between a bound and its date tell an event: *since the incident on 9 October*, *before the talk of 3 May*. A
    word of dates behind or before a comma may be part of the story (*the release week, 17 to 21 November*), but no
    number, no day and nothing that could say another period.
    """
    tokens = tokens_of(phrase)
    pieces, others = _pieces(tokens, find)
    if len(pieces) != 1:
        return None
    start, parse = pieces[0]
    if any(tokens[i].text.casefold() in _TAKES_AWAY for i in others):
        return None
    if parse.end + 1 < len(tokens) and tokens[parse.end].value("of_strict") is not None:
        return None  # "the last 3 days of the freeze"
    opening = tokens[others[0]] if others and others[0] < start else None
    signs = [s for s in (*SIGNS, "from") if opening is not None and opening.value(s) is not None]
    signs += ["from"] if opening is not None and opening.text.casefold() == "from the" else []
    sign = signs[0] if signs else None
    if sign is not None and not any(_tells(tokens[i]) for i in others if i < start):
        return None  # nothing is told between them, so it is no bound for another reason
    apart = {side for side, at in (("before", start - 1), ("behind", parse.end)) if _is_apart(tokens, at)}
    for i in others[sign is not None :]:
        if _tells(tokens[i]) or (i and _tells(tokens[i - 1]) and _is_a_name(tokens[i])):
            continue
        may_be_told = ("before" if i < start else "behind") in apart and not _SAYS_WHEN & _kinds(tokens[i])
        if not may_be_told and not is_fill(tokens[i]) and not _kinds(tokens[i]) <= _SAYS_NOTHING:
            return None
    if sign is None:
        return parse
    period = parse.unit in ("day", "week", "month", "sprint", "quarter")
    return (
        None
        if not period or parse.kind.startswith((*SIGNS, "range"))
        else parse._replace(make=bounded("since" if sign == "from" else sign, parse))
    )


def contradicts(rest: str, period: Period, find: Find, here: Almanac) -> bool:
    """Whether what is told behind a period could make it another: days that begin and end elsewhere, *but only ...*."""
    tokens = tokens_of(rest)
    pieces, others = _pieces(tokens, find)
    if any(tokens[i].text.casefold() in _TAKES_AWAY or _kinds(tokens[i]) & _BOUNDS for i in others):
        return True
    parts = any(_kinds(tokens[i]) & _PARTS and not _counted(tokens, i) for i in others)
    told = [(at, made(parse, here)) for at, parse in pieces if parse.kind != "fixed"]  # "over New Year"
    return parts or any(
        one is None or not (_ends_of(one) & _ends_of(period) or _same_weekdays(tokens[at], one, period))
        for at, one in told
    )


def _counted(tokens: Sequence[Token], i: int) -> bool:
    """Whether a unit has its number before it, *all 3 months*, so that it says how long a period is."""
    return tokens[i].value("unit") is not None and i > 0 and tokens[i - 1].value("number") is not None


def _same_weekdays(token: Token, told: Period, period: Period) -> bool:
    """Whether what is told by weekdays begins and ends on those of a period: *19–23 Feb, Mon to Fri*."""
    if token.value("weekday") is None or told.first is None:
        return False
    first = period.first if period.first is not None else period.last
    days = {first.weekday()} if told.first == told.last else {first.weekday(), period.last.weekday()}
    return days == {told.first.weekday(), told.last.weekday()}


_PARTS = frozenset({"unit", "half_part", "edge", "weekday", "relation"})


_TAKES_AWAY = frozenset(
    "except excepting excluding without minus skipping but not no ohne außer sauf sans sin menos excepto sem exceto"
    " senza tranne zonder behalve utan utom bez oprócz every each any".split()
)
_BOUNDS = frozenset({*SIGNS, "between"})
_SAYS_NOTHING = frozenset({*FILLS, "of_strict", "from", "and", "tod", "onward"})
_SAYS_WHEN = frozenset(
    "number ordinal dom nth relation relation_after month weekday day week quarter year half before_last previous"
    " subsequent ago ago_before to_date so_far stretch older newer before after since until between".split()
)


def _tells(token: Token) -> bool:
    """Whether it is a word of a story: one of no date, or a feast, which is none that is read."""
    return (token.text.isalpha() and not token.words) or token.value("feast") is not None


def _is_a_name(token: Token) -> bool:
    """Whether a figure can only be of a name: *PR 300*."""
    return token.text.isdigit() and len(token.text) > 2 and token.value("year") is None


def _kinds(token: Token) -> frozenset[str]:
    return frozenset(word.kind for word in token.words)


def _is_apart(tokens: Sequence[Token], i: int) -> bool:
    return 0 <= i < len(tokens) and tokens[i].text in ",;:()（）–—-"


def _ends_of(period: Period) -> set[tuple[str, date | None]]:
    return {("first", period.first), ("last", period.last)}


def made(parse: Parse | None, here: Almanac) -> Period | None:
    """The period of a parse; None where there are no such days."""
    try:
        return None if parse is None else parse.make(here)
    except (ValueError, OverflowError):  # no such date, or one beyond the calendar
        return None


def _inside(inner: Period, outer: Period) -> bool:
    """Whether all days of one are days of the other."""
    begins = outer.first is None or (inner.first is not None and inner.first >= outer.first)
    return begins and inner.last <= outer.last
