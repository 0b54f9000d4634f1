"""Greetings, thanks and goodbyes of a card: queries that are nothing else, and greetings around a query.

"Thanks! And what does Ilse say of sleep?" asks what its second half asks. That the first half greets is certain by
form where punctuation ends it: "hello world" does not begin with a greeting. The same holds for thanks or a courtesy
at the end of a query. With each of five greetings put before the podcast's dev and calibrate rows, heads took 0.15
for nothing but a greeting and had the labels of 0.49 right; with the greeting removed 0.01 and 0.60, as for the rows
themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from .spelling import folded

COURTESIES = (
    *("please", "pls", "plz", "bitte", "por favor", "per favore", "per piacere", "prego", "alstublieft", "alsjeblieft"),
    *("s'il vous plaît", "s'il te plaît", "svp", "stp", "proszę", "tack", "пожалуйста", "拜托", "お願いします"),
    *("thx", "thnx", "tnx", "ty", "tysm"),
)
"""What the end of a question may say to be kind."""
_NO_WORD = re.compile(r"[\W_]*")
_ENDED = re.compile(r"(?:\s*[,.!;:…，。！、；：~\u2013\u2014\u2600-\u27BF\U0001F300-\U0001FAFF]|\s+-)[\W_]*")


class Greetings:
    """The greetings of a card.

    Attributes:
        forms: how they are spelled, in small letters, the longest first.
    """

    def __init__(self, forms: Iterable[str] = ()) -> None:
        spelled = {folded(form) for form in forms if form.strip()}
        self.forms = tuple(sorted(spelled, key=lambda form: (-len(form), form)))
        said = "|".join(map(re.escape, self.forms))
        self._begins = re.compile(rf"[\W_]*(?:{said})(?!\w)") if self.forms else None
        kind = "|".join(map(re.escape, sorted({*map(folded, COURTESIES), *self.forms}, key=len, reverse=True)))
        self._ends = re.compile(rf"[\s,.!?;:…，。！？；：](?:{kind})[\W_]*$")
        # A plan looks at its query and at the same few earlier turns.
        self.rest = lru_cache(maxsize=256)(self._rest)

    def are_all(self, text: str) -> bool:
        """Whether a text is nothing but greetings, with whatever signs around them."""
        return self._begins is not None and not self.rest(text)

    def _rest(self, text: str) -> str:
        """A text without the greetings that it begins with, and without the thanks that it ends with."""
        read, start = folded(text), 0
        while (end := self._end(read, start)) is not None:
            start = end
        last = self._ends.search(read, start)
        return text[start : last.start() + 1].rstrip() if last else text[start:]

    def _end(self, read: str, start: int) -> int | None:
        """Where a greeting ends that begins here, with the signs after it; None where none does."""
        begun = self._begins.match(read, start) if self._begins is not None and start < len(read) else None
        if begun is None:
            return None
        if _NO_WORD.fullmatch(read, begun.end()):
            return len(read)
        ended = _ENDED.match(read, begun.end())
        return self._before_signs(read, begun.end(), ended.end()) if ended else None

    @staticmethod
    def _before_signs(read: str, begin: int, end: int) -> int:
        """Signs that belong to what follows stay with it: an opening quote, a sign of number."""
        signs = read[begin:end]
        return begin + len(signs) - len(signs[len(signs.rstrip("\"'([{¿¡#@$€£+-")) :])


@lru_cache(maxsize=64)
def greetings_of(forms: tuple[str, ...]) -> Greetings:
    """Those of a card, by its list; made once."""
    return Greetings(forms)
