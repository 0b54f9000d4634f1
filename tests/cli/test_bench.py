"""``queryplan bench``: parts by name, tables or JSON, and what is skipped is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from queryplan.cli import bench as command
from queryplan.eval.bench import router as bench_router
from queryplan.eval.bench.plans import Timing
from queryplan.eval.cascade import bound_sets
from queryplan.eval.cascade.resample_bound import Resampled

Run = Callable[..., tuple[int, str, str]]
BROKEN = Resampled(
    name="podcast",
    error=0.05,
    confidence=0.9,
    draws=3,
    fitted=50,
    measured=50,
    supports=0.045,
    broken=1,
    allowed=2,
    abstained=0,
    wrong=0.02,
    coverage=0.15,
)


class Done(NamedTuple):
    """A process that has ended."""

    returncode: int
    stderr: str


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Nothing is measured: the arguments that would have been are kept."""
    kept: list[Any] = []

    def sets(draws: int, error: float, progress: Any) -> Any:
        kept.append((draws, error))
        progress(draws, draws)
        yield BROKEN

    monkeypatch.setattr(bound_sets, "resample_sets", sets)
    timing = Timing(name="all", p50=0.1, p99=123.4, ratio=1.0, under=(0.2, 1.0))
    monkeypatch.setattr(command, "_plans", lambda domain: kept.append(domain) or {"plans, ms": [timing]})
    return kept


def test_the_bound_is_resampled_as_asked(queryplan: Run, measured: list[Any]) -> None:
    code, out, _ = queryplan("bench", "--bound", "--draws", "3", "--error", "0.1")
    assert (code, measured) == (0, [(3, 0.1)])
    assert "podcast" in out
    assert "0.150" in out


def test_heads_are_trained_in_a_process_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(command.subprocess, "run", lambda given, **more: asked.append((given, more)) or Done(0, ""))
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    _, kept = command._trained("mine", tmp_path / "scratch")
    ((given, more),) = asked
    assert given[1:4] == ["-m", "queryplan", "plan"]
    assert given[given.index("--domain") + 1] == str(tmp_path / "mine")
    assert more["cwd"] == tmp_path / "scratch"
    assert kept == tmp_path / "scratch" / ".queryplan" / "heads"


def test_a_domain_that_cannot_be_trained_is_a_sentence(queryplan: Run) -> None:
    code, out, err = queryplan("bench", "plans", "--domain", "nowhere")
    assert (code, out) == (2, "")
    assert err.count("error: ") == 1
    assert "nowhere" in err


def test_several_parts_make_one_json(queryplan: Run, measured: list[Any]) -> None:
    code, out, _ = queryplan("bench", "plans", "bound", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["plans, ms"][0]["under"] == [0.2, 1.0]
    assert found["the bound of 5%, resampled"][0]["broken"] == 1
    assert measured[0] == "podcast"


def test_a_table_has_a_column_for_every_plain_value(queryplan: Run, measured: list[Any]) -> None:
    _, out, _ = queryplan("bench", "plans")
    for words in ("p50", "under", "0.100", "123", "0.200 / 1.000"):
        assert words in out


def test_a_wide_table_is_turned_round(queryplan: Run, measured: list[Any]) -> None:
    """In a pipe a line has 80 characters; eleven columns had headings like "co…"."""
    _, out, _ = queryplan("bench", "bound")
    for column in Resampled.model_fields:
        assert column in out
    assert "…" not in out


def test_a_rival_that_cannot_be_imported_is_named_as_skipped(queryplan: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> Any:
        raise ModuleNotFoundError("No module named 'cohere'")

    monkeypatch.setattr(bench_router, "find_spec", lambda name: object())
    monkeypatch.setattr(bench_router, "import_module", broken)
    code, out, err = queryplan("bench", "router")
    assert (code, out) == (0, "")
    assert "skipped router" in err
    assert "cohere" in err


def test_a_rival_that_is_not_installed_is_named_as_skipped(queryplan: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_router, "find_spec", lambda name: None)
    code, out, err = queryplan("bench", "router")
    assert (code, out) == (0, "")
    assert "skipped router" in err


def test_public_sets_that_are_not_found_are_named_as_skipped(
    queryplan: Run, measured: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QUERYPLAN_BENCHMARKS", raising=False)
    _, _, err = queryplan("bench", "bound")
    assert "skipped clinc150" in err


def test_an_unknown_part_is_refused_in_one_sentence(queryplan: Run) -> None:
    code, _, err = queryplan("bench", "everything")
    assert code == 2
    assert "there is no benchmark everything; there are plans, router" in err
