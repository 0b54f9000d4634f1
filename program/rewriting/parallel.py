"""A follow-up that says a part of the question before otherwise, and nothing else: "what about grief?", "and Ada?".

After "what does Priya say about sleep?" it asks the same of grief, and after "what broke in May?" "and in June?" asks
what broke in June. Which words were meant is told by the preposition, so that what is new need not be of a kind that
the card knows. Learned edits compare sorts instead (``moves.py``), and sleep is no name. A name alone is said for the
only name of its type, a number for the only number.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..retrieval.dates.finding import find_dates
from ..text.asking_words import asking_word
from ..text.linker import Linker
from ..text.number_words import SPELLED
from ..text.unspaced import pieces_of
from ..text.words import Word, between
from .lexicon import Lexicon

LONGEST = 4
"""Words that may stand behind the preposition."""
_CLASSES = (
    "about/on/in/at/for/from/with/during/before/after/since/under/against"
    "/über/von vom/in im ins/mit/bei beim/für/zu zum zur/an am/seit"
    "/sur/du/à au aux/en dans/pour/avec/chez/avant/après/depuis"
    "/sobre/del/con/por/para/desde/hasta/com/em nos nas/da dos/até"
    "/di del della dello dei degli delle/su sul sulla sui sulle/nel nella nei nelle/per/dal dalla"
    "/over/met/op/van/voor/bij/om/med/på/av/för/från/z/od/dla/przed/w"
)
_CLASS_OF: dict[str, frozenset[str]] = {}
for _line in _CLASSES.split("/"):
    for _word in _line.split():
        _CLASS_OF[_word] = _CLASS_OF.get(_word, frozenset()) | frozenset(_line.split())
_NUMBERS = frozenset(word for words in SPELLED.values() for word in words.split("|"))
_BEFORE = frozenset("and what how so then ok ist und wie et y e en och i qué come che hur about".split())
"""Words that lead to the preposition and say nothing else. *De* is left out of the prepositions, which is an article of
Dutch."""
_AFTER = frozenset(
    "then now please pls instead tho though dann bitte jetzt alors maintenant entonces ahora então agora allora adesso"
    " dan nu då".split()
)
"""Words that end the query and say nothing."""
_MANNERS = frozenset(
    "short brief detail details depth word words line lines sentence sentences bullet bullets nutshell summary plain"
    " general total particular fact all least first once example instance sure real average course pleasure"
    " english german french spanish portuguese italian dutch swedish polish chinese japanese kurz kürze satz worten"
    " detail beispiel deutsch englisch bref résumé mots phrase détail exemple français anglais breve resumen palabras"
    " frase detalle ejemplo español inglés resumo palavras detalhe exemplo português inglês sintesi parole dettaglio"
    " esempio italiano inglese kort woorden zin voorbeeld nederlands engels svenska engelska ord polsku"
    " angielsku".split()
)
"""What ends a wish for how something is said, or words that mean nothing alone: "in one line", "for example"."""
_ARTICLES = frozenset("the a an der die das den dem des le la les el los las il lo gli i o os as het een det".split())
"""They may be among the words that point."""


def paralleled(query: str, asked: str, lexicon: Lexicon, linker: Linker) -> tuple[str, str] | None:
    """The question before with what is new in it, and what that is said for; None where the query says more or less.

    Args:
        asked: the question before.
    """
    typed, words = [word for word in pieces_of(query) if word.spoken], pieces_of(asked)
    while typed and typed[-1].low in _AFTER:
        typed.pop()
    first = next((word.low for word in words if word.spoken), "")
    start = next((place for place in range(len(typed)) if not _leads(typed, place, first)), len(typed))
    if start >= len(typed):
        return None
    if typed[start].low not in _CLASS_OF:
        alone = between(query, typed, start, len(typed))
        return _for_a_name(alone, asked, linker) or _for_a_number(typed[start:], asked, words)
    new = typed[start + 1 :]
    if not 0 < len(new) <= LONGEST or not _is_name(new, lexicon):
        return None
    at = [place for place, word in enumerate(words) if word.low in _CLASS_OF[typed[start].low]]
    if len(at) != 1:
        return None
    end = _end(words, at[0] + 1, new)
    if not end:
        return None
    old = words[at[0] + 1 : end]
    said, before = between(query, typed, start + 1, len(typed)), between(asked, words, at[0] + 1, end)
    if not _alike(said, before, asked, linker):
        return _for_a_name(said, asked, linker)
    led = between(query, typed, start, len(typed))
    return asked[: words[at[0]].start] + led + asked[old[-1].end :], before


def _leads(typed: Sequence[Word], place: int, first: str) -> bool:
    """Whether a word only leads on to the preposition: *and*, or the word that the question begins with.

    What is a preposition itself leads on before another one: Dutch *en*, and *what about with X*.
    """
    low, after = typed[place].low, typed[place + 1].low if place + 1 < len(typed) else ""
    leads = low in _BEFORE or (low == first and asking_word(low) is not None)
    return leads and (after in _CLASS_OF or low not in _CLASS_OF)


def _is_name(new: Sequence[Word], lexicon: Lexicon) -> bool:
    """Whether words stand for something themselves: none of them points, asks or leads to more."""
    lows = [word.low for word in new if word.low not in _ARTICLES]
    pointing = any(low in lexicon.pointing for low in lows)
    return bool(lows) and not pointing and not any(low in _CLASS_OF or asking_word(low) is not None for low in lows)


def _end(words: Sequence[Word], start: int, new: Sequence[Word]) -> int:
    """Where the words behind the preposition of the question end for which new ones are said; 0 where nobody can tell.

    They go on to the next preposition or sign. Where they are more than the new ones, a verb may be among them ("in der
    Leber aktiv"): then as many as the new ones that begin with the same word.
    """
    end = next((place for place in range(start, len(words)) if _ends(words[place])), len(words))
    if 0 < end - start <= len(new):
        return end
    alike = len(new) > 1 and start < end and words[start].low == new[0].low
    return start + len(new) if alike else 0


def _ends(word: Word) -> bool:
    return not word.spoken or word.low in _CLASS_OF


def _for_a_name(new: str, asked: str, linker: Linker) -> tuple[str, str] | None:
    """The question with a name in the place of the only one of its type: "and about Ansei?"."""
    named = [link for link in linker.links(new) if link.surface.casefold() == new.casefold()]
    others = [link for link in linker.links(asked) if named and link.name.type == named[0].name.type]
    if len(others) != 1 or others[0].name == named[0].name:
        return None
    old = others[0]
    return asked[: old.start] + named[0].surface + asked[old.start + len(old.surface) :], old.surface


def _for_a_number(new: Sequence[Word], asked: str, words: Sequence[Word]) -> tuple[str, str] | None:
    """The question with a number in the place of its only one, both in figures or both in words: "and five?"."""
    if len(new) != 1 or (sort := _number(new[0])) is None:
        return None
    old = [word for word in words if _number(word) is not None]
    if len(old) != 1 or _number(old[0]) != sort or old[0].low == new[0].low:
        return None
    return asked[: old[0].start] + new[0].text + asked[old[0].end :], old[0].text


def _number(word: Word) -> str | None:
    return "figures" if word.low.isdigit() else "words" if word.low in _NUMBERS else None


def _alike(new: str, old: str, asked: str, linker: Linker) -> bool:
    """Whether one may be said for the other: both dates or none, with figures or without, and names of a type.

    What is no name may be said for a name, but not a name where the question has one of its type elsewhere.
    """
    if bool(find_dates(f"in {new}")) != bool(find_dates(f"in {old}")):
        return False
    last = new.casefold().split()[-1], old.casefold().split()[-1]
    if last[0] in _MANNERS and last[1] not in _MANNERS:
        return False
    if any(map(str.isdigit, new)) != any(map(str.isdigit, old)) or new.casefold() == old.casefold():
        return False
    types = {link.name.type for link in linker.links(new)}
    there, everywhere = ({link.name.type for link in linker.links(text)} for text in (old, asked))
    return not types or bool(types & there) or not types & everywhere
