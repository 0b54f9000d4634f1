"""The four optimizers on a client for which there is something to find."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM
from queryplan.optimizers.base import StageResult, StageTask
from queryplan.optimizers.bootstrap import Bootstrap
from queryplan.optimizers.cascade import Cascade
from queryplan.optimizers.labeled import Labeled
from queryplan.optimizers.registry import OPTIMIZERS, make_optimizer
from queryplan.optimizers.thresholds_only import ThresholdsOnly
from queryplan.optimizers.zero_shot import ZeroShot
from queryplan.program.lm.decider import UnansweredError

Compile = Callable[..., StageResult]
MakeTask = Callable[..., StageTask]
DECIDING = ("follow_up", "relevance", "complexity")
SMALL: dict[str, Any] = {"candidates": 3, "bootstrapped": 3, "labeled": 4}


def labels_of(task: StageTask) -> dict[str, dict[str, Any]]:
    outputs = task.signature.output_fields
    return {e.query: {name: e[name] for name in outputs if name in e} for e in task.train}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("stage", DECIDING)
def test_a_result_is_plain_json_without_lm_and_loads_again(
    name: str, stage: str, make_task: MakeTask, make_decider: Any, compile_with: Compile
) -> None:
    task = make_task(stage)
    result = compile_with(make_optimizer(name, **(SMALL if name == "bootstrap" else {})), task, make_decider(bias=-2))
    state = json.loads(json.dumps(result.predictor.dump_state()))
    assert state["lm"] is None
    assert not state["traces"]
    assert not state["train"]
    assert all(set(demo) <= set(task.signature.fields) for demo in state["demos"])
    assert dspy.Predict(task.signature).load_state(state).demos == result.predictor.demos


@pytest.mark.parametrize("stage", DECIDING)
def test_demonstrations_never_carry_a_wrong_label(
    stage: str, make_task: MakeTask, make_decider: Any, compile_with: Compile
) -> None:
    task = make_task(stage, helpful=tuple(range(0, 40, 3)))
    gold = labels_of(task)
    result = compile_with(Bootstrap(candidates=4), task, make_decider(bias=-1.5, trust=0.3))
    assert result.chosen != "zero-shot"
    for demo in result.predictor.demos:
        assert {name: demo[name] for name in gold[demo["query"]]} == gold[demo["query"]]


def test_rows_that_the_lm_gets_wrong_are_not_bootstrapped(
    make_task: MakeTask, make_decider: Any, compile_with: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what DSPy takes for a success, every row has its label as the likeliest."""
    taken: list[tuple[Any, float]] = []
    original = dspy.BootstrapFewShot._bootstrap_one_example

    def spy(self: Any, example: dspy.Example, round_idx: int = 0) -> bool:
        success = original(self, example, round_idx)
        taken.append((example, success))
        return success

    monkeypatch.setattr(dspy.BootstrapFewShot, "_bootstrap_one_example", spy)
    task = make_task("follow_up", train=60)
    compile_with(Bootstrap(candidates=2), task, make_decider(bias=-8.0))
    # So biased a client says "no" to everything: no follow-up may count as answered right.
    assert {example.is_follow_up for example, success in taken if success} == {False}
    assert any(example.is_follow_up for example, success in taken if not success)


def test_the_best_on_dev_is_chosen(make_task: MakeTask, make_decider: Any, compile_with: Compile) -> None:
    task = make_task("relevance", train=60, helpful=tuple(range(0, 60, 3)))
    result = compile_with(Bootstrap(candidates=5), task, make_decider(trust=0.2))
    scores = {c.name: c.score for c in result.candidates}
    assert result.chosen == max(scores, key=lambda name: scores[name])
    assert scores[result.chosen] > scores["zero-shot"]
    assert any("helpful" in demo["query"] for demo in result.predictor.demos)


def test_the_score_of_a_candidate_is_that_of_its_saved_predictor(
    make_task: MakeTask, make_decider: Any, compile_with: Compile
) -> None:
    """What was scored is what is kept: same demonstrations, same order."""
    task = make_task("complexity", helpful=(3, 6, 9))
    client = make_decider(trust=0.5)
    result = compile_with(Bootstrap(**SMALL), task, client)
    with dspy.context(lm=client):
        scores = [task.metric(e, result.predictor(**e.inputs())) for e in task.dev]
    chosen = next(c for c in result.candidates if c.name == result.chosen)
    assert sum(scores) / len(scores) == pytest.approx(chosen.score)


def test_calibrated_choice_does_not_punish_a_bias(
    make_task: MakeTask, make_decider: Any, compile_with: Compile
) -> None:
    task = make_task("relevance")
    result = compile_with(Bootstrap(**SMALL, choose_by="calibrated"), task, make_decider(bias=-4))
    merits = {c.name: c.details["calibrated"] for c in result.candidates}
    assert result.chosen == max(merits, key=lambda name: merits[name])


@pytest.mark.parametrize("name", ["thresholds", "labeled", "bootstrap"])
def test_a_biased_client_is_read_better_after_fitting(
    name: str, make_task: MakeTask, make_decider: Any, compile_with: Compile
) -> None:
    task = make_task("relevance")
    client = make_decider(bias=-4, trust=2)
    result = compile_with(make_optimizer(name), task, client)
    relevant = next(f for f in result.thresholds if f.output == "is_relevant")
    assert relevant.accuracy_after > relevant.accuracy_before
    assert result.predictor.fields["is_relevant"] == relevant.config
    with dspy.context(lm=client):
        right = [result.predictor(**e.inputs()).is_relevant.value == e.is_relevant for e in task.dev]
    assert sum(right) / len(right) > 0.9


def test_zero_shot_fits_nothing_and_shows_nothing(
    make_task: MakeTask, make_decider: Any, compile_with: Compile
) -> None:
    result = compile_with(ZeroShot(), make_task("relevance"), make_decider(bias=-4))
    assert (result.predictor.demos, result.predictor.fields, result.thresholds) == ([], {}, ())
    assert result.candidates[0].details["fitted_accuracy"]["is_relevant"] > 0.5


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_same_seed_sends_the_same_requests_and_makes_the_same(
    name: str, make_task: MakeTask, make_decider: Any, compile_with: Compile
) -> None:
    clients = [make_decider(bias=-1), make_decider(bias=-1)]
    task = make_task("complexity", seed=7)
    first, again = (compile_with(make_optimizer(name), task, client) for client in clients)
    assert clients[0].requests == clients[1].requests
    assert first.predictor.dump_state() == again.predictor.dump_state()
    assert first.candidates == again.candidates


def test_another_seed_shows_other_rows(make_task: MakeTask, make_decider: Any, compile_with: Compile) -> None:
    one, two = (compile_with(Labeled(), make_task("follow_up", seed=s), make_decider()) for s in (0, 1))
    assert one.predictor.demos != two.predictor.demos


def test_labelled_demonstrations_are_balanced_and_do_not_end_in_a_run(
    make_task: MakeTask, make_decider: Any, compile_with: Compile
) -> None:
    result = compile_with(Labeled(k=8), make_task("relevance"), make_decider())
    shown = [demo["is_relevant"] for demo in result.predictor.demos]
    assert (shown.count(True), shown.count(False)) == (4, 4)
    assert shown[-1] != shown[-2]
    kinds = {demo["rejection_kind"] for demo in result.predictor.demos if not demo["is_relevant"]}
    assert kinds == {"weather", "sports"}


def test_only_labelled_outputs_are_asked(make_task: MakeTask, make_decider: Any, compile_with: Compile) -> None:
    task, client = make_task("relevance"), make_decider()
    result = compile_with(ZeroShot(), task, client)
    outside = sum(not e.is_relevant for e in task.dev)
    assert result.calls == len(client.requests) == len(task.dev) + outside


def test_a_candidate_that_does_not_fit_is_not_tried_and_named(
    make_task: MakeTask, make_decider: Any, compile_with: Compile
) -> None:
    task, client = make_task("follow_up", max_calls=70), make_decider()
    result = compile_with(Bootstrap(), task, client)
    assert len(client.requests) == result.calls <= 70
    assert [c.name for c in result.candidates] == ["zero-shot", "labeled-8"]
    assert "bootstrap-1" in result.notes[-1]
    assert "70 calls" in result.notes[-1]


@pytest.mark.parametrize("limit", [0, 5, 45, 61, 90, 131])
@pytest.mark.parametrize("metered", [True, False])
def test_a_budget_is_never_exceeded(
    limit: int, metered: bool, make_task: MakeTask, make_decider: Any, compile_with: Compile
) -> None:
    client = make_decider(bias=-3, metered=metered)
    result = compile_with(Bootstrap(), make_task("complexity", dev=12, max_calls=limit), client)
    assert len(client.requests) == result.calls <= limit


def test_with_no_budget_at_all_the_student_comes_back(
    make_task: MakeTask, make_decider: Any, compile_with: Compile
) -> None:
    result = compile_with(Labeled(), make_task("relevance", max_calls=1), make_decider())
    assert (result.candidates, result.calls, result.predictor.demos) == ((), 0, [])
    assert "labeled-8" in result.notes[-1]


@pytest.mark.parametrize("after", [3, 50, 90])
def test_a_dead_client_is_told_as_it_is(
    after: int, make_task: MakeTask, make_decider: Any, compile_with: Compile, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a pass of ours, in DSPy's bootstrapping and in DSPy's evaluation alike."""
    with pytest.raises(ConnectionError, match="the fake server is gone"):
        compile_with(Bootstrap(**SMALL), make_task("follow_up"), make_decider(fail_after=after))


@pytest.mark.parametrize("optimizer", [ZeroShot(), Bootstrap(**SMALL)])
def test_a_question_that_the_model_does_not_answer_scores_zero_and_stops_nothing(
    optimizer: Any, make_task: MakeTask, make_decider: Any, compile_with: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, answer = make_task("follow_up"), make_decider._answer
    silent = task.dev[0].query

    def reply(self: Any, state: dict[str, Any], name: str, question: dict[str, Any]) -> dict[str, Any]:
        if state["inputs"]["query"] == silent:
            raise UnansweredError("the fake model gave none of the answers")
        return answer(self, state, name, question)

    monkeypatch.setattr(make_decider, "_answer", reply)
    result = compile_with(optimizer, task, make_decider())
    assert "could not be read" in result.notes[-1]


def test_dspy_prints_nothing(
    make_task: MakeTask, make_decider: Any, compile_with: Compile, capfd: pytest.CaptureFixture[str]
) -> None:
    compile_with(Bootstrap(**SMALL), make_task("follow_up"), make_decider())
    assert capfd.readouterr() == ("", "")


def test_the_student_is_never_changed(make_task: MakeTask, make_decider: Any, compile_with: Compile) -> None:
    task = make_task("relevance")
    before = task.student.dump_state()
    compile_with(Bootstrap(**SMALL), task, make_decider(bias=-4))
    assert task.student.dump_state() == before


def test_a_student_with_its_own_criteria_keeps_them(
    make_task: MakeTask, make_decider: Any, compile_with: Compile
) -> None:
    task = make_task("relevance")
    task.student.fields = {"is_relevant": {"criteria": {"true": "ours", "false": "theirs"}}}
    client = make_decider(bias=-4, trust=2)
    result = compile_with(ThresholdsOnly(), task, client)
    assert all("ours" in request for request in client.requests if '"is_relevant", {' in request)
    assert result.predictor.fields["is_relevant"]["criteria"]["true"] == "ours"
    assert "threshold" in result.predictor.fields["is_relevant"]


def test_progress_hears_every_evaluation(
    make_task: MakeTask, make_decider: Any, compile_with: Compile, watcher: Any
) -> None:
    result = compile_with(ZeroShot(), make_task("complexity"), make_decider())
    begin, *steps, end = watcher.told
    assert begin == ("start", "complexity", len(steps))
    assert sum(calls for _, calls, _ in steps) == result.calls
    assert sum(tokens for _, _, tokens in steps) == result.tokens == 11 * result.calls
    assert end[:2] == ("finish", "complexity")
    assert f"{result.calls} LM calls" in end[2]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_one_class_and_few_rows_are_survived(
    name: str, make_task: MakeTask, make_decider: Any, compile_with: Compile
) -> None:
    task = make_task("follow_up", train=20, dev=20)
    train, dev = ([e for e in rows if not e.is_follow_up][:5] for rows in (task.train, task.dev))
    small = StageTask(task.stage, task.student, train, dev, task.metric)
    result = compile_with(make_optimizer(name), small, make_decider())
    assert result.predictor.fields == {}
    assert all(f.note == "all labels are the same" for f in result.thresholds)


def writer_answers(task: StageTask, good: bool) -> DummyLM:
    """Says gold when a demonstration stands in the prompt, or always the same."""
    entry = {"referenced_entities": '["Ida Mercer"]', "standalone_query": "row asks about Ida Mercer" if good else "?"}
    return DummyLM([entry] * 500)


def test_a_stage_that_writes_is_compiled_on_a_sample(make_task: MakeTask, compile_with: Compile) -> None:
    task = make_task("rewrite", train=40, dev=80)
    result = compile_with(Bootstrap(written_dev=6), task, writer_answers(task, True))
    assert [c.name for c in result.candidates] == [
        "zero-shot",
        "labeled-3",
        "labeled-3 2",
        "labeled-3 3",
        "bootstrap-1",
    ]
    assert "6 of 20 dev examples" in result.notes[0]
    assert result.thresholds == ()
    assert len(result.predictor.demos) <= 3
    assert result.predictor.dump_state()["lm"] is None


def test_a_cascade_demonstrates_what_is_written_where_dev_prefers_it(
    make_task: MakeTask, compile_with: Compile
) -> None:
    task = make_task("rewrite", train=40, dev=80)
    result = compile_with(Cascade(written_dev=5, written_demos=4), task, writer_answers(task, True))
    assert [c.name for c in result.candidates] == ["zero-shot", "labeled-4", "labeled-4 2"]
    assert result.calls == 15
    gold = {e.query: e.standalone_query for e in task.train}
    shown = [c.demos for c in result.candidates]
    assert shown == [0, 4, 4]
    assert all(demo["standalone_query"] == gold[demo["query"]] for demo in result.predictor.demos)


def test_a_cascade_decides_as_thresholds_do(make_task: MakeTask, make_decider: Any, compile_with: Compile) -> None:
    task = make_task("relevance")
    fitted = [compile_with(kind(), task, make_decider(bias=-4)).predictor.fields for kind in (Cascade, ThresholdsOnly)]
    assert fitted[0] == fitted[1] != {}


def test_labelled_demonstrations_of_a_writer_are_gold(make_task: MakeTask, compile_with: Compile) -> None:
    task = make_task("decompose", train=60, dev=60)
    texts = '{"text": "What is row complex about?", "depends_on": []}, {"text": "Why {1}?", "depends_on": [1]}'
    entry = {"sub_queries": f"[{texts}]", "entities": "[]", "relationships_needed": "[]"}
    result = compile_with(Labeled(), task, DummyLM([entry] * 50))
    assert len(result.predictor.demos) == 3
    gold = {e.query: e.sub_queries for e in task.train}
    assert all(demo["sub_queries"] == gold[demo["query"]] for demo in result.predictor.demos)
    assert 0 < result.candidates[0].score < 1


def test_an_answer_that_cannot_be_read_scores_zero_and_is_counted(make_task: MakeTask, compile_with: Compile) -> None:
    task = make_task("rewrite", dev=40)
    result = compile_with(ZeroShot(written_dev=4), task, DummyLM([{"nonsense": "x"}] * 50))
    assert result.candidates[0].score == 0
    assert "4 answers could not be read" in result.notes[-1]


def test_thresholds_say_that_a_writer_has_none(make_task: MakeTask, compile_with: Compile) -> None:
    task = make_task("rewrite", dev=40)
    result = compile_with(ThresholdsOnly(written_dev=3), task, writer_answers(task, True))
    assert "a stage that writes has no thresholds" in result.notes


def test_arguments_are_plain_data() -> None:
    for name in OPTIMIZERS:
        optimizer = make_optimizer(name)
        assert optimizer.name == name
        assert json.loads(json.dumps(optimizer.arguments())) == optimizer.arguments()
