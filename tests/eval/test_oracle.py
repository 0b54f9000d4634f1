"""The ladder of stages given by gold, on a real planner without a language model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.domain import Domain, load_domain
from queryplan.data.rows import LabelledRow
from queryplan.errors import UserError
from queryplan.eval.evaluation import Evaluation, evaluate
from queryplan.eval.metrics import Judge, score_case
from queryplan.eval.oracle import GRAPH, RUNGS, GoldFlow, OracleLadder, blame, oracle_ladder, plan_given
from queryplan.program.asking import Clock, Reply
from queryplan.program.context import clean_input
from queryplan.program.graph.executors.memory import load_graph
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.heads.training import train_heads
from queryplan.program.planner import QueryPlanner

Make = Callable[..., Any]


@pytest.fixture(scope="module")
def planner() -> QueryPlanner:
    """Heads of a hundred rows: often wrong."""
    domain = load_domain("podcast", ("train",))
    heads = train_heads(domain.rows("train")[:100], domain.card, default_encoder(), 0)
    return QueryPlanner(domain.card, heads=heads)


@pytest.fixture(scope="module")
def labelled() -> list[LabelledRow]:
    """Forty rows of dev, in whole conversations."""
    return list(load_domain("podcast", ("dev",)).rows("dev")[:40])


@pytest.fixture(scope="module")
def evaluation(planner: QueryPlanner, labelled: list[LabelledRow]) -> Evaluation:
    """The planner as it is."""
    return evaluate(planner, labelled, name="heads")


@pytest.fixture(scope="module")
def ladder(planner: QueryPlanner, labelled: list[LabelledRow], evaluation: Evaluation) -> OracleLadder:
    """The whole ladder."""
    return oracle_ladder(planner, labelled, evaluation)


def test_the_last_rung_is_gold_and_the_first_is_the_planner_as_it_is(
    ladder: OracleLadder, evaluation: Evaluation
) -> None:
    assert [rung.stage for rung in ladder.rungs] == [None, *RUNGS]
    assert ladder.rungs[0].plan_right.value == evaluation.summary().plan_right.value
    assert ladder.rungs[-1].plan_right.value == 1.0
    assert ladder.rungs[-1].labels_right.value == 1.0


def test_what_the_stages_cost_adds_up_to_what_is_lost(ladder: OracleLadder) -> None:
    assert list(ladder.costs) == list(RUNGS)
    total = sum(gain.difference.value for gain in ladder.costs.values())
    assert total == pytest.approx(1 - ladder.rungs[0].plan_right.value)
    assert all(gain.p >= gain.p_value for gain in ladder.costs.values())


def test_a_planner_that_is_right_costs_nothing_anywhere(
    rows: list[LabelledRow], table_planner: Make, planner: QueryPlanner, labelled: list[LabelledRow]
) -> None:
    assert all(one.rows == 0 for one in blame(evaluate(table_planner(rows), rows, name="table").cases))
    gold = [plan_given(planner, row, frozenset(RUNGS)) for row in labelled]
    assert all(score_case(row, plan).plan_right for row, plan in zip(labelled, gold, strict=True))
    assert not any(d.what in RUNGS for plan in gold for d in plan.degraded)


def test_blame_counts_every_wrong_plan_once(evaluation: Evaluation) -> None:
    found = blame(evaluation.cases)
    assert sum(one.rows for one in found) == sum(not case.score.plan_right for case in evaluation.cases)
    assert sum(one.share.value for one in found) == pytest.approx(1 - evaluation.summary().plan_right.value)


@pytest.mark.parametrize("given", [(), ("relevance",), ("complexity",), ("follow_up", "complexity"), ("decompose",)])
def test_any_stages_can_be_given_and_a_plan_always_comes_back(
    planner: QueryPlanner, labelled: list[LabelledRow], given: tuple[str, ...]
) -> None:
    for row in labelled[:15]:
        plan = plan_given(planner, row, frozenset(given))
        if "relevance" in given:
            assert plan.is_relevant == row.labels.is_relevant
            assert plan.rejection_kind == row.labels.rejection_kind
        if "follow_up" in given:
            assert plan.is_follow_up == row.labels.is_follow_up
        if not given:
            assert plan.model_dump(exclude={"trace"}) == planner.plan(row.query, row.history, row.session).model_dump(
                exclude={"trace"}
            )


def test_nothing_that_is_given_is_asked_of_a_model_and_the_rest_is(planner: QueryPlanner, row: Make) -> None:
    gold = row(
        "and of the two, compare their views on rest",
        is_follow_up=True,
        standalone_query="Compare the views of Rick Rubin and Phil Jackson on rest",
        complexity="moderate",
        intent="comparison",
        sub_queries=[{"id": 1, "text": "What does Rick Rubin say?"}, {"id": 2, "text": "What does Phil Jackson say?"}],
    )
    asked = {given: _asked(planner, gold, frozenset(RUNGS[:given])) for given in range(len(RUNGS) + 1)}
    assert asked[len(RUNGS)] == set()
    assert {"follow_up", "relevance", "complexity"} <= asked[0]
    assert "follow_up" not in asked[1]
    assert "rewrite" not in asked[2]
    assert asked[3] <= {"complexity", "decompose"}
    assert asked[4] <= {"decompose"}


def _asked(planner: QueryPlanner, row: LabelledRow, given: frozenset[str]) -> set[str]:
    """The stages of all requests of a plan whose model never answers."""
    clean = clean_input(row.query, row.history, row.session, planner.card.history)
    rounds = GoldFlow(planner._parts(True), row.query, clean, Clock(None), gold=row.labels, given=given).run()
    asked: set[str] = set()
    try:
        asks = next(rounds)
        while True:
            asked |= {ask.stage for ask in asks}
            asks = rounds.send({ask.stage: Reply(None, "no answer", calls=1) for ask in asks})
    except StopIteration:
        return asked


def test_a_stopped_ladder_goes_on_and_refuses_another_program(
    planner: QueryPlanner, labelled: list[LabelledRow], evaluation: Evaluation, ladder: OracleLadder, tmp_path: Path
) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("relevance", 10):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        oracle_ladder(planner, labelled, evaluation, folder=tmp_path, progress=stop)
    told: list[tuple[str, int]] = []
    again = oracle_ladder(
        planner, labelled, evaluation, folder=tmp_path, progress=lambda stage, done, _: told.append((stage, done))
    )
    assert again == ladder
    assert told[:3] == [("follow_up", 40), ("rewrite", 40), ("relevance", 10)]
    other = QueryPlanner(planner.card)
    with pytest.raises(UserError, match="another program"):
        oracle_ladder(other, labelled, evaluation, folder=tmp_path)


# With a graph


@pytest.fixture(scope="module")
def graph_domain() -> Domain:
    """The shipped domain whose questions a graph answers."""
    return load_domain("biomedical", ("train", "dev"))


@pytest.fixture(scope="module")
def graph_planner(graph_domain: Domain) -> QueryPlanner:
    """Heads of a hundred rows, and no learned graph plans: only gold's."""
    heads = train_heads(graph_domain.rows("train")[:100], graph_domain.card, default_encoder(), 0)
    planner = QueryPlanner(graph_domain.card, heads=heads)
    planner.plan_graph = True
    return planner


@pytest.fixture(scope="module")
def graph_judge(graph_domain: Domain) -> Judge:
    """Runs graph steps on the domain's own graph."""
    return Judge(graph=load_graph(graph_domain.folder, graph_domain.card.graph), schema=graph_domain.card.graph)


@pytest.fixture(scope="module")
def graph_rows(graph_domain: Domain) -> list[LabelledRow]:
    """Thirty rows of dev, most with answers in the graph."""
    return list(graph_domain.rows("dev")[:30])


@pytest.fixture(scope="module")
def graph_evaluation(graph_planner: QueryPlanner, graph_rows: list[LabelledRow], graph_judge: Judge) -> Evaluation:
    """The planner as it is, its graph answers scored."""
    return evaluate(graph_planner, graph_rows, name="heads", judge=graph_judge)


def test_the_graph_is_the_last_rung_and_with_it_all_is_right(
    graph_planner: QueryPlanner, graph_rows: list[LabelledRow], graph_evaluation: Evaluation, graph_judge: Judge
) -> None:
    ladder = oracle_ladder(graph_planner, graph_rows, graph_evaluation, judge=graph_judge)
    assert [rung.stage for rung in ladder.rungs] == [None, *RUNGS, GRAPH]
    everything = ladder.rungs[-1].all_right
    assert everything is not None
    assert everything.value == 1.0
    # Before the last rung every plan is right but for its graph, and what that costs is what remains.
    before = ladder.rungs[-2]
    assert before.plan_right.value == 1.0
    assert before.right.value < 1.0
    assert ladder.costs[GRAPH].difference.value == pytest.approx(1 - before.right.value)
    total = sum(gain.difference.value for gain in ladder.costs.values())
    assert total == pytest.approx(1 - ladder.rungs[0].right.value)


def test_a_wrong_answer_of_a_right_plan_is_put_down_to_the_graph(graph_evaluation: Evaluation) -> None:
    found = {one.stage: one.rows for one in blame(graph_evaluation.cases)}
    wrong = [case for case in graph_evaluation.cases if not case.all_right]
    assert sum(found.values()) == len(wrong)
    alone = [c for c in graph_evaluation.cases if c.score.plan_right and c.score.graph_right is False]
    assert found[GRAPH] == len(alone)
    assert all(case.lost_at == GRAPH for case in alone)


def test_without_a_graph_nothing_is_put_down_to_it(evaluation: Evaluation) -> None:
    assert GRAPH not in {one.stage for one in blame(evaluation.cases)}


def test_gold_steps_return_golds_answers_and_none_are_given_where_nobody_says(
    graph_planner: QueryPlanner, graph_rows: list[LabelledRow], graph_judge: Judge
) -> None:
    given = frozenset({*RUNGS, GRAPH})
    for row in graph_rows:
        plan = plan_given(graph_planner, row, given)
        assert score_case(row, plan, judge=graph_judge).graph_right is not False
        silent = row.model_copy(update={"gold": None})
        assert plan_given(graph_planner, silent, given).graph_plan is None


def test_steps_that_are_given_are_not_asked_of_a_model(
    graph_planner: QueryPlanner, graph_rows: list[LabelledRow]
) -> None:
    assert any(GRAPH in _asked(graph_planner, row, frozenset()) for row in graph_rows)
    assert not any(GRAPH in _asked(graph_planner, row, frozenset({GRAPH})) for row in graph_rows)
