"""The texts around a run: rejection, direct answer, synthesis. Each may be a function of yours.

No language model is behind the defaults: a rejection and a direct answer are the card's texts, and a synthesis is the
evidence, quoted with its sources.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...data.card import DomainCard
from ..plan import QueryPlan
from .passages import TRANSCRIPTS, Passage
from .results import Evidence, Gap
from .run_result import RunResult

QUOTED = 5
QUOTE_CHARACTERS = 400


def rejection(card: DomainCard, plan: QueryPlan) -> str:
    """The card's text for a query that it does not answer."""
    return plan.rejection_reason or card.reason(plan.rejection_kind)


def direct_answer(card: DomainCard, plan: QueryPlan) -> str:
    """What one can ask about the domain, in the card's words."""
    covers = "\n".join(f"- {line}" for line in card.covers)
    return f"{card.title}: {card.description}\n{covers}"


def synthesis(run: RunResult) -> str:
    """The answers of the graph, then the best passages in quotation marks, each with its source."""
    if run.context is not None:
        return str(getattr(run.context, "formatted_context", run.context))
    graph = [f"The graph answers: {', '.join(run.graph_answers)}"] if run.graph_answers else []
    return "\n\n".join([*graph, quoted(run.evidence)] if run.evidence or not graph else graph)


def quoted(evidence: Sequence[Evidence]) -> str:
    """The first passages in quotation marks, each with its source."""
    return "\n\n".join(quote(item) for item in evidence[:QUOTED]) or "Nothing was found."


def quote(item: Evidence) -> str:
    """A passage as a quotation with its source; a record with its fields."""
    return f"“{cut(shown(item.passage))}” — {source_of(item)}"


def shown(passage: Passage) -> str:
    """The text of a passage, and of a record its fields: what it says is mostly in them."""
    if passage.source in (TRANSCRIPTS, "posts"):
        return passage.text
    fields = ", ".join(f"{key} {value}" for key, value in passage.fields.items())
    return f"{passage.text} ({fields})" if fields else passage.text


def source_of(item: Evidence) -> str:
    """Where a passage stands: title, store, id, day."""
    passage = item.passage
    place = f"{passage.source} {passage.id}"
    return ", ".join(part for part in (passage.title, place, passage.date) if part)


def cut(text: str, most: int = QUOTE_CHARACTERS) -> str:
    """A text of at most ``most`` characters, cut between words where there are any."""
    if len(text) <= most:
        return text
    return text[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


@dataclass(frozen=True)
class Speakers:
    """The functions that write what the user reads.

    Attributes:
        reject: writes the answer to a plan that is not relevant.
        answer: writes the answer to a greeting, for which nothing is retrieved.
        synthesise: writes the answer from the evidence.
    """

    reject: Callable[[DomainCard, QueryPlan], str] = rejection
    answer: Callable[[DomainCard, QueryPlan], str] = direct_answer
    synthesise: Callable[[RunResult], str] = synthesis


_CARDS = "the card's text is given"
Spoken = tuple[str, tuple[Gap, ...]]
"""A text, and a gap if the user's function failed and another text was used."""


def spoken(speakers: Speakers, run: RunResult) -> Spoken:
    """The text of the synthesis; the quoted evidence if that fails."""
    return _said("the synthesis", lambda: speakers.synthesise(run), lambda: synthesis(run), "the evidence is quoted")


def unsearched(speakers: Speakers, card: DomainCard, plan: QueryPlan) -> Spoken:
    """The text for a plan that searches nothing, a rejection or a direct answer; the card's if that fails."""
    if not plan.is_relevant:
        return _said("the rejection", lambda: speakers.reject(card, plan), lambda: rejection(card, plan), _CARDS)
    return _said("the direct answer", lambda: speakers.answer(card, plan), lambda: direct_answer(card, plan), _CARDS)


def _said(what: str, say: Callable[[], str], otherwise: Callable[[], str], instead: str) -> Spoken:
    try:
        return say(), ()
    except Exception as error:  # the callable may be the user's
        why = f"it failed ({type(error).__name__}: {error})"
        return otherwise(), (Gap(kind="plan", what=what, why=why, instead=instead),)
