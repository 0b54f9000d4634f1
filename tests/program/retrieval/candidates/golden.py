"""The golden candidates: 42 seeds, and what is planned for each.

``python tests/program/retrieval/candidates/golden.py`` shows how today's candidates differ from the accepted ones;
with ``--accept`` it writes them.
"""

from __future__ import annotations

import difflib
import json
import sys
from pathlib import Path
from typing import Any

from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.candidates.candidates import CandidatePlanner
from queryplan.signatures.types import SubQuery

HERE = Path(__file__).parent / "resources"
SEEDS, GOLDEN = HERE / "seeds.json", HERE / "golden_candidates.json"


def planned() -> list[dict[str, Any]]:
    """What is planned for each seed now."""
    return [{"name": seed["name"], "candidates": _candidates(seed)} for seed in json.loads(SEEDS.read_text("utf-8"))]


def _candidates(seed: dict[str, Any]) -> list[dict[str, Any]]:
    card = load_card(domain_folder(seed["domain"]))
    if seed.get("every_kind"):
        card = card.model_copy(update={"candidates": card.candidates.model_copy(update={"kinds": None})})
    planner = CandidatePlanner(card)
    subs = [
        SubQuery(id=n, text=text, depends_on=(1,) if "{1}" in text else ())
        for n, text in enumerate(seed.get("sub_queries", ()), 1)
    ]
    made = planner.seed(
        seed["query"], seed.get("entities", ()), subs, seed.get("relationships", ()), seed.get("paradigm")
    )
    return [candidate.model_dump(mode="json") for candidate in planner.plan(made, seed["expand"]).candidates]


def as_text(plans: list[dict[str, Any]]) -> str:
    """Plans as they are kept: one candidate a line."""
    lines = []
    for plan in plans:
        rows = ",\n  ".join(json.dumps(c, ensure_ascii=False) for c in plan["candidates"])
        lines.append(f'{{"name": {json.dumps(plan["name"], ensure_ascii=False)}, "candidates": [\n  {rows}]}}')
    return "[\n" + ",\n".join(lines) + "\n]\n"


def difference() -> list[str]:
    """Lines that differ between what is accepted and what is planned now."""
    accepted = GOLDEN.read_text("utf-8") if GOLDEN.is_file() else ""
    return list(
        difflib.unified_diff(
            accepted.splitlines(), as_text(planned()).splitlines(), "accepted", "now", lineterm="", n=1
        )
    )


if __name__ == "__main__":
    sys.stdout.write("\n".join(difference()) + "\n")
    if "--accept" in sys.argv:
        GOLDEN.write_text(as_text(planned()), "utf-8")
