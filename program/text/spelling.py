"""Maps the spellings that keyboards and word processors produce for the same text to one.

Typographic quotes and hyphens, and letters and digits of full width, mean the same as the plain characters. Each
character becomes exactly one other, so that places in a text stay the same.
"""

from __future__ import annotations

import re

_QUOTES = {"'": "‘’‚‛ʼ`´＇", '"': "“”„‟＂", "-": "‐‑−﹣－"}
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF10, 0xFF5B) if chr(code).isalnum()}
_PLAIN = {ord(other): sign for sign, others in _QUOTES.items() for other in others} | _FULL_WIDTH
# The only letter whose lower case is two characters, and the only lower-case letter with two forms.
_LETTERS = str.maketrans("İς", "iσ")


_EMOJI = "\u2600-\u27bf\U0001f300-\U0001faff\u200d\ufe0f"
# Matches the reversed text, so that it takes no longer than there are such signs at the end.
_ENDS = re.compile(rf"(?:[\s?.!…,;？。！，；{_EMOJI}]|[()D]-?[:;])*")
_QUOTED = re.compile(r'"([^"]*)"$')
_SIGNS = str.maketrans("，、；：？！（）", ",,;:?!()")
_PAUSE = re.compile(r"(?:,|\.\.+|…)\s*(?=[^\W\d])")
_MARKER = re.compile(r"(?:[-*•·–—>#]+|\(?\d{1,2}[.):])\s+(?=\S)")


def plain(text: str) -> str:
    """The text with plain characters, of the same length."""
    return text if text.isascii() else text.translate(_PLAIN)


def bare(text: str) -> str:
    """The text with plain characters, without signs and emoji at its end and without quotes around all of it.

    A question mark at the end means nothing, but changed labels: of 611 queries of the podcast 0.06 had other labels
    without it, and 0.09 with a second one; 0.21 with a comma and "please" behind. Read like this, none and 0.002 have,
    and as many labels are right.
    """
    read = _without_ends(plain(text))
    quoted = _QUOTED.match(read)
    return (_without_ends(quoted[1]) if quoted else read) or text


def simple(text: str) -> str:
    """As ``bare``; also without a list's bullet or number before it, and with a comma for dots that mean a pause.

    Of 611 queries of the podcast 0.08 had other labels behind "1. ", 0.13 behind "2) " and 0.05 behind "- ". Read like
    this, by heads that learned from such texts, 0.01, 0.01 and 0 have. With dots for commas it was 0.08 and is 0.002.
    """
    marker = _MARKER.match(text) if text and not text[0].isalpha() else None
    read = bare(text[marker.end() :] if marker else text)
    read = read if read.isascii() else read.translate(_SIGNS)
    paused = "," in read or ".." in read or "…" in read
    return _PAUSE.sub(", ", read).replace(" , ", ", ") if paused else read


def _without_ends(text: str) -> str:
    ends = _ENDS.match(text[::-1])
    return text[: len(text) - ends.end()] if ends else text


def folded(text: str) -> str:
    """The text with plain characters in lower case, of the same length."""
    return text.lower() if text.isascii() else text.translate(_PLAIN).translate(_LETTERS).lower().translate(_LETTERS)
