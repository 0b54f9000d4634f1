"""The retrieval strategy of a plan: a table of which stores to ask and how, where the first matching row counts."""

from __future__ import annotations

from functools import lru_cache

from ..signatures.types import Complexity, Intent
from .plan import RetrievalStrategy

NOTHING = RetrievalStrategy(use_rag=False, use_kg=False)
DIRECT = RetrievalStrategy(use_rag=False, use_kg=False, direct_answer=True)
MULTI_HOP_INTENTS = ("causal", "multi_entity")


@lru_cache(maxsize=256)
def choose_strategy(is_relevant: bool, intent: Intent, complexity: Complexity, entities: int) -> RetrievalStrategy:
    """The retrieval strategy of a plan.

    The intent ``cross_episode`` is tested before the number of entities; otherwise a question about two guests over
    time would become ``multi_hop``.
    """
    if not is_relevant:
        return NOTHING
    if intent == "greeting":
        return DIRECT
    kind = "entity_centric"
    if intent == "cross_episode":
        kind = "cross_episode"
    elif intent in MULTI_HOP_INTENTS or entities > 1:
        kind = "multi_hop"
    expansion = kind != "entity_centric" and entities > 1
    return RetrievalStrategy(
        use_rag=True,
        use_kg=True,
        kg_query_type=kind,
        rag_expansion=expansion,
        iterative=complexity == "complex",
    )
