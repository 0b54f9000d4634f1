"""Compiling several stages: which, on what, within which budget."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from dspy.utils import DummyLM
from queryplan.data.card import DomainCard
from queryplan.data.rows import LabelledRow
from queryplan.errors import UserError
from queryplan.optimizers import compiling
from queryplan.optimizers.bootstrap import Bootstrap
from queryplan.optimizers.compiling import compile_stages
from queryplan.optimizers.registry import make_optimizer
from queryplan.program.stages import StageSpec

MakeRows = Callable[..., list[LabelledRow]]
DECIDING = ("follow_up", "relevance", "complexity")


@pytest.fixture
def run(specs: dict[str, StageSpec], card: DomainCard, make_rows: MakeRows, make_decider: Any, make_lm: Any) -> Any:
    """``run(optimizer, train=…, dev=…, lm=…, **more)``: results by stage."""

    def go(
        name: str, train: int = 30, dev: int = 30, lm: Any = None, written_dev: int | None = None, **more: Any
    ) -> Any:
        lm = lm or make_lm(make_decider(bias=-2))
        rows = make_rows(train), make_rows(dev, 1000)
        optimizer = make_optimizer(name, **({"written_dev": written_dev} if written_dev else {}))
        return compile_stages(specs, *rows, card, optimizer, lm, **{"stages": DECIDING, **more})

    return go


def test_each_stage_is_compiled_against_its_own_labels(run: Any) -> None:
    results = run("labeled")
    assert list(results) == list(DECIDING)
    assert "is_follow_up" in results["follow_up"].predictor.demos[0]
    assert "complexity" in results["complexity"].predictor.demos[0]
    assert all(result.predictor.lm is None for result in results.values())


def test_stages_run_in_the_planner_s_order_whatever_order_is_asked(run: Any) -> None:
    assert list(run("zero-shot", stages=("complexity", "follow_up"))) == ["follow_up", "complexity"]


def test_an_unknown_stage_is_refused_with_the_choices(run: Any) -> None:
    with pytest.raises(UserError, match="there is no stage dreams: give some of follow_up, relevance"):
        run("zero-shot", stages=("dreams",))


def test_writing_and_deciding_stages_each_get_their_client(run: Any, make_lm: Any, make_decider: Any) -> None:
    entry = {"referenced_entities": "[]", "standalone_query": "row asks"}
    lm = make_lm(make_decider(), DummyLM([entry] * 200))
    results = run("labeled", lm=lm, stages=("follow_up", "rewrite"))
    assert len(lm.decider.requests) == results["follow_up"].calls
    assert results["rewrite"].candidates[0].score > 0


def test_a_stage_with_too_few_rows_is_left_as_it_is_and_says_so(run: Any) -> None:
    results = run("bootstrap", dev=6)
    assert "left as it is: 3 labelled dev examples, and 5 are needed" in results["follow_up"].notes
    assert (results["follow_up"].calls, results["follow_up"].candidates) == (0, ())
    assert results["relevance"].candidates


def test_a_stage_without_training_rows_is_left_as_it_is(run: Any) -> None:
    assert "0 labelled train examples" in run("labeled", train=0)["relevance"].notes[0]


def test_five_rows_are_enough_to_run(run: Any) -> None:
    results = run("bootstrap", train=5, dev=5, stages=("relevance",))
    assert results["relevance"].candidates


@pytest.mark.parametrize("budget", [0, 40, 150, 400])
def test_a_budget_holds_for_all_stages_together(budget: int, run: Any, make_lm: Any, make_decider: Any) -> None:
    lm = make_lm(make_decider())
    results = run("bootstrap", lm=lm, max_calls=budget)
    assert len(lm.decider.requests) == sum(r.calls for r in results.values()) <= budget


def test_a_stage_that_writes_gets_the_budget_for_what_the_optimizer_scores_it_on(
    run: Any, make_lm: Any, make_decider: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, limits = {"referenced_entities": "[]", "standalone_query": "row asks"}, list[int | None]()
    limited = compiling._limited
    monkeypatch.setattr(
        compiling,
        "_limited",
        lambda task, limit: limits.append(None if task.writes else limit) or limited(task, limit),
    )
    for scored in (5, 15):
        lm = make_lm(make_decider(), DummyLM([entry] * 400))
        run("labeled", lm=lm, stages=("relevance", "rewrite"), max_calls=90, written_dev=scored)
    first, then = (limit for limit in limits if limit is not None)
    assert first > then, "what the stage that decides gets is what the other leaves"


def test_what_one_stage_leaves_goes_to_the_next(run: Any) -> None:
    whole = {name: r.calls for name, r in run("labeled").items()}
    results = run("labeled", max_calls=sum(whole.values()))
    assert {name: r.calls for name, r in results.items()} == whole


def test_a_budget_can_be_given_by_stage(run: Any) -> None:
    results = run("bootstrap", max_calls={"relevance": 40})
    assert results["relevance"].calls <= 40
    assert [c.name for c in results["follow_up"].candidates][:2] == ["zero-shot", "labeled-8"]
    assert len(results["follow_up"].candidates) == 2 + Bootstrap().candidates


def test_compiling_twice_sends_the_same_requests_in_the_same_order(run: Any, make_lm: Any, make_decider: Any) -> None:
    """A journal is keyed by request, so a compile that was stopped continues for nothing."""
    lms = [make_lm(make_decider(bias=-1)) for _ in range(2)]
    first, again = (run("bootstrap", lm=lm, seed=5, max_calls=700) for lm in lms)
    assert lms[0].decider.requests == lms[1].decider.requests
    assert json.dumps({n: r.predictor.dump_state() for n, r in first.items()}) == json.dumps(
        {n: r.predictor.dump_state() for n, r in again.items()}
    )


def test_a_stopped_compile_had_sent_the_beginning_of_the_whole(run: Any, make_lm: Any, make_decider: Any) -> None:
    stopped, whole = make_lm(make_decider(fail_after=90)), make_lm(make_decider())
    with pytest.raises(ConnectionError):
        run("bootstrap", lm=stopped)
    run("bootstrap", lm=whole)
    assert whole.decider.requests[:90] == stopped.decider.requests


def test_progress_is_told_of_stages_that_are_left_out(run: Any, watcher: Any) -> None:
    run("zero-shot", dev=6, progress=watcher)
    assert watcher.told[0][:2] == ("finish", "follow_up")
