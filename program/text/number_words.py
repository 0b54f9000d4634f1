"""Numbers written as words, two to twelve, for dates and graph questions: "three weeks ago", "die zwei neuesten".

One is left out: in most languages it is an article too.
"""

from __future__ import annotations

import unicodedata

SPELLED = {
    2: "zwei|deux|dos|dois|duas|twee|två|two|dwa|dwie|dwóch|两|二|両",
    3: "three|drei|trois|tres|três|tre|drie|trzy|trzech|三",
    4: "four|vier|quatre|cuatro|quatro|quattro|fyra|cztery|czterech|四",
    5: "five|fünf|cinq|cinco|cinque|vijf|fem|pięć|pięciu|五",
    6: "six|sechs|seis|sei|zes|sex|sześć|sześciu|六",
    7: "seven|sieben|siete|sete|sette|zeven|sju|siedem|siedmiu|七",
    8: "eight|acht|huit|ocho|oito|otto|åtta|osiem|ośmiu|八",
    9: "nine|neun|neuf|nueve|nove|negen|nio|dziewięć|dziewięciu|九",
    10: "ten|zehn|dix|diez|dez|dieci|tien|tio|dziesięć|dziesięciu|十",
    11: "eleven|elf",
    12: "twelve|zwölf|douze|doce|doze|dodici|twaalf|tolv|dwanaście|dwunastu|十二",
}
"""Spellings in ten languages, in lower case."""
_MORE = {
    2: "iki|два|две|двух|둘|두|dua|दो",
    3: "üç|три|трёх|трех|셋|tiga|तीन",
    4: "dört|четыре|넷|bốn|empat|चार",
    5: "beş|пять|다섯|पांच|पाँच",
    6: "altı|шесть|여섯|sáu|enam|छह",
    7: "yedi|семь|일곱|bảy|tujuh|सात",
    8: "sekiz|восемь|여덟|tám|delapan|आठ",
    9: "dokuz|девять|아홉|chín|sembilan|नौ",
    10: "десять|mười|sepuluh|दस",
    11: "onze|undici|elva|jedenaście|одиннадцать",
    12: "двенадцать",
}
_OTHERWISE = frozenset({"sex", "fem", "tio", "sei", "sete"})
"""Number words that are more often another word, in their own language or in another, unless a unit of time follows."""


def _surface(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


_NUMBERS = {
    _surface(word): number
    for table in (SPELLED, _MORE)
    for number, words in table.items()
    for word in words.split("|")
    if word not in _OTHERWISE
}


def number_of(word: str) -> int | None:
    """The number that a word means; None for others. Diacritics count: Vietnamese *chín* is nine, *chin* is none."""
    return _NUMBERS.get(_surface(word))
