"""Date words that are written as one: *Montagmorgen*, *maandagochtend*, *Novemberwoche*, *októbertől*, *والاثنين*."""

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

_ENDINGS = {"tól": "óta", "től": "óta", "ig": "-ig", "sta": "-sta", "hun": "-ig", "hin": "-ig"}
"""Hungarian and Finnish endings of months and weekdays, with the word that says the same behind it."""
_BEGINNINGS = {"و": ("و",), "ب": (), "ل": (), "لل": ()}
"""Arabic words that are written with the next one, as they are said apart; without those that add nothing."""
_BEHIND_THESE = ("month", "weekday", "unit")


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
    for ending, said in _ENDINGS.items():
        bare = word.removesuffix(ending)
        if bare != word and len(bare) >= _SHORTEST and any(_is(known, bare, kind) for kind in ("month", "weekday")):
            return (bare, said)
    for beginning, first in _BEGINNINGS.items():
        bare = word.removeprefix(beginning)
        if bare != word and any(_is(known, bare, kind) for kind in _BEHIND_THESE):
            return (*first, bare)
    return ()


def _is(known: Mapping[str, frozenset[Word]], surface: str, kind: str) -> bool:
    return any(word.kind == kind for word in known.get(surface, ()))
