"""Names in a filter's place that no source knows: *commits in heron*.

If such a name were ignored, everything would be asked for; when it is read, a gap names it. A word is such a name
beside the filter's own word (*the heron project*), behind *anything in*, and enumerated with a value (*atlas and
heron*). Behind a record and *in*, *on*, *for*, *of* or *from*, at the end of a phrase, it only may be one: of 69
queries about browsers, towns, tools and people (*bugs in safari*) 29 had a word that looks like a name. So these are
reported, and the source is asked without them. In any case, it must be no word of the card, no word that the encoder
knows whole, and not inflected. Apart from enumerations, only English is read, since the encoder knows too few words of
other languages whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from ....data.card import DomainCard
from ...heads.encoder import default_encoder
from ...text.asking_words import asking_word
from ..dates.finding import find_dates

_WORD = re.compile(r"[^\W\d_]+")
_ANY = re.compile(
    r"\b(?:anything|something|everything|nothing|stuff|work|things)(?:\s+(?!(?:in|on|for|of|from)\b)\w+){0,2}$",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:in|on|for|of|from)\s+(?:the\s+)?([a-z]{4,})\b(?=\s*(?:$|[?,.;:!]|(?:that|which|since|last|this|before|after"
    r"|between|until|next|yesterday|today|anyway|still|right|and|or|open|closed)\b))",
    re.IGNORECASE,
)
_JOINT = r"\s*(?:,\s*(?:and|or)\b|[/&+]|\b(?:and|or|nor|vs|versus|und|oder|et|ou|y|e|och|eller|en)\b\.?)\s*"
_GOES_ON = r"\s*,\s*(?=[a-z]{4,}\s*(?:,|and\b|or\b|und\b|et\b|y\b|och\b))"
"""A comma within an enumeration, which goes on behind the next word; other commas end it (*in atlas, please*)."""
_NAMED_BEHIND = re.compile(rf"(?:{_JOINT}|{_GOES_ON})(?:the\s+)?([a-z]{{4,}})\b", re.IGNORECASE)
_NAMED_BEFORE = re.compile(
    r"(?:^|[,;:(/&+]|\b(?:in|on|for|of|from|between|about|compare|both|and|or|does?|is|are|the|dans|en|em|nel|för|w)\s)"
    rf"\s*([a-z]{{4,}})(?:{_JOINT}|\s*,\s*)(?:the\s+)?$",
    re.IGNORECASE,
)
"""The word that a value is enumerated with, behind it and before it."""
_ENDS = re.compile(
    r"\s*(?:$|[?,.;:!/&+)]|(?:that|which|since|last|this|next|before|after|between|until|yesterday|today|tomorrow|in|on|for"
    r"|and|or|vs|versus|compare|compared|differ|seit|depuis|desde|sedan|sinds)\b)",
    re.IGNORECASE,
)
_KEY = re.compile(r"-\d")
"""What follows a value that is a part of a record's number (*HLP-786*)."""
_SPACE = re.compile(r"\s*")
_NEAR = 60
"""The most characters before a place in which *anything*, or another part of an enumeration, is looked for."""
_INFLECTED = re.compile(r"(?:s|ing|ed|ly|tion|ment)$", re.IGNORECASE)


Span = tuple[int, int]


class UnknownNames:
    """Finds unknown names for the filter whose values are names of the card (``key``), such as projects."""

    def __init__(self, card: DomainCard) -> None:
        self._card = card
        names = {name.name.casefold() for name in card.names}
        keys = {f.name for source in card.sources for f in source.fields if {v.casefold() for v in f.values} & names}
        self.key = min(keys, default=None)
        word = (self.key or "").removesuffix("s")
        self._beside = (
            re.compile(rf"\b{word}\s+([a-z]{{4,}})\b", re.IGNORECASE),
            re.compile(rf"\b([a-z]{{4,}})\s+{word}\b", re.IGNORECASE),
        )

    def find(self, text: str, values: Iterable[Span] = (), records: Iterable[Span] = ()) -> tuple[str, ...]:
        """The words, in lower case and each once, that are surely unknown names of the filter.

        Args:
            values: where values of the filter stand in the text.
            records: where words for records stand, which may follow an enumeration (*atlas and heron tickets*).
        """
        found = (m[1].casefold() for m in _PLACE.finditer(text) if _ANY.search(_before(text, m.start())))
        beside = (match[1].casefold() for pattern in self._beside for match in pattern.finditer(text))
        return self._names((*found, *beside, *self._enumerated(text, values, {start for start, _ in records})), text)

    def _enumerated(self, text: str, values: Iterable[Span], records: set[int]) -> list[str]:
        """The unknown words that values are enumerated with, and those that these are enumerated with in turn."""
        found, waiting = list[str](), [span for span in values if not _KEY.match(text, span[1])]
        while waiting and self.key is not None:
            start, end = waiting.pop()
            near = max(0, start - _NEAR)
            behind, before = _NAMED_BEHIND.match(text, end), _NAMED_BEFORE.search(text[near:start])
            after = behind.end() if behind is not None else 0
            ends = _ENDS.match(text, after) is not None or _next_word(text, after) in records
            for match, at in ((behind if ends else None, 0), (before, near)):
                name = match[1].casefold() if match is not None else ""
                if match is not None and name not in found and self._unknown(name) and asking_word(name) is None:
                    found.append(name)
                    waiting.append((match.start(1) + at, match.end(1) + at))
        return found

    def perhaps(
        self, text: str, ends: Iterable[int], values: Iterable[Span] = (), records: Iterable[Span] = ()
    ) -> tuple[str, ...]:
        """The words that may be such names, or anything else that a record is about: *bugs in safari*.

        Args:
            ends: where cues and values of the card end in the text.
            values: where values of the filter stand in it.
            records: where words for records stand.
        """
        places = list(_PLACE.finditer(text))
        behind = set(ends) if places else set()
        found = (m[1].casefold() for m in places if _stands_behind(text[: m.start()].rstrip(), behind))
        sure = self.find(text, values, records)
        return tuple(name for name in self._names(found, text) if name not in sure)

    def _names(self, words: Iterable[str], text: str) -> tuple[str, ...]:
        found = [word for word in words if self.key is not None and self._unknown(word)]
        dated = " ".join(find_dates(text)).casefold() if found else ""
        return tuple(dict.fromkeys(name for name in found if name not in dated))

    def _unknown(self, word: str) -> bool:
        return not _INFLECTED.search(word) and word not in self._words and not default_encoder().knows_whole(word)

    @cached_property
    def _words(self) -> frozenset[str]:
        """Every word of the card."""
        return frozenset(_WORD.findall(" ".join(_texts(self._card)).casefold()))


def _next_word(text: str, at: int) -> int:
    """Where the next word begins."""
    space = _SPACE.match(text, at)
    return space.end() if space is not None else at


def _before(text: str, at: int) -> str:
    return text[max(0, at - _NEAR) : at].rstrip()


def _stands_behind(before: str, ends: set[int]) -> bool:
    """Whether a cue or value ends here that is not part of a comparison (*faster than in autumn*)."""
    return len(before) in ends and not before.endswith(" than")


def _texts(card: DomainCard) -> Sequence[str]:
    return [
        *(card.title, card.description, *card.covers),
        *(text for source in card.sources for text in (source.name, source.description)),
        *(value for source in card.sources for field in source.fields for value in field.values),
        *(text for rule in card.source_intents for text in (rule.description, *rule.cues)),
        *(text for name in card.names for text in (name.name, *name.aliases)),
        *(text for value in card.filter_values for text in (value.value, *value.aliases)),
    ]
