"""What plans cost in money, and what is said where nobody knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.errors import ConfigError, UserError
from queryplan.eval.metrics import score_case
from queryplan.eval.prices import Price, Prices, dollars_of, in_dollars, money, parse_price, prices_of
from queryplan.eval.row_table import RowResult
from queryplan.eval.statistics import Estimate
from queryplan.program.plan import PlanTrace

Make = Callable[..., Any]
MINI = Price(prompt=0.15, completion=0.6)


def spent(row: Make, plan: Make, name: str, tokens: int, written: int | None) -> RowResult:
    """A row whose plan took so many tokens."""
    gold = row("q?", name, name)
    answer = plan(gold, trace=PlanTrace(tokens=tokens, completion_tokens=written, requests=int(tokens > 0)))
    return RowResult.of(gold, answer, score_case(gold, answer))


def test_a_table_of_prices_has_one_number_or_two_a_model() -> None:
    found = prices_of({"openai/gpt-4o-mini": {"prompt": 0.15, "completion": 0.6}, "local": 0})
    assert found.of("openai/gpt-4o-mini") == MINI
    assert found.of("openai/gpt-4o") is None
    assert prices_of({}) == Prices()


def test_a_model_is_found_with_the_hash_of_its_weights_and_local_is_any_embedded_one() -> None:
    found = prices_of({"local": 0, "local/big": 1, "vllm/mine": 2})
    assert found.of("local/small@1d96") == found.of("local:0.5b") == Price(prompt=0, completion=0)
    assert found.of("local/big@cc32") == Price(prompt=1, completion=1)
    assert found.of("vllm/mine@abc") == Price(prompt=2, completion=2)
    assert found.of("localhost/x") is None


@pytest.mark.parametrize(
    "wrong", ["cheap", True, -1, float("inf"), {"prompt": 1}, {"prompt": 1, "completion": 1, "image": 2}, [1, 2], None]
)
def test_what_is_no_price_is_named(wrong: Any) -> None:
    with pytest.raises(ConfigError, match=r"prices\.openai/x to something that is no price"):
        prices_of({"fine": 1, "openai/x": wrong})


def test_a_price_on_the_command_line_is_one_number_or_two() -> None:
    assert parse_price("3") == Price(prompt=3, completion=3)
    assert parse_price("0.15,0.6") == MINI
    for wrong in ("", "free", "1,2,3", "-1", "1,", "inf", "nan"):
        with pytest.raises(UserError, match="--price takes dollars"):
            parse_price(wrong)


def test_dollars_are_of_a_thousand_plans(row: Make, plan: Make) -> None:
    rows = [spent(row, plan, "a", 1000, 100), spent(row, plan, "b", 0, 0)]
    found = dollars_of(rows, MINI)
    assert found is not None
    # 900 read and 100 written by one plan of two: (900 * 0.15 + 100 * 0.6) / 1e6 * 1000 / 2.
    assert found.value == pytest.approx(0.0975)
    assert found.low <= found.value <= found.high


def test_nothing_spent_costs_nothing_whatever_the_price_and_the_rest_is_unknown_without_one(
    row: Make, plan: Make
) -> None:
    nothing = dollars_of([spent(row, plan, "a", 0, None)], None)
    assert nothing is not None
    assert (nothing.low, nothing.value, nothing.high) == (0, 0, 0)
    assert dollars_of([spent(row, plan, "a", 10, 1)], None) is None
    # Written tokens were not counted: they matter only where they cost more.
    assert dollars_of([spent(row, plan, "a", 10, None)], MINI) is None
    alike = dollars_of([spent(row, plan, "a", 1000, None)], Price(prompt=3, completion=3))
    assert alike is not None
    assert alike.value == pytest.approx(3)


@given(st.integers(0, 10**6), st.floats(0, 1), st.floats(0, 100), st.floats(0, 100))
def test_a_plan_costs_between_all_read_and_all_written(tokens: int, share: float, a: float, b: float) -> None:
    found = Price(prompt=a, completion=b).dollars(tokens, int(tokens * share))
    assert found is not None
    assert tokens * min(a, b) / 1e6 <= found * (1 + 1e-9) + 1e-12
    assert found <= tokens * max(a, b) / 1e6 * (1 + 1e-9) + 1e-12


def test_the_sentence_says_how_much_or_why_nobody_knows() -> None:
    found = Estimate(value=0.0975, low=0.05, high=0.2, n=2, clusters=2)
    assert money(found, "m", MINI) == (
        "A thousand plans cost $0.10 [0.05, 0.20] at $0.15 a million tokens read and $0.6 written."
    )
    assert "set a price for 'openai/x' under [prices]" in money(None, "openai/x", None)
    assert "its language model" in money(None, "", None)
    assert "written tokens were not counted" in money(None, "openai/x", MINI)
    free = Estimate(value=0, low=0, high=0, n=2, clusters=2)
    assert money(free, "none", None) == "Plans cost no money: no tokens were spent, or they are free."
    assert "$3 a million tokens." in money(found, "m", Price(prompt=3, completion=3))
    assert in_dollars(Estimate(value=0.00123, low=0.001, high=0.0045, n=1, clusters=1)) == "$0.0012 [0.0010, 0.0045]"
