"""Benchmarks on a few rows: what is measured is there, beside a reference, and nothing of the past helps it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from queryplan.data.domain import Domain, load_domain
from queryplan.errors import DataError
from queryplan.eval.bench import plans as bench
from queryplan.eval.bench import router as bench_router
from queryplan.eval.bench.plans import bench_decisions, bench_loading, bench_plans, bench_rate, compare, heads_size

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def small() -> Domain:
    read = load_domain("podcast", splits=("train", "dev"))
    return Domain(read.folder, read.card, {"train": read.rows("train")[:90], "dev": read.rows("dev")[:20]})


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch, small: Domain) -> None:
    """Every benchmark reads the small domain; heads are trained once and kept where they are looked for."""
    from queryplan.program import uncompiled

    for module in (bench, bench_router, uncompiled):
        monkeypatch.setattr(module, "load_domain", lambda *args, **more: small)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("heads")


def test_decisions_and_plans_are_timed_beside_a_reference(kept: Path) -> None:
    for timings in (bench_decisions(rounds=1, kept=kept), bench_plans(rounds=1, kept=kept)):
        assert timings[0].ratio == 1.0
        assert all(0 < t.p50 <= t.p99 for t in timings)
        assert sum(t.under is not None for t in timings) == 1


def test_a_domain_without_later_turns_is_timed_without_them(
    monkeypatch: pytest.MonkeyPatch, small: Domain, kept: Path
) -> None:
    first = tuple(row for row in small.rows("dev") if not row.history)
    alone = Domain(small.folder, small.card, {"train": small.rows("train"), "dev": first})
    monkeypatch.setattr(bench, "load_domain", lambda *args, **more: alone)
    assert [t.name for t in bench_decisions(rounds=1, kept=kept)] == ["the vector alone", bench.DECISIONS]


@pytest.mark.parametrize("measure", [bench_decisions, bench_plans, bench_rate])
def test_a_domain_without_dev_rows_is_named(
    monkeypatch: pytest.MonkeyPatch, small: Domain, kept: Path, measure: Any
) -> None:
    empty = Domain(small.folder, small.card, {"train": small.rows("train"), "dev": ()})
    monkeypatch.setattr(bench, "load_domain", lambda *args, **more: empty)
    with pytest.raises(DataError, match=r"mine has no labelled queries in dev\.jsonl"):
        measure("mine", rounds=1, kept=kept)


def test_a_rate_is_of_processor_time(kept: Path) -> None:
    rates = {rate.name: rate for rate in bench_rate(rounds=1, kept=kept)}
    assert rates[bench.PLANS].per_second > 0
    assert rates[bench.PLANS].over == 2000


def test_heads_load_faster_than_their_program_and_are_small(kept: Path) -> None:
    timings = {t.name: t for t in bench_loading(rounds=1, kept=kept)}
    assert timings[bench.LOADING].ratio < timings["load a program"].ratio == 1
    assert heads_size(kept=kept) < 2_000_000


def test_rivals_take_turns_after_a_round_to_warm_up() -> None:
    asked: list[str] = []

    def rival(name: str, milliseconds: float) -> Any:
        return lambda: asked.append(name) or [milliseconds]

    found = compare({"a": rival("a", 4.0), "b": rival("b", 1.0)}, 2)
    assert asked == ["a", "b"] * 3
    assert [(t.p50, t.ratio) for t in found] == [(4.0, 1.0), (1.0, 0.25)]


# --- beside semantic-router


def test_without_the_router_its_absence_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_router, "find_spec", lambda name: None)
    assert "pip install" in bench_router.missing()
    assert bench_router.bench_router() == []


def test_balanced_accuracy_weighs_every_label_the_same() -> None:
    assert bench_router.balanced_accuracy(["a", "a", "b", None], ["a", "a", "a", "b"]) == pytest.approx(1 / 3)


class Nearest:
    """Stands where the router would: the label of the most similar utterance."""

    def __init__(self, encoder: Any, routes: Any, top_k: int, aggregation: str) -> None:
        self.encoder = encoder
        self.known = [(text, route.name) for route in routes for text in route.utterances]
        self.vectors = encoder([text for text, _ in self.known])

    def __call__(self, text: str) -> Any:
        (vector,) = self.encoder([text])
        scores = [sum(a * b for a, b in zip(vector, known, strict=True)) for known in self.vectors]
        return SimpleNamespace(name=self.known[scores.index(max(scores))][1])


def test_both_are_asked_the_same_and_tuned_on_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Encoder:
        pass

    for name, holds in {
        "semantic_router": {"Route": lambda name, utterances: SimpleNamespace(name=name, utterances=utterances)},
        "semantic_router.encoders": {"DenseEncoder": Encoder},
        "semantic_router.routers": {"IndexedRouter": Nearest},
    }.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**holds))
    monkeypatch.setattr(bench_router, "missing", lambda: "")
    monkeypatch.setattr(bench_router, "NEIGHBOURS", (1,))
    monkeypatch.setattr(bench_router, "SUMS", ("mean",))
    monkeypatch.delenv("QUERYPLAN_BENCHMARKS", raising=False)
    (found,) = bench_router.bench_router(rounds=1)
    assert found.queries == 20
    assert 0.4 < found.router_balanced <= 1
    assert 0.4 < found.ours_balanced <= 1
    assert found.time_ratio == pytest.approx(found.ours_ms / found.router_ms)
    assert found.settings == "1 neighbours, mean"
