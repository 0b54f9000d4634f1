"""What a proposal says of itself in sentences: why there is no plan, and what a plan leaves out of the question."""

from __future__ import annotations

from collections.abc import Sequence

from ...signatures.graph_steps import ExpandStep
from .executor import NEAR
from .names.linking import Mention
from .names.unknown import unknown_beside
from .proposal import LinkedEntity
from .ranking.answering import Answerer, Found
from .wording import step_words

UNSAYABLE = "no plan from the names in the question, over the graph's edges and properties, says what is asked"
COMPARED = "no step compares with what another node has ({names}); ask what that is, and then with the value itself"
COUNTED = "no step tests how many neighbours a node has ({counted}); ask for them, or for those with the most"
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
    strange = unknown_beside(query, answerer.mentions(query), answerer)
    meant = {mention.text for mention in best.hypothesis.mentions}
    return tuple(_left_out(text, answerer, planned) for text in strange if text not in meant)


def _left_out(text: str, answerer: Answerer, planned: bool) -> str:
    like = [f"{r.name} ({r.type})" for r in answerer.index.near(text) if r.score >= NEAR / 100]
    near = f"; names like it: {', '.join(dict.fromkeys(like))}" if like else ""
    return f"the graph has no name {text!r}{': the plan leaves it out' if planned else ''}{near}"


def instead_of(best: Found) -> tuple[str, ...]:
    """A sentence that a plan which is likelier by the question's words was passed over; empty if none was."""
    if best.instead_of is None:
        return ()
    words = "; ".join(map(step_words, best.instead_of.to_plan().steps))
    return (f"by its words the question rather means: {words}. The graph has nothing for all or a part of that",)


def _listed(mentions: Sequence[Mention]) -> str:
    return ", ".join(dict.fromkeys(mention.text for mention in mentions))
