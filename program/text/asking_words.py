"""Question words of many languages, mapped to one word each: *warum*, *why* and *为什么* become the same.

In a frame of wishes (``wish_frames.py``) they replace what was typed. So what a head learns of a question in one
language holds in the others, and *who is* remains a question with *who*, although the two words are a cue as well. Such
words are a closed class, so the list is complete; it says nothing of what is asked for, and decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

SIGN = "@"
"""The first character of a question word that stands for what was typed."""
# "How many" and the like are other questions than "how" alone.
_SURFACES = {
    "who": "who whos whom wer wen wem qui quién quien quiénes quem chi vem kto kim kimin кто",
    "whose": "whose wessen",
    "what": "what whats cosa vad co ne что o_que qu_est_ce_que qu_est_ce_qui",
    "which": "which welche welcher welches welchen quel quelle quels quelles cuál cuáles qual quais quale quali"
    " welk welke vilka vilken vilket który która które hangi какой какие",
    "why": "why warum wieso weshalb pourquoi perché waarom varför dlaczego neden niye почему how_come por_qué por_que"
    " how_did_it_come",
    "when": "when whens wann quand cuándo quando kiedy wanneer när когда",
    "where": "where wheres wo où dónde onde dove waar gdzie nerede где",
    "how": "how hows wie comment cómo hoe hur jak nasıl как",
    "how_many": "wieviele wieviel combien cuántos cuántas cuánto quantos quantas quanti quante hoeveel ile kaç сколько"
    " how_many how_much wie_viele number_of nombre_de número_de hur_många",
    "how_long": "how_long wie_lange combien_de_temps cuánto_tiempo quanto_tempo hoe_lang hur_länge jak_długo как_долго",
    "how_often": "how_often wie_oft hoe_vaak hur_ofta jak_często как_часто",
    "since_when": "since_when seit_wann depuis_quand desde_cuándo od_kiedy od_jak_dawna sinds_wanneer sedan_när",
    "still": "still noch toujours encore todavía aún ainda ancora nog fortfarande jeszcze hâlâ ещё еще",
    "already": "already yet schon bereits déjà ya já già redan już уже",
    "again": "again wieder vez otra novamente weer igen znowu tekrar опять снова",
    "is": "is isn isnt are aren arent was wasn wasnt were weren ist sind war est sont está están es é são è sono är"
    " jest czy",
    "has": "has hasn hasnt have haven havent had hat haben hay há tem heeft hebben har",
    "did": "did didn didnt does doesn doesnt do don dont wurde wurden",
    "any": "any anything anybody anyone something irgendwas irgendwer etwas algo alguien alguém qualcosa iets något"
    " coś",
    "and": "and und et y e och oraz ve и",
    "or": "or oder ou eller lub veya или",
    "not": "not nicht pas no non niet inte nie не",
    "nobody": "nobody niemand personne nadie ninguém nessuno ingen nikt никто",
    "since": "since seit seitdem depuis desde sinds sedan",
    "show": "list show give zeig zeige liste montre donne muestra mostra toon visa pokaż покажи",
}
_UNSPACED_SURFACES = {
    "who": "谁 誰 だれ 누가 누구",
    "what": "什么 何 なに 무엇 뭐",
    "which": "哪个 哪些 どの どれ どちら 어떤 어느",
    "why": "为什么 为啥 怎么会 なぜ どうして 왜",
    "when": "什么时候 何时 いつ 언제",
    "where": "哪里 在哪 どこ 어디",
    "how": "怎么样 怎么 怎样 如何 どう どのように 어떻게 어때",
    "how_many": "多少 几个 几张 几次 何件 いくつ 몇",
    "how_long": "多久 多长时间 どのくらい 얼마나",
    "since_when": "いつから 从什么时候",
    "still": "还 まだ 아직",
    "already": "已经 もう 이미",
    "again": "又 再 また 다시",
    "has": "有没有 有",
    "and": "和 と",
    "or": "还是 または",
    "not": "没 不",
    "nobody": "没人",
    "show": "列出 見せて",
}
_KNOWN = {
    tuple(surface.split("_")): SIGN + word for word, surfaces in _SURFACES.items() for surface in surfaces.split()
}
_LENGTHS = {first: sorted({len(s) for s in _KNOWN if s[0] == first}, reverse=True) for first in {s[0] for s in _KNOWN}}
_CHARACTERS = {surface: SIGN + word for word, line in _UNSPACED_SURFACES.items() for surface in line.split()}
# Korean has spaces, but writes endings and particles together with the word, so it is treated likewise.
_UNSPACED = re.compile("|".join(sorted(_CHARACTERS, key=len, reverse=True)))
_EAST = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


DENYING = ("not", "nobody")


def asking_word(word: str) -> str | None:
    """The English question word for one in lower case that asks by itself; None for any other word."""
    known = _KNOWN.get((word,))
    return None if known is None else known.removeprefix(SIGN)


def denials(words: Iterable[str]) -> int:
    """The number of words that negate; the words are given in lower case."""
    return sum(asking_word(word) in DENYING or word.endswith(("n't", "n’t")) for word in words)


def with_asking_words(pieces: Sequence[str]) -> list[str]:
    """The pieces of a text in lower case, with question words and phrases replaced by one word of the list each."""
    found: list[str] = []
    at = 0
    for number, piece in enumerate(pieces):
        if number < at:
            continue
        at = number + 1
        if (lengths := _LENGTHS.get(piece)) is not None:
            word, at = _longest(pieces, number, lengths)
            found.append(word)
        elif piece.isascii() or not _EAST.search(piece):
            found.append(piece)
        else:
            found += _cut(piece)
    return found


def _longest(pieces: Sequence[str], at: int, lengths: Sequence[int]) -> tuple[str, int]:
    """The longest question phrase that begins here, or the piece itself; and the place after it."""
    for length in lengths:
        if (word := _KNOWN.get(tuple(pieces[at : at + length]))) is not None:
            return word, at + length
    return pieces[at], at + 1


def _cut(piece: str) -> list[str]:
    """A piece of a script without spaces, split so that its question words stand by themselves."""
    found, at = [], 0
    for match in _UNSPACED.finditer(piece):
        found += [piece[at : match.start()], _CHARACTERS[match.group()]]
        at = match.end()
    return [part for part in (*found, piece[at:]) if part]
