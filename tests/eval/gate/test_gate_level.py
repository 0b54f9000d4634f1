"""The level that is set reaches every interval of the gate, and is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from queryplan.eval.evaluation import evaluate
from queryplan.eval.gate.judging import GateResult, judge
from queryplan.eval.gate.report import gate_markdown
from queryplan.eval.gate.settings import gate_settings
from queryplan.eval.prices import Price
from queryplan.eval.statistics import Estimate

Make = Callable[..., Any]


def found(result: GateResult, measure: str) -> Estimate | None:
    """What was found of one cost."""
    return next(c.found for c in result.checks if (c.kind, c.measure) == ("ceiling", measure))


def test_ceilings_and_the_ratio_are_judged_at_the_level_that_is_set_and_it_is_told(
    row: Make, table_planner: Make
) -> None:
    rows = [row(f"What is idea {i}?", f"r{i}", f"c{i}") for i in range(50)]
    one = evaluate(table_planner(rows, {}), rows, name="a", domain="podcast")
    scores = [
        c.score.model_copy(update={"milliseconds": i, "tokens": i % 7, "lm_calls": i % 3, "completion_tokens": 0})
        for i, c in enumerate(one.cases)
    ]
    cases = tuple(c.model_copy(update={"score": s}) for c, s in zip(one.cases, scores, strict=True))
    one = one.model_copy(update={"cases": cases, "price": Price(prompt=1, completion=1)})
    ceilings = {"p50_ms": 25, "tokens": 3, "lm_calls": 1, "dollars": 0.003}
    wide, usual = (
        judge(
            one,
            one.model_copy(update={"program_version": "old"}),
            gate_settings({"level": level, "p95_ratio": 1.0, "ceilings": ceilings}),
        )
        for level in (0.999, 0.95)
    )
    for name in (*ceilings, "p95_ms"):
        broad, narrow = found(wide, name), found(usual, name)
        assert broad is not None
        assert narrow is not None
        assert broad.value == narrow.value
        assert broad.high - broad.low > narrow.high - narrow.low
    summary = one.summary()
    assert found(usual, "p50_ms") == summary.latency.p50
    assert found(usual, "tokens") == summary.tokens
    assert found(usual, "dollars") == one.dollars
    assert "; 99.9 % intervals over conversations" in gate_markdown(wide)
    assert "; 95 % intervals over conversations" in gate_markdown(usual)
