"""Two evaluations of the same 200 rows, their page, and their row tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from queryplan.data.rows import LabelledRow
from queryplan.eval.evaluation import Evaluation, evaluate
from queryplan.eval.measured import Measured
from queryplan.eval.page.html_report import html_page
from queryplan.eval.prices import Price
from queryplan.eval.row_table import columns_of
from queryplan.eval.throughput import Throughput
from queryplan.program.plan import Decision, PlanTrace

from ..conftest import TablePlanner, make_many, make_wrong
from .reading import Page

PRICE = Price(prompt=3, completion=12)


def traced(rows: list[LabelledRow], wrong: dict[str, Any]) -> dict[str, Any]:
    """Every plan with a trace: decisions of a model or of a head, time, calls and tokens."""
    rng, changes = np.random.default_rng(len(wrong)), {row.id: {} for row in rows}
    for row in rows:
        ms, calls = float(rng.gamma(2, 20)), int(rng.integers(0, 3))
        relevant = {**row.labels.model_dump(), **wrong.get(row.id, {})}["is_relevant"]
        made = Decision(
            stage="relevance",
            value=relevant,
            decided_by="lm" if calls else "head",
            confidence=float(rng.uniform(0.5, 1)),
            milliseconds=ms if calls else 0.0,
            lm_calls=calls,
            tokens=100 * calls,
        )
        written = int(rng.integers(0, 40)) if calls else 0
        trace = PlanTrace(
            decisions=(made,),
            rounds=min(1, calls),
            requests=calls,
            wasted_requests=calls // 2,
            tokens=100 * calls,
            completion_tokens=written,
            milliseconds=ms,
        )
        changes[row.id] = {**wrong.get(row.id, {}), "trace": trace}
    return changes


@pytest.fixture(scope="session")
def pair() -> list[Evaluation]:
    """Two evaluations of 200 rows."""
    rows = make_many(50)
    changes = {name: traced(rows, make_wrong(rows, share, 7)) for name, share in (("old", 0.4), ("new", 0.15))}
    found = [evaluate(TablePlanner(rows, c), rows, name=n, domain="podcast") for n, c in changes.items()]
    return [e.model_copy(update={"load_average": (1.25, 1.5), "price": PRICE}) for e in found]


@pytest.fixture(scope="session")
def text(pair: list[Evaluation]) -> str:
    """Their page."""
    load = Throughput(at_once=8, queries=64, per_second=123.4, p50_ms=5, p99_ms=9, degraded=0)
    return html_page([Measured(pair[0]), Measured(pair[1], throughput=(load,))], title="Old & new")


@pytest.fixture(scope="session")
def page(text: str) -> Page:
    """The page, read."""
    return Page(text)


@pytest.fixture(scope="session")
def tables(pair: list[Evaluation]) -> dict[str, Any]:
    """The row tables as anyone would read them from Parquet."""
    return {e.name: pd.DataFrame(columns_of(e.cases)) for e in pair}
