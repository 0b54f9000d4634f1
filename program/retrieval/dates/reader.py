"""Reads the date phrases that begin at a token: periods, bounds (*since Monday*) and ranges (*1 to 15 November*)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .context import SIGNS, says_nothing
from .forms import CJK_TEXT, Parse, PeriodReader, in_year, is_fill, only_fills
from .inner import InnerReader, year_behind
from .periods import Period
from .spans import NamedDay, aged, between, bounded, edge_day_of, halves, lent
from .tokens import Token

# With these words a number of units says how long something took; only with "old" or "ago" behind is it a date.
_LENGTHS = frozenset(
    "over|more than|less than|at least|mindestens|au moins|al menos|pelo menos|almeno|minstens|mehr als"
    "|plus de|más de"
    "|mais de|più di|mer än|ponad|超过|不到|moins de|menos de|meno di".split("|")
)
_WITH_ARTICLE = (
    *("nth", "ordinal of", "edge", "beside", "half of", "unit of"),
    *("unit relation_after", "unit before", "weekday before", "weekend", "ordinal unit year"),
)
"""Forms whose article belongs to the phrase: *the 14th*, *the end of October*, *le mois dernier*."""
_BEGINNINGS = frozenset({"since", "after"})
"""Bounds that say a beginning; the others say an end."""
_SAME = frozenset("that same selben derselben jener jenem".split())
_ONWARDS = frozenset({"onward", "onwards", "em diante", "en adelante", "in poi", "och framåt"})


End = tuple[Any, int]
"""An end of a range, and the token after it. The end is a bare number, or a parse with what it lends to a bare number
at the other end (``spans.lent``)."""


class DateReader:
    """Phrases of dates that begin at a token: periods, bounds and ranges."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.periods = PeriodReader(tokens)
        self.inner = InnerReader(self.periods)
        self._says_between = any(token.value("between_behind") is not None for token in tokens)

    def phrase(self, i: int) -> Parse | None:
        """The longest phrase that begins here; of equal ones the first."""
        if i >= len(self.tokens) or not self.tokens[i].words:
            return None
        bounds = [*self._bounds(i)]
        found = [*self.periods.at(i), *self.inner.at(i), *self._ranges(i), *bounds]
        found += [whole for bound in bounds for whole in self._with_other_half(i, bound)]
        return max(found, key=lambda parse: parse.end, default=None)

    def reference(self, i: int, *, alone: bool = False) -> Parse | None:
        """*The one before*, *the week after*, *that week*: words that refer to a period named before them.

        Args:
            alone: whether these words are the whole phrase; then they need no article.
        """
        j = i
        while j < len(self.tokens) and only_fills(self.tokens[j]):
            j += 1
        if j >= len(self.tokens):
            return None
        nothing = lambda here: here.day(0)  # noqa: E731
        for kind in ("previous", "subsequent"):
            if self._is(j, kind):
                return Parse(nothing, j + 1, kind)
        for kind, sign in (("previous", "before"), ("subsequent", "after")):
            match = self.periods.match(j, ("unit", sign)) if alone or j > i else None
            if match is not None and (kind == "previous" or self._is_last(match[1])):
                end = match[1] + (match[1] < len(self.tokens) and self.tokens[match[1]].text.casefold() == "that")
                return Parse(nothing, end, kind, str(match[0][0]))
        if self.tokens[j].text.casefold() in _SAME and self._is(j + 1, "unit"):
            return Parse(nothing, j + 2, "same")
        return None

    def _is_last(self, i: int) -> bool:
        """Whether nothing follows that these words could be about."""
        return i >= len(self.tokens) or not self.tokens[i].text[0].isalnum() or self.tokens[i].text.casefold() == "that"

    def with_article(self, i: int, kind: str) -> int:
        """Where a phrase of this form begins: at its article, if that belongs to it."""
        article = i and self.tokens[i - 1].value("bare_article") is not None
        return i - 1 if article and kind.startswith(_WITH_ARTICLE) else i

    def _is(self, i: int, kind: str) -> bool:
        return i < len(self.tokens) and self.tokens[i].value(kind) is not None

    # -- bounds --------------------------------------------------------------------------------

    def _bounds(self, i: int) -> Iterator[Parse]:
        for sign in SIGNS:
            if self._is(i, sign) and not self._is_other_word(i):
                yield from self._bound(i, sign)
        yield from self._aged(i)
        if self._is(i, "from") or self._is(i, "since"):
            parse = max((*self.inner.at(i + 1), self.periods.longest(i + 1)), key=lambda p: p.end if p else 0)
            if parse is not None and parse.kind.endswith(" to date"):
                yield Parse(bounded("since", parse), parse.end, "since till now")
            if parse is not None and self._is(parse.end, "till_now"):
                yield Parse(bounded("since", parse), parse.end + 1, "since till now")
            if parse is not None and (self._goes_on(parse.end) or self._is(parse.end, "or_later")):
                yield Parse(bounded("since", parse), parse.end + 1, "since onward")
        yield from self._signs_behind(i)

    def _is_other_word(self, i: int) -> bool:
        """Whether a word is no bound: *up to* in *what has she been up to*, Portuguese *do* in *do dia 7*."""
        text, before = self.tokens[i].text.casefold(), self.tokens[i - 1].text.casefold() if i else ""
        return (text == "up to" and before == "been") or (text == "do" and self._is(i + 1, "dia"))

    def _bound(self, i: int, sign: str) -> Iterator[Parse]:
        behind = (self.periods.longest(i + 1), self._edge_of_this(i + 1) if sign != "until" else None)
        for parse in (*behind, self._number(i)):
            if parse is not None:
                end = parse.end + (sign == "since" and self._is(parse.end, "or_later"))
                end += sign == "until" and (self._is(end, "or_earlier") or self._is(end, "inclusive"))
                yield Parse(bounded(sign, parse), end, f"{sign} {parse.kind}")
                if (when := self.tokens[end].value("happened") if end < len(self.tokens) else None) is not None:
                    same = (sign, when) in (("since", "start"), ("before", "start"), ("after", "end"))
                    make = bounded(sign, edge_day_of(parse, str(when)))
                    yield Parse(make, end + 1, f"{sign} event", says_no_more=same)
                yield from self._both(sign, parse)
        if sign == "since" and (match := self.periods.match(i, ("since", "number", "unit"))) is not None:
            (_, count, unit), j = match  # "seit zwei Wochen"
            yield Parse(lambda here: here.since(Period(here.away(-count, unit), here.today)), j, "since so long")
        if sign == "until" and self._is(i + 1, "now"):
            yield Parse(lambda here: here.until(here.day(0)), i + 2, "until now")

    def _number(self, i: int) -> Parse | None:
        """*Sprints before 41*: a bare number is a sprint where the word stands before the bound."""
        number = self.tokens[i + 1].value("number") if i + 1 < len(self.tokens) else None
        if not isinstance(number, int):
            return None
        return Parse(lambda here: here.sprint(number), i + 2, "number", "sprint")

    def _both(self, sign: str, parse: Parse) -> Iterator[Parse]:
        """*After 10 November and before 17 November*."""
        j = parse.end + 1
        other = "before" if sign in ("after", "since") else "after"
        if sign == "until" or not self._is(parse.end, "and") or j >= len(self.tokens):
            return
        second = next((s for s in (other, "until", "since") if self._is(j, s) and s != sign), None)
        inner = self.periods.longest(j + 1) if second else None
        if second is not None and inner is not None:
            make = lambda here: here.within(bounded(sign, parse)(here), bounded(second, inner)(here))  # noqa: E731
            yield Parse(make, inner.end, "both")

    def _with_other_half(self, i: int, bound: Parse) -> Iterator[Parse]:
        """*Since 3 May until yesterday*, *until Friday, from Monday on*: with the bound behind it, one range."""
        sign, j = bound.kind.partition(" ")[0], bound.end
        apart = j < len(self.tokens) and self.tokens[j].text == ","
        j += apart
        if sign not in SIGNS or j >= len(self.tokens) or says_nothing(self.tokens, i, bound):
            return
        if bound.kind.endswith(" number"):
            return  # "antes del 24 de diciembre pasado" has a longer bound
        begins = sign in _BEGINNINGS
        others = [one for one in self._bounds(j) if (one.kind.partition(" ")[0] in _BEGINNINGS) != begins]
        if (
            not begins
            and self._is(j, "from")
            and not self._is(j, "of")
            and (inner := self.periods.longest(j + 1)) is not None
        ):
            others.append(Parse(bounded("since", inner), inner.end, f"since {inner.kind}"))
        for other in others:
            kinds = {one.kind.partition(" ")[2] for one in (bound, other)}
            if apart and len(kinds) > 1 and "weekday" in kinds:
                continue  # "after 3 November, no later than Friday" does not say which Friday
            if other.kind.partition(" ")[0] in SIGNS and not says_nothing(self.tokens, j, other):
                yield Parse(halves(*(bound, other) if begins else (other, bound)), other.end, "range")

    def _edge_of_this(self, i: int) -> Parse | None:
        """*The start of the quarter*, which is a date only behind a bound."""
        while i < len(self.tokens) and is_fill(self.tokens[i]) and not self._is(i, "edge"):
            i += 1
        where = self.tokens[i].value("edge") if i < len(self.tokens) else None
        j = i + 1
        while j < len(self.tokens) and is_fill(self.tokens[j]) and not self._is(j, "unit"):
            j += 1
        unit = self.tokens[j].value("unit") if where is not None and j < len(self.tokens) else None
        if unit not in ("week", "month", "quarter", "half", "year", "sprint"):
            return None
        this = lambda here: here.related("this", unit)  # noqa: E731
        return Parse(this, j + 1, "edge", "part", lambda here: here.edge_day(this(here), str(where)))

    def _aged(self, i: int) -> Iterator[Parse]:
        """*Older than two weeks*, *more than 30 days ago*."""
        i += self._is(i, "ago_before") and not self._is(i, "older")
        if (match := self.periods.match(i, ("newer", "unit"))) and self.tokens[i].text.casefold() == "within the last":
            (_, said), j = match
            yield Parse(lambda here: here.related("past", said), j, "aged")
        for sign in ("older", "newer"):
            for kinds in ((sign, "number", "unit"), (sign, "stretch")):
                if (match := self.periods.match(i, kinds)) is not None:
                    values, j = match
                    said = self._is(j, "old") or self._is(j, "ago") or self._is(i - 1, "ago_before")
                    j += self._is(j, "old") or self._is(j, "ago")
                    count, unit = values[1:] if len(values) == 3 else str(values[1]).split()
                    kind = "aged" if said else "length" if self.tokens[i].text.casefold() in _LENGTHS else "aged"
                    yield Parse(lambda h, s=sign, c=int(count), u=unit: aged(h, s, c, u), j, kind)

    def _goes_on(self, i: int) -> bool:
        """Whether a word such as *on* or *onwards* ends what began with *from*."""
        if not self._is(i, "onward"):
            return False
        alone = i + 1 == len(self.tokens) or not self.tokens[i + 1].text[:1].isalnum()
        return alone or self._is(i + 1, "until") or self.tokens[i].text.casefold() not in ("on", "an")

    def _signs_behind(self, i: int) -> Iterator[Parse]:
        """Bounds whose word stands behind the period: 周一以来, 月曜日から, pazartesiden beri."""
        parse = self.periods.longest(i) if self.tokens[i].value("fill") is None else None
        if parse is None or parse.end >= len(self.tokens):
            return
        behind = self.tokens[parse.end]
        if is_fill(behind) and self._is(parse.end + 1, "since_after"):
            yield Parse(bounded("since", parse), parse.end + 2, f"since {parse.kind}")
        if behind.value("since_after") is not None or behind.value("or_later") is not None:
            yield Parse(bounded("since", parse), parse.end + 1, f"since {parse.kind}")
        dated = parse.unit == "day" and (behind.value("to_date") is not None or behind.value("till_now") is not None)
        if dated or behind.text.casefold() in _ONWARDS:
            yield Parse(bounded("since", parse), parse.end + 1, f"since {parse.kind}")
        if behind.value("or_earlier") is not None:
            yield Parse(bounded("until", parse), parse.end + 1, f"until {parse.kind}")
        for sign in SIGNS:
            directly = CJK_TEXT.match(behind.text) and behind.value(sign) is not None
            if directly or behind.value(f"{sign}_behind") is not None:
                yield Parse(bounded(sign, parse), parse.end + 1, f"{sign} {parse.kind}")

    # -- ranges --------------------------------------------------------------------------------

    def _ranges(self, i: int) -> Iterator[Parse]:
        """*Between A and B*, *from A to B*, *A to B*; the one may lend the other its month or unit."""
        openings = [(i + 1, "and")] if self._is(i, "between") else []
        openings += [(i + 1, "to")] if self._is(i, "from") else []
        yield from self._between_behind(i)
        for start, joint in [*openings, (i, "to")]:
            for first, middle in self._ends(start, begun=start > i):
                at = self._joint(middle, joint)
                if at is None:
                    continue
                for second, end in self._ends(at):
                    if isinstance(first, int) and isinstance(second, int) and (start == i or self._is_place(at)):
                        continue  # "3 - 4" alone is no date, nor is "from first to second"
                    end += end < len(self.tokens) and self.tokens[end].text == "まで"
                    found = Parse(lambda here, a=first, b=second: between(here, a, b), self._included(end), "range")
                    yield found
                    if (year := year_behind(self.periods, end)) is not None:
                        yield Parse(in_year(found, year), self._included(year.end), "range of year")

    def _between_behind(self, i: int) -> Iterator[Parse]:
        """*3 ile 7 Kasım arasında*: A and B, and behind them the word that says *between*."""
        for first, middle in self._ends(i) if self._says_between else ():
            at = self._joint(middle, "and")
            for second, end in self._ends(at) if at is not None else ():
                if self._is(end, "between_behind") and not (isinstance(first, int) and isinstance(second, int)):
                    yield Parse(lambda here, a=first, b=second: between(here, a, b), end + 1, "range")

    def _fills(self, i: int) -> bool:
        """Whether a token is skipped before an end of a range: *the*, *de*, *el día*."""
        token = self.tokens[i]
        return only_fills(token) or self._is(i, "dia") or (is_fill(token) and not self.periods.at(i))

    def _included(self, i: int) -> int:
        """The place after *inclusive* and the like, which add nothing to a range."""
        j = i + (i < len(self.tokens) and self.tokens[i].text == ",")
        return j + 1 if self._is(j, "inclusive") else i

    def _is_place(self, i: int) -> bool:
        return self._is(i, "ordinal") and not self._is(i, "nth")

    def _joint(self, i: int, joint: str) -> int | None:
        while i < len(self.tokens) and not self._is(i, joint) and is_fill(self.tokens[i]):
            i += 1
        i += i + 1 < len(self.tokens) and self.tokens[i].text == "." and self._is(i + 1, joint)  # "27 oct. au 7 nov."
        if i and i < len(self.tokens) and self.tokens[i].text == "a" and self.tokens[i - 1].text == ",":
            return None  # "October 27th, a Monday"
        dots = joint == "to" and i + 1 < len(self.tokens) and self.tokens[i].text == self.tokens[i + 1].text == "."
        return i + 2 if dots else i + 1 if self._is(i, joint) else None

    def _ends(self, i: int, *, begun: bool = True) -> list[End]:
        """The ends of a range that may stand here: a period, now, or a bare number (an int); the longest first."""
        while i < len(self.tokens) and (self._fills(i) if begun else only_fills(self.tokens[i])):
            i += 1
        if i >= len(self.tokens):
            return []
        said = self._is(i, "weekday") or (self._is(i, "weekday_said") and not self._is(i, "month"))
        if said and i + 1 < len(self.tokens):
            i += self.tokens[i + 1].value("dom") is not None  # "Monday 3 to Friday 7 November"
        by_end = {parse.end: parse for parse in reversed(self.periods.at(i))}
        day = self.tokens[i].value("nth")
        day = NamedDay(day) if day is not None else self.tokens[i].value("ordinal")
        found: list[End] = [(day, i + 1)] if isinstance(day, int) and day > 0 else []  # it may lend its month
        found += [((parse, lent(self.tokens, i, end)), end) for end, parse in sorted(by_end.items(), reverse=True)]
        if not found and begun and (edge := self._edge_of_this(i)) is not None:
            found.append(((edge._replace(make=edge.point or edge.make), None), edge.end))
        if not found and self._is(i, "now"):
            found.append(((Parse(lambda here: here.day(0), i + 1, "now"), None), i + 1))
        if not found and isinstance(number := self.tokens[i].value("dom"), int):
            found.append((number, i + 1))
        return found
