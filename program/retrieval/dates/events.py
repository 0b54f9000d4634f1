"""Times that are said of records and cannot be read: *commits before the release*, *the 5/11 build*.

*Before* and *until* stand as often before what bounds no search: *two questions before the call*, *what is left before
we close*. So an event is one here only close behind a word for records in its clause, and with an article: *tickets
closed before the freeze*. Figures that two dates could have are a day where they are said of a record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...text.asking_words import asking_word
from .table import order_of
from .tokens import tokens_of

Span = tuple[int, int]

_BEFORE = (
    r"(?:before|until|till|after|prior\s+to|ahead\s+of|leading\s+up\s+to)\s+(?:the|that|our|this|their)\s"
    r"|vor\s+(?:dem|der|den|unserem|unserer)\s|bis\s+(?:zum|zur)\s"
    r"|(?:avant|après|jusqu['’]à)\s+(?:(?:le|la|les|notre|cette|cet|ce)\s|l['’])|jusqu['’]aux?\s"
    r"|(?:antes|después|despues)\s+(?:del|de\s+(?:la|los|las|nuestr[oa]))\s|hasta\s+(?:el|la|los|las)\s"
    r"|(?:antes|depois)\s+d[oa]s?\s|(?:até|após)\s+(?:o|a|os|as|ao|à)\s"
    r"|prima\s+(?:del|dello|della|dei|delle|dell['’])\s?|fino\s+a(?:l|llo|lla|i|lle|ll['’])\s?"
    r"|dopo\s+(?:(?:il|lo|la|i|gli|le)\s|l['’])"
    r"|(?:tot|na)\s+(?:de|het)\s"
)
"""Bounds with an article. German *nach* and Dutch *voor* are left out, which are *by* and *for* as well."""
_DEFINITE = r"(?:före|innan|efter|inden)\s+(?=\w{4,}(?:en|et|an|n)\b)|przed\s+(?=\w{4,}(?:em|ą|ami)\b)"
"""Bounds of languages whose nouns say by their ends what an article says."""
_BOUND = re.compile(rf"(?<!\w)(?:{_BEFORE}|{_DEFINITE})\s*", re.IGNORECASE)
NEXT_WORD = re.compile(r"\s*(\w+(?:[-'’./]\w+)*)")
_APART = re.compile(r"[.?!;:,]\s|[。？！；，、\n]")
_SAID_OF = 5
"""Words at most between a record and a bound: *everything merged in cinder right before*."""
_MOST = 3
"""Words of an event that are told."""
_STOPS = frozenset(
    "the a an about in on at of for from with by to and or but as than so then while where von aus im am an auf für"
    " mit und oder aber rein de du des dans en sur pour par"
    " et ou mais di da do dos das del dal nel su per con e o y por em no na van met"
    " op i z w na av på från och".split()
)
"""Words that do not belong to an event's name any more."""
_GOES_ON = frozenset(
    "is are was were has have had will would can could may might must should did does do gets got ist sind war waren"
    " wird werden wurde hat kann est sont était a ont sera es son fue está é foi são è sono fu is zijn was wordt är var"
    " har jest był była".split()
)
"""Behind a noun they make it the beginning of a clause: *until the fix is merged*, *before the team can close it*."""
_LOOKS = frozenset("look looks looked looking ask asks asked asking named names called take takes run".split())
"""Verbs that *after* belongs to."""
_LASTS = frozenset("long much lange longtemps tiempo tempo lang länge".split())
"""Before *until* they ask how long."""
_MEALS = frozenset(
    "lunch breakfast dinner mittagessen frühstück abendessen déjeuner dîner almuerzo comida cena desayuno almoço jantar"
    " pranzo colazione middageten ontbijt lunchen frukosten middagen obiadem śniadaniem kolacją".split()
)
"""They come back every day: *is it written that we review before the lunch*."""
_SHARES = frozenset(
    "share ratio rate fraction score rating chance odds anteil quote verhältnis taux rapport tasa proporción taxa razão"
    " tasso quota aandeel andel".split()
)
_OF = r"(?:of|from|for|von|vom|de|du|del|do|di|van|av|från|z)\s+(?:the\s+)?"
_THE = r"(?:the|that|our|der|die|das|dem|den|le|la|el|il|lo|o|a|de|het)"
_SLASHED = re.compile(r"(?<![\w/.])(\d{1,2}/\d{1,2})(?![\w/%]|\.\d)")
_TO_A_RECORD = re.compile(rf"\s+(?:{_OF})?$", re.IGNORECASE)
_ARTICLE = re.compile(rf"(?<!\w){_THE}\s+$", re.IGNORECASE)
_ENDS = re.compile(rf"\s*(?:$|[.?!;,:])|\s+(?:{'|'.join(sorted(_STOPS))})\b", re.IGNORECASE)


def unread_of_records(text: str, records: Sequence[Span]) -> tuple[Span, ...]:
    """Where events and figures stand that say of records when, and are no date, in order.

    Args:
        records: where words for records stand; those that ask ("how many", "what is") or tell a time are none.
    """
    if not (_BOUND.search(text) or _SLASHED.search(text)):
        return ()
    known = [span for span in records if not _asks(text[slice(*span)]) and not _is_unit(text[slice(*span)])]
    return tuple(sorted({*_events(text, known), *_figures(text, known)})) if known else ()


def _asks(cue: str) -> bool:
    return any(asking_word(word) is not None for word in re.findall(r"[^\W\d_]+", cue.casefold()))


def _is_unit(cue: str) -> bool:
    """Whether a word for records counts time where it stands: *two minutes before the call*."""
    tokens = tokens_of(cue)
    return len(tokens) == 1 and tokens[0].value("unit") in ("minute", "hour", "day", "week", "month", "year")


def _events(text: str, records: Sequence[Span]) -> Iterator[Span]:
    for bound in _BOUND.finditer(text):
        behind = max((end for _, end in records if end <= bound.start()), default=None)
        between = text[behind : bound.start()] if behind is not None else ""
        before = text[: bound.start()].casefold().split()[-1:]
        if behind is None or _APART.search(between) or len(between.split()) > _SAID_OF:
            continue
        if _asks(between) or {*before} & (_LOOKS | _LASTS):
            continue
        end = _noun(text, bound.end())
        if end and text[end : end + 1] != ":":
            yield bound.start(), end


def _noun(text: str, at: int) -> int:
    """Where an event ends that is named from here; 0 where that is a date, one of several, or begins a clause."""
    end = 0
    for place in range(_MOST + 1):
        match = NEXT_WORD.match(text, at)
        said = match[1].casefold() if match is not None else ""
        if place == 1 and said in _GOES_ON - _STOPS:
            return 0
        if match is None or said in _STOPS | _GOES_ON or asking_word(said) is not None:
            return end
        kinds = {word.kind for token in tokens_of(match[1]) for word in token.words}
        if not place and (kinds & _NO_EVENT or said in _MEALS):
            return 0
        if place == _MOST or kinds & _DATES - {"unit"}:
            return end
        end = at = match.end()
    return end


_DATES = frozenset("month weekday day unit relation iso year slashed dotted quarter half week feast fixed".split())
_NO_EVENT = _DATES | {"ordinal", "number", "previous", "subsequent", "before_last", "edge"}
"""What begins a date, or tells one record from the next: *the commit before the last one*, *until the end*."""


def _figures(text: str, records: Sequence[Span]) -> Iterator[Span]:
    """*Commits of 5/11*, *the 5/11 build*, *commits 5/11*, where either figure may be the month."""
    for figure in _SLASHED.finditer(text):
        first, second = map(int, figure[1].split("/"))
        if not first or not second or order_of(figure[1]) != "?":
            continue
        ends_here = _ENDS.match(text, figure.end()) is not None
        of = any(
            text[start:end].casefold().partition(" ")[0] not in _SHARES
            and _TO_A_RECORD.fullmatch(text[end : figure.start()])
            for start, end in records
            if end < figure.start()
        )
        its = _ARTICLE.search(text[: figure.start()]) is not None
        before_one = any(text[figure.end() : start].isspace() for start, _ in records if start > figure.end())
        if (of and ends_here) or (its and before_one):
            yield figure.span()
