"""``queryplan score``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from queryplan.data.card import domain_folder
from queryplan.eval.test_readings import READINGS_FILE

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A journal of one's own, whose test set has not been read."""
    folder = shutil.copytree(domain_folder("journal"), tmp_path / "journal")
    (folder / READINGS_FILE).unlink()
    return folder


def test_reading_or_searching_is_right_every_time(queryplan: Run) -> None:
    code, out, _ = queryplan("score", "collection", "--json")
    scores = json.loads(out)
    assert code == 0
    assert scores["right"]["value"] == 1.0
    assert scores["right"]["low"] < 1.0
    assert scores["always_search"]["value"] < 0.9


def test_several_splits_are_scored_together(queryplan: Run) -> None:
    each = [
        json.loads(queryplan("score", "collection", "--split", s, "--json")[1])["right"]["n"] for s in ("dev", "train")
    ]
    both = json.loads(queryplan("score", "collection", "--split", "dev", "--split", "train", "--json")[1])["right"]["n"]
    assert both == sum(each)


def test_a_table_says_what_was_scored(queryplan: Run) -> None:
    code, out, _ = queryplan("score", "collection")
    assert code == 0
    assert "journal, dev" in out
    assert "always search" in out


def test_a_reading_of_the_test_split_is_recorded_first(queryplan: Run, journal: Path) -> None:
    assert queryplan("score", "collection", "--domain", str(journal), "--split", "test", "--json")[0] == 0
    reading = json.loads((journal / READINGS_FILE).read_text())
    assert (reading["program"], reading["why"]) == ("none", "score collection")
    assert str(journal) not in json.dumps(reading)
    assert queryplan("score", "collection", "--domain", str(journal), "--split", "dev", "--json")[0] == 0
    assert len((journal / READINGS_FILE).read_text().splitlines()) == 1


def test_evidence_is_found_by_a_planner_that_labels_as_the_rows_do(queryplan: Run) -> None:
    code, out, _ = queryplan("score", "recall", "--labels", "--split", "dev", "--k", "5", "--json")
    report = json.loads(out)
    assert code == 0
    assert report["k"] == 5
    assert {arm["name"] for arm in report["arms"]} >= {"plain query", "planned candidates", "fixed variations"}


def test_complex_questions_are_scored_with_the_planner_off_and_on(queryplan: Run) -> None:
    code, out, _ = queryplan("score", "answering", "--labels", "--split", "dev")
    assert code == 0
    assert "| off" in out or "off" in out
    assert "complex questions of" in out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("nothing",), "there are sources"),
        (("sources", "--split", "train"), "add --cross-validated"),
        (("recall", "--split", "train"), "add --labels"),
        (("sources", "--split", "tset"), "no split tset"),
        (("collection", "--domain", "podcast"), "label retrieval_method"),
        (("sources", "--domain", "podcast", "--cross-validated"), "label some first"),
        (("recall", "--domain", "journal", "--labels"), "has evidence"),
    ],
)
def test_what_cannot_be_scored_is_said_in_a_sentence(queryplan: Run, given: tuple[str, ...], said: str) -> None:
    code, out, err = queryplan("score", *given)
    assert code != 0
    assert said in err.replace("\n", " ")
    assert not out
