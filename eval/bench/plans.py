"""Speed of planning without a language model, as ratios measured in one run.

Absolute times depend on the machine; a ratio to a rival in the same run hardly does. Rivals take turns, so that a load
that comes and goes affects all of them alike. Measured are the heads that are kept in a folder; they are trained where
there are none, but a process that has trained is slower afterwards (every decision 0.25 ms, and 0.18 in a fresh one).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ...data.domain import load_domain
from ...data.rows import LabelledRow
from ...errors import DataError
from ...program.artifact.folder import HEADS, load_program
from ...program.artifact.planner_state import heads_of
from ...program.heads.encoders import STATIC
from ...program.heads.heads import Heads
from ...program.planner import QueryPlanner
from ...program.uncompiled import KEPT, uncompiled_planner
from ...signatures.types import Frozen, Turn
from ..baselines import ConstantPlanner, TfidfPlanner

ROUNDS = 5
PLANS = "rules and heads"
CLOSER = "the same, looking closer"
"""With the second tier of heads, which reads whole sentences where the first is in doubt."""
DECISIONS = "all decisions of a query"
LOADING = "load its heads"


class Timing(Frozen):
    """Milliseconds of one thing, over all rounds and rows.

    Attributes:
        ratio: p50 divided by that of the reference, which is the first thing measured.
        under: what p50 and p99 should stay under on an idle core; None if nothing is promised.
    """

    name: str
    p50: float
    p99: float
    ratio: float
    under: tuple[float, float] | None = None


class Rate(Frozen):
    """Plans per second of processor time, made one after the other: the median of the rounds.

    ``ratio`` is that over the first planner's. Unlike elapsed time, processor time leaves out other programs on the
    core.
    """

    name: str
    per_second: float
    ratio: float
    over: float | None = None


def bench_plans(domain: str = "podcast", rounds: int = ROUNDS, kept: Path = KEPT) -> list[Timing]:
    """Time whole plans by rules and heads, beside the majority class and TF-IDF, on ``dev``."""
    planners, rows = _planners(domain, kept)
    return compare({name: _planning(plan, rows) for name, plan in planners.items()}, rounds, {PLANS: (1.0, 2.0)})


def bench_rate(domain: str = "podcast", rounds: int = ROUNDS, kept: Path = KEPT) -> list[Rate]:
    """Plans a second, of the same planners on the same rows."""
    planners, rows = _planners(domain, kept)
    measured = {name: _planning(plan, rows) for name, plan in planners.items()}
    taken = {name: [_processor_seconds(once) for _ in range(rounds)] for name, once in measured.items()}
    rates = {name: len(rows) / float(np.median(times)) for name, times in taken.items()}
    first = next(iter(rates.values()))
    wanted = {PLANS: 2000.0}
    return [Rate(name=n, per_second=r, ratio=r / first, over=wanted.get(n)) for n, r in rates.items()]


def bench_decisions(domain: str = "podcast", rounds: int = ROUNDS, kept: Path = KEPT) -> list[Timing]:
    """Time from a text to every decision, beside computing its vector alone.

    For queries alone, and for turns of a conversation whose earlier turns are new, or have been encoded before.

    Raises:
        DataError: the domain has too few rows to train heads on.
    """
    heads = _first_tier(domain, kept).heads
    if heads is None:
        raise DataError(f"{domain} has too few rows to train heads on; label some more")
    rows = _dev_rows(domain)
    texts = [row.query for row in rows]
    later = [(row.query, row.history) for row in rows if row.history]

    def anew(do: Callable[[], object]) -> float:
        heads.features.forget()
        return timed(do)

    def decide(query: str, turns: Sequence[Turn]) -> None:
        heads.of_turn(query, turns)
        heads.of_query(query)

    def warm(query: str, turns: Sequence[Turn]) -> float:
        heads.features.forget()
        heads.of_turn(turns[0].content, turns)
        return timed(lambda: decide(query, turns))

    measured = {
        "the vector alone": lambda: [timed(lambda t=t: heads.features.encoder.encode([t])) for t in texts],
        DECISIONS: lambda: [anew(lambda t=t: heads.of_query(t)) for t in texts],
        "all decisions of a later turn": lambda: [warm(query, turns) for query, turns in later],
        "the same, no earlier turn seen before": lambda: [anew(lambda r=row: decide(*r)) for row in later],
    }
    if not later:  # a domain without conversations
        measured = {name: once for name, once in measured.items() if "turn" not in name}
    return compare(measured, rounds, {DECISIONS: (0.2, 1.0)})


def bench_loading(domain: str = "podcast", rounds: int = ROUNDS, kept: Path = KEPT) -> list[Timing]:
    """Time loading a program folder without a model, and its heads alone."""
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "program"
        uncompiled_planner(domain, kept).save(folder)
        measured = {
            "load a program": lambda: [timed(lambda: QueryPlanner.load(folder, lm=None))],
            LOADING: lambda: [timed(lambda: _load_heads(folder))],
        }
        return compare(measured, rounds, {LOADING: (20.0, 40.0)})


def heads_size(domain: str = "podcast", kept: Path = KEPT) -> int:
    """The size in bytes of the file with a program's heads."""
    with TemporaryDirectory() as scratch:
        uncompiled_planner(domain, kept).save(Path(scratch) / "program")
        return (Path(scratch) / "program" / HEADS).stat().st_size


def _load_heads(folder: Path) -> Heads:
    """Load the heads as opening a program does, once its manifest is read and its encoder is loaded."""
    heads = heads_of(load_program(folder))
    assert heads is not None, "every program of a shipped domain has heads"
    return heads


def _planners(domain: str, kept: Path) -> tuple[dict[str, Callable[..., object]], Sequence[LabelledRow]]:
    train, dev = load_domain(domain).rows("train"), _dev_rows(domain)
    planners: dict[str, Callable[..., object]] = {
        "tf-idf": _tfidf(domain).plan,
        "constant": ConstantPlanner(train).plan,
        PLANS: _first_tier(domain, kept).plan,
    }
    closer = uncompiled_planner(domain, kept)
    if closer.heads is not None and closer.heads.closer is not None:
        planners[CLOSER] = _anew(closer.plan, closer.heads.closer)
    return planners, dev


@lru_cache(maxsize=1)
def _tfidf(domain: str) -> TfidfPlanner:
    """Trained once for both tables, which takes a minute from ten thousand rows."""
    return TfidfPlanner(load_domain(domain).rows("train"))


def _first_tier(domain: str, kept: Path) -> QueryPlanner:
    """The domain's planner with heads that look at static vectors alone.

    The other tier is left out of the heads that are kept, since the first is the same without it. Only heads for
    sources are not: they are in one tier or the other.
    """
    planner = uncompiled_planner(domain, kept)
    if planner.heads is None or planner.heads.closer is None:
        return planner
    if planner.heads.closer.sources:
        return uncompiled_planner(domain, kept, STATIC)
    planner.heads.closer = None
    return planner


def _anew(plan: Callable[..., object], closer: Heads) -> Callable[..., object]:
    """``plan``, with every text new to the heads that look closer.

    They are asked about so few of the rows that their cache would have all of them from the round before.
    """

    def planned(*given: object) -> object:
        closer.features.forget()
        return plan(*given)

    return planned


def _dev_rows(domain: str) -> tuple[LabelledRow, ...]:
    rows = load_domain(domain, splits=("dev",)).rows("dev")
    if not rows:
        raise DataError(f"{domain} has no labelled queries in dev.jsonl to plan; label some first")
    return rows


def _planning(plan: Callable[..., object], rows: Sequence[LabelledRow]) -> Callable[[], list[float]]:
    histories = [[turn.model_dump() for turn in row.history] for row in rows]

    def once() -> list[float]:
        return [
            timed(lambda q=row.query, h=h, s=row.session: plan(q, h, s)) for row, h in zip(rows, histories, strict=True)
        ]

    return once


def compare(
    measured: Mapping[str, Callable[[], list[float]]],
    rounds: int,
    under: Mapping[str, tuple[float, float]] | None = None,
) -> list[Timing]:
    """Time every rival once in each round, after one round to warm up; the first is the reference."""
    times: dict[str, list[float]] = {name: [] for name in measured}
    for number in range(rounds + 1):
        for name, once in measured.items():
            taken = once()
            times[name] += taken if number else []
    middle = {name: float(np.median(taken)) for name, taken in times.items()}
    reference = middle[next(iter(middle))]
    limits = under or {}
    return [
        Timing(
            name=name,
            p50=middle[name],
            p99=float(np.quantile(taken, 0.99)),
            ratio=middle[name] / reference,
            under=limits.get(name),
        )
        for name, taken in times.items()
    ]


def timed(do: Callable[[], object]) -> float:
    """Milliseconds that a call takes."""
    began = time.perf_counter()
    do()
    return (time.perf_counter() - began) * 1000


def _processor_seconds(do: Callable[[], object]) -> float:
    began = time.process_time()
    do()
    return time.process_time() - began
