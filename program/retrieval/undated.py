"""Dates of a question that nothing can be asked for, since a domain's texts are searched by their words alone.

Most dates that people say to such a domain are no bound of what is searched: they are in the texts ("what happened in
2008"), name something ("the Thursday paper"), or tell of the one who asks ("I need it by Monday"). So only what is seen
from now and is over is said, in a clause that asks and not of the one who asks: *what did Priya say last week*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from ...data.function_words import languages_with_function_words, read_function_words
from ..plan import Degraded
from ..text.asking_words import asking_word
from ..text.languages import TOKEN, detect_language
from .dates.finding import find_dates
from .dates.tokens import Token, first_words, tokens_of

_CLAUSE = re.compile(r"[^.?!;:\n。？！；]+[?？]?")
_WORD = re.compile(r"[^\W\d_]+")
_OF_ONESELF = frozenset("i me my we us our".split())
_USUAL = 4
"""So many words that another language has for each of these are looked at; rarer ones are words of much else."""
_ALSO_ELSE = {"it": frozenset({"ci"})}
"""Words of a language that say much else at least as often: *ci* is *us*, and is *there*."""
_COMPARES = frozenset("than als que che dan än niż 比".split())
_ASKS = frozenset("who whose what which why when where how how_many how_long how_often".split())
_OPENS = frozenset("is has did any show".split())
"""Words that ask where a clause begins with them."""
_UNSPACED = re.compile(r"什么|啥|谁|哪|怎|几|多少|吗|何|誰|どう|なぜ|いつ|か$")
_EAST = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OVER = ("last", "past")


def asked_dates(text: str, *, own: bool = False, names: Iterable[str] = ()) -> tuple[str, ...]:
    """The dates that a text asks of what was said then, as typed, each once.

    Args:
        own: whether the texts are those of the one who asks, who then is no other than they are about, and who means by
            a weekday the latest one.
        names: those that the text has, as typed, which never stand for the one who asks.
    """
    said = _without(text, names)
    phrases = (phrase for found in _CLAUSE.finditer(text) for phrase in _of_clause(found, said, own=own))
    return tuple(dict.fromkeys(phrases))


def undated_gaps(text: str, *, own: bool = False, names: Iterable[str] = ()) -> list[Degraded]:
    """A gap for each date of ``asked_dates``."""
    why = "nothing that is searched can be asked for a time"
    instead = "the texts of all times are searched"
    return [Degraded(what=f"date:{said}", why=why, instead=instead) for said in asked_dates(text, own=own, names=names)]


def _of_clause(found: re.Match[str], said: str, *, own: bool) -> Iterator[str]:
    """The dates of a clause that it asks for.

    Args:
        said: the whole text without names, which are other characters in the same places.
    """
    clause = found.group()
    words = _WORD.findall(clause.casefold())
    if not _may_be_over(clause, words, own=own):
        return
    asks = [asking_word(word) for word in words]
    if not (clause[-1:] in "?？" or not _ASKS.isdisjoint(asks) or _OPENS & {*asks[:1]} or _UNSPACED.search(clause)):
        return
    if not own and _of_oneself(said[found.start() : found.end()], detect_language(said)):
        return
    for phrase in find_dates(clause):
        head, _, rest = clause.partition(phrase)
        before, behind = head.casefold().split()[-1:], tokens_of(rest)[:1]
        counts_on = behind and behind[0].value("number") is not None  # "when one is past day one"
        if not _COMPARES.intersection(before) and not counts_on and _is_over(tokens_of(phrase), own=own):
            yield phrase


def _without(text: str, names: Iterable[str]) -> str:
    """A text in which other characters stand for its names; one small word is no name, as it may be a pronoun."""
    for name in names:
        if len(name) > 1 and (name[0].isupper() or " " in name):
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "x" * len(name), text)
    return text


def _of_oneself(clause: str, language: str) -> bool:
    """Whether a clause has a word of its language for the one who asks.

    Within a sentence a capital makes a name of such a word (*Min*, *US*), but in German, and where all has capitals.
    """
    own, words = _pronouns(language), TOKEN.findall(clause)
    capitals_tell = language != "de" and any(word[:1].islower() for word in words)
    for place, word in enumerate(words):
        named = len(word) > 1 and (word.isupper() or (place > 0 and word[0].isupper()))
        article = place > 0 and words[place - 1].casefold() == "the"  # "in the us"
        if word.casefold() in own and not article and not (capitals_tell and named):
            return True
    return False


@cache
def _pronouns(language: str) -> frozenset[str]:
    """The words of a language for *I*, *we* and what is theirs, but those that are another word of it as well."""
    if language not in languages_with_function_words():
        return _OF_ONESELF
    found, others = set[str](), set[str](_ALSO_ELSE.get(language, ()))
    for english, typed in read_function_words(language):
        own = english in _OF_ONESELF
        shown = typed if english in ("my", "our") or not own else typed[:_USUAL]  # those of "my" are one word's endings
        parts = (text.casefold().replace("'", " ").replace("-", " ").split() for text in shown)
        (found if own else others).update(part[0] for part in parts if len(part) == 1)
    return frozenset(found - others)


def _may_be_over(clause: str, words: list[str], *, own: bool) -> bool:
    """Whether any word may be part of a date that is over: looking for dates takes a fifth of a plan's time."""
    return bool(_EAST.search(clause)) or not _over(own=own).isdisjoint(words)


@cache
def _over(*, own: bool) -> frozenset[str]:
    return first_words(lambda word: _says_over(word.kind, word.value, own=own))


def _says_over(kind: str, value: object, *, own: bool) -> bool:
    if kind == "day":
        return isinstance(value, int) and value < 0
    if kind in ("unit_off", "years_off"):
        return "-" in str(value)
    told = (kind == "relation" and value in _OVER) or (kind == "relation_after" and value == "last") or kind == "ago"
    return told or (own and kind == "weekday")


def _is_over(tokens: tuple[Token, ...], *, own: bool) -> bool:
    """Whether a phrase is seen from now and names what is over."""
    values = [(token.value("relation"), token.value("relation_after"), token.value("day")) for token in tokens]
    said = any(relation in _OVER or behind == "last" or (day or 0) < 0 for relation, behind, day in values)
    said = said or any("-" in str(token.value(kind)) for token in tokens for kind in ("unit_off", "years_off"))
    ago = any(token.value("ago") is not None for token in tokens) and any(token.value("unit") for token in tokens)
    weekday = own and any(token.value("weekday") is not None for token in tokens)
    return said or ago or weekday
