"""Planning a domain that nobody compiled."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import dspy
import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.data.domain import load_domain
from queryplan.program import uncompiled
from queryplan.program.artifact.folder import AGAIN, Manifest
from queryplan.program.heads.lending import lent_rows
from queryplan.program.planner import QueryPlanner
from queryplan.program.uncompiled import newest_intact, newest_program, uncompiled_planner

pytestmark = pytest.mark.slow

MINE = '''
name = "{name}"
title = "Bread"
description = "A help desk about bread."
covers = ["flour, dough and ovens"]
greetings = ["hi"]

[[excluded]]
kind = "cake"
answer = "cake"
description = "cakes and sweets"
reason = "No cakes here."

[[excluded]]
kind = "other"
answer = "else"
description = "anything else"
reason = "Only bread."
'''  # fmt: skip


def row(number: int, query: str, relevant: bool) -> str:
    import json

    labels = {"is_follow_up": False, "standalone_query": query, "is_relevant": relevant, "complexity": "simple",
              "intent": "factual" if relevant else "out_of_scope", "needs_decomposition": False}  # fmt: skip
    if not relevant:
        labels["rejection_kind"] = "cake"
    return json.dumps({"id": f"r{number}", "conversation": f"c{number}", "turn": 1, "query": query, "labels": labels})


def test_a_card_alone_plans_with_what_other_domains_lend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uncompiled, "lent_rows", lambda rows, card: ())
    folder = tmp_path / "bakery"
    folder.mkdir()
    (folder / "domain.toml").write_text(MINE.format(name="bakery"), encoding="utf-8")
    planner = uncompiled_planner(folder, tmp_path / "kept")
    plan = planner.plan("how long does rye dough rest?")
    assert plan.is_relevant
    assert "no row of bakery, which has none labelled" in plan.trace.notes[0]


@pytest.fixture
def bakery(tmp_path: Path) -> Path:
    """A user's own domain: a folder with a card and twenty rows."""
    folder = tmp_path / "bakery"
    folder.mkdir()
    (folder / "domain.toml").write_text(MINE.format(name="bakery"), encoding="utf-8")
    lines = [row(n, f"how long does dough number {n} rest", True) for n in range(10)]
    lines += [row(n, f"which icing suits the cake number {n}", False) for n in range(10, 20)]
    (folder / "train.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_a_folder_of_the_users_own_plans_like_a_shipped_domain(bakery: Path, tmp_path: Path) -> None:
    planner = uncompiled_planner(bakery, tmp_path / "kept")
    ours, theirs = planner.plan("how long does the dough rest?"), planner.plan("which icing suits a cake?")
    assert ours.is_relevant
    assert (theirs.rejection_kind, theirs.rejection_reason) in ((None, "This is outside what Bread covers."),
                                                               ("cake", "No cakes here."))  # fmt: skip
    (note,) = ours.trace.notes
    lent = sum(len(one.rows) for one in lent_rows(load_domain(bakery, ("train",)).rows("train"), load_card(bakery)))
    assert lent > 300
    assert note.startswith(f"not compiled: heads trained from 20 rows of bakery, and {lent} rows of other domains")
    assert planner.plan("hi").intent == "greeting"


def test_heads_are_trained_once_and_kept(bakery: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = uncompiled_planner(bakery, tmp_path / "kept")
    monkeypatch.setattr(uncompiled, "train_heads", None)
    second = uncompiled_planner(bakery, tmp_path / "kept")
    assert second.program_version == first.program_version
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_an_optimizer_leaves_it_alone_whether_its_heads_are_new_or_kept(bakery: Path, tmp_path: Path) -> None:
    class Around(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.planner = uncompiled_planner(bakery, tmp_path / "kept")
            self.answer = dspy.Predict("question -> answer")

    assert [name for name, _ in Around().named_predictors()] == ["answer"], "new heads"
    assert [name for name, _ in Around().named_predictors()] == ["answer"], "kept heads"


def test_a_changed_row_or_card_trains_anew(bakery: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    uncompiled_planner(bakery, kept)
    rows = (bakery / "train.jsonl").read_text()
    (bakery / "train.jsonl").write_text(rows.replace("icing", "glaze"))
    uncompiled_planner(bakery, kept)
    card = (bakery / "domain.toml").read_text()
    (bakery / "domain.toml").write_text(card.replace("Bread", "Loaves"))
    uncompiled_planner(bakery, kept)
    assert len(list(kept.iterdir())) == 3


def test_a_kept_folder_that_was_damaged_is_made_again(bakery: Path, tmp_path: Path) -> None:
    first = uncompiled_planner(bakery, tmp_path / "kept")
    (next((tmp_path / "kept").iterdir()) / "card.json").write_text("{}")
    assert uncompiled_planner(bakery, tmp_path / "kept").program_version == first.program_version


def test_where_nothing_can_be_written_it_plans_and_says_so(bakery: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file is in the way")
    planner = uncompiled_planner(bakery, tmp_path / "kept")
    assert "the heads were not kept" in planner.plan("how long does dough rest").trace.notes[1]


def test_the_shipped_domain_copied_elsewhere_is_the_same_domain(
    tmp_path: Path, heads_kept: Callable[[str], Path]
) -> None:
    folder = Path(shutil.copytree(domain_folder("podcast"), tmp_path / "mine"))
    kept = heads_kept("podcast")
    before = set(kept.iterdir())
    assert uncompiled_planner(folder, kept).program_version == uncompiled_planner("podcast", kept).program_version
    assert set(kept.iterdir()) == before


def test_the_newest_compile_of_a_domain_is_found(tmp_path: Path) -> None:
    assert newest_program("podcast", tmp_path) is None
    for age, name in ((30, "old"), (10, "new"), (20, "middle")):
        made = tmp_path / "podcast" / name / "manifest.json"
        made.parent.mkdir(parents=True)
        made.write_text("{}")
        os.utime(made, (1_700_000_000 - age, 1_700_000_000 - age))
    (tmp_path / "podcast" / "half").mkdir()
    found = newest_program("podcast", tmp_path)
    assert found is not None
    assert found.name == "new"
    assert newest_program("other", tmp_path) is None


@pytest.mark.parametrize("damage", ["manifest.json", "card.json", "predictors.json"])
def test_a_damaged_compile_is_passed_over_and_told(tmp_path: Path, damage: str) -> None:
    for age, name in ((30, "old"), (10, "new")):
        folder = tmp_path / "podcast" / name
        QueryPlanner(load_card(domain_folder("podcast"))).save(folder, Manifest(domain="podcast"))
        os.utime(folder / "manifest.json", (1_700_000_000 - age, 1_700_000_000 - age))
    said: list[str] = []
    assert newest_intact("podcast", tmp_path, said.append) == tmp_path / "podcast" / "new"
    assert not said
    for name, left in (("new", tmp_path / "podcast" / "old"), ("old", None)):
        damaged = tmp_path / "podcast" / name / damage
        stamp = damaged.stat().st_mtime
        damaged.write_bytes(damaged.read_bytes()[:-40])
        os.utime(damaged, (stamp, stamp))
        said.clear()
        assert newest_intact("podcast", tmp_path, said.append) == left
    assert [(damage in one, AGAIN in one) for one in said] == [(True, True)] * 2
