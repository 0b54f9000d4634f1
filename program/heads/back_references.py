"""What in a later turn may point back to an earlier one, as numbers for the head that tells follow-ups.

N-grams know that a query has *she*, but not what stands before it: "did Priya say why she stopped" stands alone, "did
she say why Priya stopped" does not. So it is told apart whether a pronoun stands before or behind the first name, and
whether *that* ends a clause ("did Miriam reply to that") or goes on ("did Miriam say that it helps"). The words are
English; those of other languages are read in English before (``text/in_english.py``).

The area under the curve of later turns left out of learning, and of those of ``dev`` and ``calibrate``:

============  ==================  ==================  ====================
domain        left out: without   with                dev and calibrate
============  ==================  ==================  ====================
podcast       0.903 of 1,899      0.921               0.917 -> 0.949 of 303
engineering   0.926 of 1,059      0.933               0.961 -> 0.982 of 44
journal       0.923 of 923        0.927               0.954 -> 0.975 of 38
biomedical    0.935 of 1,170      0.941               0.958 -> 0.956 of 56
============  ==================  ==================  ====================

Telling apart whether a rare word stands before the pronoun, counting rare words, and *else*, *too* and *again* as a
number of their own changed nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from .ngrams import is_mask

PRONOUNS = frozenset("he him his she her hers it its they them their theirs himself herself itself themselves".split())
DEMONSTRATIVES = frozenset("this that these those there then".split())
OTHERS = frozenset(
    "other others another one ones same such former latter both either neither else more again next first second third "
    "last two".split()
)
"""Words that tell one thing from others, which mostly were named before."""
JOINING = frozenset("and or but then".split())
EARLY = 3
"""The first words of a query, among which pointing ones are a number of their own."""


def back_references(masked: Sequence[str]) -> list[float]:
    """Seven numbers, each 0 or 1, of the words of a query in which names are masked (``_guest_``).

    Whether there is a pronoun before the first name, or without any; a pronoun behind it; a demonstrative that ends a
    clause; one that does not; a word such as *other* or *second*; a pronoun or demonstrative among the first words; and
    a name beside what may point back.
    """
    first = next((place for place, word in enumerate(masked) if is_mask(word)), len(masked))
    pronouns = [place for place, word in enumerate(masked) if word in PRONOUNS]
    demonstratives = [place for place, word in enumerate(masked) if word in DEMONSTRATIVES]
    closing = [place for place in demonstratives if _ends_clause(masked, place)]
    before = bool(pronouns) and pronouns[0] < first
    found = (
        before,
        bool(pronouns) and pronouns[-1] > first,
        bool(closing),
        len(closing) < len(demonstratives),
        not OTHERS.isdisjoint(masked),
        min([*pronouns, *demonstratives], default=EARLY) < EARLY,
        first < len(masked) and (before or bool(closing)),
    )
    return [float(one) for one in found]


def _ends_clause(words: Sequence[str], place: int) -> bool:
    behind = words[place + 1] if place + 1 < len(words) else "?"
    return behind in JOINING or not (behind[0].isalnum() or behind[0] == "_")
