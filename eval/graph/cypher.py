"""Runs Cypher that a language model wrote, as leniently as possible, and writes gold plans as Cypher to demonstrate."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...program.graph.executors.cypher import Statement, quoted, relation
from ...program.graph.executors.ladybug import LadybugGraph
from ...program.graph.executors.stepping import Gap
from ...signatures.graph_steps import (
    AnchorStep,
    Condition,
    CountStep,
    DifferenceStep,
    ExpandStep,
    FilterStep,
    GraphPlan,
    GraphSchema,
    IntersectStep,
    OrderStep,
)

TIMEOUT_S = 10.0
MOST_ROWS = 20_000
_BEGINS = re.compile(r"\s*(OPTIONAL\s+MATCH|MATCH|WITH|UNWIND|RETURN)\b", re.IGNORECASE)
_CHANGES = re.compile(
    r"\b(CREATE|MERGE|DELETE|DETACH|SET|REMOVE|DROP|ALTER|COPY|LOAD|CALL|INSTALL|ATTACH|EXPORT|IMPORT|USE|BEGIN)\b",
    re.IGNORECASE,
)
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`")


class CypherAnswer(dict[int, frozenset[str]]):
    """The set of values in each column, by column number; ``error`` says why there is nothing, else it is empty."""

    error: str = ""


def run_cypher(text: str, database: LadybugGraph, timeout_s: float = TIMEOUT_S) -> CypherAnswer:
    """Run a written query on a database that is opened read-only.

    A query that would change something or reach a file is refused; like one that does not run, it gets an ``error``.
    """
    answer = CypherAnswer()
    text = _bare(text)
    outside = _TEXT.sub("''", text)
    if not _BEGINS.match(text) or _CHANGES.search(outside) or ";" in outside:
        answer.error = "it is not one query that only reads"
        return answer
    try:
        rows = database.rows(Statement(text, {}), timeout_s)
    except Gap as gap:
        answer.error = str(gap)
        return answer
    for number in range(len(rows[0]) if rows else 0):
        answer[number] = frozenset(_shown(row[number]) for row in rows[:MOST_ROWS] if row[number] is not None)
    return answer


def best_column(answer: CypherAnswer, gold: frozenset[str]) -> frozenset[str]:
    """The column that equals gold's answer if there is one, otherwise the first, or the empty set.

    Which columns to return is not what is measured.
    """
    return next((values for values in answer.values() if values == gold), answer.get(0, frozenset()))


def _bare(text: str) -> str:
    """The text without the code fences and the final semicolon that models like to write."""
    return re.sub(r"^```(?:cypher)?|```$", "", text.strip(), flags=re.IGNORECASE).strip().removesuffix(";")


def _shown(value: Any) -> str:
    """A value as text: a node as its name, a whole number without decimals."""
    if isinstance(value, Mapping):
        return str(value.get("name", value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


_OPERATORS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "contains": "CONTAINS", "in": "IN"}


class Unsaid(Exception):
    """Raised for a plan that this module cannot write as Cypher."""


def plan_as_cypher(plan: GraphPlan, schema: GraphSchema) -> str | None:
    """A plan as a person would write it in Cypher, on one line; None if one ``MATCH`` cannot say it.

    It can say chains with conditions, such chains joined by ``intersect`` and ``difference``, a count, and an order
    by a property.
    """
    try:
        return _Writer(plan, schema).text()
    except Unsaid:
        return None


class _Writer:
    def __init__(self, plan: GraphPlan, schema: GraphSchema) -> None:
        self.schema = schema
        self.steps = {step.store_as: step for step in plan.steps}
        self.last = plan.steps[-1]
        self.tests: list[str] = []
        self.numbers = 0

    def text(self) -> str:
        returned, begin, end = "DISTINCT x.name", self.last.store_as, ""
        if isinstance(self.last, CountStep):
            returned, begin = "count(DISTINCT x)", self.last.start
        elif isinstance(self.last, OrderStep):
            begin = self.last.start
            returned, end = self._ordered(self.last)
        patterns = self.patterns(begin)
        where = f" WHERE {' AND '.join(self.tests)}" if self.tests else ""
        return f"MATCH {', '.join(patterns)}{where} RETURN {returned}{end}"

    def _ordered(self, step: OrderStep) -> tuple[str, str]:
        if step.property is None:
            raise Unsaid
        way = " DESC" if step.descending else ""
        return f"DISTINCT x.name, x.{step.property}", f" ORDER BY x.{step.property}{way} LIMIT {step.limit}"

    def patterns(self, name: str) -> list[str]:
        """The patterns for the result of a step, all of which end in ``x``."""
        step = self.steps[name]
        if isinstance(step, IntersectStep):
            return [pattern for one in step.inputs for pattern in self.patterns(one)]
        if isinstance(step, DifferenceStep):
            kept, *without = step.inputs
            found = self.patterns(kept)
            self.tests += [f"NOT {pattern}" for one in without for pattern in self.patterns(one)]
            return found
        return [self.chain(name, "x")]

    def chain(self, name: str, variable: str) -> str:
        """The pattern for the result of a step, which ends in ``variable``; its conditions go to ``tests``."""
        step = self.steps[name]
        if isinstance(step, FilterStep):
            self.tests += [self._test(variable, condition) for condition in step.conditions]
            return self.chain(step.start, variable)
        if isinstance(step, AnchorStep):
            field = step.node.field
            return (
                f"({variable}:{_plain(step.node.type)} {{{field}: {json.dumps(step.node.name, ensure_ascii=False)}}})"
            )
        if isinstance(step, ExpandStep) and not step.or_edges and not step.exclude:
            return self._hop(step, variable)
        raise Unsaid

    def _hop(self, step: ExpandStep, variable: str) -> str:
        edge = self.schema.edge(step.edge)
        if edge is None:
            raise Unsaid
        self.numbers += 1
        before, on = f"a{self.numbers}", f"e{self.numbers}" if step.where else ""
        self.tests += [self._test(on, condition) for condition in step.where]
        self.tests += [self._test(variable, condition) for condition in step.node_where]
        left, right = {"out": ("-", "->"), "in": ("<-", "-"), "any": ("-", "-")}[step.direction]
        kind = _plain(edge.ends(step.direction)[1])
        return f"{self.chain(step.start, before)}{left}[{on}:{_plain(relation(edge))}]{right}({variable}:{kind})"

    def _test(self, variable: str, condition: Condition) -> str:
        values = condition.value
        said = json.dumps(list(values) if isinstance(values, tuple) else values, ensure_ascii=False)
        return f"{variable}.{condition.property} {_OPERATORS[condition.op]} {said}"


def _plain(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else quoted(name)


def columns(answer: CypherAnswer) -> Sequence[frozenset[str]]:
    """The sets of values, in the order of the columns."""
    return [answer[number] for number in sorted(answer)]
