"""The small domains that are there for others to learn from."""

from __future__ import annotations

from pathlib import Path

import pytest
from queryplan.data.card import lending_folders, shipped_domains
from queryplan.data.domain import load_domain, split_files

SMALL = [folder for folder in lending_folders() if folder.name not in shipped_domains()]
every_lender = pytest.mark.parametrize("folder", SMALL, ids=lambda folder: folder.name)


def test_they_are_many_and_no_domains_to_plan_for() -> None:
    assert len(SMALL) >= 48
    assert not {folder.name for folder in SMALL} & set(shipped_domains())


@every_lender
def test_a_lender_has_a_card_notes_and_rows_to_learn_from_alone(folder: Path) -> None:
    assert set(split_files(folder)) == {"train"}
    assert (folder / "notes.md").is_file()
    read = load_domain(folder, splits=("train",))
    assert read.card.name == folder.name
    rows = read.rows("train")
    assert len(rows) >= 60
    assert all(row.conversation.startswith(f"{folder.name}-") for row in rows)
    share = {
        "follow-ups": sum(row.labels.is_follow_up for row in rows) / len(rows),
        "strangers": sum(not row.labels.is_relevant for row in rows) / len(rows),
        "later turns that stand alone": sum(bool(row.history) and not row.labels.is_follow_up for row in rows)
        / len(rows),
    }
    assert all(part >= 0.12 for part in share.values()), share
    assert {row.labels.rejection_kind for row in rows} - {None} <= set(read.card.kinds)


def test_no_query_is_written_twice_or_is_a_measured_one() -> None:
    asked: dict[str, str] = {}
    for folder in SMALL:
        for row in load_domain(folder, splits=("train",)).rows("train"):
            if row.labels.intent not in ("greeting", "out_of_scope") and len(row.query.split()) > 4:
                assert row.query not in asked, (row.id, asked[row.query])
                asked[row.query] = row.id
    measured = {row.query for name in shipped_domains() for row in load_domain(name, splits=("test",)).rows("test")}
    assert not measured & set(asked)
