"""Modes of a planner: what heads answer in the model's place, and what a plan says of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.errors import ConfigError
from queryplan.program.artifact.folder import load_program
from queryplan.program.bound import Bound, Gate, label_stages
from queryplan.program.explaining import explained
from queryplan.program.heads.joint import fit_joint, likeliest_together
from queryplan.program.planner import QueryPlanner

TURNS = [{"role": "user", "content": "What is sleep debt?"}, {"role": "assistant", "content": "Lost sleep, said Nell."}]
BOUND = Bound(error=0.05, confidence=0.9, certainty=0.8, conversations=100, supports=0.02)
NONE = Bound(error=0.05, confidence=0.9, conversations=4, supports=0.4, reason="4 conversations are too few")
SURE = {
    "is_follow_up": {"true": 0.05, "false": 0.95},
    "is_relevant": {"true": 0.95, "false": 0.05},
    "complexity": {"simple": 0.97, "moderate": 0.03},
    "intent": {"factual": 0.97, "definition": 0.03},
    "needs_decomposition": {"true": 0.03, "false": 0.97},
}
FACT = {"is_follow_up": 0.1, "is_relevant": 0.9, "complexity": "simple", "intent": "definition"}


def by(plan: Any) -> dict[str, str]:
    return {d.stage: d.decided_by for d in plan.trace.decisions}


def test_when_every_stage_is_within_the_bound_no_request_is_made(bench: Any) -> None:
    lm = bench.lm(FACT)
    plan = bench.planner(lm, SURE, mode="bounded", bound=BOUND).plan("Who is Nell?", TURNS)
    assert by(plan) == {"follow_up": "head", "relevance": "head", "complexity": "head"}
    assert plan.trace.requests == plan.trace.rounds == 0
    assert lm.decider.requests == []
    assert plan.intent == "factual"
    assert {d.reason for d in plan.trace.decisions} == {"learned head, within the bound"}
    assert plan.trace.notes == ()


@pytest.mark.parametrize(
    ("mode", "bound", "closely"),
    [
        ("bounded", BOUND.model_copy(update={"closely": True}), True),
        ("bounded", BOUND, False),  # as it was fitted, in a program of before
        ("bounded", None, False),
        ("best-effort", BOUND.model_copy(update={"closely": True}), False),
        ("off", BOUND.model_copy(update={"closely": True}), False),
    ],
)
def test_heads_look_closer_at_every_query_within_a_bound_that_was_fitted_so(
    bench: Any, mode: str, bound: Bound | None, closely: bool
) -> None:
    planner = bench.planner(bench.lm(FACT), SURE, mode=mode, bound=bound)
    plan = planner.plan("Who is Nell?", TURNS)
    assert planner.heads.closely == [closely, closely]
    explained(planner, plan, "Who is Nell?", TURNS)
    assert planner.heads.closely == [closely] * 4


def test_only_the_stages_that_are_not_within_the_bound_are_asked(bench: Any) -> None:
    lm = bench.lm(FACT)
    heads = {**SURE, "is_relevant": {"true": 0.75, "false": 0.25}}
    plan = bench.planner(lm, heads, mode="bounded", bound=BOUND).plan("Who is Nell?", TURNS)
    assert by(plan) == {"follow_up": "head", "relevance": "lm", "complexity": "lm"}
    assert "is_follow_up" not in lm.decider.asked()


@pytest.mark.parametrize(("likely", "who"), [(0.94, "lm"), (0.96, "head")])
def test_relevance_without_complexity_needs_a_quarter_of_the_doubt(bench: Any, likely: float, who: str) -> None:
    heads = {
        **SURE,
        "is_relevant": {"true": likely, "false": 1 - likely},
        "complexity": {"simple": 0.5, "moderate": 0.5},
    }
    plan = bench.planner(bench.lm(FACT), heads, mode="bounded", bound=BOUND).plan("Who is Nell?")
    assert by(plan) == {"follow_up": "rule", "relevance": who, "complexity": "lm"}


def test_relevance_and_complexity_must_be_certain_together(bench: Any) -> None:
    heads = {**SURE, "is_relevant": {"true": 0.86, "false": 0.14}}
    plan = bench.planner(bench.lm(FACT), heads, mode="bounded", bound=BOUND).plan("Who is Nell?")
    assert by(plan) == {"follow_up": "rule", "relevance": "lm", "complexity": "lm"}


CERTAINTIES = st.one_of(st.none(), st.floats(0, 1))


@given(CERTAINTIES, st.booleans(), CERTAINTIES, st.floats(0, 1), st.floats(0, 1))
def test_what_heads_answer_at_a_certainty_they_answer_at_every_lower_one(
    relevance: float | None, rejects: bool, complexity: float | None, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    assert label_stages(relevance, rejects, complexity, high) <= label_stages(relevance, rejects, complexity, low)


@given(CERTAINTIES, st.booleans(), CERTAINTIES, st.floats(0.01, 1))
def test_no_stage_is_answered_by_a_head_that_says_nothing_or_is_less_certain(
    relevance: float | None, rejects: bool, complexity: float | None, certainty: float
) -> None:
    said = {"relevance": relevance, "complexity": complexity}
    opened = label_stages(relevance, rejects, complexity, certainty)
    assert all((value := said[stage]) is not None and value >= certainty for stage in opened)
    assert not (rejects and relevance is not None and "complexity" in opened)


def test_three_labels_that_are_each_likely_are_together_less_so(bench: Any) -> None:
    heads = {**SURE, "complexity": {"simple": 0.9, "moderate": 0.1}, "intent": {"factual": 0.85, "definition": 0.15}}
    plan = bench.planner(bench.lm(FACT), heads, mode="bounded", bound=BOUND).plan("Who is Nell?")
    assert by(plan)["complexity"] == "lm"


def test_a_sure_rejection_asks_nothing_and_an_unsure_kind_gets_the_general_words(bench: Any) -> None:
    kinds = {"weather": 0.5, "sports": 0.5}
    heads = {**SURE, "is_relevant": {"true": 0.02, "false": 0.98}, "rejection_kind": kinds}
    lm = bench.lm(FACT)
    plan = bench.planner(lm, heads, mode="bounded", bound=BOUND).plan("Will it rain?")
    assert (plan.is_relevant, plan.rejection_kind, plan.trace.requests) == (False, None, 0)
    assert plan.rejection_reason
    sure = {**heads, "rejection_kind": {"weather": 0.9, "sports": 0.1}}
    assert bench.planner(lm, sure, mode="bounded", bound=BOUND).plan("Will it rain?").rejection_kind == "weather"


def test_off_asks_the_model_whatever_the_bound(bench: Any) -> None:
    plan = bench.planner(bench.lm(FACT), SURE, bound=BOUND).plan("Who is Nell?", TURNS)
    assert set(by(plan).values()) == {"lm"}
    assert plan.intent == "definition"


def test_best_effort_asks_nothing_and_says_that_nothing_is_guaranteed(bench: Any) -> None:
    unsure = {name: dict.fromkeys(given, 0.5) for name, given in SURE.items() if name != "complexity"}
    lm = bench.lm(FACT)
    heads = {**unsure, "complexity": SURE["complexity"], "needs_decomposition": {"true": 0.4, "false": 0.6}}
    heads["is_follow_up"] = {"false": 0.6, "true": 0.4}
    plan = bench.planner(lm, heads, mode="best-effort").plan("Who is Nell?", TURNS)
    assert set(by(plan).values()) == {"head"}
    assert plan.trace.requests == 0
    assert plan.trace.notes == ("heads: best effort, no guarantee",)
    assert all("no guarantee" in d.reason for d in plan.trace.decisions)


def test_best_effort_still_has_the_model_write(bench: Any) -> None:
    heads = {**SURE, "is_follow_up": {"true": 0.9, "false": 0.1}}
    lm = bench.lm(FACT)
    plan = bench.planner(lm, heads, mode="best-effort").plan("what did she say about that?", TURNS)
    assert plan.standalone_query == "What did Rosalind say about sleep debt?"
    assert lm.decider.requests == []
    assert by(plan)["rewrite"] == "lm"


@pytest.mark.parametrize("bound", [None, NONE])
def test_without_a_bound_no_head_answers_and_every_plan_says_why(bench: Any, bound: Bound | None) -> None:
    plan = bench.planner(bench.lm(FACT), SURE, mode="bounded", bound=bound).plan("Who is Nell?", TURNS)
    assert set(by(plan).values()) == {"lm"}
    assert "none answers within a bound" in plan.trace.notes[0]
    assert (bound.reason if bound else "without a bound") in plan.trace.notes[0]


def test_what_heads_decide_beyond_the_bound_for_want_of_a_model_is_named(bench: Any) -> None:
    heads = {**SURE, "is_relevant": {"true": 0.75, "false": 0.25}}
    plan = bench.planner(None, heads, mode="bounded", bound=BOUND).plan("Who is Nell?")
    relevance = plan.trace.decision("relevance")
    assert relevance is not None
    assert (relevance.decided_by, relevance.reason) == ("head", "learned head, outside the bound")


def test_a_follow_up_that_could_not_be_rewritten_is_outside_the_bound(bench: Any) -> None:
    heads = {**SURE, "is_follow_up": {"true": 0.95, "false": 0.05}}
    plan = bench.planner(None, heads, mode="bounded", bound=BOUND).plan("and that?", TURNS)
    reasons = {d.stage: d.reason for d in plan.trace.decisions}
    assert reasons["follow_up"] == "learned head, within the bound"
    assert reasons["relevance"] == reasons["complexity"] == "learned head, outside the bound"


def test_a_mode_that_there_is_none_of_is_refused(bench: Any) -> None:
    with pytest.raises(ConfigError, match="no mode 'bogus': give one of off, bounded, best-effort"):
        bench.planner().in_mode("bogus")


def test_mode_and_bound_are_saved_and_loaded_and_are_part_of_the_version(
    bench: Any, tmp_path: Any, trained: Any
) -> None:
    planner = bench.planner(None, trained, mode="bounded", bound=BOUND)
    manifest = planner.save(tmp_path / "p")
    again = QueryPlanner.load(tmp_path / "p")
    assert again.gate == Gate("bounded", BOUND)
    assert bench.planner(None, trained).save(tmp_path / "q").version != manifest.version
    assert QueryPlanner.load(tmp_path / "p", mode="off").gate == Gate("off", BOUND)


def test_a_program_from_before_there_were_bounds_loads_without_one(old_program: Any) -> None:
    assert load_program(old_program).manifest.bound is None
    assert QueryPlanner.load(old_program, lm=None).gate == Gate()


def test_a_changed_mode_is_another_version_of_what_was_not_compiled(bench: Any) -> None:
    planner = bench.planner(None, SURE)
    before = planner.program_version
    assert planner.in_mode("best-effort").program_version != before


def test_a_mode_that_a_program_was_not_compiled_with_is_part_of_its_version(bench: Any, tmp_path: Any) -> None:
    version = bench.planner(None, SURE, mode="bounded", bound=BOUND).save(tmp_path / "p").version
    planner = QueryPlanner.load(tmp_path / "p", lm=None)
    assert planner.program_version == version
    assert planner.in_mode("best-effort").program_version == f"{version}-best-effort"
    assert planner.plan("Who is Nell?").program_version == f"{version}-best-effort"
    assert planner.in_mode("bounded").program_version == version
    other = planner.in_mode("bounded", NONE).program_version
    assert other.startswith(f"{version}-bounded-")
    assert QueryPlanner.load(tmp_path / "p", lm=None, mode="off").program_version == f"{version}-off"


def test_the_certainty_of_a_combination_is_its_share_of_those_that_occur(rows: Any) -> None:
    joint = fit_joint(rows("train"))
    given = [{"simple": 0.6, "complex": 0.4}, {"factual": 0.5, "causal": 0.5}, {"true": 0.5, "false": 0.5}]
    labels, certainty = likeliest_together(joint, given)
    assert "|".join(labels) in joint
    assert 0 < certainty < 1
    assert likeliest_together({}, given)[1] == pytest.approx(0.6 * 0.5 * 0.5)
