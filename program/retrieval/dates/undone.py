"""Dates of what did not happen: *tickets nobody has touched since March*, *Tickets, die seit Mai niemand bewegt hat*.

A source's dates say when something did happen, so *since March* as a filter would ask for the opposite. *Until March*
may be wrong, too, as a contract does not say whether its date is that of the last change. So the date is left out.

This applies where a record's own clause negates something of it. A negation about something else keeps its date, as
the labels do (*who hasn't moved a ticket since Monday*, *customers get no mails since Friday*, *merge requests
without reviewer since Tuesday*), and so does a status (*tickets not closed since April*), for which the sources are
asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...text.asking_words import asking_word
from .tokens import tokens_of

Span = tuple[int, int]

_NOBODY = (
    "nobody|no one|noone|niemand|niemandem|personne|aucun|aucune|nadie|ninguém|nessuno|ingen|nikt|nikogo|никто|kimse"
)
_NOT = "not|never|nicht|nie|niemals|pas|jamais|nunca|não|non|mai|niet|nooit|inte|aldrig|nigdy|не"
# A "no" counts only before a verb, where it means "not" (Spanish): "no activity" may be about something else.
_NO = r"(?<=\bno )(?:se|ha|han|fue|fueron|fueran|hayan|haya|están?|tocad\w+|actualizad\w+|modificad\w+)\b"
_UNTOUCHED = r"un(?:touched|changed|modified|updated|edited)|unberührt\w*|unverändert\w*|inchangée?s?|intact[eo]?s?"
_WITHOUT_DOING = r"(?:sin|sem|senza)\s+\w+(?:[aei]r|[aei]re)(?:se|si)?|sans être|without (?:any|a single|further|being)"
_DENIAL = re.compile(
    rf"(?<!\w)(?:{_NOBODY}|{_NOT}|{_NO}|{_UNTOUCHED}|{_WITHOUT_DOING}"
    r"|(?:is|are|was|were|has|have|had|do|does|did|ca|wo|could|would)n['’]?t)(?!\w)",
    re.I,
)
_STAYS = re.compile(
    r"\s+(?:only|just|merely|nur|bloß|solo|sólo|seulement|só|apenas|soltanto|alleen|bara|tylko"
    r"|by|in|from|of|on|at|for|with|von|aus|im|de|du|en|dans|par|por|di|door|av|från|przez|z|w|em|no|na)\b",
    re.I,
)
"""What follows a denial of the word beside it alone, so that the date stays: *not only commits since Monday*, *not by
Bob since Monday*."""
_COORDINATES = re.compile(r"\b(?:and|but|or|und|aber|oder|et|mais|ou|y|pero|e|och|maar|i|ale)\b", re.I)
_RELATIVE = re.compile(
    r",?\s+(?:(?:an|auf|in|mit|von|aan|op|på|w|z)\s+)?(?:die|der|das|denen|dem|welche\w?|dat|waar\w*|som|które|których"
    r"|które|którymi|that|which)\s+",
    re.I,
)
_WORDS = re.compile(r"[^\W\d_]+")
_DENYING = frozenset(
    f"{_NOBODY}|{_NOT}|no|untouched|unchanged|unmodified|sin|sem|senza|sans|without|one|unverändert|unberührt".split(
        "|"
    )
)
_CJK = re.compile(r"(?<!有)没有?|未|无人|ない|않|없")
_CJK_BEHIND = re.compile(
    r"(?:以来|之后|以后|起|から)?[^，。、,.?？！]{0,4}(?:(?<!有)没有?人?|未|无人)[^，。、,.?？！]{1,8}的$"
    r"|[^，。、,.?？！]{1,10}(?:い|され)(?:てい)?ない$"
)
_APART = re.compile(r"[.;:?!。；？！，、]|,(?!\s*(?:die|der|das|an|auf|that|which|som|które|których)\b)", re.I)
_MOST = 60
"""The most characters between a record and a date that belongs to it."""


def may_deny_events(text: str) -> bool:
    """Whether a text has any word that could deny that something happened: a quick test, as most have none."""
    words = _WORDS.findall(text.lower())
    return (
        not _DENYING.isdisjoint(words)
        or any(word.endswith("nt") or word == "t" for word in words)
        or _CJK.search(text) is not None
    )


def is_undone(text: str, date: Span, records: Sequence[Span], kept: Iterable[Span]) -> bool:
    """Whether a date is about something that did not happen to a record.

    Args:
        date: where the date stands.
        records: where words stand for records that have dates.
        kept: where statuses stand, whose denial leaves the date as it is; and where other dates stand.
    """
    if _is_of_plan(text, date):
        return False
    kept = [span for span in kept if span != date]
    before = [end for _, end in records if end <= date[0] <= end + _MOST and not _asks_why(text[:end])]
    if any(_is_denied_behind(text, end, date, kept) for end in before):
        return True
    behind = min((start for start, _ in records if start >= date[1]), default=None)
    if behind is None or not _CJK_BEHIND.match(text[date[1] : behind]):
        return False
    return not any(date[1] <= start < behind for start, _ in kept)


def _is_of_plan(text: str, date: Span) -> bool:
    """Whether a date is a sprint, to which records belong whatever happened (*not yet taken in this sprint*)."""
    return any(token.value("unit") == "sprint" for token in tokens_of(text[date[0] : date[1]]))


def _is_denied_behind(text: str, record: int, date: Span, kept: Sequence[Span]) -> bool:
    """Whether the words behind a record, which ends at ``record``, deny that something happened at the date."""
    if (denied := _denial(text, record, date[0], kept)) is not None:
        return not _APART.search(text, denied, date[0])
    relative = _RELATIVE.fullmatch(text, record, date[0])
    return relative is not None and _denial(text, date[1], min(len(text), date[1] + _MOST), kept) is not None


def _denial(text: str, start: int, end: int, kept: Sequence[Span]) -> int | None:
    """Where a denial between two places ends; None if there is none, or it leaves the date as it is."""
    match = _DENIAL.search(text, start, end)
    if match is None or _STAYS.match(text, match.end()):
        return None
    if _APART.search(text, start, match.start()) or _COORDINATES.search(text, start, match.start()):
        return None
    return None if any(start <= at < end for at, _ in kept) else match.end()


def _asks_why(text: str) -> bool:
    return any(asking_word(word) in ("why", "who") for word in _WORDS.findall(text.lower()))
