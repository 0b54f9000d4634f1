"""The cheap rivals return whole plans, learn from training rows alone, and say what they cannot write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from queryplan.data.rows import LabelledRow
from queryplan.errors import DataError
from queryplan.eval.baselines import ConstantPlanner, TfidfPlanner
from queryplan.eval.evaluation import evaluate

Make = Callable[..., Any]
HISTORY = [{"role": "user", "content": "Tell me about Rick Rubin."}]


def test_the_constant_gives_the_majority_of_each_stage(rows: list[LabelledRow], row: Make) -> None:
    more = [row(f"Compare {i}", f"x{i}", f"x{i}", intent="comparison", complexity="moderate") for i in range(20)]
    plan = ConstantPlanner([*rows, *more]).plan("anything at all")
    assert (plan.is_follow_up, plan.is_relevant) == (False, True)
    assert (plan.complexity, plan.intent) == ("moderate", "comparison")
    assert plan.standalone_query == "anything at all"
    assert plan.retrieval_strategy.use_rag
    assert plan.degraded == ()


def test_a_mostly_foreign_set_makes_the_constant_reject(row: Make) -> None:
    plan = ConstantPlanner([row("a", "1", is_relevant=False), row("b", "2", is_relevant=False)]).plan("hello")
    assert (plan.is_relevant, plan.intent, plan.rejection_kind) == (False, "out_of_scope", "weather")
    assert not plan.retrieval_strategy.use_rag


def test_without_history_nothing_is_a_follow_up(row: Make) -> None:
    follow_ups = [row(f"and {i}?", str(i), is_follow_up=True, standalone_query=f"what of {i}?") for i in range(3)]
    planner = ConstantPlanner(follow_ups)
    assert not planner.plan("and now?").is_follow_up
    with_history = planner.plan("and now?", history=HISTORY)
    assert with_history.is_follow_up
    assert [d.what for d in with_history.degraded] == ["rewrite"]


def test_a_rival_that_wants_to_decompose_says_that_it_cannot(row: Make) -> None:
    subs = [{"id": 1, "text": "Who is Nell?"}, {"id": 2, "text": "Who is Ada?"}]
    planner = ConstantPlanner([row("Nell and Ada?", complexity="complex", intent="multi_part", sub_queries=subs)])
    plan = planner.plan("Both of them?")
    assert plan.needs_decomposition
    assert plan.sub_queries == ()
    assert [d.what for d in plan.degraded] == ["decompose"]


def test_the_majority_of_follow_up_is_of_the_rows_with_history(rows: list[LabelledRow]) -> None:
    assert sum(row.labels.is_follow_up for row in rows) < len(rows) / 2
    assert ConstantPlanner(rows).plan("anything at all", history=HISTORY).is_follow_up


def test_tfidf_learns_what_words_tell(rows: list[LabelledRow]) -> None:
    evaluation = evaluate(TfidfPlanner(rows), rows, name="tfidf")
    assert evaluation.summary().labels_right.value == 1.0
    plan = TfidfPlanner(rows).plan("Will it rain in town 77?")
    assert (plan.is_relevant, plan.rejection_kind) == (False, "weather")
    assert TfidfPlanner(rows).plan("What is idea 77?").intent == "definition"


def test_tfidf_sees_the_last_message_for_follow_up(row: Make) -> None:
    made = []
    for i in range(10):
        pair = row("and sleep?", f"a{i}", is_follow_up=True, standalone_query=f"what of sleep {i}?")
        hello = pair.model_copy(update={"history": (pair.history[0].model_copy(update={"content": "good morning"}),)})
        plain = hello.labels.model_copy(update={"is_follow_up": False, "standalone_query": "and sleep?"})
        made += [pair, hello.model_copy(update={"id": f"b{i}", "labels": plain})]
    planner = TfidfPlanner(made)
    assert planner.plan("and sleep?", history=HISTORY).is_follow_up
    assert not planner.plan("and sleep?", history=[{"role": "user", "content": "good morning"}]).is_follow_up


def test_a_label_with_one_value_needs_no_model(row: Make) -> None:
    plan = TfidfPlanner([row("What is focus?"), row("What is rest?", "2")]).plan("zzz", history=HISTORY)
    assert (plan.is_relevant, plan.intent, plan.is_follow_up) == (True, "definition", False)


def test_the_version_names_the_training_rows(rows: list[LabelledRow]) -> None:
    assert ConstantPlanner(rows).program_version == ConstantPlanner(rows).plan("x").program_version
    assert TfidfPlanner(rows).program_version != TfidfPlanner(rows[:12]).program_version


@pytest.mark.parametrize("kind", [ConstantPlanner, TfidfPlanner])
def test_no_training_rows_are_refused(kind: Make) -> None:
    with pytest.raises(DataError, match="needs training rows"):
        kind([])


def test_rivals_say_how_sure_they_are_so_that_their_rejections_can_be_ranked(row: Make) -> None:
    ours = [row(f"what does Rick say about art {i}", f"a{i}", f"a{i}") for i in range(60)]
    rain = [row(f"will it rain in town {i}", f"b{i}", f"b{i}", is_relevant=False) for i in range(30)]
    plan = TfidfPlanner([*ours, *rain]).plan("will it rain in town 5")
    relevance = plan.trace.decision("relevance")
    assert relevance is not None
    assert 0.5 < relevance.confidence < 1
    assert plan.trace.decision("complexity") is None
    summary = evaluate(TfidfPlanner([*ours, *rain]), [*ours, *rain], name="tfidf").summary()
    assert summary.oos_recall_2 is not None
    assert summary.oos_recall_2.value == 1.0
    constant = ConstantPlanner([*ours, *rain]).plan("will it rain in town 5")
    assert [(d.stage, d.decided_by, round(d.confidence, 2)) for d in constant.trace.decisions] == [
        ("follow_up", "rule", 1.0),
        ("relevance", "head", 0.67),
        ("complexity", "head", 1.0),
    ]


def test_many_rows_foreseen_at_once_are_planned_as_one_by_one(rows: list[LabelledRow]) -> None:
    one, many = TfidfPlanner(rows), TfidfPlanner(rows).foresee(rows)
    for row in rows:
        alone, at_once = (planner.plan(row.query, list(row.history)) for planner in (one, many))
        assert alone.model_dump(exclude={"trace"}) == at_once.model_dump(exclude={"trace"})
        sure = [[d.confidence for d in plan.trace.decisions] for plan in (alone, at_once)]
        assert sure[0] == pytest.approx(sure[1])
