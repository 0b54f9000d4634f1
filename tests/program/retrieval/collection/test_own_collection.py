"""The collection that a plan is made for is the one that it is run on: the file that the card names, as it is now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import CARD_FILE, SHIPPED, load_card
from queryplan.errors import DataError
from queryplan.program.plan_cache import PlanCache
from queryplan.program.planner import QueryPlanner
from queryplan.program.retrieval.execute import execute
from queryplan.program.retrieval.results import ids
from queryplan.program.retrieval.stores import open_stores

ASKED = "when did I last see Marta?"
SHORT = '{"id": "d1", "date": "2025-11-01", "text": "Marta and I walked by the river."}\n'
LONG = '{"id": "d2", "date": "2025-11-02", "text": "%s"}\n' % ("a word of Marta " * 2000)
STORES = ["diary.jsonl", "store/diary.jsonl"]


def told(count: int) -> dict[str, Any]:
    now = "2025-11-27T19:05:00+01:00"
    return {"now": now, "collection": {"composition_count": count, "last_stats_update": now}}


def domain(folder: Path, store: str | None) -> tuple[Path, Path]:
    """A domain with a collection of that name, or with none on its card, and the path of its collection."""
    folder.mkdir()
    rules = "" if store is None else f'store = "{store}"\n'
    card = (SHIPPED / "journal" / CARD_FILE).read_text(encoding="utf-8")
    (folder / CARD_FILE).write_text(card.replace('store = "posts.jsonl"\n', rules), encoding="utf-8")
    path = folder / (store or "posts.jsonl")
    path.parent.mkdir(exist_ok=True)
    path.write_text(SHORT)
    return folder, path


@pytest.mark.parametrize("store", [*STORES, "posts.jsonl", None])
def test_it_is_planned_and_read_from_the_file_that_the_card_names(tmp_path: Path, store: str | None) -> None:
    folder, _ = domain(tmp_path / "own", store)
    if store in STORES:
        (folder / "posts.jsonl").write_text(LONG)  # what is called as others are is not the collection
    planner = QueryPlanner(load_card(folder), folder=folder)
    plan = planner.plan(ASKED, session=told(1))
    assert plan.retrieval_strategy.retrieval_method == "direct"
    result = execute(plan, open_stores(folder), session=told(1))
    assert (result.kind, ids(result.evidence), result.gaps) == ("read_everything", ("d1",), ())
    planner.close()


@pytest.mark.parametrize("store", [*STORES, None])
def test_a_changed_file_is_seen_by_the_plan_and_by_the_run(tmp_path: Path, store: str | None) -> None:
    folder, path = domain(tmp_path / "own", store)
    planner = QueryPlanner(load_card(folder), folder=folder, cache=PlanCache())
    first = planner.plan(ASKED, session=told(2))
    assert first.retrieval_strategy.retrieval_method == "direct"
    assert len(open_stores(folder).collection) == 1
    path.write_text(SHORT + LONG)
    second = planner.plan(ASKED, session=told(2))
    assert second.retrieval_strategy.retrieval_method == "semantic"
    assert len(open_stores(folder).collection) == 2
    assert set(ids(execute(second, open_stores(folder), session=told(2)).evidence)) == {"d1", "d2"}
    path.unlink()
    assert planner.plan(ASKED, session=told(2)).retrieval_strategy.retrieval_method == "direct"
    assert open_stores(folder).collection == ()
    planner.close()


def test_a_file_that_is_broken_later_costs_no_plan(tmp_path: Path) -> None:
    folder, path = domain(tmp_path / "own", "diary.jsonl")
    planner = QueryPlanner(load_card(folder), folder=folder)
    path.write_text("{half a line\n")
    plan = planner.plan(ASKED, session=told(1))
    assert plan.retrieval_strategy.retrieval_method == "direct"
    assert [gap.why for gap in plan.degraded if gap.what == "collection"] == [
        "diary.jsonl:1: expected an object with id, and text or title"
    ]
    planner.close()
    for opening in (lambda: QueryPlanner(load_card(folder), folder=folder), lambda: open_stores(folder)):
        with pytest.raises(DataError, match=r"diary\.jsonl:1"):
            opening()
