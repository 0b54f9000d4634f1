"""Plans queries before searching: typed, checked, explained plans from a compiled program.

>>> from queryplan import QueryPlanner
>>> planner = QueryPlanner.load("programs/podcast")          # doctest: +SKIP
>>> planner.plan("and meditation?", history=[...])           # doctest: +SKIP

`QueryPlanner` makes plans, a `QueryPlan` is one, a `DomainCard` describes a domain, and every error that the package
raises on purpose is a `QueryPlanError`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .data.card import DomainCard
    from .errors import QueryPlanError
    from .program.plan import QueryPlan
    from .program.planner import QueryPlanner

__all__ = ["DomainCard", "QueryPlan", "QueryPlanError", "QueryPlanner"]
__version__ = "0.1.0"

_HOMES = {
    "DomainCard": ".data.card",
    "QueryPlan": ".program.plan",
    "QueryPlanError": ".errors",
    "QueryPlanner": ".program.planner",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that importing the package costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
