"""The retrieval bench times every part; what it promises is read on an idle machine."""

from __future__ import annotations

import pytest
from queryplan.eval.bench import retrieval as retrieval_bench
from queryplan.eval.bench.retrieval import bench_retrieval
from queryplan.program.heads.training import train_heads


def test_every_part_is_timed_and_promises_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval_bench, "train_heads", lambda rows, *others: train_heads(rows[:200], *others))
    times = {time.name: time for time in bench_retrieval(rounds=1)}
    assert times["candidates, no language model"].under == 2.0
    assert times["source plans from intents"].under == 1.0
    assert all(0 < time.p50 <= time.p99 for time in times.values())
