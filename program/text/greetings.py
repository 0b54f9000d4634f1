"""Greetings, thanks and goodbyes of a card: queries that are nothing else, and greetings around a query.

"Thanks! And what does Ilse say of sleep?" asks what its second half asks. It is certain by form that the first half is
a greeting, where punctuation ends it; "hello world" does not begin with one. The same holds for thanks or a courtesy at
the end of a query. When each of five greetings was put before the podcast's dev and calibrate rows, heads took 0.15 of
them for nothing but a greeting, and had all labels right for 0.49. With the greeting removed it is 0.01 and 0.60, as
for the rows themselves.
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
"""Polite words that may end a question."""
_NO_WORD = re.compile(r"[\W_]*")
_ENDED = re.compile(r"(?:\s*[,.!;:…，。！、；：~\u2013\u2014\u2600-\u27BF\U0001F300-\U0001FAFF]|\s+-)[\W_]*")


class Greetings:
    """The greetings of a card.

    Attributes:
        forms: their spellings, in lower case, the longest first.
    """

    def __init__(self, forms: Iterable[str] = ()) -> None:
        spelled = {folded(form) for form in forms if form.strip()}
        self.forms = tuple(sorted(spelled, key=lambda form: (-len(form), form)))
        said = "|".join(map(re.escape, self.forms))
        self._begins = re.compile(rf"[\W_]*(?:{said})(?!\w)") if self.forms else None
        kind = "|".join(map(re.escape, sorted({*map(folded, COURTESIES), *self.forms}, key=len, reverse=True)))
        self._ends = re.compile(rf"[\s,.!?;:…，。！？；：](?:{kind})[\W_]*$")
        # A plan reads its query and the same few earlier turns several times.
        self.rest = lru_cache(maxsize=256)(self._rest)

    def are_all(self, text: str) -> bool:
        """Whether a text has nothing but greetings and signs."""
        return self._begins is not None and not self.rest(text)

    def _rest(self, text: str) -> str:
        """A text without the greetings that it begins with, and without the thanks that it ends with."""
        read, start = folded(text), 0
        while (end := self._end(read, start)) is not None:
            start = end
        last = self._ends.search(read, start)
        return text[start : last.start() + 1].rstrip() if last else text[start:]

    def _end(self, read: str, start: int) -> int | None:
        """Where a greeting that begins here ends, including the signs after it; None if none begins here."""
        begun = self._begins.match(read, start) if self._begins is not None and start < len(read) else None
        if begun is None:
            return None
        if _NO_WORD.fullmatch(read, begun.end()):
            return len(read)
        ended = _ENDED.match(read, begun.end())
        return self._before_signs(read, begun.end(), ended.end()) if ended else None

    @staticmethod
    def _before_signs(read: str, begin: int, end: int) -> int:
        """The end without signs that belong to what follows, such as an opening quotation mark."""
        signs = read[begin:end]
        return begin + len(signs) - len(signs[len(signs.rstrip("\"'([{¿¡#@$€£+-")) :])


NO_GREETINGS = Greetings()
"""Those of a card that has none."""


@lru_cache(maxsize=64)
def greetings_of(forms: tuple[str, ...]) -> Greetings:
    """The greetings of a card, made once for each list."""
    return Greetings(forms)
