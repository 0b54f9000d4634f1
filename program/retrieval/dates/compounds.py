"""Date words that German, Dutch and Swedish write as one: *Montagmorgen*, *maandagochtend*, *Novemberwoche*."""

from __future__ import annotations

from collections.abc import Mapping

from .words import Word

_SHORTEST = 5
"""Letters of a weekday."""
_TIMES = (
    "morgen früh vormittag mittag nachmittag abend nacht ochtend middag avond morgonen morgon kväll kvällen eftermiddag"
    " natt natten"
).split()
"""Times of a day: they make it no other day. *Montagabends* is every Monday's, and no date."""
_PARTS = {
    "woche": ("woche", "im"),
    "wochen": ("wochen", "im"),
    "hälfte": ("hälfte", "im"),
    "mitte": ("mitte",),
    "anfang": ("anfang",),
    "beginn": ("beginn",),
    "ende": ("ende",),
}
"""Parts of a month, with the words that say the same before it."""


def compound(word: str, known: Mapping[str, frozenset[Word]]) -> tuple[str, ...]:
    """The date words that a word in small letters is made of, as they are said apart; none where it is made of others.

    Args:
        known: every surface and what it may stand for.
    """
    for time in _TIMES:
        day = word.removesuffix(time)
        for bare in (day, day.removesuffix("s")) if day != word else ():
            if len(bare) >= _SHORTEST and _is(known, bare, "weekday"):
                return (bare,)
    for part, said in _PARTS.items():
        month = word.removesuffix(part)
        if month != word and _is(known, month, "month"):
            return (*said, month)
    return ()


def _is(known: Mapping[str, frozenset[Word]], surface: str, kind: str) -> bool:
    return any(word.kind == kind for word in known.get(surface, ()))
