"""Forms of naming a period: sequences of word kinds, and parts and neighbours of other periods.

A form has the kinds of its words, a meaning, and a unit, which decides what it may be joined with: *Friday last week*
is one phrase, *Friday in October* is two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from .english import counts_something_else
from .period_parts import Almanac, start_of
from .periods import NoSuchDateError, Period
from .table import FIRST, FORMS, Form
from .tokens import CJK, Token

Make = Callable[[Almanac], Period]
Values = tuple[Any, ...]

DEEPEST = 12
"""The most periods within or behind each other in a phrase; a text of nothing but names of months would have more."""
FILLS = frozenset({"fill", "of", "bare_article", "week_of", "whole"})


class Parse(NamedTuple):
    """What a phrase means, the token after it, the kinds of its words (its form), and the unit that it is one of.

    ``point`` is the single day that a bound refers to, if not the whole period: *since the end of October*.
    ``says_no_more`` if its last word could be left out: *since sprint 42 began*, *November so far*.
    """

    make: Make
    end: int
    kind: str
    unit: str = "days"
    point: Make | None = None
    says_no_more: bool = False


def only_fills(token: Token) -> bool:
    """Whether a token can only be a filling word, one that stands between words of dates and means nothing."""
    return bool(token.words) and all(word.kind in FILLS for word in token.words)


def is_fill(token: Token) -> bool:
    """Whether a token can be a filling word, among other things."""
    return token.value("fill") is not None


class PeriodReader:
    """Finds the periods that begin at a token; each place is read once."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self._kinds = [frozenset(word.kind for word in token.words) for token in tokens]
        self._at: dict[int, list[Parse]] = {}
        self._depth = 0

    def at(self, i: int) -> list[Parse]:
        """Every period that begins at a token."""
        if i not in self._at:
            if self._depth > DEEPEST:
                return []
            self._at[i] = []  # a period is no part of itself
            self._depth += 1
            # "To" is two in Danish alone; elsewhere it joins a range, so no period begins with it.
            if i < len(self.tokens) and self._kinds[i] & FIRST and self.tokens[i].text.casefold() != "to":
                self._at[i] = self._all(i)
            self._depth -= 1
        return self._at[i]

    def longest(self, i: int) -> Parse | None:
        """The longest period that begins at a token or behind filling words; None if there is none."""
        while i < len(self.tokens) and is_fill(self.tokens[i]) and not self.at(i):
            i += 1
        return max(self.at(i), key=lambda parse: parse.end, default=None)

    def after(self, i: int, kind: str) -> int | None:
        """The place behind a token of that kind; None where there is none."""
        return i + 1 if i < len(self.tokens) and kind in self._kinds[i] else None

    def match(self, i: int, kinds: Sequence[str]) -> tuple[Values, int] | None:
        """The values of successive tokens of these kinds, with filling words skipped, and the place after them."""
        values = []
        for n, kind in enumerate(kinds):
            comma = "," if kind == "number" and kinds[n - 1] == "unit" else ""  # "release week, 17 to 21 November"
            while n and i < len(self.tokens) and kind not in self._kinds[i] and "fill" in self._kinds[i]:
                if self.tokens[i].text == comma:
                    return None
                i += 1
            if i >= len(self.tokens) or kind not in self._kinds[i]:
                return None
            values.append(self.tokens[i].value(kind))
            i += 1
        return tuple(values), i

    def _all(self, i: int) -> list[Parse]:
        found = [*self._simple(i), *self._parts(i)]
        joined = [each for parse in found for each in self._joined(i, parse)]
        joined += [part for parse in joined if self._is_cjk(parse.end) for part in self._behind(parse)]
        return [self._with_time_of_day(parse) for parse in (*found, *joined)]

    def _is_cjk(self, i: int) -> bool:
        return i < len(self.tokens) and CJK_TEXT.match(self.tokens[i].text) is not None

    def _simple(self, i: int) -> Iterator[Parse]:
        for kinds, make, unit in _forms_of(self._kinds[i]):
            if kinds == _SO_MANY and self.tokens[i].text.endswith("."):
                continue  # "10. dieses Monats" is a day
            if (match := self.match(i, kinds)) is not None:
                values, j = match
                if kinds == _SO_MANY and counts_something_else(values[0], self.tokens[j - 1]):
                    continue
                said = str(values[unit]) if isinstance(unit, int) else unit
                yield Parse(lambda here, m=make, v=values: m(here, *v), j, " ".join(kinds), said)

    # -- parts of a period and what is beside it ---------------------------------------------------

    def _parts(self, i: int) -> Iterator[Parse]:
        yield from self._weekday_of(i)
        yield from self._nth(i)
        yield from self._half(i)
        yield from self._edge(i)
        yield from self._beside(i)
        yield from self._containing(i)
        yield from self._beginning(i)
        yield from self._day_of_month(i)

    def _weekday_of(self, i: int) -> Iterator[Parse]:
        """*Terça da semana passada*: weekdays whose names are other words, too."""
        day = self.tokens[i].value("weekday_said")
        for inner in self.all_of(i + 1) if day is not None else ():
            if inner.unit == "week" and inner.kind in _WEEKS:
                make = lambda here, m=inner.make: here.weekday_of(m(here), day)  # noqa: E731
                yield Parse(make, inner.end, "of week", "day")

    def _nth(self, i: int) -> Iterator[Parse]:
        """*The first two weeks of October*, *the last Friday in November*."""
        count = self.tokens[i].value("number") if i + 1 < len(self.tokens) else None  # "5 derniers jours"
        count = count if self.tokens[i].value("ordinal") is None else None
        i += count is not None
        place = self.tokens[i].value("ordinal")
        said = place is not None
        if place is None and self.tokens[i].value("relation") == "last":
            place = -1
        if place is None or i + 1 >= len(self.tokens):
            return
        j = i + 1
        if (behind := self.tokens[j].value("number")) is not None:
            count, j = behind, j + 1
        before = count is not None and behind is None and not said
        for kind in ("unit", "weekday"):
            other = before and counts_something_else(int(count or 1), self.tokens[j])
            if other or (k := self.after(j, kind)) is None or "half_part" in self._kinds[j]:
                continue
            value = self.tokens[j].value(kind)
            if (inner := self.of(k, bare=True) or (self._directly(k, value) if said or count else None)) is not None:
                yield _place(inner, int(place), kind, value, int(count or 1))

    def _half(self, i: int) -> Iterator[Parse]:
        """*The second half of last month*."""
        match = self.match(i, ("ordinal", "half_part"))
        if match is None and self.tokens[i].value("relation") == "last":
            match = self.match(i, ("relation", "half_part"))
        if match is None:
            return
        place, j = 2 if match[0][0] == "last" else match[0][0], match[1]
        if (inner := self.of(j, bare=True) or self._directly(j, "half")) is not None:
            yield Parse(lambda here: here.half_of(inner.make(here), place), inner.end, "half of", "part")

    def _edge(self, i: int) -> Iterator[Parse]:
        """*The end of October*, *early last week*."""
        where = self.tokens[i].value("edge")
        if where is None or i + 1 >= len(self.tokens):
            return
        inner = self.longest(i + 1 + (self.tokens[i + 1].text == "-"))
        if inner is None or inner.unit in ("day", "days", "part"):
            return
        if self.tokens[i].text.casefold() in ("early", "late") and not _is_dated(inner, self.tokens[i + 1]):
            return  # "is it late this week"
        yield _edge_of(inner, str(where), inner.end)

    def _beside(self, i: int) -> Iterator[Parse]:
        """*The two weeks before last week*, *the day after 4 November*."""
        count = self.tokens[i].value("number")
        j = i if count is None else i + 1
        if (k := self.after(j, "unit")) is None or (count is None and self.tokens[j].text.endswith("s")):
            return  # "sprints before sprint 41" are all of them
        unit = self.tokens[j].value("unit")
        for sign in ("before", "after"):
            at = self.after(k, sign)
            inner = self.longest(at) if at is not None else None
            if inner is not None:
                over = self.after(inner.end, "happened")  # "the day after sprint 42 ended"
                if over is not None and (self.tokens[inner.end].value("happened") == "end") == (sign == "after"):
                    inner = inner._replace(end=over)
                yield _neighbour(inner, int(count or 1), unit, sign)

    def _containing(self, i: int) -> Iterator[Parse]:
        """*The week of 3 March*, *the week starting 3 November*."""
        j = self.after(i, "unit")
        if j is None or j >= len(self.tokens) or not self._kinds[j] & {"of", "week_of"}:
            return
        unit, inner = str(self.tokens[i].value("unit")), self.longest(j + 1)
        if inner is not None and unit == inner.unit == "month" and inner.kind.startswith("month"):
            yield inner  # "the month of November"
        if inner is not None and inner.unit == "day" and unit in ("week", "weekend", "sprint", "month", "quarter"):
            yield Parse(lambda here: here.containing(inner.make(here), unit), inner.end, "unit of", unit)

    def _beginning(self, i: int) -> Iterator[Parse]:
        """*W/c 27 October*."""
        inner = self.longest(i + 1) if self.tokens[i].value("week_from") is not None else None
        if inner is not None and inner.unit == "day":
            yield Parse(lambda here: here.containing(inner.make(here), "week"), inner.end, "unit of", "week")

    def _day_of_month(self, i: int) -> Iterator[Parse]:
        """*The 15th of last month*."""
        dom = next((day for kind in _DAY_WORDS if (day := self.tokens[i].value(kind)) is not None), None)
        named = self.tokens[i].value("nth") is not None or self.tokens[i].text.endswith(".")
        j = i + 1
        if dom is None or j >= len(self.tokens) or not (named or self._kinds[j] & {"of"}):
            return
        while j < len(self.tokens) and is_fill(self.tokens[j]):
            j += 1
        for inner in self.at(j):
            if inner.kind in _MONTHS and inner.unit == "month":
                yield Parse(lambda here, m=inner.make: _day_in(here, m(here), dom), inner.end, "nth of", "day")

    # -- periods side by side ----------------------------------------------------------------------

    def _joined(self, i: int, parse: Parse) -> Iterator[Parse]:
        """What follows a period and says more of it: the year of a month, the week of a weekday."""
        j = parse.end
        behind = self.tokens[j] if j < len(self.tokens) else None
        if behind is None:
            return
        if CJK_TEXT.match(behind.text) or (behind.value("number") is not None and CJK_TEXT.match(self.tokens[i].text)):
            yield from self._behind(parse)
        if behind.value("to_date") is not None and parse.unit in _STARTED:
            yield parse._replace(end=parse.end + 1, kind=f"{parse.kind} to date", says_no_more=True)
        if (where := behind.value("edge_behind")) is not None and parse.unit not in _NO_WHOLES:
            yield _edge_of(parse, str(where), j + 1)
        if behind.value("of") is not None:
            while j < len(self.tokens) and is_fill(self.tokens[j]) and not self.at(j):
                j += 1
            j += j < len(self.tokens) and j == parse.end and not self.at(j)
        for other in self.at(j):
            if parse.kind in _OPEN and other.unit == "year" and other.kind in YEARS:
                yield Parse(in_year(parse, other), other.end, f"{parse.kind} of year", parse.unit)
            elif parse.kind == "weekday" and other.unit == "week" and other.kind in _WEEKS:
                day = self.tokens[i].value("weekday")
                yield Parse(lambda here, o=other, d=day: here.weekday_of(o.make(here), d), other.end, "of week", "day")
            elif other.kind == "weekday" and parse.unit == "week" and parse.kind in _WEEKS:
                day = self.tokens[other.end - 1].value("weekday")
                yield Parse(lambda here, d=day: here.weekday_of(parse.make(here), d), other.end, "of week", "day")
            elif other.kind in _OPEN and parse.unit == "year" and parse.kind in YEARS:
                yield Parse(in_year(other, parse), other.end, f"year's {other.kind}", other.unit)

    def _behind(self, parse: Parse) -> Iterator[Parse]:
        """In Chinese and Japanese the part stands behind the whole: 10月第一周, 上个月底."""
        j = parse.end + (is_fill(self.tokens[parse.end]) and parse.end + 1 < len(self.tokens))
        token = self.tokens[j]
        if (where := token.value("edge")) is not None and parse.unit not in _NO_WHOLES:
            yield _edge_of(parse, str(where), j + 1)
        if (half := token.value("half_behind")) is not None and parse.unit not in _NO_WHOLES:
            yield Parse(lambda here: here.half_of(parse.make(here), half), j + 1, "half of", "part")
        if (day := token.value("nth")) is not None and parse.unit == "month" and parse.kind == "relation unit":
            yield Parse(lambda here: _day_in(here, parse.make(here), day), j + 1, "nth of", "day")
        place = token.value("ordinal")
        for kind in ("unit", "weekday") if isinstance(place, int) else ():
            at = j + 1 + (j + 1 < len(self.tokens) and self.tokens[j + 1].value("number") == 1)
            if (k := self.after(at, kind)) is not None:
                yield _place(parse._replace(end=k), place, kind, self.tokens[at].value(kind), 1)
        if (number := token.value("number")) is not None and (k := self.after(j + 1, "nth_unit")) is not None:
            yield _place(parse._replace(end=k), int(number), "unit", self.tokens[j + 1].value("nth_unit"), 1)
        if parse.unit == "day" and (unit := self.tokens[parse.end].value("that_unit")) is not None:
            make = lambda here: here.containing(parse.make(here), str(unit))  # noqa: E731
            yield Parse(make, parse.end + 1, "unit of", str(unit))

    def _with_time_of_day(self, parse: Parse) -> Parse:
        """A day extended by its time of day or its weekday in brackets, which do not change the day."""
        j = parse.end
        if parse.unit == "day" and self._in_brackets(j):
            return parse._replace(end=j + 3)
        j += j < len(self.tokens) and self.tokens[j].text == "の"
        if parse.unit != "day" or (k := self.after(j, "tod")) is None:
            return parse
        return parse._replace(end=k)

    def _in_brackets(self, i: int) -> bool:
        """Whether a weekday in brackets stands here: ``(Tue)``, ``(火)``."""
        if i + 2 >= len(self.tokens) or self.tokens[i].text not in "(（" or self.tokens[i + 2].text not in ")）":
            return False
        inner = self.tokens[i + 1]
        return bool({"weekday", "weekday_said"} & self._kinds[i + 1]) or inner.text in "月火水木金土日"

    def _directly(self, i: int, part: object) -> Parse | None:
        """A period that directly follows a part of it, without *of*: *first week November*."""
        inner = self.longest(i) if i < len(self.tokens) and not is_fill(self.tokens[i]) else None
        wholes = ("month", "quarter", "year", "half" if part in ("month", "quarter") else "sprint")
        return inner if inner is not None and inner.unit in wholes and inner.unit != part else None

    def all_of(self, i: int) -> list[Parse]:
        """Every period that begins at a token or behind filling words."""
        while i < len(self.tokens) and is_fill(self.tokens[i]) and not self.at(i):
            i += 1
        return self.at(i)

    def of(self, i: int, *, bare: bool = False) -> Parse | None:
        """A period behind *of*; where ``bare``, also *of the month*, which is this month."""
        if i >= len(self.tokens) or "of" not in self._kinds[i] or self.tokens[i].text in "の的":
            return None
        inner = self.longest(i + 1)
        if inner is not None or not bare:
            return inner
        j = i + 1
        if j < len(self.tokens) and "bare_article" in self._kinds[j] and self.after(j, "unit") is None:
            j += 1
        unit = self.tokens[j].value("unit") if j < len(self.tokens) else None
        if unit in ("week", "month", "quarter", "half", "year", "sprint"):
            return Parse(lambda here: here.related("this", unit), j + 1, "the unit", str(unit))
        return None


_SO_MANY, _DAY_WORDS = ("number", "relation", "unit"), ("dom", "day_of", "day_said")
CJK_TEXT = re.compile(f"[{CJK}]")
_NO_WHOLES = ("day", "days", "part")
"""Units of periods of which nothing behind them is an edge or a half."""
_OPEN = frozenset(
    "month|quarter|half|dom month|month dom|nth month|ordinal unit|unit number|unit number and number".split("|")
)
"""Forms that may be followed by a year."""
_DAYS = frozenset({"dom month", "month dom", "nth month"})
_STARTED = frozenset({"week", "sprint", "month", "quarter", "half", "year"})
"""Units that *so far* may follow, since they may have begun and not be over."""
YEARS = frozenset(
    "unit before relation|unit before_last|before_last unit|years_off|relation unit|unit relation_after|"
    "number unit ago".split("|")
)
_SAID_OF = "relation unit|unit relation_after|unit before relation|unit before_last|before_last unit"
_WEEKS = frozenset(f"{_SAID_OF}|number unit ago|unit number".split("|"))
"""Forms of weeks that a weekday may stand with."""
_MONTHS = frozenset(_SAID_OF.split("|"))
"""Forms of months that a day may stand with."""


def _place(inner: Parse, place: int, kind: str, value: Any, count: int) -> Parse:
    if kind == "weekday":
        return Parse(lambda here: here.nth_weekday(inner.make(here), place, value), inner.end, "nth weekday", "day")
    unit = "day" if value == "day" and count == 1 else "part"
    return Parse(lambda here: here.nth(inner.make(here), place, value, count), inner.end, "nth unit", unit)


def _edge_of(inner: Parse, where: str, end: int) -> Parse:
    return Parse(
        lambda here: here.edge(inner.make(here), where),
        end,
        f"edge {where}",
        inner.unit if where == "whole" else "part",
        lambda here: here.edge_day(inner.make(here), where),
    )


def _is_dated(inner: Parse, first: Token) -> bool:
    return inner.unit != "sprint" and first.value("relation") != "this"


def _neighbour(inner: Parse, count: int, unit: str, sign: str) -> Parse:
    after = sign == "after"
    kind = "day" if unit == "day" and count == 1 else unit
    return Parse(
        lambda here: here.beside(inner.make(here), count, unit, after=after), inner.end, f"beside {sign}", kind
    )


def in_year(parse: Parse, year: Parse) -> Make:
    """The period in another year, which is resolved as seen from that year's last day."""

    def make(here: Almanac) -> Period:
        there = year.make(here)
        seen = parse.make(Almanac(there.end, here.calendar))
        if parse.kind in _DAYS and start_of(seen).year != there.end.year:
            raise NoSuchDateError(f"{there.end.year} has no such day")
        return here.as_far_as_today(seen)

    return make


def _day_in(here: Almanac, month: Period, day: int) -> Period:
    assert month.first is not None, "a month has a beginning"
    return here.on(month.first.year, month.first.month, day)


@lru_cache(maxsize=1024)
def _forms_of(kinds: frozenset[str]) -> tuple[Form, ...]:
    """The forms that may begin with a token of these kinds, in order."""
    return tuple(form for form in FORMS if form[0][0] in kinds)
