"""Discourse openers, words that only announce that something will be said: "ok", "hmm", "well, …", "alors, …".

They are closed classes of each language (interjections, and particles that open a turn) and are recognized by form
alone: most mean something else where no punctuation follows ("well water", "so much"). They decide nothing: heads read
a text without them, in training and in use.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .spelling import folded

_ALONE = (
    *("ok okay okey hm mhm hmpf uhm uh ah aha oh ooh oha eh hey alright btw fyi psst wow lol haha".split()),
    *("äh ähm öhm tja naja ach euh bah bof ehm beh boh oye ejem eita hè ej hej ну эм ээ ой ага ок окей 음 şey".split()),
)
"""Words that are openers whatever follows them."""
_BEFORE_A_SIGN = (
    *("so well right now look listen sorry anyway also then actually like fine great good cool um yo".split()),
    *("gut na nun jetzt alors bon donc bref bueno pues entonces vale allora dunque quindi bene senti".split()),
    *("então bom olha dus nou goed zeg więc dobra так итак значит слушай хорошо alltså så peki yani accha".split()),
    *("嗯 呃 哦 那 那么 好 好的 好吧 话说 えっと ええと あの ねえ うーん では じゃあ 저기 그럼 طيب حسنا".split()),
)
"""Words that are openers only before punctuation."""
_DEGREE = "much many few little far long often called that as to viel viele wenig weit lange wie".split()
_SO = re.compile(rf"(?i:so)\s+(?!(?i:{'|'.join(_DEGREE)})\b)(?=\w)")
"""*So* as an opener, which is not before a word of degree: "so what does", but not "so much"."""
_LENGTHENED = re.compile(r"(.)\1+")
_FIRST = re.compile(r"(\w+)(?:(\s*[,.!?;:…，。！？；：、~]+|\s+[-–—]+(?=\s))\s*|\s+)(?=\w)")


def without_openers(text: str) -> str:
    """A text from its first word on that is no opener; the last word is always kept."""
    start = 0
    while (found := _FIRST.match(text, start)) is not None:
        alone, before_a_sign = _opens(found[1])
        if not (before_a_sign if found[2] else alone or _SO.match(text, start)):
            break
        start = found.end()
    return text[start:]


def _short(word: str) -> str:
    """A word with each repeated letter once, so that "hmmm" is "hm" and "sooo" is "so"."""
    return _LENGTHENED.sub(r"\1", folded(word))


_ALL = frozenset(map(_short, _ALONE)), frozenset(map(_short, (*_ALONE, *_BEFORE_A_SIGN)))


@lru_cache(maxsize=2048)
def _opens(word: str) -> tuple[bool, bool]:
    """Whether a word is an opener whatever follows it, and whether it is one before punctuation."""
    alone, before_a_sign = _ALL
    return (short := _short(word)) in alone, short in before_a_sign
