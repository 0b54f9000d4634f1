"""From decisions to the finished plan: adds what the card, the linker and rules say to the labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import CleanInput, encodable
from .plan import PlanTrace, QueryPlan
from .strategy import choose_strategy
from .text.linker import Linker

if TYPE_CHECKING:
    from .flow import Flow


def assemble(flow: Flow) -> QueryPlan:
    """The plan of a flow whose decisions are made."""
    labels, parts = flow.labels, flow.parts
    if labels.is_relevant and not labels.entities:
        labels.entities = parts.linker.surfaces(labels.standalone_query)
    strategy = choose_strategy(labels.is_relevant, labels.intent, labels.complexity, len(labels.entities))
    if parts.card.graph is None:
        strategy = strategy.model_copy(update={"use_kg": False, "kg_query_type": None})
    found = parts.retrieval.fill(flow, strategy)
    return QueryPlan(
        query=encodable(flow.original),
        **vars(labels),
        conversation_context=flow.clean.context,
        previous_topics=_topics(parts.linker, flow.clean),
        rejection_reason=None if labels.is_relevant else parts.card.reason(labels.rejection_kind),
        retrieval_strategy=found.strategy,
        candidates=found.candidates,
        source_intents=found.source_intents,
        source_plans=found.source_plans,
        source_queries=found.source_queries,
        trace=_trace(flow, found.notes),
        degraded=(*flow.degraded, *found.degraded),
        program_version=parts.version,
    )


def _trace(flow: Flow, notes: list[str]) -> PlanTrace:
    return PlanTrace(
        decisions=tuple(flow.decisions),
        rounds=flow.rounds,
        requests=flow.requests,
        wasted_requests=flow.wasted,
        tokens=flow.tokens,
        completion_tokens=flow.completion_tokens,
        milliseconds=flow.clock.elapsed_ms(),
        notes=(*flow.parts.notes, *flow.parts.gate.notes, *notes),
    )


def _topics(linker: Linker, clean: CleanInput) -> tuple[str, ...]:
    """The card's names in the earlier turns, latest first, each once."""
    found = (link.name.name for turn in reversed(clean.turns) for link in linker.links(turn.content))
    return tuple(dict.fromkeys(found))
