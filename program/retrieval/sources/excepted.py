"""Values and dates that a query excludes: *aren't closed*, *all but atlas*, *not last week*.

A source can be asked for values but not to leave one out, so an excluded value is no filter and has to be reported.
Negations are a closed class: what matters is that only function words (``_BETWEEN``) stand between one and the value.
*Not only the open ones* has another word there, and excludes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ...plan import Degraded
from ..dates.undone import is_undone, may_deny_events
from .matter import STATUSES
from .read_filters import FilterReader

_UNDONE = "the query says that something did not happen then, and a source's dates say when something did"
_EXCEPTS_IT = "the query excepts it, and no source can be asked to leave something out"
_CONTRADICTS = "the query excepts it, and asks for it as well"
_WITHOUT_IT = "the sources are asked without it, so it may be among what they find"
_LONGEST = 80
"""The most characters before a value in which a negation of it is looked for."""
_AUXILIARY = "is are was were has have had do does did wo ca ai could should would".replace(" ", "|")
# "Isn't" at the beginning of a clause, and "not" behind "why", deny the verb and not the value: "isn't atlas deployed".
_BEFORE_ANY = (
    rf"(?<!why )\bnot|(?:(?<!why )(?<=\w\s)(?:{_AUXILIARY})|\bdo)n['’]?t|!=|≠|\bexcl\.?|\bw/o"
    r"|\b(?:never|cannot|no longer|neither|nor|non|without|except(?:ing)?|besides|outside|minus|unlike"
    r"|(?:apart|aside) from|(?:other|rather) than|instead of|unrelated to|hide|omit|(?:exclud|ignor)(?:e|es|ing)"
    r"|skip(?:ping)?|leav(?:e|ing) out|nothing\s+(?:from|of|(?:to do )?with))"
    r"|\b(?:all|any\w*|every\w*|nobody|nothing|no one)(?: \w+)? but"
    r"|\b(?:nicht|ohne|außer|ausser|weder|kein\w{0,2}|sauf|sans|pas|jamais|hors|ni|excepto|salvo|sin|nunca|menos"
    r"|(?:pero|sino|y) no|no(?= (?:l[ao]s?|el) de(?:l|\s))"
    r"|no (?:son|es|está|están|sean?|estén?|fueron|han?)|não|exceto|sem|nem|tranne|senza|zonder|niet|geen|behalve"
    r"|utom|utan|inte|ej|bez|oprócz|nie|не|кроме|без|un(?=-))"
)
# These negate statuses alone: before a name or a date "no" is Portuguese for "in the", and "nobody in atlas" is about
# people.
_BEFORE_STATUS = r"|(?<!there )(?<!is )(?<!are )(?<!['’]s )(?<!has )(?<!have )\bno|\b(?:nobody|no one|none)"
_BETWEEN = (
    "the a an in from of for on by at with to via about into during one ones any those these that which is are was were"
    " yet ever still really quite want show include list mention belong belonging look search check ask use status"
    " der die das den dem des im aus von vom am noch schon mehr bereits sind ist wurden les la le l d de du des en dans"
    " sont est encore ceux celles los las el lo del son es están que os as o da dos das em na estão i gli il di"
    " della sono è ancora het van zijn nog från är z ze w we na od po из в во с со за на по от".replace(" ", "|")
    + "|(?:show|give) (?:me|us)|[ao]s? d[ao]s?|quell[aeio] (?:d[aei]l?|dell[aeo])"
)
# Words between a negation and a status. Before a name or a date they are themselves negated: "what did we not do in
# atlas".
_BETWEEN_STATUS = (
    "|be|been|being|get|gets|getting|got|have|has|had|do|does|did|need|été|sido|foram|stati"
    r"|[a-z]+\s+to"  # "nobody managed to close", "was not able to be closed"
)
_NO_SPANISH = re.compile(r"(?<!\w)no\s+$", re.IGNORECASE)
_SPANISH = re.compile(r"(?:la|el|las|los|antes|después|despues|desde|hasta|durante)\b", re.IGNORECASE)
"""What follows a Spanish "no" that negates a date. A Portuguese "no" means "in the", and none of these follows it."""
_OR_NOT = re.compile(r"\bor not\s+(?:(?:in|on|of|from|at|for)\s+)?(?:the\s+)?$", re.IGNORECASE)
"""*Closed or not in atlas* asks whether, and excludes no name; before a status it may (*open or not merged*)."""
_UNSPACED = r"|(?:除了?|(?<!是)不是|不要|(?<!有)没有?|不)\s*[在被的已还]*\s*"


# Negations begin at the beginning of a word or with a sign. With this, a search tries few places and takes at most half
# of the time.
_AT_A_WORD = r"(?:\b(?=\w)|(?=[^\x00-\x7f]|!))"


def _ending(negations: str, between: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?:{_AT_A_WORD}(?:{negations})(?:[\s'’-]+(?:{between})\b)*[\s'’-]*{_UNSPACED})$", re.IGNORECASE
    )


_EXCEPTS = _ending(_BEFORE_ANY, _BETWEEN)
_EXCEPTS_STATUS = _ending(_BEFORE_ANY + _BEFORE_STATUS, _BETWEEN + _BETWEEN_STATUS)
_BEHIND = (
    r"(?:is |are )?(?:excluded|excepted|aside)\b|ausgenommen|以外|之外|を除|(?:され|して)?い?(?:てい)?ない"
    r"|(?:では|じゃ)ない|(?:가|이)?\s*(?:아닌|제외)|değil|hariç"
)
_EXCEPTED_BEHIND = re.compile(rf"\s*(?:{_BEHIND})", re.IGNORECASE)
_FAILED_TO = r"\bfail(?:s|ed|ing)?\s+to\b"
_FAILS = re.compile(rf"{_FAILED_TO}\s+(?P<passive>(?:be|get)\s+)?$", re.IGNORECASE)
"""*Failed to close* negates the closing, and is not the status *failed*."""
_DENIES = re.compile(rf"{_AT_A_WORD}(?:{_BEFORE_ANY}{_BEFORE_STATUS}|{_FAILED_TO}|除|不|没|{_BEHIND})", re.IGNORECASE)
# Each negation has one of these words or signs. Looking them up takes 2 microseconds, the pattern 150.
_WORDS = re.compile(r"[^\W\d_]+")
_DENYING = frozenset(
    "not never cannot no neither nor non without except excepting besides outside minus unlike apart aside other"
    " rather instead fail fails failed failing unrelated hide omit exclude excludes excluding ignore ignores ignoring"
    " skip skipping leave leaving nothing nobody none but t w excl excluded excepted nicht ohne außer ausser weder"
    " kein keine keinen keiner keinem keines sauf sans pas jamais hors ni excepto salvo sin nunca menos não exceto sem"
    " nem tranne senza zonder niet geen behalve utom utan inte ej bez oprócz nie не кроме без un ausgenommen değil"
    " hariç".split()
)
_SIGNS = re.compile(r"!=|[≠\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_AND = re.compile(
    r"\s*,?\s*(?:and|or|nor|und|oder|noch|et|ou|ni|y|o|e|och|en|i|oraz|&|\+|/|、|和|或)\s+"
    r"(?:(?:the|in|from|of|dem|der|de|van|di)\s+)*",
    re.IGNORECASE,
)
_COMMA = re.compile(r"\s*,\s*")


class Excepted(NamedTuple):
    """Where a value or date stands that is not wanted, and its filter.

    ``undone`` is true for a date on which something did not happen (``dates/undone.py``).
    """

    start: int
    end: int
    key: str
    undone: bool = False


@lru_cache(maxsize=64)
def excepted(query: str, reader: FilterReader) -> tuple[Excepted, ...]:
    """The values and dates that a query excludes, in order; all of an enumeration (*but a, b and c*)."""
    found, waiting, last = list[Excepted](), list[Excepted](), None
    for place in _places(query, reader) if denies_anything(query) or may_deny_events(query) else ():
        joint = query[last.end : place.start] if last is not None and last.key == place.key else ""
        if place.undone or _is_denied(query, place):
            found, waiting, last = [*found, place], [], place
        elif joint and _AND.fullmatch(joint):
            found, waiting, last = [*found, *waiting, place], [], place
        elif joint and _COMMA.fullmatch(joint):
            waiting, last = [*waiting, place], place
        else:
            waiting, last = [], None
    return tuple(found)


def without_exceptions(query: str, reader: FilterReader) -> str:
    """The query with blanks for values and dates that it does not want."""
    for start, end, *_ in excepted(query, reader):
        start = fails.start() if (fails := _failing(query, start, end)) else start
        query = query[:start] + " " * (end - start) + query[end:]
    return query


def exception_gaps(query: str, reader: FilterReader) -> list[Degraded]:
    """The gaps for what a query excludes, since no source can be asked to leave something out.

    There is none where another value of the same filter is wanted, since that says all: *merged, not open*. A value
    that is both wanted and excluded is reported as a contradiction: *open tickets that are not open*.
    """
    places = excepted(query, reader)
    rest = without_exceptions(query, reader) if places else query
    wanted = reader.read(rest) if places else {}
    found = list[Degraded]()
    for start, end, key, undone in places:
        said_twice = key in wanted and re.search(rf"(?<!\w){re.escape(query[start:end])}(?!\w)", rest, re.IGNORECASE)
        if key not in wanted or key in reader.dates or said_twice:
            why = _UNDONE if undone else _CONTRADICTS if said_twice else _EXCEPTS_IT
            instead = "the sources are asked for it" if said_twice else _WITHOUT_IT
            found.append(Degraded(what=f"{key}:{query[start:end]}", why=why, instead=instead))
    return found


def denies_anything(query: str) -> bool:
    """Whether a query has any word that excludes: a quick test, as most have none."""
    return _may_deny(query) and _DENIES.search(query) is not None


def _failing(query: str, start: int, end: int) -> re.Match[str] | None:
    """The *failed to* before a status that was not reached; None for *failed to passed*, which has two statuses."""
    fails = _FAILS.search(query, max(0, start - _LONGEST), start)
    infinitive = not query[start:end].casefold().endswith("ed")
    return fails if fails is not None and (infinitive or fails["passive"]) else None


def _may_deny(query: str) -> bool:
    words = _WORDS.findall(query.lower())
    # "isnt" is often typed without its apostrophe.
    return (
        not _DENYING.isdisjoint(words) or any(word.endswith("nt") for word in words) or _SIGNS.search(query) is not None
    )


def denies(query: str, start: int, end: int, before: re.Pattern[str] = _EXCEPTS) -> bool:
    """Whether the words before or behind a part of a query exclude it.

    Args:
        before: the pattern of what excludes a part that follows it.
    """
    return bool(_EXCEPTED_BEHIND.match(query, end) or before.search(query[max(0, start - _LONGEST) : start]))


def _places(query: str, reader: FilterReader) -> list[Excepted]:
    values = [Excepted(start, end, key) for key in reader.keys for start, end in reader.spans(key, query)]
    dates = list(_dates(query, reader))
    if dates and may_deny_events(query):
        records = reader.dated_records(query)
        kept = [place[:2] for place in (*values, *dates) if place.key in (STATUSES, *reader.dates)]
        dates = [place._replace(undone=is_undone(query, place[:2], records, kept)) for place in dates]
    return sorted([*values, *dates])


def _dates(query: str, reader: FilterReader) -> Iterator[Excepted]:
    """Where dates stand, every occurrence, in order, without those within another."""
    at = 0
    for start, end in sorted(_occurrences(query, reader), key=lambda span: (span[0], -span[1])):
        if start >= at:
            at = end
            yield Excepted(start, end, reader.dates[0])


def _occurrences(query: str, reader: FilterReader) -> Iterator[tuple[int, int]]:
    at = 0
    for phrase in reader.date_phrases(query) if reader.dates else ():
        start = query.find(phrase, at)
        if start >= 0:
            at = start + len(phrase)
            yield start, at
            yield from (match.span() for match in re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)").finditer(query, at))


def _is_denied(query: str, place: Excepted) -> bool:
    before = _EXCEPTS_STATUS if place.key == STATUSES else _EXCEPTS
    if place.key == STATUSES and _failing(query, place.start, place.end):
        return True
    if place.key != STATUSES and _SPANISH.match(query, place.start) and _NO_SPANISH.search(query, 0, place.start):
        return True
    if place.key != STATUSES and _OR_NOT.search(query, max(0, place.start - _LONGEST), place.start):
        return False
    return denies(query, place.start, place.end, before)
