"""How a query is composed: counts and places of its question words, joints, verbs and names.

N-grams say that *who* and *and* occur, each by itself; how hard a query is and whether it has to be taken apart lies in
how many there are and where: "who wrote it, and who objects" asks twice, "who are Ada and Bruno" once. These numbers go
into the RBF kernel, beside the vector, so they also count together. The words are English; those of other languages are
read in English before (``text/in_english.py``).

Three quarters of ``train`` teach, with what other domains lend. Complexity, intent and decomposition all right, and the
mean sum of the squared errors of their scores, without -> with:

============  ==========================================  ==========================================
domain        the other quarter                           ``dev`` and ``calibrate``
============  ==========================================  ==========================================
podcast       0.667 -> 0.680, error 1.004 -> 0.952        0.760 -> 0.768, 0.814 -> 0.750 of 479
engineering   0.752 -> 0.758, error 0.823 -> 0.779        0.784 -> 0.770, 0.697 -> 0.686 of 74
journal       0.684 -> 0.690, error 0.955 -> 0.883        0.694 -> 0.726, 0.921 -> 0.914 of 62
============  ==========================================  ==========================================

With twice the weight the errors are as small, and no more is right. Further classes of function words (comparing ones,
quantities, times, reasons) made the errors two parts in a hundred smaller, and no more right.
"""

from __future__ import annotations

from collections.abc import Sequence

from .back_references import PRONOUNS
from .ngrams import Common, is_common, is_mask

QUESTION, AUXILIARY, JOINING, REQUEST, MARK = range(5)
_KINDS: dict[str, int] = {
    **dict.fromkeys("who whose whom what which why when where how".split(), QUESTION),
    **dict.fromkeys(
        "is are was were be been has have had do does did can could should would will must may".split(), AUXILIARY
    ),
    **dict.fromkeys("and or".split(), JOINING),
    **dict.fromkeys("compare list show give find summarise explain describe tell".split(), REQUEST),
    **dict.fromkeys(",?，、？", MARK),
}
_OPENING = frozenset("and or but so".split())
_RELATIVE = frozenset("who which whose".split())
NUMBERS = 20
"""How many numbers ``composition`` gives."""
REACH = 3
"""How many words behind *and* a question word still belongs to it ("and then who"), and a name to *and* likewise."""


def composition(masked: Sequence[str], common: Common) -> list[float]:
    """Twenty numbers, each about from 0 to 1, of the words of a query in which names are masked (``_guest_``).

    Counts of question words, joining words and auxiliaries; of question words behind *and* and behind a comma; of names
    joined to names; of relative clauses; of types of names, of names of the commonest type and of the next; whether a
    pronoun stands behind a name; where the last question word stands; what the query begins with; how many rare words
    there are, and whether it ends in a question mark.

    Args:
        common: the words that frames keep; others are rare.
    """
    counts = [0] * 5
    asked_behind = asked_after_mark = joined = relative = rare = 0
    last_asked, last_joint, last_name, named, pointing = -1, -REACH - 1, -REACH - 1, False, False
    types: dict[str, int] = {}
    before = -1
    for place, word in enumerate(masked):
        kind = _KINDS.get(word, -1)
        if kind >= 0:
            counts[kind] += 1
            if kind == QUESTION:
                asked_behind += place - last_joint <= REACH
                asked_after_mark += before == MARK
                relative += before < 0 and place > 0 and word in _RELATIVE
                last_asked = place
            elif kind == JOINING:
                last_joint = place
        elif is_mask(word):
            types[word] = types.get(word, 0) + 1
            joined += named and last_name == last_joint - 1 and place - last_joint < REACH
            last_name, named = place, True
        elif named and word in PRONOUNS:
            pointing = True
        else:
            rare += word[0].isalnum() and not is_common(word, common)
        before = kind
    most, next_most, *_ = [*sorted(types.values(), reverse=True), 0, 0]
    begins = _KINDS.get(masked[0], -1) if masked else -1
    asks = counts[QUESTION]
    return [
        min(asks, 3) / 3,
        min(counts[JOINING], 3) / 3,
        min(counts[AUXILIARY], 4) / 4,
        min(asked_behind, 2) / 2,
        min(asked_after_mark, 2) / 2,
        min(joined, 2) / 2,
        min(relative, 2) / 2,
        min(len(types), 3) / 3,
        min(most, 4) / 4,
        min(next_most, 3) / 3,
        float(pointing),
        (last_asked + 1) / len(masked) if asks else 0.0,
        float(begins == QUESTION),
        float(begins == AUXILIARY),
        float(begins == REQUEST),
        float(bool(masked) and masked[0] in _OPENING),
        min(rare, 10) / 10,
        float(bool(masked) and masked[-1] in "?？"),
        min(counts[MARK], 4) / 4,
        float("why" in masked),
    ]
