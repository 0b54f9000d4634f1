"""Slips in date words that go beyond one letter: *wendsday*, *tommorow*, *yestarday*, *novenber*.

Another letter than the right one makes other words of short words (*spring* of *sprint*). In the long names of months,
weekdays and days it hardly does, where it is what the tongue or the keyboard says: a vowel for a vowel, a key beside.
Of two slips in a word only doubled letters (one too many, one too few) are made by rule, the rest is a table: with any
two letters left out *sturdy* would be a Saturday, and *nombre* November.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...text.mending import NEAR
from .words import Word

_LONG = 7
"""Letters of a word in which a vowel may be another one, or two doubled letters wrong."""
_LONGER = 8
"""Letters of a word in which a letter may be that of the key beside it."""
_BESIDE = {key: tuple(pair[1] for pair in sorted(NEAR) if pair[0] == key != pair[1]) for key in {a for a, _ in NEAR}}
_VOWELS = "aeiouy"
_KINDS = frozenset({"month", "weekday", "day"})
_TABLE = {
    "monday": "mondey",
    "tuesday": "tusday tuseday teusday tuesdy twesday",
    "wednesday": "wendsday wensday wensdy wedensdy wednsdy wedsday wensdey wendesdy",
    "thursday": "thrsday thrusdy thursdy thurdsay thurday",
    "friday": "fridy firday firdays frieday fryday",
    "saturday": "satrday satudray sturday satuday satday saturdy",
    "sunday": "sundey sundy sunnday",
    "yesterday": "yestrday yestardy yesteday yestrdy ystrday ystrdy ysterday yeserdy yestday yesterdya",
    "tomorrow": "tomarow tommarow tommarrow tomorw tommorw tomrow tomrrow",
    "january": "janurary januarary janaury januay",
    "february": "febuary febuery febrary februrary feburay febury febraury febuay",
    "august": "augest agust auguest",
    "september": "septmber setptember septmeber septemeber sepetmber septembr",
    "october": "ocotober octomber octuber octobr",
    "november": "novmber novemeber novembr",
    "december": "decmber decemeber decembr desember",
    "last": "lst",
    "week": "wek wekk weekk",
    "weeks": "weks wekks",
    "month": "motnh monht",
    "months": "motnhs monhts",
    "quarter": "quater qaurter quartar qurater",
    "dienstag": "dinestag diensttag",
    "mittwoch": "mitwoch mittwohc mitwotch",
    "donnerstag": "donerstg donnerstg",
    "samstag": "samtsag",
    "februar": "feburar febuar febraur",
    "gestern": "getsern",
    "mercredi": "mercerdi mecredi mercedi",
    "vendredi": "vendedi vendrdi",
    "février": "fevirer fervier",
    "miércoles": "miercles miecoles mercoles",
    "jueves": "juebes",
    "viernes": "vienres virnes",
    "febrero": "febreo frebrero",
    "septiembre": "setiembre septimbre",
    "giovedì": "govedi giovdi",
    "febbraio": "febraio febbrario",
    "gennaio": "genaio genniao",
    "woensdag": "woendag woenstdag",
    "donderdag": "dondedag donderag",
    "gisteren": "gistern giteren",
}
"""What is typed for a word of dates, by the word. What one slip makes is found without it (``spellings.py``)."""

WORDS = frozenset(
    "maine marti bezna breen caramba ceren cerna černa cerva červa czwarte denier domino dominica febre ferier freda"
    " freytag frida fridagen frist gesten gester janer janne jänne javier keten kvete květa květu lenda letter lette"
    " letten lorda luego lugli madri maggi managen manda mandas mandaten marat marco mares marte marze mates mazec"
    " moths monda monta needle neele paktu ptaku ptáku quarte sabat salian salida saludan samed scora semine sobta"
    " sobte sonda sondage sondas sontag sooty sorda sorde sorsa sorso spint sprit stocznia stred streu sunay sunda"
    " veneri vernes vienes worek worku zonda".split()
)
"""Words and names that are written like a slip, or like a word without its accents. Of all slips, these
are words of one of 18 languages by the frequencies
of ``wordfreq`` (Speer 2022), and no other spelling of the same date."""


def double_slips() -> Iterator[tuple[str, str]]:
    """(slip, word of dates that was meant) of the table."""
    for meant, slips in _TABLE.items():
        yield from ((slip, meant) for slip in slips.split())


def other_letters(surface: str, words: frozenset[Word]) -> Iterator[str]:
    """A long name of a month, a weekday or a day with another letter or two wrong in how often a letter stands."""
    if len(surface) < _LONG or not _KINDS & {word.kind for word in words}:
        return
    for i in range(1, len(surface) - 1):
        if surface[i] in _VOWELS:
            yield from (surface[:i] + vowel + surface[i + 1 :] for vowel in _VOWELS if vowel != surface[i])
        if len(surface) >= _LONGER:
            yield from (surface[:i] + letter + surface[i + 1 :] for letter in _BESIDE.get(surface[i], ()))
    yield from _counted_wrongly(surface)


def _counted_wrongly(surface: str) -> Iterator[str]:
    """One letter of a doubled one left out and another doubled: *tommorow*."""
    for i in range(1, len(surface)):
        if surface[i] == surface[i - 1]:
            fewer = surface[:i] + surface[i + 1 :]
            yield from (fewer[: j + 1] + fewer[j:] for j in range(1, len(fewer) - 1) if fewer[j] not in _VOWELS)
