"""The retrieval strategy: one case a row of the table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import domain_folder, load_card
from queryplan.program.plan import RetrievalStrategy
from queryplan.program.planner import QueryPlanner
from queryplan.program.strategy import choose_strategy
from queryplan.signatures.types import COMPLEXITIES, INTENTS

EPISODES = "cross_episode"
TABLE = {
    "not relevant": ((False, "out_of_scope", "simple", 0), (False, False, None, False, False, False)),
    "not relevant, whatever else": ((False, EPISODES, "complex", 3), (False, False, None, False, False, False)),
    "greeting": ((True, "greeting", "simple", 0), (False, False, None, False, False, True)),
    "greeting with names": ((True, "greeting", "simple", 2), (False, False, None, False, False, True)),
    "cross_episode": ((True, EPISODES, "complex", 1), (True, True, EPISODES, False, True, False)),
    "cross_episode of several": ((True, EPISODES, "complex", 2), (True, True, EPISODES, True, True, False)),
    "cross_episode, moderate": ((True, EPISODES, "moderate", 0), (True, True, EPISODES, False, False, False)),
    "causal": ((True, "causal", "moderate", 1), (True, True, "multi_hop", False, False, False)),
    "causal of several": ((True, "causal", "complex", 2), (True, True, "multi_hop", True, True, False)),
    "multi_entity": ((True, "multi_entity", "moderate", 2), (True, True, "multi_hop", True, False, False)),
    "multi_entity, no name": ((True, "multi_entity", "moderate", 0), (True, True, "multi_hop", False, False, False)),
    "several entities": ((True, "comparison", "moderate", 2), (True, True, "multi_hop", True, False, False)),
    "several entities, complex": ((True, "factual", "complex", 3), (True, True, "multi_hop", True, True, False)),
    "fact": ((True, "factual", "simple", 1), (True, True, "entity_centric", False, False, False)),
    "definition": ((True, "definition", "simple", 0), (True, True, "entity_centric", False, False, False)),
    "parts, complex": ((True, "multi_part", "complex", 1), (True, True, "entity_centric", False, True, False)),
}  # fmt: skip


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE.keys())
def test_the_first_row_that_fits_decides(row: tuple) -> None:
    asked, (rag, kg, kind, expansion, iterative, direct) = row
    assert choose_strategy(*asked) == RetrievalStrategy(
        use_rag=rag, use_kg=kg, kg_query_type=kind, rag_expansion=expansion, iterative=iterative, direct_answer=direct
    )


@given(st.booleans(), st.sampled_from(INTENTS), st.sampled_from(COMPLEXITIES), st.integers(0, 9))
def test_every_plan_searches_or_answers_or_refuses(relevant: bool, intent: str, hard: str, entities: int) -> None:
    found = choose_strategy(relevant, intent, hard, entities)  # type: ignore[arg-type]
    assert found.use_rag == found.use_kg == (found.kg_query_type is not None)
    assert found.use_rag == (relevant and intent != "greeting")
    assert not (found.direct_answer and found.use_rag)


@pytest.mark.parametrize(("domain", "graph"), [("journal", False), ("podcast", True)])
def test_a_graph_is_asked_only_where_the_card_has_one(domain: str, graph: bool) -> None:
    strategy = QueryPlanner(load_card(domain_folder(domain))).plan("what about sleep?").retrieval_strategy
    assert (strategy.use_rag, strategy.use_kg, strategy.kg_query_type is not None) == (True, graph, graph)
