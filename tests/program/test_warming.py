"""What ``warm`` opens and reads before the first query, and a model that could not be opened before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from queryplan.data.card import DomainCard, KnownName
from queryplan.errors import LMError
from queryplan.program.graph.learning.fit_ranking import starting_weights
from queryplan.program.graph.learning.store import SURE, Learned
from queryplan.program.graph.ranking.choosing import only_chance
from queryplan.program.graph.ranking.endings import DENSE, EndingWeights
from queryplan.program.lm.embedded import SLOTS
from queryplan.program.lm.warming import decides, fields_of
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType, PropertyType


@pytest.fixture
def ranking() -> Learned:
    """What ranks graph plans; nothing was taught."""
    sure = np.zeros(len(SURE))
    return Learned(starting_weights({"which": 0.2}), EndingWeights(np.zeros(len(DENSE))), only_chance(), sure)


def prefixes(predictors: Iterable[Any]) -> int:
    """Prompts that begin differently: one for each question of a decision, one for each written answer."""
    return sum(len(fields_of(one, "output_fields")) if decides(one) else 1 for one in predictors)


def restates(predictors: Iterable[Any]) -> list[bool]:
    return [set(fields_of(one, "output_fields")) == {"restated"} for one in predictors]


# --- what is read


def test_saying_questions_to_a_graph_again_is_read_where_there_is_a_ranking_and_graphs_are_planned(
    bench: Any, ranking: Learned
) -> None:
    lm = bench.lm()
    bench.planner(lm, plan_graph=True).with_graph(ranking).warm()
    assert sum(restates(lm.warmed)) == 1


@pytest.mark.parametrize(("plan_graph", "learned"), [(True, False), (False, True), (False, False)])
def test_otherwise_it_is_not_read(bench: Any, ranking: Learned, plan_graph: bool, learned: bool) -> None:
    lm = bench.lm()
    bench.planner(lm, plan_graph=plan_graph).with_graph(ranking if learned else None).warm()
    assert lm.warmed
    assert not any(restates(lm.warmed))


def test_the_embedded_model_has_a_slot_for_every_prefix_and_one_more(bench: Any, ranking: Learned) -> None:
    lm = bench.lm()
    bench.planner(lm, plan_graph=True).with_graph(ranking).warm()
    assert prefixes(lm.warmed) + 1 == SLOTS


# --- opening


def test_warming_tries_a_model_again_that_could_not_be_opened_before(bench: Any) -> None:
    lm, there = bench.lm({"is_relevant": 0.9, "complexity": "simple", "intent": "factual"}), []

    def opener() -> Any:
        if not there:
            raise LMError("the endpoint does not answer")
        return lm

    planner = bench.planner(opener)
    assert planner.lm_problem == ""
    for _ in range(2):
        with pytest.raises(LMError, match="does not answer"):
            planner.warm()
        assert planner.lm_problem == "the endpoint does not answer"
        assert planner.plan("Who is Nell?").degraded
    there.append(1)
    assert planner.plan("Who is Nell?").degraded, "a plan alone opens nothing anew"
    planner.warm()
    assert (planner.lm_problem, planner.lm_name) == ("", "scripted")
    assert not planner.plan("Who is Nell?").degraded


def test_another_model_makes_the_one_that_failed_forgotten(bench: Any) -> None:
    tried: list[int] = []

    def opener() -> Any:
        tried.append(1)
        raise LMError("the endpoint does not answer")

    planner = bench.planner(opener)
    with pytest.raises(LMError):
        planner.warm()
    planner.with_lm(None).warm()
    assert (tried, planner.lm_problem, planner.lm_name) == ([1], "", "none")


# --- names


def test_a_value_that_the_schema_names_is_found_in_questions_as_by_the_graphs_own_planner(
    bench: Any, card: DomainCard, ranking: Learned
) -> None:
    kind = PropertyType(name="kind", kind="enum", values=("cancer", "rare"))
    disease = NodeType(name="Disease", properties=("kind",), details=(kind,))
    edge = EdgeType(name="TREATS", source="Drug", target="Disease")
    schema = GraphSchema(nodes=(disease, NodeType(name="Drug")), edges=(edge,))
    names = (KnownName(name="asthma", type="Disease"), KnownName(name="Senolix", type="Drug"))
    other = card.model_copy(update={"graph": schema, "names": names})
    graphs = bench.planner(card=other, plan_graph=True).with_graph(ranking)._graphs()
    found = graphs.answerer.mentions("how many cancers does Senolix treat?")
    read = {(mention.text, r.name, r.field) for mention in found for r in mention.readings}
    assert ("cancers", "cancer", "kind") in read
    assert ("Senolix", "Senolix", "name") in read
