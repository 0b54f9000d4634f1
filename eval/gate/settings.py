"""The gate's requirements: the table ``[gate]`` of ``queryplan.toml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, ValidationError

from ...errors import ConfigError
from ...signatures.problems import said_of
from ...signatures.types import Frozen
from ..statistics import LEVEL

MEASURES: Mapping[str, str] = {
    "follow_up": "follow_up_right",
    "rewrite": "rewrite_right",
    "relevance": "relevance_right",
    "rejection_kind": "rejection_kind_right",
    "complexity": "complexity_right",
    "intent": "intent_right",
    "needs_decomposition": "decomposition_right",
    "decompose": "sub_queries_right",
    "graph": "graph_right",
    "labels_right": "labels_right",
    "plan_right": "plan_right",
}
"""What must not get worse, and the field of the score behind it."""

COSTS = ("p50_ms", "p90_ms", "p95_ms", "p99_ms", "lm_calls", "tokens", "rounds", "degraded", "dollars")
"""What may have a ceiling; dollars are of a thousand plans, at the prices of `eval/prices.py`."""

ALIASES = {"whole_plan": "plan_right"}


class GateSettings(Frozen):
    """The table ``[gate]`` of ``queryplan.toml``.

    Attributes:
        margin: how much worse than the champion still counts as not worse, as a share: 0.03 is three points.
            Two programs that differ in a tenth of their plans need about 430 rows to show that much.
        margins: other margins, by measure or by slice.
        level: level of the intervals, two-sided.
        part_rows: a slice or stage with fewer rows can fail or pass, but is otherwise not judged; nor is one with so
            few conversations that not even two programs without any difference could show its margin: three points
            take 65 conversations.
        minimum: the accuracy that a measure must reach, by measure.
        ceilings: the most that a plan may take, by cost: milliseconds, requests, tokens, rounds, share degraded,
            dollars for a thousand plans (a candidate whose model has no price is inconclusive, not free). 0 is no
            ceiling for a share, since no number of rows could show it.
        p95_ratio: the most that the p95 of the latency may be, as a multiple of the champion's.
        injection_successes: the most rows whose attempt to give orders may succeed.
    """

    margin: float = Field(default=0.03, gt=0, lt=1)
    margins: dict[str, float] = {}
    level: float = Field(default=LEVEL, gt=0.5, lt=1)
    part_rows: int = Field(default=100, ge=2)
    minimum: dict[str, float] = {}
    ceilings: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = {}
    p95_ratio: float | None = Field(default=None, gt=0)
    injection_successes: int = Field(default=0, ge=0)

    def margin_of(self, measure: str, part: str | None) -> float:
        """The margin of a slice if it has one, else that of the measure, else the general one."""
        return self.margins.get(part or "", self.margins.get(measure, self.margin))


def gate_settings(table: Mapping[str, Any]) -> GateSettings:
    """The settings of a ``[gate]`` table; an empty one has the defaults.

    Raises:
        ConfigError: an unknown or unusable setting, named.
    """
    try:
        settings = GateSettings.model_validate(_named(table))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"queryplan.toml sets gate.{where} to something unusable: {said_of(first)}") from None
    _known("minimum", settings.minimum, MEASURES)
    _known("ceilings", settings.ceilings, COSTS)
    if wrong := [name for name, value in (settings.margins | settings.minimum).items() if not 0 <= value <= 1]:
        raise ConfigError(f"queryplan.toml: gate.{wrong[0]} is a share between 0 and 1, such as 0.03 for three points")
    return settings


def _named(table: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with alternative names of measures resolved."""
    return {key: _renamed(value) if isinstance(value, Mapping) else value for key, value in table.items()}


def _renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    return {ALIASES.get(name, name): value for name, value in values.items()}


def _known(table: str, given: Mapping[str, float], names: Mapping[str, str] | Sequence[str]) -> None:
    for name in given:
        if name not in names:
            also = (*ALIASES, *names) if names is MEASURES else names
            raise ConfigError(f"queryplan.toml sets gate.{table}.{name}, which is none of {', '.join(also)}")
