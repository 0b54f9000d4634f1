"""Golden candidates: what is planned for 42 seeds stays what was accepted, with a reason for each."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
HOW = "look at it with `python tests/program/retrieval/candidates/golden.py`, take it over with --accept"


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    return runpy.run_path(str(HERE / "golden.py"))


def test_what_is_planned_is_what_was_accepted(golden: dict[str, Any]) -> None:
    assert golden["difference"]() == [], HOW


def test_forty_seeds_across_every_paradigm_of_every_card(golden: dict[str, Any]) -> None:
    from queryplan.data.card import domain_folder, load_card, shipped_domains

    seeds = json.loads(golden["SEEDS"].read_text("utf-8"))
    assert len(seeds) >= 40
    used = {(seed["domain"], seed["paradigm"]) for seed in seeds if "paradigm" in seed}
    named = {(d, p.name) for d in shipped_domains() for p in load_card(domain_folder(d)).paradigms}
    assert named <= used


def test_each_seed_has_candidates(golden: dict[str, Any]) -> None:
    for plan in json.loads(golden["GOLDEN"].read_text("utf-8")):
        assert plan["candidates"], plan["name"]


def test_a_change_is_shown_before_it_is_taken_over(
    golden: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "golden.json"
    other.write_text(golden["GOLDEN"].read_text("utf-8").replace("Who is Nell?", "Who was Nell?", 1), "utf-8")
    monkeypatch.setitem(golden["difference"].__globals__, "GOLDEN", other)
    shown = golden["difference"]()
    assert sum(line.startswith("-") and "Who was Nell?" in line for line in shown) == 1
    assert sum(line.startswith("+") and "Who is Nell?" in line for line in shown) == 1
