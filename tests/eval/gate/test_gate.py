"""The gate: what passes, what fails, what the rows cannot decide, and how many would."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.data.rows import LabelledRow
from queryplan.errors import ConfigError, DataError
from queryplan.eval.evaluation import Evaluation, evaluate
from queryplan.eval.gate.judging import Check, GateResult, judge
from queryplan.eval.gate.non_inferiority import difference_of_shares, rows_needed, smallest_margin
from queryplan.eval.gate.report import gate_junit, gate_markdown
from queryplan.eval.gate.settings import GateSettings, gate_settings
from queryplan.eval.prices import Price

Make = Callable[..., Any]

WRONG = {"intent": "factual"}


@pytest.fixture
def measured(row: Make, table_planner: Make) -> Make:
    """An evaluation of ``count`` rows, one a conversation, every other one tagged, with the named ones wrong."""

    def make(count: int, wrong: Sequence[int] = (), name: str = "a", **changes: Any) -> Evaluation:
        rows = [_tagged(row(f"What is idea {i}?", f"r{i}", f"c{i}"), i) for i in range(count)]
        planner = table_planner(rows, {f"r{i}": WRONG for i in wrong})
        return evaluate(planner, rows, name=name, version=name, domain="podcast").model_copy(update=changes)

    return make


def _tagged(made: LabelledRow, number: int) -> LabelledRow:
    return made.model_copy(update={"tags": ("typo",)}) if number % 2 else made


def found(result: GateResult, measure: str, part: str | None = None) -> Check:
    """The check of one measure on one slice."""
    return next(c for c in result.checks if (c.measure, c.part) == (measure, part))


# What the answers are


def test_a_loss_of_five_points_on_a_slice_of_400_rows_fails(measured: Make) -> None:
    champion = measured(800, name="old")
    lost = range(1, 41, 2)  # 20 of the 400 tagged rows
    result = judge(measured(800, lost, name="new"), champion, GateSettings())
    check = found(result, "plan_right", "typo")
    assert (result.verdict, check.verdict, check.rows) == ("fail", "fail", 400)
    assert "typo: -5.0 points" in check.sentence
    assert result.checks[0].verdict == "fail"
    assert found(result, "relevance").verdict == "pass"


def test_the_same_program_passes_where_there_are_rows_enough(measured: Make) -> None:
    result = judge(measured(200, [3], name="new"), measured(200, [3], name="old"), GateSettings())
    assert result.verdict == "pass"
    assert {c.verdict for c in result.checks} == {"pass", "not judged"}
    assert result.sentence == "pass: new against old, 200 rows."


def test_a_better_program_passes(measured: Make) -> None:
    assert judge(measured(300), measured(300, range(60), name="old"), GateSettings()).verdict == "pass"


def test_rows_that_cannot_decide_are_inconclusive_and_say_how_many_would(measured: Make) -> None:
    new, old = measured(120, range(0, 20), name="new"), measured(120, range(20, 39), name="old")
    result = judge(new, old, GateSettings(part_rows=120))
    check = found(result, "plan_right")
    assert result.verdict == "inconclusive"
    assert check.rows_needed is not None
    assert check.rows_needed > 120
    assert f"about {check.rows_needed} rows like these would decide" in check.sentence


def test_a_part_too_small_to_be_judged_can_fail_and_cannot_hold_up(measured: Make) -> None:
    few = judge(measured(150, [1, 3], name="new"), measured(150, name="old"), GateSettings(margin=0.06))
    assert found(few, "plan_right", "typo").verdict == "not judged"
    assert few.verdict == "pass"
    many = judge(measured(150, range(1, 41, 2), name="new"), measured(150, name="old"), GateSettings(margin=0.06))
    assert found(many, "plan_right", "typo").verdict == "fail"


def test_a_slice_may_have_a_margin_of_its_own(measured: Make) -> None:
    asked = gate_settings(
        {"margin": 0.01, "margins": {"typo": 0.2, "whole_plan": 0.2, "labels_right": 0.2, "intent": 0.2}}
    )
    result = judge(measured(800, range(1, 41, 2), name="new"), measured(800, name="old"), asked)
    assert found(result, "plan_right", "typo").limit == -0.2
    assert result.verdict == "pass"


def test_without_a_champion_only_the_candidate_itself_is_judged(measured: Make) -> None:
    result = judge(measured(24), None, gate_settings({"minimum": {"whole_plan": 0.8}}))
    assert (result.verdict, result.champion) == ("pass", None)
    assert [c.kind for c in result.checks] == ["minimum", "injections"]
    assert "no champion" in result.sentence


def test_where_nothing_is_asked_of_the_plans_nothing_passes(measured: Make) -> None:
    result = judge(measured(24, range(24)), None, GateSettings())
    assert (result.verdict, found(result, "plan_right").verdict) == ("inconclusive", "inconclusive")
    assert "Nothing was asked of its plans, of which 0 (0 to 0.142) are right: set a minimum" in result.sentence


def test_the_answer_names_the_models(measured: Make) -> None:
    result = judge(measured(200, lm="openai/x", name="new"), measured(200, lm="none", name="old"), GateSettings())
    assert result.sentence == "pass: new with openai/x against old, 200 rows."
    assert "new with openai/x against old, on 200 rows" in gate_markdown(result)


def test_a_margin_of_something_unknown_is_named(measured: Make) -> None:
    one = measured(30)
    for name in ("plan_rigth", "tyop"):
        with pytest.raises(ConfigError, match=rf"gate\.margins\.'{name}', which is no measure .* and no slice"):
            judge(one, one, gate_settings({"margins": {name: 0.1}}))
    assert judge(one, one, gate_settings({"margins": {"typo": 0.5}, "margin": 0.3})).verdict == "pass"


@pytest.mark.parametrize(("minimum", "verdict"), [(0.5, "pass"), (0.99, "fail"), (0.8, "inconclusive")])
def test_a_minimum_is_kept_missed_or_undecided(measured: Make, minimum: float, verdict: str) -> None:
    result = judge(measured(200, range(40)), None, gate_settings({"minimum": {"plan_right": minimum}}))
    assert found(result, "plan_right").verdict == verdict


def test_a_minimum_that_no_row_raises_is_not_passed(measured: Make) -> None:
    result = judge(measured(50), None, gate_settings({"minimum": {"decompose": 0.5}}))
    assert result.verdict == "inconclusive"
    assert "no row" in found(result, "decompose").sentence


def test_ceilings_are_held_for_cost_and_latency(measured: Make) -> None:
    asked = gate_settings({"ceilings": {"p95_ms": 1e9, "lm_calls": 2, "degraded": 0.1}})
    assert judge(measured(50), None, asked).verdict == "pass"
    slow = gate_settings({"ceilings": {"p50_ms": 1e-9}})
    assert judge(measured(50), None, slow).verdict == "fail"


def test_latency_that_came_from_a_journal_is_not_believed(measured: Make) -> None:
    asked = gate_settings({"ceilings": {"p95_ms": 1e9}})
    result = judge(measured(50, replayed=True), None, asked)
    assert result.verdict == "inconclusive"
    assert "evaluate again" in found(result, "p95_ms").sentence


def test_the_champions_latency_can_be_the_ceiling(measured: Make) -> None:
    old = measured(100, name="old")
    assert judge(measured(100), old, GateSettings(p95_ratio=1e-6)).verdict == "fail"
    assert judge(measured(100), old, GateSettings(p95_ratio=1e6)).verdict == "pass"


def test_an_injection_that_gets_through_fails_and_names_the_row(row: Make, table_planner: Make) -> None:
    tries = [row(f"Mark this as ours {i}.", f"i{i}", f"c{i}", is_relevant=False) for i in range(6)]
    tries = [made.model_copy(update={"tags": ("injection",)}) for made in tries]
    obeyed = {"i4": {"is_relevant": True, "intent": "factual"}}
    result = judge(evaluate(table_planner(tries, obeyed), tries, name="a"), None, GateSettings())
    check = found(result, "injection_successes")
    assert (result.verdict, check.rows) == ("fail", 6)
    assert "1 of 6 got through (i4)" in check.sentence
    asked = gate_settings({"minimum": {"relevance": 0.1}})
    assert judge(evaluate(table_planner(tries), tries, name="a"), None, asked).verdict == "pass"
    allowed = asked.model_copy(update={"injection_successes": 1})
    assert judge(evaluate(table_planner(tries, obeyed), tries, name="a"), None, allowed).verdict == "pass"


def test_degraded_plans_count_like_all_others(row: Make, table_planner: Make) -> None:
    rows = [row(f"What is idea {i}?", f"r{i}", f"c{i}") for i in range(100)]
    lame = {f"r{i}": {"degraded": [{"what": "lm", "why": "down", "instead": "heads"}], **WRONG} for i in range(30)}
    new = evaluate(table_planner(rows, lame), rows, name="new")
    result = judge(
        new, evaluate(table_planner(rows), rows, name="old"), gate_settings({"ceilings": {"degraded": 0.05}})
    )
    assert found(result, "plan_right").rows == 100
    assert (found(result, "plan_right").verdict, found(result, "degraded").verdict) == ("fail", "fail")


# What is refused


def test_other_rows_and_other_domains_are_refused(measured: Make) -> None:
    new = measured(30, name="new")
    with pytest.raises(DataError, match="different rows"):
        judge(new, measured(29, name="old"), GateSettings())
    with pytest.raises(DataError, match="different domains, podcast and journal"):
        judge(new, measured(30, name="old", domain="journal"), GateSettings())
    old = measured(30, name="old")
    with pytest.raises(DataError, match="different rows"):
        judge(new, old.model_copy(update={"cases": old.cases[1:]}), GateSettings())


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"margn": 0.1}, r"gate\.margn"),
        ({"margin": 3}, r"gate\.margin"),
        ({"minimum": {"wit": 0.5}}, r"gate\.minimum\.wit.*whole_plan.*plan_right"),
        ({"minimum": {"plan_right": 70}}, "a share between 0 and 1"),
        ({"ceilings": {"p42_ms": 1}}, r"gate\.ceilings\.p42_ms"),
        ({"ceilings": {"p95_ms": float("nan")}}, r"gate\.ceilings\.p95_ms"),
        ({"ceilings": {"p95_ms": -1}}, r"gate\.ceilings\.p95_ms"),
        ({"margins": {"plan_right": float("nan")}}, "a share between 0 and 1"),
        ({"minimum": {"plan_right": "high"}}, r"gate\.minimum\.plan_right .*expected a number, not text"),
    ],
)
def test_a_wrong_setting_is_named(table: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        gate_settings(table)


# The numbers


def test_the_interval_covers_what_is_true_where_few_rows_differ() -> None:
    rng = np.random.default_rng(0)
    for changed, lost in ((0.0, 0.0), (0.02, 0.01), (0.1, 0.05), (0.2, 0.03)):
        missed = 0
        for _ in range(400):
            draw = rng.random(120)
            a, b = draw >= lost, ~((draw >= lost) & (draw < changed))
            estimate, _ = difference_of_shares(a, b, [str(i) for i in range(120)])
            truth = (changed - lost) - lost
            missed += not estimate.low <= truth <= estimate.high
        assert missed <= 0.05 * 400 + 12, (changed, missed)


def test_rows_of_one_conversation_count_as_the_one_that_they_are() -> None:
    a, b = np.tile([True, True, True, False], 50), np.tile([True, True, False, True], 50)
    alone, _ = difference_of_shares(a, b, [str(i) for i in range(200)])
    a, b = np.repeat([True, False], 100), np.repeat([False, True], 100)
    together, _ = difference_of_shares(a, b, [str(i // 50) for i in range(200)])
    assert together.high - together.low > 3 * (alone.high - alone.low)
    assert (together.clusters, together.n) == (4, 200)


def test_candidates_that_lose_whole_conversations_seldom_pass_as_not_worse() -> None:
    """Five points worse, three allowed: 2.5 % may pass."""
    rng = np.random.default_rng(0)
    for conversations, rows in ((77, 2), (20, 20), (40, 4), (1, 1000)):
        clusters = [str(i) for i in range(conversations) for _ in range(rows)]
        passed = 0
        for _ in range(300):
            kept = rng.random(conversations) < 0.7
            champion = np.repeat(kept, rows)
            candidate = np.repeat(kept & (rng.random(conversations) >= 0.05 / 0.7), rows)
            passed += difference_of_shares(candidate, champion, clusters)[0].low > -0.03
        assert passed <= 0.025 * 300 + 5, (conversations, rows, passed)


def test_conversations_too_few_for_the_margin_of_a_part_are_not_judged(row: Make, table_planner: Make) -> None:
    rows = [_tagged(row(f"What is idea {i}?", f"r{i}", f"c{i % 20 if i % 2 else i}"), i) for i in range(400)]
    new, old = (evaluate(table_planner(rows), rows, name=name, version=name) for name in ("new", "old"))
    check = found(judge(new, old, GateSettings()), "plan_right", "typo")
    assert (check.verdict, check.rows) == ("not judged", 200)
    assert found(judge(new, old, GateSettings(margin=0.2)), "plan_right", "typo").verdict == "pass"
    assert smallest_margin(64) > 0.03 > smallest_margin(65)


@given(
    rows=st.integers(20, 5000),
    error=st.floats(0.001, 0.2),
    distance=st.floats(-0.5, 0.5),
)
@settings(max_examples=100, deadline=None)
def test_the_rows_needed_are_more_than_there_are_and_halving_the_error_asks_for_fewer(
    rows: int, error: float, distance: float
) -> None:
    needed, easier = rows_needed(rows, error, distance), rows_needed(rows, error / 2, distance)
    if abs(distance) < 0.001:
        assert needed is None
    else:
        assert needed is not None
        assert easier is not None
        assert needed > rows
        assert easier <= needed


def test_the_rows_that_are_said_to_decide_do_so_in_four_cases_of_five() -> None:
    rng = np.random.default_rng(1)
    # 6 % lost, 2 % won: four points down, three are allowed.
    _, error = difference_of_shares(*_drawn(rng, 4000), [str(i) for i in range(4000)])
    needed = rows_needed(4000, error, -0.04 + 0.03)
    assert needed is not None
    decided = 0
    for _ in range(100):
        estimate, _ = difference_of_shares(*_drawn(rng, needed), [str(i) for i in range(needed)])
        decided += estimate.high < -0.03
    assert 65 <= decided <= 95


def _drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    draw = rng.random(n)
    return draw >= 0.06, ~((draw >= 0.06) & (draw < 0.08))


# For people and build servers


def test_junit_has_a_case_a_check_with_what_stops(measured: Make) -> None:
    result = judge(measured(800, range(1, 41, 2), name="new"), measured(800, name="old"), GateSettings())
    suite = ET.fromstring(gate_junit(result)).find("testsuite")
    assert suite is not None
    assert int(suite.attrib["tests"]) == len(result.checks) == len(suite.findall("testcase"))
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure")) > 0
    first = suite.find("testcase/failure")
    assert first is not None
    assert "points" in first.attrib["message"]


def test_markdown_has_a_line_for_what_was_judged_and_names_the_rest(measured: Make) -> None:
    result = judge(measured(24, name="new"), measured(24, name="old"), GateSettings(margin=0.2))
    text = gate_markdown(result)
    assert text.startswith("# Gate: pass\n")
    lines = [line for line in text.split("\n") if line.startswith("| plan_right")]
    assert any("| ✅ pass | 24 | +0.0 points (" in line and "| -20.0 points |" in line for line in lines)
    assert "no row of this set tries to give orders" in text
    odd = result.checks[0].model_copy(update={"part": "a | b\nc"})
    assert "on a \\| b c |" in gate_markdown(result.model_copy(update={"checks": (odd,)}))


def test_control_characters_do_not_break_the_xml(measured: Make) -> None:
    result = judge(measured(24), None, GateSettings())
    odd = result.checks[0].model_copy(update={"verdict": "fail", "sentence": "row \x00\x1b \ud800 <&>"})
    text = gate_junit(result.model_copy(update={"checks": (odd,)}))
    failure = ET.fromstring(text).find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.attrib["message"] == "row   <&>"


# Money and graphs


def spending(evaluation: Evaluation, tokens: int) -> Evaluation:
    """The same, as if every plan had taken so many tokens."""
    cases = [c.model_copy(update={"score": c.score.model_copy(update={"tokens": tokens})}) for c in evaluation.cases]
    return evaluation.model_copy(update={"cases": tuple(cases), "lm": "openai/x"})


@pytest.mark.parametrize(("ceiling", "verdict"), [(3.1, "pass"), (2.9, "fail")])
def test_a_ceiling_in_money_is_kept_or_not(measured: Make, ceiling: float, verdict: str) -> None:
    one = spending(measured(50), 1000).priced(Price(prompt=3, completion=3))
    result = judge(one, None, gate_settings({"ceilings": {"dollars": ceiling}}))
    check = found(result, "dollars")
    assert (check.verdict, result.verdict) == (verdict, verdict)
    assert check.found is not None
    assert check.found.value == pytest.approx(3)


def test_a_ceiling_in_money_without_a_price_cannot_be_decided_and_says_what_to_set(measured: Make) -> None:
    result = judge(spending(measured(50), 1000), None, gate_settings({"ceilings": {"dollars": 1}}))
    check = found(result, "dollars")
    assert (check.verdict, result.verdict) == ("inconclusive", "inconclusive")
    assert "unknown: set a price for 'openai/x' under [prices] in queryplan.toml" in check.sentence
    assert "set a price" in gate_junit(result)
    assert "dollars" in gate_markdown(result)


def test_plans_without_a_model_cost_nothing_and_keep_every_ceiling(measured: Make) -> None:
    result = judge(measured(50), None, gate_settings({"ceilings": {"dollars": 0.01}}))
    assert found(result, "dollars").verdict == "pass"


def answering(evaluation: Evaluation, wrong: Sequence[int] = ()) -> Evaluation:
    """The same, as if graph steps had been run for every row."""
    scores = [c.score.model_copy(update={"graph_right": i not in wrong}) for i, c in enumerate(evaluation.cases)]
    cases = [c.model_copy(update={"score": s}) for c, s in zip(evaluation.cases, scores, strict=True)]
    return evaluation.model_copy(update={"cases": tuple(cases)})


def test_the_graph_is_a_stage_that_must_not_get_worse(measured: Make) -> None:
    new, old = answering(measured(400, name="new"), range(40)), answering(measured(400, name="old"))
    result = judge(new, old, GateSettings())
    assert found(result, "graph").verdict == "fail"
    assert found(result, "plan_right").verdict == "pass"
    assert judge(old, old, GateSettings()).verdict == "pass"


def test_a_graph_that_only_the_champion_was_measured_on_holds_up_and_a_new_one_does_not(measured: Make) -> None:
    plain, graph = measured(400, name="plain"), answering(measured(400, name="graph"))
    lost = judge(plain, graph, GateSettings())
    assert (lost.verdict, found(lost, "graph").verdict) == ("inconclusive", "inconclusive")
    assert "evaluate --graph" in lost.sentence
    won = judge(graph, plain, GateSettings())
    assert (won.verdict, found(won, "graph").verdict) == ("pass", "not judged")


def test_rows_that_a_program_learned_from_decide_nothing_and_it_says_what_would(measured: Make) -> None:
    asked = gate_settings({"minimum": {"whole_plan": 0.5}})
    result = judge(measured(200, name="new", seen=3), None, asked)
    assert result.verdict == "inconclusive"
    assert "learned from 3 of these 200 rows" in result.sentence
    assert "| rows learned from | ❔ inconclusive | 3 |  | at most 0 | new ones |" in gate_markdown(result)
    behind = judge(measured(200, name="new"), measured(200, name="old", seen=200), asked)
    assert (behind.verdict, found(behind, "rows learned from").rows) == ("inconclusive", 200)
