"""Date phrases with words that add nothing.

*Exactly 4 weeks ago*, *any time before 15 November*, *10 October at the latest*, *last 7 days without today*. They
are read so only if somebody gives the phrase as one date; in a text these words are no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from .period_parts import Almanac
from .periods import DAY, Period

_BEFORE = re.compile(
    r"(?:at )?any ?time(?: in| during)?|(?:the )?(?:inclusive )?interval"
    r"|anywhere|sometime|some time|dated|everthing|gedurende|alles van|pdt|pendant|w ciągu|w ciagu|im laufe"
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
    r"|in total|taken together|together|combined|(?:and|&) nothing else|and no longer|and no more|or less|tops|max"
    r"|overall|in full|no later|no earlier"
    r"|exactly|just gone|last|and no others?|straight|in a row|all told|ish"
    r"|exactement|pile|o así|o asi|jl|br|c\.? ?m|d\.? ?j"
    r"|schon|nur|genau|einschließlich|inklusive|inkl|ungefähr|oder so"
    r"|dernier|dernière|passé|passée|pasado|pasada|passado|passada|scorso|scorsa|déjà|seulement|environ|inclus(?:e"
    r"|es)?|compris(?:e|es)?|entier|entière|entiers|entières"
    r"|ya|solo|inclusive|incluid[oa]s?|enter[oa]s?|complet[oa]s?|já|apenas|inteir[oa]s?|complet[oa]s?"
    r"|già|solo|compres[oai]|inclus[oai]|inter[oai]|al|inbegrepen|inclusief|redan|inklusive"
    r"|już|włącznie|tylko|roku|года|г|ごろ|頃|くらい|ぐらい|ほど|程度|左右|内|以内|之间|之間|の間|間)$",
    re.IGNORECASE,
)
_WITHOUT_TODAY = re.compile(
    r"(?:without|excluding|except(?: for)?|not (?:counting|including)|leaving out|ohne|sans|sin|sem|senza"
    r"|zonder|utan|bez)"
    r" (?:today|heute|aujourd['’]hui|hoy|hoje|oggi|vandaag|idag|dzisiaj|dziś)\)?$",
    re.IGNORECASE,
)
_AND_AT_THE_END = re.compile(r"(?:^|\W)(?:and|or|und|oder|et|ou|y|o|e|och|en|of|i|&)$", re.IGNORECASE)
_SPACE = " \t,.;:!?"
_MOST = 6
"""The most words that are left out one after the other; the rest is read again each time."""


def with_less(phrase: str) -> Iterator[str]:
    """The phrase with one after the other of the words at its ends left out that add nothing, the first ones first."""
    return islice(_with_ever_less(phrase.strip(_SPACE)), _MOST)


def _with_ever_less(text: str) -> Iterator[str]:
    while (first := _BEFORE.match(text)) and text[first.end() : first.end() + 1] in ("", *_SPACE):
        text = text[first.end() :].strip(_SPACE)
        yield text
    while (last := _last_that_says_nothing(text)) is not None:
        text = text[:last].strip(_SPACE)
        if _AND_AT_THE_END.search(text):
            return  # "this month and last"
        yield text


def _last_that_says_nothing(text: str) -> int | None:
    """Where the last word begins, if it adds nothing; else None."""
    last = _BEHIND.search(text)
    while last is not None:
        if last.start() == 0 or not text[last.start() - 1].isalnum() or not last.group().isascii():
            return last.start()
        last = _BEHIND.search(text, last.start() + 1)
    return None


def without_today(phrase: str) -> str | None:
    """The phrase before a final *without today*; None where it does not end so."""
    match = _WITHOUT_TODAY.search(phrase)
    bare = phrase[: match.start()].rstrip(" \t,(") if match is not None else ""
    return bare or None


def until_yesterday(here: Almanac, period: Period) -> Period:
    """A period without today, with which it ends.

    Raises:
        NoSuchDateError: it has no other day.
    """
    return here.span(period.first, here.today - DAY) if period.last == here.today else period
