"""Numbers written as words, two to twelve: "the three oldest", "die zwei neuesten", "所有中的前三".

One is left out: in most languages it is an article too.
"""

from __future__ import annotations

from .words import fold

_WORDS = {
    2: "two zwei deux dos dois duas due twee två dwa dwie dwóch iki два две двух 两 二 둘 두 hai dua दो",
    3: "three drei trois tres três tre drie trzy trzech üç три трёх 三 셋 세 ba tiga तीन",
    4: "four vier quatre cuatro quatro quattro fyra cztery dört четыре 四 넷 네 bốn empat चार",
    5: "five fünf cinq cinco cinque vijf fem pięć beş пять 五 다섯 năm lima पांच",
    6: "six sechs seis sei zes sex sześć altı шесть 六 여섯 sáu enam छह",
    7: "seven sieben sept siete sete sette zeven sju siedem yedi семь 七 일곱 bảy tujuh सात",
    8: "eight acht huit ocho oito otto åtta osiem sekiz восемь 八 여덟 tám delapan आठ",
    9: "nine neun neuf nueve nove negen nio dziewięć dokuz девять 九 아홉 chín sembilan नौ",
    10: "ten zehn dix diez dez dieci tien tio dziesięć on десять 十 열 mười sepuluh दस",
    11: "eleven elf onze once undici elva jedenaście одиннадцать",
    12: "twelve zwölf douze doce doze dodici twaalf tolv dwanaście двенадцать",
}
AMBIGUOUS = frozenset("on due sex once sept tio ba hai fem nam sete tre 네 세 열".split())
"""Folded words that are more often something else, there or in another language: not read."""
NUMBER_WORDS = {
    word: number for number, words in _WORDS.items() for word in map(fold, words.split()) if word not in AMBIGUOUS
}
"""The number of each folded word."""
