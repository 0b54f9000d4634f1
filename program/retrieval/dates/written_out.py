"""Writes out in full a phrase that somebody gives as one date.

Abbreviations (*les 20 derniers jrs*, *2 wkn*), a weekday before its day (*fre 31/10*), figures side by side (*25/26
Oct*, *12th-14th of last month*), possessives of a period (*sprint 41's start*), typing slips, words in another order
and words that are taken back. In a text these are too often something else, so ``finding.find_dates`` does not know
them. Abbreviations and word order are in ``rewrites.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from .rewrites import MONTHS_CUT, ORDER, SPELLING, UNITS_CUT, Rule
from .spellings import nearly
from .tokens import tokens_of

_CORRECTS = re.compile(
    r"[,;:.\s]*(?<![^\W\d])(?:sorry|no,? wait|or rather|i mean|make that|scratch that|quatsch|oder besser|pardon|perdón"
    r"|digo|mejor dicho|quero dizer|aliás|scusa|anzi|eller snarare|albo raczej|oops)(?![^\W\d])[,;:.\s]*"
    # Short ones are often other words ("no later than", "since well before"), so these need a separator.
    r"|[,;:–-]\s*(?:(?:euh|äh|uh|eh) )?(?:no|non|nein|nee|nej|ne|nope|well|wait|actually|rather|plutôt)"
    r"(?:\s*[,:;]\s*|\s+(?!later|earlier|more|less|longer|before|after|plus|más|mais|später|früher|\w+s\b))"
    r"|[,，、。\s]*(?:不对|应该是|じゃなくて|ではなく)[,，、。\s]*",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d+(?:st|nd|rd|th|日|号)?")


def taken_back(phrase: str) -> tuple[str, str] | None:
    """(What was said first, what was meant) if a phrase takes a word back: *sprint 41, sorry, 42*; else None."""
    said = [part for part in _CORRECTS.split(phrase) if part]
    return (said[0], said[-1].strip(" ,;")) if len(said) > 1 else None


def with_figure(first: str, last: str) -> str | None:
    """What was said first, with its figure replaced by the one that was meant; None unless it has exactly one."""
    figures = list(_FIGURE.finditer(first))
    if len(figures) != 1 + bool(re.match(r"\d+月", first)) or not _FIGURE.fullmatch(last):
        return None
    return first[: figures[-1].start()] + last + first[figures[-1].end() :]


def without_brackets(phrase: str) -> tuple[str, str]:
    """A phrase without its first brackets, and the text inside these."""
    within = re.search(r"\s*[(（]([^()（）]*)[)）]", phrase)
    return (phrase[: within.start()] + phrase[within.end() :], within[1]) if within is not None else (phrase, "")


def written_out(phrase: str) -> Iterator[str]:
    """Fuller ways of writing a phrase, the nearest first: spelling, cut months, cut units, slips, and word order."""
    spelled = _by(SPELLING, phrase)
    ways = (spelled, _by(MONTHS_CUT, spelled), _by(UNITS_CUT, spelled), _by(SPELLING, without_slips(spelled)))
    for cut in dict.fromkeys(ways):
        # Only once a unit is written out can a figure before it be read as an ordinal, or a period behind it be found.
        again = _by(SPELLING, cut)
        yield from dict.fromkeys((cut, again, _by(ORDER, again)))


def without_slips(phrase: str) -> str:
    """A phrase with slips of date words corrected; words with capitals are left, as they may be names."""
    words = [
        (token, nearly(token.text.casefold()))
        for token in tokens_of(phrase)
        if not token.words and token.text.islower()
    ]
    for token, meant in reversed(words):
        if meant is not None:
            phrase = phrase[: token.start] + meant + phrase[token.end :]
    return phrase


def _by(rules: tuple[Rule, ...], phrase: str) -> str:
    for form, instead in rules:
        phrase = _compiled(form).sub(instead, phrase)
    return phrase.strip()


@cache
def _compiled(form: str) -> re.Pattern[str]:
    # Compiling all of them takes 45 ms, so each is compiled when it is first used.
    return re.compile(form, re.IGNORECASE)
