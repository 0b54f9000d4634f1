"""Spellings that keyboards and word processors make of the same text, read as one.

Typographic quotes and hyphens, letters and digits of full width: none says anything that the plain sign does not. Each
sign becomes one other, so that places in a text stay what they were.
"""

from __future__ import annotations

_QUOTES = {"'": "‘’‚‛ʼ`´＇", '"': "“”„‟＂", "-": "‐‑−﹣－"}
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF10, 0xFF5B) if chr(code).isalnum()}
_PLAIN = {ord(other): sign for sign, others in _QUOTES.items() for other in others} | _FULL_WIDTH
# The one letter whose small form is two signs, and the one small letter that is written in two ways.
_LETTERS = str.maketrans("İς", "iσ")


def plain(text: str) -> str:
    """The text in plain signs, as long as it was."""
    return text if text.isascii() else text.translate(_PLAIN)


def folded(text: str) -> str:
    """The text in plain signs and small letters, as long as it was."""
    return text.lower() if text.isascii() else text.translate(_PLAIN).translate(_LETTERS).lower().translate(_LETTERS)
