"""What the evidence covers, and the gaps: sub-queries and names of a plan for which nothing was found.

A question counts as covered by the best single passage, because an answer has to stand somewhere: the share of the
question's words in that passage, each weighed by how informative it is. A name is covered by a passage that has one
of its spellings; a name that the card does not know ("episode 15", "the potter") may be a description, and counts
like a question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from ...signatures.types import Frozen
from ..plan import QueryPlan
from ..text.languages import detect_language
from ..text.linker import Linker
from .candidates.keywords import key_terms
from .results import Evidence, Gap
from .terms import terms

NeedKind = Literal["sub_query", "entity"]
Passages = tuple[str, frozenset[str]]
Weight = Callable[[str], float]

# The least share of a question's words that its best passage must have. On the podcast's training evidence,
# with gold labels, recall@10 was 0.60 for the 42 plans with a sub-query below it and 0.77 for the other 35.
COVERED = 0.5


class Need(Frozen):
    """Something that the plan asks for, and how far the evidence covers it.

    Attributes:
        kind: a sub-query (or, without any, the query itself), or a name.
        text: the question as it was asked, or the name.
        share: how far it is covered, between 0 and 1; for a name 0 or 1.
        best: id of the passage that covers it best, or empty.
        absent: what to ask again: the plan's names in it, then its key terms that this passage lacks.
    """

    kind: NeedKind
    text: str
    share: float
    best: str = ""
    absent: tuple[str, ...] = ()

    @property
    def again(self) -> str:
        """The text to search for in order to find the rest."""
        return " ".join(self.absent) or self.text


class Coverage(Frozen):
    """How far the evidence covers what a plan asks for.

    Attributes:
        least: share from which a need counts as covered.
        passages: whether any passage was found.
    """

    needs: tuple[Need, ...]
    least: float = COVERED
    passages: bool = True

    @property
    def missing(self) -> tuple[Need, ...]:
        """The needs that are not covered, in the order of the plan."""
        return tuple(need for need in self.needs if need.share < self.least)

    @property
    def share(self) -> float:
        """Share of the needs that are covered; 1 if there are none."""
        return 1 - len(self.missing) / len(self.needs) if self.needs else 1.0

    def gaps(self) -> tuple[Gap, ...]:
        """One gap for each need that is not covered."""
        return tuple(_gap(need, self.passages) for need in self.missing)


def cover(
    plan: QueryPlan,
    evidence: Sequence[Evidence],
    weight: Weight | None = None,
    linker: Linker | None = None,
    asked: Sequence[str] = (),
    least: float = COVERED,
) -> Coverage:
    """How far passages cover a plan's sub-queries and names.

    Args:
        weight: how informative a term is; by default every term counts alike.
        linker: knows the other spellings of a name.
        asked: the questions as asked, with answers filled in; by default the plan's own.
    """
    questions = asked or tuple(sub.text for sub in plan.sub_queries) or (plan.standalone_query,)
    words = [(item.id, item.passage.known_terms) for item in evidence]
    telling = weight or (lambda term: 1.0)
    known = tuple(_each(plan))
    found = [_question(text, words, telling, known) for text in questions]
    names = [_name(name, evidence, linker) or _question(name, words, telling, (), "entity") for name in known]
    return Coverage(needs=(*found, *names), least=least, passages=bool(evidence))


def _each(plan: QueryPlan) -> Iterable[str]:
    return dict.fromkeys(name for name in plan.entities if name.strip())


def _question(
    text: str, passages: Sequence[Passages], weight: Weight, names: Sequence[str], kind: NeedKind = "sub_query"
) -> Need:
    asked = {term: weight(term) for term in terms(text)}
    whole = sum(asked.values())
    if not whole:
        return Need(kind=kind, text=text, share=1.0)
    shares = [sum(w for term, w in asked.items() if term in words) / whole for _, words in passages]
    best = max(range(len(shares)), key=shares.__getitem__, default=None)
    if best is None or not shares[best]:
        return Need(kind=kind, text=text, share=0.0, absent=_absent(text, frozenset(), names))
    name, words = passages[best]
    return Need(kind=kind, text=text, share=min(1.0, shares[best]), best=name, absent=_absent(text, words, names))


def _absent(text: str, words: frozenset[str], names: Sequence[str]) -> tuple[str, ...]:
    mine = [name for name in names if name.casefold() in text.casefold()]
    absent = [term for term in key_terms(text, mine, detect_language(text)) if not words.issuperset(terms(term))]
    return tuple(dict.fromkeys((*mine, *absent))) if absent else ()


def _name(name: str, evidence: Sequence[Evidence], linker: Linker | None) -> Need | None:
    """Whether a passage has a spelling of a name; None for a name that is unknown and in no passage."""
    spellings = _spellings(name, linker)
    for item in evidence:
        text = f" {' '.join(terms(item.passage.searchable))} "
        if any(f" {spelling} " in text for spelling in spellings):
            return Need(kind="entity", text=name, share=1.0, best=item.id)
    known = linker is None or bool(linker.links(name))
    return Need(kind="entity", text=name, share=0.0) if known else None


def _spellings(name: str, linker: Linker | None) -> tuple[str, ...]:
    links = linker.links(name) if linker else ()
    known = (s for link in links for s in link.name.spellings)
    return tuple(filter(None, (" ".join(terms(s)) for s in dict.fromkeys((name, *known)))))


def _gap(need: Need, passages: bool) -> Gap:
    if not passages:
        return Gap(kind="coverage", what=need.text, why="no passage was found", instead="none is given")
    if need.kind == "entity" and not need.share:
        why = "no passage that was found names it"
    else:
        why = f"the best passage has {need.share:.0%} of its words, weighed by how telling they are"
    return Gap(kind="coverage", what=need.text, why=why, instead="the nearest passages are given")
