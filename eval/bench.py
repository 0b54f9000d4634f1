"""How fast planning is without a language model, as ratios measured in one run.

Absolute times belong to a machine; a ratio to a rival in the same run does not. Rivals take turns,
so that a load that comes and goes falls on all of them alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ..data.domain import load_domain
from ..data.rows import LabelledRow
from ..program.planner import QueryPlanner
from ..program.uncompiled import uncompiled_planner
from ..signatures.types import Frozen
from .baselines import ConstantPlanner, TfidfPlanner

ROUNDS = 5


class Timing(Frozen):
    """Milliseconds of one thing, over all rounds and rows; ``ratio`` is p50 over the reference's."""

    name: str
    p50: float
    p99: float
    ratio: float


def bench_plans(domain: str = "podcast", rounds: int = ROUNDS) -> list[Timing]:
    """Whole plans of the rules and heads beside the majority class and TF-IDF, on ``dev``."""
    read = load_domain(domain)
    train, rows = read.rows("train"), read.rows("dev")
    with TemporaryDirectory() as kept:
        planners = {
            "tf-idf": TfidfPlanner(train).plan,
            "constant": ConstantPlanner(train).plan,
            "rules and heads": uncompiled_planner(domain, Path(kept)).plan,
        }
        return _compare({name: _planning(plan, rows) for name, plan in planners.items()}, rounds)


def bench_loading(domain: str = "podcast", rounds: int = ROUNDS) -> list[Timing]:
    """Loading a program folder without a model, beside training its heads anew."""
    with TemporaryDirectory() as scratch:
        kept = Path(scratch)
        uncompiled_planner(domain, kept)
        folder = next(kept.iterdir())

        def load() -> list[float]:
            return [_milliseconds(lambda: QueryPlanner.load(folder, lm=None))]

        def train() -> list[float]:
            with TemporaryDirectory() as fresh:
                return [_milliseconds(lambda: uncompiled_planner(domain, Path(fresh)))]

        return _compare({"train heads": train, "load a program": load}, rounds)


def _planning(plan: Callable[..., object], rows: Sequence[LabelledRow]) -> Callable[[], list[float]]:
    histories = [[turn.model_dump() for turn in row.history] for row in rows]

    def once() -> list[float]:
        return [
            _milliseconds(lambda q=row.query, h=h, s=row.session: plan(q, h, s))
            for row, h in zip(rows, histories, strict=True)
        ]

    return once


def _compare(measured: Mapping[str, Callable[[], list[float]]], rounds: int) -> list[Timing]:
    """Every rival once a round, after one round to warm up; the first is the reference."""
    times: dict[str, list[float]] = {name: [] for name in measured}
    for number in range(rounds + 1):
        for name, once in measured.items():
            taken = once()
            times[name] += taken if number else []
    middle = {name: float(np.median(taken)) for name, taken in times.items()}
    reference = middle[next(iter(middle))]
    return [
        Timing(name=name, p50=middle[name], p99=float(np.quantile(taken, 0.99)), ratio=middle[name] / reference)
        for name, taken in times.items()
    ]


def _milliseconds(do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    return (time.perf_counter() - began) * 1000
