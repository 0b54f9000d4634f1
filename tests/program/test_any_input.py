"""A plan comes back for every text: valid, complete, and the same after a trip through JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from queryplan.program.plan import QueryPlan
from queryplan.program.planner import QueryPlanner

CONTENT = st.one_of(st.text(max_size=300), st.none(), st.integers(), st.floats(), st.lists(st.text(), max_size=2))
ROLE = st.one_of(st.sampled_from(["user", "assistant", "system", "tool", ""]), st.none(), st.integers())
MESSAGE = st.fixed_dictionaries({}, optional={"role": ROLE, "content": CONTENT, "name": st.text(max_size=5)})
HISTORY = st.lists(MESSAGE, max_size=6)
ODD = ["\ud800", "a\udfff b", "\x00\x1b[31m", "\u202e\ufeff", "{1} [bold] \\", "今天的天气", "🤷" * 300, "x" * 100_000]
RELAXED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module", params=["without heads", "with heads"])
def planner(request: pytest.FixtureRequest, card: Any) -> Iterator[QueryPlanner]:
    heads = request.getfixturevalue("trained") if request.param == "with heads" else None
    made = QueryPlanner(card, heads=heads)
    yield made
    made.close()


def check(plan: QueryPlan, query: str) -> None:
    again = QueryPlan.model_validate_json(plan.model_dump_json())
    assert again == plan
    assert len(plan.query) <= len(query)
    assert len(plan.conversation_context.split()) <= 40
    assert {"follow_up", "relevance"} <= {d.stage for d in plan.trace.decisions}


@RELAXED
@given(query=st.one_of(st.text(), st.text(st.characters()), st.sampled_from(ODD)), history=HISTORY)
@example(query="\ud83d\ude00", history=[])
def test_any_text_gives_a_valid_plan(planner: QueryPlanner, query: str, history: list[dict[str, Any]]) -> None:
    check(planner.plan(query, history), query)


@pytest.mark.parametrize("query", ODD)
def test_five_hundred_turns_of_any_text_give_a_plan(planner: QueryPlanner, query: str) -> None:
    history = [{"role": ("user", "assistant", "robot")[n % 3], "content": query} for n in range(500)]
    check(planner.plan(query, history), query)


@pytest.mark.parametrize("query", [None, 3, b"text", ["text"]])
def test_a_query_that_is_no_text_is_the_callers_mistake(planner: QueryPlanner, query: Any) -> None:
    with pytest.raises(TypeError, match="query must be a string"):
        planner.plan(query)


def test_a_model_that_writes_anything_leaves_a_valid_plan(bench: Any) -> None:
    run = anything(bench)
    run()


def anything(bench: Any) -> Callable[[], None]:
    @settings(RELAXED, max_examples=40)
    @given(st.lists(st.text(), max_size=4), st.text(st.characters()), st.lists(st.integers(-1, 5), max_size=3))
    def run(names: list[str], text: str, needs: list[int]) -> None:
        said = {"sub_queries": [{"text": text, "depends_on": needs}, {"text": "b {1}"}],
                "entities": names, "relationships_needed": names}  # fmt: skip
        rewrite = {"referenced_entities": names, "standalone_query": text}
        lm = bench.lm({"is_follow_up": 1.0, "is_relevant": 1.0, "complexity": "complex", "needs_decomposition": 1.0},
                      {"standalone_query": rewrite, "sub_queries": said})  # fmt: skip
        planner = bench.planner(lm)
        check(planner.plan("and why that?", [{"role": "user", "content": "Who is Nell?"}]), "and why that?")
        planner.close()

    return run
