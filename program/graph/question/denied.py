"""Names that a question negates, read by form: "without garlic", "not by Marta", "fettfrei", "마늘 없는".

A plan starts from names, and "without garlic" asks for the opposite of what is reached from garlic: where every name of
a question is negated, no steps give what is left. A name is negated by a word a little before it, by one right behind
it, or at the end of its clause, depending on the language. A negation of something else is passed over: of a property
or a value ("not approved"), of another clause, "not only", "must not" (which edges express), "why not", "isn't it".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ..names.linking import Mention
from .clauses import ARTICLE, SENTENCE, SENTENCE_END, ClauseReading, Words, begins_at, ends_at
from .spoken import NOUNS, ends_in, is_small, phrases_in, spoken_in
from .words import CONTRACTED, folded_words, spelled_out, stands_alone

LACKS, DENIES = 2, 4
"""The most words from the name back to a word for "without" ("without any …"), and back to one that negates the verb
before the name."""
TWICE = 4
"""Within how many words before a "without" another negation cancels it: "do not work without"."""
MODAL, RATHER = 2, 3
"""Numbers of words: before a negation, in which a "must" counts; and behind a name, in which a "but" names what is
meant instead."""
ENDS, SIGNS = 3, 10
"""Within how many words behind a name its clause ends with a negation; within how many signs in scripts without
spaces."""
IDEOGRAPHS = re.compile(r"[\u4e00-\u9fff]+")
ANOTHER_VERB = re.compile(r"[うるたく][\u4e00-\u9fff]|[\u30a0-\u30ff]{2}")
"""The end of a Japanese verb with another word behind it, or a noun in katakana: what follows is negated, and not the
name."""
KOREAN_VERB = folded_words("지")[0]
PARTICIPLE = re.compile(r"\w{2,}(?<![dt])[ae]n$")
"""A Turkish participle, which ends the clause of the name before it: "içeren" (containing)."""
TAGS = frozenset({"it", "he", "she", "they", "there", "mi", "mu", "mı"})
"""Words behind a negation that make it a question tag, which only asks for a yes."""


def denied_names(question: str, mentions: Sequence[Mention], told: Words) -> frozenset[int]:
    """The places, in ``mentions``, of the names that a question negates."""
    reading = _Reading(question, mentions, told)
    return reading.denied() if reading.may_deny() else frozenset()


class _Reading(ClauseReading):
    def __init__(self, question: str, mentions: Sequence[Mention], told: Words) -> None:
        super().__init__(question, mentions, told)
        self._used: set[int] = set()

    def may_deny(self) -> bool:
        """Whether it does not ask why something is not so."""
        return not any(begins_at(self._folded, place, self._line("why")) for place in range(len(self._folded)))

    def denied(self) -> frozenset[int]:
        order = sorted(range(len(self._mentions)), key=lambda i: self._mentions[i].first)
        before = {i for i in order if self._is_denied_before(self._mentions[i])}
        ended = {i for i in order if self._is_free(self._mentions[i]) or self._is_ended(self._mentions[i])}
        behind = {i for i in order if i not in before and self._is_denied_behind(self._mentions[i])}
        found = before | ended | behind
        return frozenset(self._joined(order, before | behind) | self._joined(order[::-1], ended) | found)

    def _is_denied_before(self, name: Mention) -> bool:
        noun = None  # the word for a type that is negated with the name: "never made a *dish* that has tahini"
        for place in range(name.first, max(-1, name.first - 2 * DENIES - 1), -1):
            gap = (name.first if noun is None else noun) - place
            if gap > DENIES or (place < name.first and self._stops(place, noun is None)):
                return False
            for line, most in (("lacks", LACKS + self._is_of(name)), ("denies", DENIES)):
                count = ends_at(self._folded, place, self._line(line))
                if count and gap <= most:
                    return self._is_of_name(place - count, place, name, line)
            if place < name.first - 1 and self._told.kinds(self._folded[place]):
                if noun is not None:
                    return False
                noun = place
        return False

    def _is_of(self, name: Mention) -> bool:
        """Whether a preposition or an article stands before the name: "without any mention of garlic"."""
        return len(self._folded[name.first - 1]) <= ARTICLE if name.first else False

    def _stops(self, place: int, relates: bool) -> bool:
        """Whether a negation that stands before this word cannot be of a name behind it.

        Args:
            relates: whether the word may begin a relative clause behind a word for a type ("a dish *that* has …").
        """
        word = self._folded[place]
        if self._is_apart(place, place + 1) or place in self._named or word.isdecimal():
            return True
        if word in self._clauses:
            return not (relates and place and self._told.kinds(self._folded[place - 1]))
        return self._told.values(word)

    def _is_of_name(self, begin: int, end: int, name: Mention, line: str) -> bool:
        """Whether the negation in words ``begin`` to ``end`` negates the name behind it.

        Args:
            line: the line of the grammar that it is of, ``lacks`` ("without") or ``denies`` ("not").
        """
        folded = self._folded
        if any(place in self._named for place in range(begin, end)) or (end and self._is_apart(end - 1, end)):
            return False
        if self._says_only(end, name.first) or (self._is_prefix(end) and end != name.first):
            return False
        if line == "denies" and (self._is_modal(max(0, begin - MODAL), name.first) or self._asks_with_it(begin)):
            return False
        if end == name.first and end - begin == 1 and (folded[begin],) in self._line("in"):
            return False
        if line == "denies" and (self._is_rather_another(name) or self._goes_on(name.last)):
            return False
        if line == "denies" and self._is_of_noun(end, name):
            return False
        if line == "denies" and self._is_modal(name.last, name.last + ENDS):
            return False
        self._used.update(range(begin, end))
        if line != "denies":
            for place in range(begin, max(0, begin - TWICE), -1):
                if ends_at(folded, place, self._line("denies")) and not self._is_apart(place - 1, begin):
                    return False
        return True

    def _is_free(self, name: Mention) -> bool:
        """Whether a word for "free of" is written behind the name: "nut-free", "fettfreie", "ネギ抜き"."""
        if any(name.rest.startswith(one[0]) for one in self._line("free") if len(one) == 1):
            return True
        count = begins_at(self._folded, name.last, self._line("free"))
        return (
            bool(count)
            and not self._is_apart(name.last - 1, name.last)
            and not self._says_only(name.first - 2, name.first)
        )

    def _is_denied_behind(self, name: Mention) -> bool:
        """Whether the verb right behind a name is negated: "that Marta did not write"."""
        at, folded = name.last, self._folded
        count = begins_at(folded, at, self._line("behind"))
        if not count or self._is_apart(at - 1, at) or at in self._used or at + count - 1 in self._used:
            return self._is_asked_behind(name)
        after = folded[at + count : at + count + 1]
        if any(word in TAGS or word.isdecimal() or self._told.values(word) for word in after):
            return False
        if self._says_only(at + count, at + count + 1) or self._is_modal(at, at + count + ENDS):
            return False
        begins = self._begins_clause(name) or (count > 1 and name.first and self._told.kinds(folded[name.first - 1]))
        return (bool(begins) and not self._goes_on(at)) or self._is_asked_behind(name)

    def _is_asked_behind(self, name: Mention) -> bool:
        """Whether the verb stands before the name and its negation behind it: "what does garlic not go with"."""
        at, folded = name.last, self._folded
        if (
            at >= len(folded)
            or (folded[at],) not in self._line("late")
            or at in self._used
            or self._is_apart(at - 1, at)
        ):
            return False
        if at + 1 == len(folded) or self._is_apart(at, at + 1):  # "welche Wege pflegt der Verein nicht?"
            return True
        before = [place for place in (name.first - 1, name.first - 2) if place > 0]
        short = [place for place in before if place == name.first - 1 or len(folded[place + 1]) <= ARTICLE]
        asks = any((folded[place],) in self._line("asks") and not self._asks_yes_or_no(place) for place in short)
        return asks and not self._says_only(at + 1, at + 2)

    def _begins_clause(self, name: Mention) -> bool:
        """Whether a clause begins right before the name, or with one article between."""
        if self._is_apart(name.first - 1, name.first):
            return True
        for gap in (1, 2):
            place = name.first - gap
            if place < 0 or (gap == 2 and len(self._folded[place + 1]) > ARTICLE):
                return False
            if self._folded[place] in self._clauses:
                return True
        return False

    def _is_ended(self, name: Mention) -> bool:
        """Whether the name's clause ends with a negation, as in "sarımsak içermeyen" and "마늘을 쓰지 않는"."""
        signs = stands_alone(self._folded[name.last]) if name.last < len(self._folded) else False
        for place in range(name.last, min(len(self._folded), name.last + (SIGNS if signs else ENDS + 1))):
            if self._is_apart(place - 1, place) or place in self._named:
                return False
            if count := begins_at(self._folded, place, self._line("ends")) or self._has_end(place):
                return self._is_of_clause(name, place, count, signs)
            word = self._folded[place]
            if word.isdecimal() or self._told.values(word) or self._told.kinds(word) or PARTICIPLE.match(word):
                return False
            if not signs and (word in self._clauses or (_is_korean(word) and not word.endswith(KOREAN_VERB))):
                return False
        return False

    def _is_of_clause(self, name: Mention, place: int, count: int, signs: bool) -> bool:
        gap = self._question[name.end : self._words[place].start]
        if signs and (len(IDEOGRAPHS.findall(gap)) > 1 or ANOTHER_VERB.search(gap)):
            return False
        after = self._folded[place + count : place + count + 1]
        if any(word in TAGS for word in after) or self._is_modal(name.last, place + count):
            return False
        return not self._says_only(max(0, name.first - 2), name.first) and not self._says_only(
            name.last, place + count + 1
        )

    def _has_end(self, place: int) -> int:
        return int(any(self._folded[place].endswith(end) for end in ends_in("ends", self._spoken)))

    def _joined(self, order: Sequence[int], found: set[int]) -> set[int]:
        """The names that are enumerated with a negated one: "without garlic, onions or tahini".

        Args:
            order: the places of all names, in the order in which enumerations are followed.
            found: the places of the negated names.
        """
        joined: set[int] = set()
        waiting: list[int] = []
        for one, other in pairwise(order):
            if one not in found | joined and one not in waiting:
                continue
            first, last = sorted((self._mentions[one], self._mentions[other]), key=lambda m: m.first)
            between = self._folded[first.last : last.first]
            if other in found or len(between) > 1 or last.first < first.last:
                waiting = []
            elif between and (between[0],) in self._line("joins"):
                joined.update([*waiting, other])
                waiting = []
            elif not between and "," in self._question[first.end : last.start]:
                waiting.append(other)
            else:
                waiting = []
        return joined

    def _says_only(self, begin: int, end: int) -> bool:
        """Whether what is denied is that it is the only one: "not just garlic"."""
        return any(begins_at(self._folded[:end], place, self._line("only")) for place in range(max(0, begin), end))

    def _is_modal(self, begin: int, end: int) -> bool:
        """Whether a word for "must" stands among these words: edges of their own express "must not"."""
        places = range(begin, min(end, len(self._folded)))
        ends = ends_in("must", self._spoken)
        return any(begins_at(self._folded, p, self._line("must")) or self._folded[p].endswith(ends) for p in places)

    def _asks_with_it(self, begin: int) -> bool:
        """Whether a question begins with the denial, which only asks for a yes: "isn't garlic …", "is garlic not …"."""
        if begin <= 1 and self._folded[0] in CONTRACTED | {"isnt", "arent", "dont", "doesnt"}:
            return True
        named = [place in self._named for place in range(1, begin)]
        others = (place for place, name in enumerate(named, 1) if not name)
        return any(named) and self._asks_yes_or_no(0) and all(map(self._is_beside_a_name, others))

    def _asks_yes_or_no(self, place: int) -> bool:
        """Whether a verb that asks for a yes or no is the question's first word, and stands there."""
        return place == 0 and (self._folded[0],) in self._line("asks")

    def _is_beside_a_name(self, place: int) -> bool:
        """Whether a word is an article or is for the type of a name."""
        return len(self._folded[place]) <= ARTICLE or self._told.kinds(self._folded[place])

    def _is_rather_another(self, name: Mention) -> bool:
        """Whether what is meant instead of the only name follows it: "if it isn't reflux but its mimic"."""
        places = range(name.last, name.last + RATHER)
        return len(self._mentions) == 1 and any(
            begins_at(self._folded, place, self._line("rather")) for place in places
        )

    def _goes_on(self, place: int) -> bool:
        """Whether another sentence follows, so that the negation is told and is no part of what is asked."""
        ends = (i for i in range(place, len(self._words) - SENTENCE + 1) if i)
        return any(SENTENCE_END.search(self._question[self._words[i - 1].end : self._words[i].start]) for i in ends)

    def _is_of_noun(self, end: int, name: Mention) -> bool:
        """Whether the negation is of a noun's adjective, in a language that capitalizes nouns: "nicht schwere Wege"."""
        noun = end + 1
        if not NOUNS & self._spoken or noun >= name.first - 1:
            return False
        article = is_small(self._folded[end]) or len(self._folded[end]) <= ARTICLE
        small = self._question[self._words[end].start].islower() and not article
        return small and self._question[self._words[noun].start].isupper()

    def _is_prefix(self, end: int) -> bool:
        """Whether the negation is joined to the next word by a hyphen: "non-steroidal"."""
        place = self._words[end - 1].end
        return self._question[place : place + 1] in ("-", "\u2010", "\u2011")


def denies(text: str) -> bool:
    """Whether a text has a word that negates: "lacks it" does, "has too little of it" does not."""
    folded = spelled_out(folded_words(text))
    spoken = spoken_in(folded)
    phrases = phrases_in("lacks", spoken) | phrases_in("denies", spoken)
    return any(begins_at(folded, place, phrases) for place in range(len(folded)))


def _is_korean(word: str) -> bool:
    return "\u1100" <= word[-1] <= "\u11ff"
