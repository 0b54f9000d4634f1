"""Decides when two texts count as saying the same: the one place where texts are normalised for scoring.

Tolerated: letter case, punctuation, white space, Unicode compatibility forms (NFKC), curly apostrophes, English
contractions of "not", and a possessive ``'s``. Not tolerated: other words, other accents, another order where order
is asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

REMEMBERED = 4096
"""Texts whose normal form is kept: scoring a plan asks for that of the same few texts dozens of times."""

# Scripts written without spaces: every character is a token of its own.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)
_APOSTROPHES = re.compile("[\u2018\u2019\u02bc\u00b4`]")
_CONTRACTIONS = (
    (re.compile(r"\bcan't\b|\bcannot\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\bshan't\b"), "shall not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'s\b"), ""),
)
_NO_WORD = re.compile("[^a-z0-9]+")
_NUMERAL = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r",(?=\d{3}(?:\D|$))")
# "one" is left out: it is a pronoun more often than a number.
_SPELLED = "two three four five six seven eight nine ten eleven twelve".split()
_NUMBER_WORDS = {word: str(value) for value, word in enumerate(_SPELLED, start=2)}

_NEGATION_WORDS = frozenset(
    # English; German; Spanish and Portuguese; French; Italian; Hindi; Russian and its neighbours
    "not no never none nothing nobody nowhere neither nor without "
    "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne "
    "nunca jamás ningún ninguno ninguna nada nadie sin não nao nem sem nenhum nenhuma "
    "pas jamais rien aucun aucune sans non mai senza nessuno nessuna "
    "नहीं मत बिना не нет никогда без".split()
)
# The second half of a French negation; with it, "ne" adds nothing.
_AFTER_NE = frozenset("pas jamais rien aucun aucune personne plus guère".split())
_NEGATION_PARTS = re.compile("不|没|沒|无|無|未|ない|ません|않|없|ไม่")


@lru_cache(maxsize=REMEMBERED)
def normalise(text: str) -> str:
    """``text`` in lower case with single spaces, without punctuation, contractions opened."""
    plain = _APOSTROPHES.sub("'", unicodedata.normalize("NFKC", text).casefold())
    if "'" in plain or "cannot" in plain:
        for pattern, replacement in _CONTRACTIONS:
            plain = pattern.sub(replacement, plain)
    if plain.isascii():  # the same as below, eight times as fast
        return _NO_WORD.sub(" ", plain).strip()
    # Marks stay: in Hindi and Arabic they are half of the word, and "\w" would split there.
    kept = (c if unicodedata.category(c)[0] in "LNM" else " " for c in plain)
    return " ".join("".join(kept).split())


def tokens(text: str) -> list[str]:
    """The words of ``text`` after `normalise`; single characters in scripts without spaces."""
    plain = normalise(text)
    return plain.split() if plain.isascii() else _UNSPACED.sub(r" \1 ", plain).split()


def token_f1(predicted: str, gold: str) -> float:
    """Harmonic mean of token precision and recall over bags of tokens, between 0 and 1.

    After Rajpurkar et al. 2016 (SQuAD), but articles count, as the annotation guide has it. Two
    texts without tokens are equal.
    """
    left, right = Counter(tokens(predicted)), Counter(tokens(gold))
    if not left or not right:
        return float(left == right)
    return 2 * (left & right).total() / (left.total() + right.total())


def numbers(text: str) -> Counter[str]:
    """The numbers of ``text``: numerals of any script, and the English words two to twelve."""
    plain = _THOUSANDS.sub("", unicodedata.normalize("NFKC", text))
    numerals = (_ascii_digits(match) for match in _NUMERAL.findall(plain))
    spelled = (_NUMBER_WORDS[t] for t in tokens(text) if t in _NUMBER_WORDS)
    return Counter([*numerals, *spelled])


@lru_cache(maxsize=REMEMBERED)
def negations(text: str) -> int:
    """The number of negations in ``text``, in the languages listed above; French "ne … pas" counts once."""
    words = Counter(tokens(text))
    found = sum(count for word, count in words.items() if word in _NEGATION_WORDS)
    bare_ne = words["ne"] - sum(words[word] for word in _AFTER_NE)
    return found + max(bare_ne, 0) + len(_NEGATION_PARTS.findall(normalise(text)))


def contains_phrase(text: str, phrase: str) -> bool:
    """Whether the tokens of ``phrase`` stand in ``text`` side by side, in order."""
    hay, needle = tokens(text), tokens(phrase)
    return any(hay[i : i + len(needle)] == needle for i in range(len(hay) - len(needle) + 1))


def _ascii_digits(numeral: str) -> str:
    digits = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in numeral)
    return digits.lstrip("0") or "0"
