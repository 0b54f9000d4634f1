"""Throughput: how many queries a second a planner plans when several are in flight."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from itertools import cycle, islice

import numpy as np

from ..data.rows import LabelledRow
from ..errors import DataError
from ..program.planner import QueryPlanner
from ..signatures.types import Frozen
from .evaluation import arguments_of, load_average

AT_ONCE = (1, 8, 64)
FEWEST = 64


class Throughput(Frozen):
    """One measurement of throughput.

    Attributes:
        at_once: queries in flight together.
        queries: number of queries planned.
        per_second: queries a second, from the first query to the last plan.
        p50_ms: median time of one plan, without waiting for its turn; ``p99_ms`` likewise.
        degraded: number of degraded plans.
        load_average: the machine's load over the last minute, before and after.
    """

    at_once: int
    queries: int
    per_second: float
    p50_ms: float
    p99_ms: float
    degraded: int
    load_average: tuple[float, ...] = ()


def measure_throughput(
    planner: QueryPlanner, rows: Sequence[LabelledRow], at_once: Sequence[int] = AT_ONCE, queries: int = FEWEST
) -> tuple[Throughput, ...]:
    """Plan ``queries`` queries for each number in flight in ``at_once``; rows are used in turn.

    Raises:
        DataError: there are no rows.
    """
    if not rows:
        raise DataError("there are no rows to plan: give a file with at least one labelled query")
    return tuple(asyncio.run(_measured(planner, rows, n, max(queries, n))) for n in at_once)


async def _measured(planner: QueryPlanner, rows: Sequence[LabelledRow], at_once: int, queries: int) -> Throughput:
    waiting = iter(islice(cycle(rows), queries))
    taken: list[tuple[float, bool]] = []

    async def work() -> None:
        for row in waiting:
            began = time.perf_counter()
            plan = await planner.aplan(**arguments_of(row))
            taken.append(((time.perf_counter() - began) * 1000, bool(plan.degraded)))

    before, began = load_average(), time.perf_counter()
    await asyncio.gather(*(work() for _ in range(at_once)))
    seconds = time.perf_counter() - began
    p50, p99 = np.quantile([ms for ms, _ in taken], [0.5, 0.99])
    return Throughput(
        at_once=at_once,
        queries=queries,
        per_second=queries / seconds,
        p50_ms=float(p50),
        p99_ms=float(p99),
        degraded=sum(lame for _, lame in taken),
        load_average=before + load_average(),
    )
