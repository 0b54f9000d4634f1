"""Phrases that have more in them than a date: words that say nothing, and a period that is told twice.

*Exactly 4 weeks ago*, *any time before 15 November*, *10 October at the latest*; *last Friday, the 12th*, *week 43,
Monday to Friday*, *late September (21st to 30th)*. Only somebody who gives a phrase as one date can mean one by these;
in a text each date is found by itself (``dates.find_dates``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from .date_forms import Parse, only_fills
from .date_tokens import Token, tokens_of
from .period_parts import Almanac
from .periods import DAY, Period

_BEFORE = re.compile(
    r"(?:at )?any ?time(?: in| during)?|exactly|precisely|roughly|about|only|just|iso|anything|everything|all of"
    r"|the whole of"
    r"|genau|ungefähr|nur|gesamte[ns]?|ganze[nrs]?|irgendwann"
    r"|exactement|environ|seulement|tout(?: le| au long de)?|toute la"
    r"|exactamente|aproximadamente|solo|sólo|todo el|toda la|exatamente|apenas|só|todo o|toda a"
    r"|esattamente|circa|solo|tutto il|tutta la|precies|ongeveer|alleen|heel|hele|exakt|ungefär|bara|hela"
    r"|dokładnie|tylko|cały|całą|całe|całego|z całego",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"already|only|or so|or thereabouts|itself|alone|inclusive|included|incl|both (?:included|inclusive|days)"
    r"|in total|overall|in full"
    r"|exactly|just gone|last|and no others?|straight|in a row|all told|ish"
    r"|schon|nur|genau|einschließlich|inklusive|inkl|ungefähr|oder so"
    r"|dernier|dernière|passé|passée|pasado|pasada|passado|passada|scorso|scorsa|déjà|seulement|environ|inclus(?:e"
    r"|es)?|compris(?:e|es)?|entier|entière|entiers|entières"
    r"|ya|solo|inclusive|incluid[oa]s?|enter[oa]s?|complet[oa]s?|já|apenas|inteir[oa]s?|complet[oa]s?"
    r"|già|solo|compres[oai]|inclus[oai]|inter[oai]|al|inbegrepen|inclusief|redan|inklusive"
    r"|już|włącznie|tylko|roku|года|г|内|以内|之间|之間|の間|間",
    re.IGNORECASE,
)
_WITHOUT_TODAY = re.compile(
    r"[\s,(]*(?:without|excluding|except(?: for)?|not (?:counting|including)|leaving out|ohne|sans|sin|sem|senza"
    r"|zonder|utan|bez)"
    r" (?:today|heute|aujourd['’]hui|hoy|hoje|oggi|vandaag|idag|dzisiaj|dziś)\)?$",
    re.IGNORECASE,
)
_APPOSED = frozenset("( ) （ ） , ; : . – - — i e ie namely meaning number no nr i.e. d h also on the aka so".split())
_SPACE = " \t,.;:!?"
_MOST = 6
"""So many words are left out at most; each time the rest is read again."""

Whole = Callable[[Sequence[Token]], "Parse | None"]
Find = Callable[[Sequence[Token], int], "Parse | None"]


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
    for last in _BEHIND.finditer(text):
        starts = last.start() == 0 or not text[last.start() - 1].isalnum() or not last.group().isascii()
        if last.end() == len(text) and starts:
            return last.start()
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
    """The period that a phrase tells twice: the narrower of two, or a part of the other; None where it does not."""
    tokens = tokens_of(phrase)
    pieces: list[tuple[int, Parse]] = []
    i = 0
    while i < len(tokens):
        parse = None if only_fills(tokens[i]) else find(tokens, i)
        if parse is not None:
            pieces.append((i, parse))
        elif not only_fills(tokens[i]) and tokens[i].text.casefold() not in _APPOSED:
            return None
        i = parse.end if parse is not None else i + 1
    if len(pieces) != 2:
        return None
    (a, first), (b, second) = pieces
    one, other = _made(first, here), _made(second, here)
    if one is not None and other is not None:
        if _inside(one, other):
            return one
        if _inside(other, one):
            return other
    part = _made(whole((*tokens[b : second.end], *tokens[a : first.end])), here)
    return part if part is not None and one is not None and _inside(part, one) else None


def _made(parse: Parse | None, here: Almanac) -> Period | None:
    try:
        return None if parse is None else parse.make(here)
    except (ValueError, OverflowError):  # no such date, or one beyond the calendar
        return None


def _inside(inner: Period, outer: Period) -> bool:
    """Whether all days of one are days of the other."""
    begins = outer.first is None or (inner.first is not None and inner.first >= outer.first)
    return begins and inner.last <= outer.last
