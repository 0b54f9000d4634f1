"""What a proposal says of itself in sentences: why there is no plan, and what a plan leaves out of the question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...signatures.graph_steps import Condition, ExpandStep, FilterStep, GraphPlan
from .executor import NEAR
from .names.itself import MEANT
from .names.linking import Mention
from .names.unknown import unknown_beside
from .proposal import LinkedEntity
from .question.spoken import is_small, spoken_in
from .question.words import words_of
from .ranking.answering import Answerer, Found
from .wording import step_words

UNSAYABLE = "no plan from the names in the question, over the graph's edges and properties, says what is asked"
COMPARED = "no step compares with what another node has ({names}); ask what that is, and then with the value itself"
COUNTED = "no step tests how many neighbours a node has ({counted}); ask for them, or for those with the most"
ENGLISH, LETTERS, LIKE_NOTHING = "en", 4, 0.3
"""The language that plans are read in without words for others; and of a word that is not understood, the letters it
has at least and how near it is at most to a word of the schema.
"""
WRITTEN = ("exact", "alias", "id")
"""How a name is read that is surely in the question; a word that is only like one is more often none."""
OPPOSITE = "no edge of the schema says {words}, only the opposite ({edges})"
DENIED = "the question only says what is left out ({names}); a plan starts from a name that has what is asked for"


def why_none(query: str, best: Found, answerer: Answerer) -> str:
    """Why the schema cannot say what is asked."""
    mentions = best.hypothesis.mentions
    if answerer.only_denied(query, mentions):
        return DENIED.format(names=_listed(mentions))
    if compared := answerer.beyond.compared(query, best.hypothesis):
        return COMPARED.format(names=_listed(compared))
    if counted := answerer.beyond.counted(query, best.hypothesis):
        return COUNTED.format(counted=", ".join(counted))
    edges = {edge for step in best.plan.steps if isinstance(step, ExpandStep) for edge in step.edges}
    opposite = answerer.beyond.opposite(query, edges)
    return OPPOSITE.format(words=", ".join(opposite), edges=", ".join(sorted(edges))) if opposite else UNSAYABLE


def unknown_name(entity: LinkedEntity, listed: bool, planned: bool = True) -> str:
    """The sentence that the graph does not have a name.

    Args:
        listed: whether the graph can list its names; if not, it may have the name after all.
        planned: whether there is a plan that starts from the name.
    """
    if not listed:
        return f"the graph cannot list its names, so {entity.text!r} was taken as written, a {entity.type}"
    near = f"; names like it: {', '.join(entity.near)}" if entity.near else ""
    return f"the graph has no name {entity.text!r}{', so the plan finds nothing' if planned else ''}{near}"


def names_left_out(query: str, best: Found, answerer: Answerer, planned: bool = True) -> tuple[str, ...]:
    """Sentences on names in the question that the graph does not have and the plan leaves out.

    Empty where the graph cannot list its names.

    Args:
        planned: whether there is a plan from the other names.
    """
    if not len(answerer.index):
        return ()
    own = best.hypothesis.mentions
    strange = unknown_beside(query, (*answerer.mentions(query), *own), answerer)
    meant = {mention.text for mention in best.hypothesis.mentions}
    return tuple(_left_out(text, answerer, planned) for text in strange if text not in meant)


def _left_out(text: str, answerer: Answerer, planned: bool) -> str:
    like = [f"{r.name} ({r.type})" for r in answerer.index.near(text) if r.score >= NEAR / 100]
    near = f"; names like it: {', '.join(dict.fromkeys(like))}" if like else ""
    return f"the graph has no name {text!r}{': the plan leaves it out' if planned else ''}{near}"


def taken_for(best: Found) -> tuple[str, ...]:
    """Which words were taken for a name that is written otherwise; a particle that follows it makes no other."""
    pairs = zip(best.hypothesis.mentions, best.hypothesis.readings, strict=True)
    near = [(m.text, r) for m, r in pairs if r.how == "fuzzy" and not m.rest]
    return tuple(f"{text!r} was taken for {r.name!r} ({r.type}), the name most like it" for text, r in near)


def names_unused(query: str, best: Found, answerer: Answerer) -> tuple[str, ...]:
    """Names of the graph in a question that its plan does nothing with, though they are probably meant."""
    mentions, plan = answerer.mentions(query), best.plan
    used = {(reading.name, reading.type) for reading in best.hypothesis.readings}
    tested = {str(v).casefold() for condition in conditions_in(plan) for v in condition.candidates()}
    unused = []
    for mention, chance in zip(mentions, answerer.ranker.meant(query, mentions), strict=True):
        known = [(r.name, r.type) for r in mention.readings if r.how in WRITTEN]
        if not known or chance < MEANT or any(mention.overlaps(own) for own in best.hypothesis.mentions):
            continue
        if not used & set(known) and not any(name.casefold() in tested for name, _ in known):
            names = ", ".join(dict.fromkeys(f"{name} ({kind})" for name, kind in known))
            unused.append(f"{mention.text!r} may mean {names}, and the plan leaves it out")
    return tuple(unused)


def conditions_in(plan: GraphPlan) -> Iterator[Condition]:
    """Every condition of a plan's steps."""
    for step in plan.steps:
        if isinstance(step, ExpandStep):
            yield from (*step.where, *step.node_where)
        elif isinstance(step, FilterStep):
            yield from step.conditions


def not_understood(query: str, best: Found, answerer: Answerer) -> tuple[str, ...]:
    """That words of a question in another language are like none of a schema that has no words in other languages."""
    words = words_of(query)
    named = {place for mention in best.hypothesis.mentions for place in range(mention.first, mention.last)}
    rest = [word for place, word in enumerate(words) if place not in named]
    spoken = spoken_in(word.text for word in rest)
    if answerer.ranker.table.schema.words or not spoken or ENGLISH in spoken:
        return ()
    strange = [
        query[word.start : word.end]
        for word in rest
        if len(word.text) >= LETTERS
        and not is_small(word.text)
        and not answerer.of_values.has(word.text)
        and answerer.ranker.words.nearest(word.text) < LIKE_NOTHING
    ]
    if not strange:
        return ()
    listed = ", ".join(map(repr, dict.fromkeys(strange)))
    return (f"no word of the schema is like {listed}; ask in the schema's language, or give it a words.tsv",)


def instead_of(best: Found) -> tuple[str, ...]:
    """A sentence that a plan which is likelier by the question's words was passed over; empty if none was."""
    if best.instead_of is None:
        return ()
    words = "; ".join(map(step_words, best.instead_of.to_plan().steps))
    return (f"by its words the question rather means: {words}. The graph has nothing for all or a part of that",)


def _listed(mentions: Sequence[Mention]) -> str:
    return ", ".join(dict.fromkeys(mention.text for mention in mentions))
