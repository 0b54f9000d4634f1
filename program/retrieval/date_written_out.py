"""A phrase that somebody gives as one date, as it would be written out.

Abbreviations (*les 20 derniers jrs*, *2 wkn*), a weekday before its day (*fre 31/10*), figures side by side
(*25/26 Oct*, *12th-14th of last month*), what a period has (*sprint 41's start*), slips, words in another order and
words that are taken back. In a text these are too often something else, so ``dates.find_dates`` does not know them.
What is cut and turned round stands in ``date_rewrites.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .date_rewrites import MONTHS_CUT, ORDER, SPELLING, UNITS_CUT, Rule
from .date_spellings import nearly
from .date_tokens import tokens_of

_CORRECTS = re.compile(
    r"[,;:.\s]*(?<![^\W\d])(?:sorry|no,? wait|wait|or rather|rather|i mean|actually|make that|scratch that|well|nope|no"
    r"|ne|nee|nein|quatsch|äh|oder besser|pardon|euh|non|plutôt|enfin|perdón|digo|mejor dicho|quero dizer|aliás|scusa"
    r"|anzi|eller snarare|nej|eller nej|albo raczej|raczej|a nie)(?![^\W\d])[,;:.\s]*"
    r"|[,，、。\s]*(?:不对|不是|应该是|じゃなくて|ではなく|いや)[,，、。\s]*",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d+(?:st|nd|rd|th|日|号)?")


def corrected(phrase: str) -> str | None:
    """What somebody meant who took a word back: *sprint 41, sorry, 42*, *Nov 6th; no wait, 7th*; None for others."""
    said = [part for part in _CORRECTS.split(phrase) if part]
    if len(said) < 2:
        return None
    first, last = said[0], said[-1].strip(" ,;")
    figures = list(_FIGURE.finditer(first))
    if not figures or not _FIGURE.fullmatch(last):
        return last
    return first[: figures[-1].start()] + last + first[figures[-1].end() :]


def without_brackets(phrase: str) -> tuple[str, str]:
    """A phrase without what stands in brackets, and that."""
    within = re.search(r"\s*[(（]([^()（）]*)[)）]", phrase)
    return (phrase[: within.start()] + phrase[within.end() :], within[1]) if within is not None else (phrase, "")


def written_out(phrase: str) -> Iterator[str]:
    """Other ways of writing a phrase, the nearest first: its spelling, cut months, cut units, slips, and its order."""
    spelled = _by(SPELLING, phrase)
    ways = (spelled, _by(MONTHS_CUT, spelled), _by(UNITS_CUT, spelled), _by(SPELLING, without_slips(spelled)))
    for cut in dict.fromkeys(ways):
        # A unit that was cut may have had a figure before it that says its place, or a period behind it.
        again = _by(SPELLING, cut)
        yield from dict.fromkeys((cut, again, _by(ORDER, again)))


def without_slips(phrase: str) -> str:
    """A phrase whose words that are of no date, but nearly one, are that word."""
    words = [(token, nearly(token.text.casefold())) for token in tokens_of(phrase) if not token.words]
    for token, meant in reversed(words):
        if meant is not None:
            phrase = phrase[: token.start] + meant + phrase[token.end :]
    return phrase


def _by(rules: tuple[Rule, ...], phrase: str) -> str:
    for form, instead in rules:
        phrase = form.sub(instead, phrase)
    return phrase.strip()
