"""Date phrases that tell a date twice, or have a story around it.

*Last Friday, the 12th*, *week 43, Monday to Friday*, *freeze (18 Dec) to release (22 Dec)*; *since the incident on 9
October*, *sprint 30, the very first one*. They are read so only if somebody gives the phrase as one date; in a text
each date is found by itself (``finding.find_dates``). Wrong days are worse than a gap, so a phrase is not read if its
story takes something away or could make it other days.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from .context import SIGNS
from .forms import FILLS, Parse, is_fill, only_fills
from .period_parts import Almanac
from .periods import DAY, Period
from .spans import bounded
from .tokens import Token, tokens_of

_APPOSED = frozenset(
    "( ) （ ） , ; : . – - — i e ie namely meaning number no nr i.e. d h also on the aka so just say a only solo"
    " nur bara fast seulement tylko alleen apenas".split()
)
Whole = Callable[[Sequence[Token]], "Parse | None"]
Find = Callable[[Sequence[Token]], "Callable[[int], Parse | None]"]
"""A function from tokens to a function that finds the longest date phrase that begins at one of them."""


def told_twice(phrase: str, find: Find, whole: Whole, here: Almanac) -> Period | None:
    """The period that a phrase names twice (the narrower one, or the one as a part of the other); None if it does not.

    Two dates with *until* between are the ends of a range, with any story around: *freeze (18 Dec) to release (22
    Dec)*. Two that are added (*and*, *plus*) and adjoin are one period.
    """
    tokens = tokens_of(phrase)
    pieces, others = _pieces(tokens, find)
    if len(pieces) != 2 or denies(tokens):
        return None
    (a, first), (b, second) = pieces
    one, other = made(first, here), made(second, here)
    if tokens[b - 1].text in "(（" and second.kind.startswith("until"):
        return None  # "October (until the 10th)"
    if first.kind == "weekday" and a and tokens[a - 1].value("number") == 1:
        return None  # "on a Monday in November"
    if one is not None and other is not None and _is_range(tokens, pieces, others):
        return here.span(one.first, other.last) if one.first is not None and one.first <= other.last else None
    if one is not None and other is not None and _are_added(tokens, pieces, others):
        early, late = sorted((one, other), key=lambda period: period.last)
        touch = early.first is not None and late.first is not None and early.first <= late.first <= early.last + DAY
        return here.span(early.first, late.last) if touch else None
    if not all(tokens[i].text.casefold() in _APPOSED or only_fills(tokens[i]) for i in others):
        return None
    if one is not None and other is not None:
        begins = Period(one.first, one.first) if first.kind.startswith("since") and one.first is not None else one
        alike = _ends_of(one) & _ends_of(other) or _same_weekdays(tokens[b], other, begins)
        if (first.kind.startswith((*SIGNS, "range")) or first.unit == "day") and alike:
            return one  # "since the 16th, two weeks back", "week 47 through yesterday, Nov 30"
        if _inside(one, other):
            return one
        if _inside(other, one):
            return other
    if tokens[b].value("relation") is not None:
        return None  # "last month, last week"
    if first.kind.startswith(SIGNS) and second.kind.startswith(SIGNS):
        return None  # read in reverse order, two bounds would be a range: "after 3 November, no later than Friday"
    of = tokens_of("of") if whole((*tokens[b : second.end], *tokens[a : first.end])) is None else ()
    part = made(whole((*tokens[b : second.end], *of, *tokens[a : first.end])), here)
    return part if part is not None and any(each and _inside(part, each) for each in (one, other)) else None


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
    """Whether *until* or *to* joins two dates, and no other date words are there."""
    (_, first), (b, second) = pieces
    if first.kind.startswith(SIGNS) or (second.kind.startswith(SIGNS) and not second.kind.startswith("until")):
        return False
    inner = [i for i in others if first.end <= i < b]
    joints = [i for i in inner if tokens[i].value("to") is not None or tokens[i].value("until") is not None]
    joints = [i for i in joints if tokens[i].text.casefold() != "a"]  # "a" is too often another word
    if not joints and others and tokens[others[0]].value("between") is not None:
        # "between the retro (3 Nov) and today"
        joints = [i for i in inner if tokens[i].value("and") is not None]
        others = others[1:]
    said = second.kind.startswith("until") or len(joints) == 1
    told = (tokens[i] for i in others if i not in joints)
    return said and all(
        _tells(token) or _is_sign(token) or is_fill(token) or _kinds(token) <= _SAYS_NOTHING for token in told
    )


def _are_added(tokens: Sequence[Token], pieces: Sequence[tuple[int, Parse]], others: Sequence[int]) -> bool:
    """Whether *and* or *plus* joins two dates, and there are no other words than filling ones."""
    (_, first), (b, _) = pieces
    # "A" is "and" in Polish, but other words elsewhere.
    said = {i: tokens[i].text.casefold() for i in others}
    ands = [i for i in others if (tokens[i].value("and") is not None and said[i] != "a") or said[i] in _PLUS]
    fills = all(only_fills(tokens[i]) for i in others if i not in ands)
    return len(ands) == 1 and first.end <= ands[0] < b and fills


_PLUS = frozenset({"plus", "+", "più", "más", "mais", "samt", "sowie", "加", "加上"})


def with_a_story(phrase: str, find: Find) -> Parse | None:
    """The one date of a phrase whose other words tell an event.

    Either between a bound and its date (*since the incident on 9 October*), or apart from it (*the release week, 17
    to 21 November*, *since 28 October, the deploy day*), or behind a bound with a day and a month (*after the 10 June
    hotfix*). Anything else that stands with a date could make it other days (*winter 2024*, *python 3.11*, *the last 3
    days of the freeze*), and so could numbers and other periods.
    """
    tokens = tokens_of(phrase)
    pieces, others = _pieces(tokens, find)
    if len(pieces) != 1 or denies(tokens):
        return None
    start, parse = pieces[0]
    sign = sign_of(tokens[0]) if start and others[0] == 0 else None
    between = range(1, start) if sign is not None else range(0)
    if sign is not None and not any(_tells(tokens[i]) for i in between):
        return None  # there are no words between them that tell an event
    before, behind = _is_apart(tokens, start - 1, -1), _is_apart(tokens, parse.end, 1)
    if sign is not None and not _is_a_day_or_ago(parse, sign):
        return None
    on = start > 0 and parse.unit == "day" and tokens[start - 1].text.casefold() in _ON
    month = any(token.value("month") is not None for token in tokens[start : parse.end])
    dated = month and parse.kind.startswith((*SIGNS, "beside"))
    for i in others[sign is not None :]:
        told = _tells(tokens[i]) or (i > 0 and _tells(tokens[i - 1]) and _is_a_name(tokens[i]))
        told = told or (on and not tokens[i].words)  # "since release 4.2 on June 3rd"
        apart = (before if i < start else behind) and not _SAYS_WHEN & _kinds(tokens[i])
        if i < start and tokens[i].value("tod") is not None and parse.kind.startswith(SIGNS):
            return None  # "the morning after 5 November"
        nothing = _is_sign(tokens[i]) or is_fill(tokens[i]) or frozenset() < _kinds(tokens[i]) <= _SAYS_NOTHING
        event = i in between or (dated and i >= parse.end)
        if not (nothing or apart or (told and event) or tokens[i].text.casefold() in _APPOSED):
            return None
    if sign is None:
        return parse
    return parse._replace(make=bounded("since" if sign == "from" else sign, parse))


def _is_sign(token: Token) -> bool:
    return not any(character.isalnum() for character in token.text)


def _is_a_day_or_ago(parse: Parse, sign: str) -> bool:
    """Whether the date of an event is a day, or is counted from now.

    A longer period is no bound, since nobody knows on which day of a sprint its retro was.
    """
    if parse.kind.startswith((*SIGNS, "range", "beside")):
        return False
    return parse.unit == "day" or (sign in ("since", "from") and parse.kind in _FROM_NOW)


_FROM_NOW = frozenset("number unit ago|relation unit|unit relation_after|ago_before number unit".split("|"))


def sign_of(token: Token) -> str | None:
    """The kind of bound (*since*, *from* …) that a token means; None if it is none."""
    if token.text.casefold() == "from the":
        return "from"
    return next((sign for sign in (*SIGNS, "from") if token.value(sign) is not None), None)


def contradicts(rest: str, period: Period, find: Find, here: Almanac) -> bool:
    """Whether the rest of a phrase could change its period: by a part, a number, or days with other ends."""
    tokens = tokens_of(rest)
    pieces, others = _pieces(tokens, find)
    if denies(tokens) or any(_kinds(tokens[i]) & _BOUNDS for i in others):
        return True
    if any(_says_other_days(tokens, i) and not _is_number_of(tokens[i], period, here) for i in others):
        return True
    told = [(at, made(parse, here)) for at, parse in pieces if parse.kind != "fixed"]  # "over New Year"
    return any(
        one is None or not (_ends_of(one) & _ends_of(period) or _same_weekdays(tokens[at], one, period))
        for at, one in told
    )


def denies(tokens: Sequence[Token]) -> bool:
    """Whether a word excludes something, means a neighbour of the date beside it, or says that it recurs."""
    strange = "".join(token.text if not token.words else " " for token in tokens)
    joined = "".join(token.text.casefold() for token in tokens).replace(" ", "")
    return (
        any(token.text.casefold() in _UNMEANT for token in tokens)
        or any(sign in strange for sign in _DENY_IN_CHINESE)
        or any(sign in joined for sign in _NEIGHBOURS)
    )


def is_bound_inclusive(phrase: str, rest: str) -> bool:
    """Whether *inclusive* follows a phrase with *before* or *after*, so that its day would count, too."""
    tokens = tokens_of(phrase)
    said = any(token.value("inclusive") is not None for token in tokens_of(rest))
    return said and any(token.value("before") is not None or token.value("after") is not None for token in tokens[:1])


def _says_other_days(tokens: Sequence[Token], i: int) -> bool:
    """Whether a token is a part of a period, or a number that is neither a length nor a name."""
    token, kinds = tokens[i], _kinds(tokens[i])
    if kinds & _PARTS:
        return not _counted(tokens, i)
    if (token.value("number") is None and token.value("dom") is None) or not any(c.isdigit() for c in token.text):
        return False
    counts = i + 1 < len(tokens) and tokens[i + 1].value("unit") is not None
    return not counts and not (i and tokens[i - 1].text.casefold() in _CALLED)


def _is_number_of(token: Token, period: Period, here: Almanac) -> bool:
    """Whether a number is that of the period, a day or a sprint: *last Friday, so the 7th*, *last sprint, i.e. 50*."""
    number = token.value("dom") or token.value("number")
    if not isinstance(number, int) or period.first is None:
        return False
    sprint = made(Parse(lambda almanac: almanac.sprint(number), 1, "number"), here)
    return (period.first == period.last and period.last.day == number) or sprint == period


def _counted(tokens: Sequence[Token], i: int) -> bool:
    """Whether a unit has a number before it (*all 3 months*), so that it is the length of a period."""
    return tokens[i].value("unit") is not None and i > 0 and tokens[i - 1].value("number") is not None


def _same_weekdays(token: Token, told: Period, period: Period) -> bool:
    """Whether a range of weekdays begins and ends on the weekdays of a period: *19–23 Feb, Mon to Fri*."""
    if token.value("weekday") is None or told.first is None:
        return False
    if period.first is None or (told.first == told.last) != (period.first == period.last):
        return False
    return (told.first.weekday(), told.last.weekday()) == (period.first.weekday(), period.last.weekday())


_PARTS = frozenset({"unit", "half_part", "edge", "weekday", "relation"})
_DENY = frozenset(
    "no not never neither nor none cannot without except including excepting excluding excluded excl exclusive minus"
    " skipping skip ignoring ignore avoid avoiding outside other apart instead unlike besides barring bar but omitting"
    " mondays tuesdays wednesdays thursdays fridays saturdays sundays weekends weekdays workdays montags dienstags"
    " mittwochs donnerstags freitags samstags sonntags werktags werktage lundis mardis mercredis jeudis vendredis"
    " earliest frühestens ehestens tôt ici or every each any daily weekly monthly eve isn aren wasn don doesn"
    " nicht kein keine keinen nie niemals ohne ausser ausgenommen ausserhalb statt oder vorabend vortag jeden jede"
    " pas jamais sauf sans hors hormis excepté excepte ni aucun veille lendemain chaque"
    " sin menos excepto salvo fuera nunca víspera vispera cada não nao sem exceto fora nem véspera"
    " non senza tranne eccetto fuori né vigilia ogni oppure niet geen nooit zonder behalve buiten elke"
    " inte ej aldrig utan utom förutom varje eller bez oprócz poza nigdy przeddzień każdy lub albo"
    " ikke uden uten kromě не без кроме или".split()
)
"""Words that exclude, choose, say that something recurs, or name a neighbour of a day."""
SEASONS = frozenset(
    "winter spring summer autumn fall easter frühling frühjahr sommer herbst ostern printemps été automne hiver pâques"
    " primavera verano otoño invierno pascua verão outono inverno páscoa estate autunno pasqua lente zomer herfst pasen"
    " vår höst vinter påsk wiosna lato jesień zima ramadan thanksgiving".split()
)
"""Seasons, and feasts that move, which are not read."""
_UNMEANT = _DENY | SEASONS
_DENY_IN_CHINESE = tuple("不 非 除 没 勿 ない 每 毎 或 春 夏 秋 冬".split())
_NEIGHBOURS = tuple("前日 翌日 前夜 以外 次の日 前の日 翌週 次の週 前の週 次日 bisauf workingdays".split())
"""Words for neighbours of a day and the like that are several tokens, written without spaces."""
_CALLED = frozenset("number no nr num numero número numéro nummer #".split())
_ON = frozenset("on am le el il op på em".split())
_BOUNDS = frozenset({*SIGNS, "between", "previous", "subsequent"})
_SAYS_NOTHING = frozenset({*FILLS, "of_strict", "from", "and", "tod", "onward"})
_SAYS_WHEN = frozenset(
    "number ordinal dom nth relation relation_after month weekday day week quarter year half before_last previous"
    " subsequent ago ago_before to_date so_far stretch older newer before after since until between"
    " inclusive".split()
)


def _tells(token: Token) -> bool:
    """Whether a token is a word of a story: no date word, or a feast, which is not resolved to days."""
    return (token.text.isalpha() and not token.words) or token.value("feast") is not None


def _is_a_name(token: Token) -> bool:
    """Whether a figure can only be part of a name: *PR 300*."""
    return token.text.isdigit() and len(token.text) > 2 and token.value("year") is None


def _kinds(token: Token) -> frozenset[str]:
    return frozenset(word.kind for word in token.words)


def _is_apart(tokens: Sequence[Token], i: int, step: int) -> bool:
    """Whether a comma or the like stands here, possibly before *i.e.* and the like."""
    while 0 <= i < len(tokens) and tokens[i].text not in _APART and tokens[i].text.casefold() in _APPOSED:
        i += step
    return 0 <= i < len(tokens) and tokens[i].text in _APART


_APART = frozenset(",;:()（）–—-")


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
