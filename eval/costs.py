"""The cost of plans: time by stage and by route, requests, rounds, tokens, and money where a price is given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..signatures.types import STAGES, Frozen
from .prices import Price, dollars_of
from .row_table import RowResult
from .statistics import Estimate, clustered_interval, clustered_quantiles

QUANTILES = (0.5, 0.9, 0.99)


class Cost(Frozen):
    """Time and requests of some plans, or of one stage of them.

    Attributes:
        name: the name of the stage or the route.
        rows: number of plans with this route, or that asked a language model in this stage.
        p50: milliseconds, as are ``p90`` and ``p99``.
        calls: mean requests to a language model for each of these plans.
        tokens: mean tokens for each of these plans.
    """

    name: str
    rows: int
    p50: Estimate
    p90: Estimate
    p99: Estimate
    calls: Estimate
    tokens: Estimate


class Costs(Frozen):
    """The costs of the plans of one evaluation.

    Attributes:
        stages: the stages in which a language model was asked, over the plans in which it was.
        routes: see `RowResult.route`; every plan has one.
        waste: share of the requests that were sent ahead and not needed; None without requests.
        dollars: dollars for a thousand plans; None if unknown, see `dollars_of`.
    """

    stages: tuple[Cost, ...]
    routes: tuple[Cost, ...]
    waste: float | None
    dollars: Estimate | None


def costs_of(rows: Sequence[RowResult], price: Price | None = None) -> Costs:
    """The costs of the plans of at least one row; in money if ``price`` is given."""
    routes = sorted({row.route for row in rows})
    calls = sum(row.score.lm_calls for row in rows)
    return Costs(
        stages=tuple(found for stage in STAGES if (found := _stage(rows, stage)) is not None),
        routes=tuple(_route(rows, name) for name in routes),
        waste=sum(row.score.wasted_calls for row in rows) / calls if calls else None,
        dollars=dollars_of(rows, price),
    )


def _stage(rows: Sequence[RowResult], stage: str) -> Cost | None:
    asked = [(r, d) for r in rows if (d := r.plan.trace.decision(stage)) is not None and d.lm_calls]
    if not asked:
        return None
    return _cost(
        stage,
        [r for r, _ in asked],
        [d.milliseconds for _, d in asked],
        [d.lm_calls for _, d in asked],
        [d.tokens for _, d in asked],
    )


def _route(rows: Sequence[RowResult], name: str) -> Cost:
    some = [row for row in rows if row.route == name]
    scores = [row.score for row in some]
    return _cost(name, some, [s.milliseconds for s in scores], [s.lm_calls for s in scores], [s.tokens for s in scores])


def _cost(
    name: str, rows: Sequence[RowResult], times: Sequence[float], calls: Sequence[int], tokens: Sequence[int]
) -> Cost:
    clusters = [row.conversation for row in rows]
    p50, p90, p99 = clustered_quantiles(times, clusters, QUANTILES)
    asked, read = (clustered_interval(np.array(values, dtype=float), clusters) for values in (calls, tokens))
    return Cost(name=name, rows=len(rows), p50=p50, p90=p90, p99=p99, calls=asked, tokens=read)
