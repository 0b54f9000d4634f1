"""Defines when a property passes a condition, and when a value is the one that a reference names.

Every executor uses these functions or a translation of them, so that a plan means the same wherever it runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ....signatures.graph_steps import Condition

Properties = Mapping[str, Any]

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "in": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "contains": lambda a, b: b.casefold() in a.casefold(),
}


def kind_of(value: object) -> str:
    """``number``, ``text``, ``boolean`` or ``other``."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "other"


def passes(properties: Properties, conditions: Sequence[Condition]) -> bool:
    """Whether every condition holds; a missing property, or one of another kind than the value, fails."""
    return all(_holds(properties.get(c.property), c) for c in conditions)


def _holds(found: Any, condition: Condition) -> bool:
    return any(_compare(found, value, condition.op) for value in condition.candidates())


def _compare(found: Any, value: Any, op: str) -> bool:
    kind = kind_of(found)
    if kind == "other" or kind != kind_of(value) or (op == "contains" and kind != "text"):
        return False
    return _COMPARE[op](found, value)


def storable(value: object) -> bool:
    """Whether every store can hold a value: no NUL, no half characters, no number that 64 bits would round."""
    try:
        if isinstance(value, str):
            return "\0" not in value and bool(value.encode() or True)
        return isinstance(value, int | float) and math.isfinite(value) and float(value) == value
    except (UnicodeEncodeError, OverflowError):
        return False


def lookup_key(value: object) -> str:
    """What a property's value is found by: text without regard to case, numbers by size."""
    kind = kind_of(value)
    if kind == "number":
        return f"n:{float(value):.17g}"  # type: ignore[arg-type]
    return f"b:{str(value).lower()}" if kind == "boolean" else f"s:{str(value).casefold()}"


def reference_keys(name: str) -> tuple[str, ...]:
    """The keys of all values that the words of a reference may stand for."""
    keys = [lookup_key(name)]
    number = as_number(name)
    if number is not None:
        keys.append(lookup_key(number))
    if name.lower() in ("true", "false"):
        keys.append(f"b:{name.lower()}")
    return tuple(keys)


def as_number(cell: str) -> float | None:
    """The finite number that a cell of a table is; None if it is something else.

    ``1_000``, ``nan`` and digits of other scripts, which Python would read, are text.
    """
    if not cell.isascii() or "_" in cell:
        return None
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def column(cells: Iterable[str]) -> list[str | float | None]:
    """The values of one column of a table: numbers if all that is there are, text otherwise; empty is missing."""
    texts = list(cells)
    numbers = [as_number(cell) if cell else None for cell in texts]
    if all(number is not None or not cell for cell, number in zip(texts, numbers, strict=True)):
        return list(numbers)
    return [cell or None for cell in texts]
