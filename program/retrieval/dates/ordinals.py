"""Days of a month in words: *the fifth of December*, *der fünfte Dezember*, *el cinco de diciembre*, *piątego grudnia*.

English wants *of* or the month before (*December the fifth*): *the first May release* is no day. In other languages
the day may stand directly before its month. French, Spanish, Portuguese, Italian and Dutch use cardinals, except for
the first.
"""

from __future__ import annotations

from collections.abc import Iterator

from .words_more import Word

_ENGLISH = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth"
    " sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth"
    " twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
).split()
_GERMAN_TENS = {20: "zwanzigst", 30: "dreißigst"}
_GERMAN = (
    "erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft dreizehnt vierzehnt fünfzehnt sechzehnt"
    " siebzehnt achtzehnt neunzehnt"
).split()
_GERMAN_ONES = ("", "einund", "zweiund", "dreiund", "vierund", "fünfund", "sechsund", "siebenund", "achtund", "neunund")
_FRENCH = (
    "premier deux trois quatre cinq - sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit"
    " dix-neuf vingt vingt_et_un vingt-deux vingt-trois vingt-quatre vingt-cinq vingt-six vingt-sept vingt-huit"
    " vingt-neuf trente trente_et_un"
).split()
_SPANISH = (
    "primero|uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete"
    " dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete"
    " veintiocho veintinueve treinta treinta_y_uno"
).split()
_PORTUGUESE = (
    "primeiro dois três quatro cinco seis sete oito nove dez onze doze treze catorze|quatorze quinze"
    " dezesseis|dezasseis dezessete|dezassete dezoito dezenove|dezanove vinte vinte_e_um vinte_e_dois vinte_e_três"
    " vinte_e_quatro vinte_e_cinco vinte_e_seis vinte_e_sete vinte_e_oito vinte_e_nove trinta trinta_e_um"
).split()
_ITALIAN = (
    "primo due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici"
    " diciassette diciotto diciannove venti ventuno ventidue ventitré ventiquattro venticinque ventisei ventisette"
    " ventotto ventinove trenta trentuno"
).split()
_DUTCH = (
    "eerste|één twee|tweede drie|derde vier|vierde vijf|vijfde zes|zesde zeven|zevende achtste negen|negende"
    " tien|tiende elf|elfde twaalf|twaalfde dertien|dertiende veertien|veertiende vijftien|vijftiende zestien|zestiende"
    " zeventien|zeventiende achttien|achttiende negentien|negentiende twintig|twintigste eenentwintig|eenentwintigste"
    " tweeëntwintig|tweeëntwintigste drieëntwintig|drieëntwintigste vierentwintig|vierentwintigste"
    " vijfentwintig|vijfentwintigste zesentwintig|zesentwintigste zevenentwintig|zevenentwintigste"
    " achtentwintig|achtentwintigste negenentwintig|negenentwintigste dertig|dertigste eenendertig|eenendertigste"
).split()
_SWEDISH = (
    "första andra tredje fjärde femte sjätte sjunde åttonde nionde tionde elfte tolfte trettonde fjortonde femtonde"
    " sextonde sjuttonde artonde nittonde tjugonde tjugoförsta tjugoandra tjugotredje tjugofjärde tjugofemte"
    " tjugosjätte tjugosjunde tjugoåttonde tjugonionde trettionde trettioförsta"
).split()
_POLISH = (
    "pierwszego drugiego trzeciego czwartego piątego szóstego siódmego ósmego dziewiątego dziesiątego jedenastego"
    " dwunastego trzynastego czternastego piętnastego szesnastego siedemnastego osiemnastego dziewiętnastego"
    " dwudziestego dwudziestego_pierwszego dwudziestego_drugiego dwudziestego_trzeciego dwudziestego_czwartego"
    " dwudziestego_piątego dwudziestego_szóstego dwudziestego_siódmego dwudziestego_ósmego dwudziestego_dziewiątego"
    " trzydziestego trzydziestego_pierwszego"
).split()
_RUSSIAN = (
    "первого второго третьего четвёртого|четвертого пятого шестого седьмого восьмого девятого десятого одиннадцатого"
    " двенадцатого тринадцатого четырнадцатого пятнадцатого шестнадцатого семнадцатого восемнадцатого девятнадцатого"
    " двадцатого двадцать_первого двадцать_второго двадцать_третьего двадцать_четвёртого двадцать_пятого"
    " двадцать_шестого двадцать_седьмого двадцать_восьмого двадцать_девятого тридцатого тридцать_первого"
).split()
_DANISH = "første anden tredje fjerde femte sjette syvende ottende niende tiende ellevte tolvte".split()


def days_in_words() -> Iterator[tuple[str, Word]]:
    """Each spelling with its day, of kind ``day_of`` in English and ``day_said`` elsewhere.

    French "six" and Dutch "acht" are left out: before an English or German month they are numbers.
    """
    for day, word in enumerate(_ENGLISH, 1):
        yield from ((surface, Word("day_of", day)) for surface in {word, word.replace("-", " ")})
    for day in range(1, 32):
        stem = _german(day)
        yield from ((stem + ending, Word("day_said", day)) for ending in ("e", "en", "er"))
    others = (_FRENCH, _SPANISH, _PORTUGUESE, _ITALIAN, _DUTCH, _SWEDISH, _POLISH, _RUSSIAN, _DANISH)
    for language in others:
        for day, words in enumerate(language, 1):
            surfaces = words.replace("_", " ").split("|") if words != "-" else ()
            yield from ((surface, Word("day_said", day)) for surface in surfaces)


def _german(day: int) -> str:
    if day < 20:
        return _GERMAN[day - 1]
    tens = day // 10 * 10
    return _GERMAN_ONES[day - tens] + _GERMAN_TENS[tens]
