"""Corrects the comparisons of numbers in endings to the bounds that the question states.

The ranking learns from words which comparison is meant, and often takes "fewer than 4" for "at most 4". Where a
phrase around a number states it (``said_bounds``), every ending that tests a property against that number gets the
stated comparison, and equal endings are merged with the sum of their probabilities. Endings that can no longer be
meant (a limit of four, the half of a range) are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ....signatures.graph_steps import Condition
from ..ranking.endings import Conditions, Ending, conditions_of
from ..values import number_of
from .said_bounds import Bound
from .said_numbers import SaidNumbers

LOWER, UPPER = ("gt", "ge"), ("lt", "le")


class Bounded:
    """The bounds of one question, applied to its endings."""

    def __init__(self, bounds: Sequence[Bound]) -> None:
        """Take the bounds of a question; for a number that is said twice the first one counts."""
        self._bounds: dict[float, Bound] = {}
        for bound in bounds:
            self._bounds.setdefault(bound.value, bound)
        self.compared = frozenset(b.value for b in self._bounds.values() if b.op in (*LOWER, *UPPER, "ne"))

    def __bool__(self) -> bool:
        return bool(self._bounds)

    def numbers(self, said: SaidNumbers) -> SaidNumbers:
        """The numbers, with one more range where there is exactly one lower and one upper bound, in any order."""
        low = [b.value for b in self._bounds.values() if b.op in LOWER]
        high = [b.value for b in self._bounds.values() if b.op in UPPER]
        if len(low) != 1 or len(high) != 1 or low[0] >= high[0] or (low[0], high[0]) in said.ranges:
            return said
        return said._replace(ranges=(*said.ranges, (low[0], high[0])))

    def said(self, ending: Ending) -> Ending | None:
        """The ending with the comparisons that the question states; None if the question cannot mean it."""
        final = ending.final
        if final.kind in ("order", "degree") and final.limit > 1 and float(final.limit) in self.compared:
            return None
        conditions = conditions_of(ending)
        found = self._conditions(conditions)
        if found is None or found == conditions:
            return ending if found is not None else None
        if ending.where is not None:
            return replace(ending, where=(ending.where[0], found))
        return replace(ending, final=replace(final, filters=found))

    def uses(self, conditions: Iterable[Condition]) -> bool:
        """Whether the conditions test all numbers that the question bounds."""
        tested = {float(c.value) for c in conditions if isinstance(c.value, int | float)}
        return self.compared <= tested

    def _conditions(self, conditions: Conditions) -> Conditions | None:
        numbers = [_number(condition) for condition in conditions]
        known = [self._bounds.get(number) if number is not None else None for number in numbers]
        if not any(known):
            return conditions
        if len(conditions) == 1:
            return self._single(conditions[0], known[0])
        if len(conditions) != 2 or None in known:
            return None
        ops = tuple(bound.op for bound in known if bound is not None)
        if ops[0] not in LOWER or ops[1] not in UPPER:
            return None
        return tuple(c.model_copy(update={"op": op}) for c, op in zip(conditions, ops, strict=True))

    def _single(self, condition: Condition, bound: Bound | None) -> Conditions | None:
        if bound is None:
            return (condition,)
        if bound.between:
            return None
        if isinstance(condition.value, str):  # a listed value in figures is no amount that could be bounded
            return None if bound.op in (*LOWER, *UPPER) else (condition.model_copy(update={"op": bound.op}),)
        if isinstance(condition.value, bool):
            return (condition,)
        return (condition.model_copy(update={"op": bound.op}),)


def _number(condition: Condition) -> float | None:
    value = condition.value
    if isinstance(value, str):
        return number_of(value)
    return None if isinstance(value, bool | tuple) else float(value)
