"""The static checker: well-typed plans spoilt in one place are caught, and it is total."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.eval.graph.plan_generator import PlanGenerator
from queryplan.program.graph.check import answer_type, check_graph_plan
from queryplan.program.graph.executor import execute_graph
from queryplan.signatures.graph_steps import AnchorStep, Condition, FilterStep, GraphPlan, GraphSchema, NodeRef

Steps = list[dict[str, Any]]
Spoil = Callable[[Steps, GraphSchema, random.Random], bool]
Generator = Callable[[int], PlanGenerator]


def _pick(steps: Steps, drawn: random.Random, *kinds: str) -> dict[str, Any] | None:
    found = [step for step in steps if step["kind"] in kinds]
    return drawn.choice(found) if found else None


def unknown_node_type(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    step = _pick(steps, drawn, "anchor")
    assert step is not None
    step["node"]["type"] = "Drugs"
    return True


def unknown_field(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    step = _pick(steps, drawn, "anchor")
    assert step is not None
    step["node"]["field"] = "nickname"
    return True


def unknown_edge(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    if (step := _pick(steps, drawn, "expand")) is None:
        return False
    step["edge"] = "CURES"
    return True


def edge_run_the_other_way(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    between = {edge.name for edge in schema.edges if edge.source != edge.target}
    found = [s for s in steps if s["kind"] == "expand" and s["edge"] in between]
    if not found:
        return False
    step = drawn.choice(found)
    step["direction"] = drawn.choice([d for d in ("out", "in", "any") if d != step["direction"]])
    return True


def edge_of_other_types(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    if (step := _pick(steps, drawn, "expand")) is None:
        return False
    declared = schema.edge(step["edge"])
    assert declared is not None
    other = [e.name for e in schema.edges if {e.source, e.target} != {declared.source, declared.target}]
    step["edge"], step["where"], step["or_edges"] = drawn.choice(other), [], []
    started = schema.edge(step["edge"])
    assert started is not None
    return started.ends(step["direction"])[0] != declared.ends(step["direction"])[0]


def edges_that_lead_to_two_types(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    found = [s for s in steps if s["kind"] == "expand" and s["edge"] == "CAUSES"]
    if not found:
        return False
    found[0]["or_edges"], found[0]["where"] = ["BINDS"], []
    return True


def same_edge_twice(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    if (step := _pick(steps, drawn, "expand")) is None:
        return False
    step["or_edges"] = [step["edge"]]
    return True


def unbound_input(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    if (step := _pick(steps, drawn, "expand", "filter", "order", "count")) is None:
        return False
    step["start"] = "nowhere"
    return True


def input_that_is_itself(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    if (step := _pick(steps, drawn, "union", "intersect", "difference")) is None:
        return False
    step["inputs"] = [*step["inputs"], step["store_as"]]
    return True


def steps_in_a_circle(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    if (step := _pick(steps[:-1], drawn, "expand")) is None:
        return False
    step["start"] = steps[-1]["store_as"]
    return True


def stored_twice(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    if len(steps) < 2:
        return False
    steps[-1]["store_as"] = steps[0]["store_as"]
    return True


def never_used(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    steps.insert(0, {"kind": "anchor", "store_as": "idle", "node": {"name": "x", "type": "Drug"}})
    return True


def same_input_twice(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    if (step := _pick(steps, drawn, "union", "intersect", "difference")) is None:
        return False
    step["inputs"] = [*step["inputs"], step["inputs"][0]]
    return True


def inputs_of_two_types(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    step = _pick(steps, drawn, "union", "intersect", "difference")
    if step is None:
        return False
    here = steps.index(step)
    for kind in ("Gène", "Drug"):
        steps.insert(here, {"kind": "anchor", "store_as": f"x{kind[0]}", "node": {"name": "x", "type": kind}})
    step["inputs"] = [*step["inputs"], "xG", "xD"]
    return True


def use_of_a_number(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    last = steps[-1]["store_as"]
    if steps[-1]["kind"] != "count":
        steps.append({"kind": "count", "store_as": "n", "start": last})
        last = "n"
    steps.append({"kind": "order", "store_as": "o", "start": last, "property": "name"})
    return True


def unknown_property(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    if (step := _pick(steps, drawn, "filter")) is None:
        return False
    step["conditions"][0]["property"] = "price"
    return True


def unknown_edge_property(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    if (step := _pick(steps, drawn, "expand")) is None:
        return False
    step["where"] = [{"property": "price", "op": "eq", "value": 1}]
    return True


def name_that_is_a_number(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    steps.append({"kind": "filter", "store_as": "f", "start": steps[-1]["store_as"],
                  "conditions": [{"property": "name", "op": "eq", "value": 3}]})  # fmt: skip
    return True


def ordered_by_an_edge_of_others(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    steps[:] = [{"kind": "anchor", "store_as": "a", "node": {"name": "x", "type": "Gène"}},
                {"kind": "order", "store_as": "o", "start": "a", "degree_of": "CAUSES"}]  # fmt: skip
    return True


def excludes_another_type(steps: Steps, schema: GraphSchema, drawn: random.Random) -> bool:
    found = [s for s in steps if s["kind"] == "expand" and s["edge"] == "BINDS" and s["direction"] == "in"]
    if not found:
        return False
    found[0]["exclude"] = [found[0]["start"]]
    return True


SPOILS: tuple[Spoil, ...] = (
    unknown_node_type, unknown_field, unknown_edge, edge_run_the_other_way, edge_of_other_types,
    edges_that_lead_to_two_types, same_edge_twice, unbound_input, input_that_is_itself, steps_in_a_circle,
    stored_twice, never_used, same_input_twice, inputs_of_two_types, use_of_a_number, unknown_property,
    unknown_edge_property, name_that_is_a_number, ordered_by_an_edge_of_others, excludes_another_type,
)  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(seed=st.integers(0, 2**32), which=st.sampled_from(range(len(SPOILS))))
def test_a_well_typed_plan_that_is_spoilt_is_caught(
    generator: Generator, awkward_schema: GraphSchema, seed: int, which: int
) -> None:
    steps = generator(seed).plan().model_dump(mode="json")["steps"]
    if not SPOILS[which](steps, awkward_schema, random.Random(seed)):
        return
    problems = check_graph_plan(GraphPlan.model_validate({"steps": steps}), awkward_schema)
    assert problems, (SPOILS[which].__name__, steps)
    assert all(isinstance(problem, str) and problem for problem in problems)


@pytest.mark.parametrize("spoil", SPOILS, ids=lambda spoil: spoil.__name__)
def test_each_way_of_spoiling_happens(spoil: Spoil, generator: Generator, awkward_schema: GraphSchema) -> None:
    done = (
        spoil(generator(n).plan().model_dump(mode="json")["steps"], awkward_schema, random.Random(n))
        for n in range(300)
    )
    assert any(done)


def test_an_answer_of_another_type_than_asked_for_is_caught(generator: Generator, awkward_schema: GraphSchema) -> None:
    for seed in range(40):
        plan = generator(seed).plan()
        found = answer_type(plan, awkward_schema)
        for kind in ("Drug", "Side Effect", "Gène", "number"):
            assert (check_graph_plan(plan, awkward_schema, kind) == []) == (kind == found)


def _random_steps(drawn: random.Random) -> Iterator[dict[str, Any]]:
    """Steps of the right form that mean anything."""
    names, edges = ("a", "b", "c"), ("CAUSES", "BINDS", "RESEMBLES", "none")
    for _ in range(drawn.randint(1, 5)):
        condition = {
            "property": drawn.choice(("name", "year", "sold", "form", "no")),
            "op": drawn.choice(("eq", "lt", "contains")),
            "value": drawn.choice((1, "x", True, -5.0)),
        }
        kind = drawn.choice(("anchor", "expand", "union", "filter", "order", "count"))
        told: dict[str, Any] = {"kind": kind, "store_as": drawn.choice(names), "start": drawn.choice(names)}
        told |= {
            "anchor": {"node": {"name": "x", "type": drawn.choice(("Drug", "Gène", "No"))}},
            "expand": {
                "edge": drawn.choice(edges),
                "direction": drawn.choice(("in", "out", "any")),
                "where": [condition],
                "node_where": [condition],
                "exclude": [drawn.choice(names)],
            },
            "union": {"inputs": [drawn.choice(names), drawn.choice(names)]},
            "filter": {"conditions": [condition]},
            "order": {"degree_of": drawn.choice(edges)},
            "count": {},
        }[kind]
        if kind in ("anchor", "union"):
            del told["start"]
        yield told


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 2**32))
def test_the_check_never_fails(
    awkward_schema: GraphSchema, awkward_memory: Any, awkward_database: Any, seed: int
) -> None:
    plan = GraphPlan.model_validate({"steps": list(_random_steps(random.Random(seed)))})
    if not check_graph_plan(plan, awkward_schema):
        assert awkward_memory.run(plan).gaps == ()
        assert awkward_database.run(plan).gaps == ()


CONDITIONS = [
    ({"property": "year", "op": "ge", "value": "1990"}, "year of Drug is a number, not '1990'"),
    ({"property": "year", "op": "ge", "value": 3000}, "year of Drug lies between 1900.0 and 2100.0"),
    ({"property": "year", "op": "contains", "value": 19}, "contains cannot be used"),
    ({"property": "year", "op": "eq", "value": True}, "is a number, not True"),
    ({"property": "sold", "op": "eq", "value": 1}, "sold of Drug is true or false, not 1"),
    ({"property": "sold", "op": "lt", "value": True}, "has no order"),
    ({"property": "form", "op": "eq", "value": "syrup"}, "form of Drug is one of pill, gel, not 'syrup'"),
    ({"property": "form", "op": "in", "value": ["pill", "x"]}, "not 'x'"),
    ({"property": "form", "op": "gt", "value": "pill"}, "use eq, ne or in"),
]


@pytest.mark.parametrize(("condition", "said"), CONDITIONS)
def test_a_value_of_the_wrong_kind_is_said(
    awkward_schema: GraphSchema, make_plan: Any, condition: dict[str, Any], said: str
) -> None:
    plan = make_plan(
        {"kind": "anchor", "store_as": "a", "node": {"name": "x", "type": "Drug"}},
        {"kind": "filter", "store_as": "f", "start": "a", "conditions": [condition]},
    )
    assert said in "; ".join(check_graph_plan(plan, awkward_schema))


def test_a_circle_is_called_one(awkward_schema: GraphSchema, make_plan: Any) -> None:
    plan = make_plan(
        {"kind": "expand", "store_as": "a", "start": "b", "edge": "RESEMBLES", "direction": "any"},
        {"kind": "expand", "store_as": "b", "start": "a", "edge": "RESEMBLES", "direction": "any"},
    )
    assert "steps cannot run in a circle" in check_graph_plan(plan, awkward_schema)[0]


class Untouched:
    """An executor that no ill-typed plan may reach."""

    def __init__(self, schema: GraphSchema) -> None:
        self.schema = schema
        self.reached = 0

    def run(self, plan: GraphPlan, **given: Any) -> Any:
        self.reached += 1
        raise AssertionError(f"it was run: {plan}")


def test_of_ten_thousand_spoilt_plans_none_reaches_an_executor(
    generator: Generator, awkward_schema: GraphSchema
) -> None:
    executor: Any = Untouched(awkward_schema)
    made, spoilt, drawn = generator(11), 0, random.Random(11)
    while spoilt < 10_000:
        steps = made.plan().model_dump(mode="json")["steps"]
        for spoil in drawn.sample(SPOILS, 6):
            changed = copy.deepcopy(steps)
            if spoil(changed, awkward_schema, drawn):
                answer = execute_graph(GraphPlan.model_validate({"steps": changed}), executor)
                assert answer.gaps[0].startswith("the plan was not run")
                spoilt += 1
    assert executor.reached == 0


@pytest.mark.parametrize(
    "value",
    [10**400, 10**5000, 2**53 + 1, float("nan"), float("inf"), "\ud800", "a\0b"],
    ids=["beyond 64 bits", "beyond writing", "rounded", "nan", "inf", "half a character", "NUL"],
)
def test_a_value_that_no_graph_can_hold_is_refused(awkward_schema: GraphSchema, value: Any) -> None:
    anchor = AnchorStep(store_as="a", node=NodeRef(name="x", type="Drug"))
    test = Condition.model_construct(property="brand", op="ne", value=value)
    kept = FilterStep.model_construct(kind="filter", store_as="b", start="a", conditions=(test,))
    (said,) = check_graph_plan(GraphPlan.model_construct(steps=(anchor, kept)), awkward_schema)
    assert said.startswith("brand of Drug is compared with what no graph can hold")


def test_a_comparison_with_no_values_at_all_is_refused(awkward_schema: GraphSchema) -> None:
    anchor = AnchorStep(store_as="a", node=NodeRef(name="x", type="Drug"))
    kept = FilterStep(store_as="b", start="a", conditions=(Condition(property="brand", op="in", value=()),))
    (said,) = check_graph_plan(GraphPlan(steps=(anchor, kept)), awkward_schema)
    assert said == "brand of Drug is one of no values; give at least one"
