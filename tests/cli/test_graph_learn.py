"""``queryplan graph learn``: learned once, kept, and read the second time."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from queryplan.data.graph_lessons import read_lesson
from queryplan.program.graph.learning import choice as learning_choice
from queryplan.program.graph.learning import learning
from queryplan.program.graph.learning.store import kept
from queryplan.program.graph.ranking import choosing
from queryplan.program.graph.ranking.choosing import CHOICE, starting_choice
from queryplan.program.graph.values import values_of

Run = Callable[..., tuple[int, str, str]]

LESSON = """
[schema]
nodes = [{ name = "Boat" }, { name = "Skipper", description = "who steers" }, { name = "Quay" }]
edges = [
  { name = "STEERED_BY", source = "Boat", target = "Skipper" },
  { name = "TIED_TO", source = "Boat", target = "Quay", description = "where the boat lies" },
]
[questions]
lines = '''
who steers the Petrel => Boat:Petrel >STEERED_BY
which boats are tied to Cork => Quay:Cork <TIED_TO
how many boats are tied to Cork => count; Quay:Cork <TIED_TO
what did the Petrel cost => none
'''
"""


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One small lesson is all that is shipped, and nothing is kept yet; how often it was read for learning."""
    path = tmp_path / "boats.toml"
    path.write_text(LESSON, encoding="utf-8")
    lesson = read_lesson(path)
    times: list[str] = []

    def sources() -> list[Any]:
        times.append(lesson.name)
        return [(learning.source_of_lesson(lesson, {"which": 0.3}), values_of(lesson.schema))]

    monkeypatch.setenv("QUERYPLAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(learning, "LESSONS", tmp_path)
    monkeypatch.setattr(learning, "shipped_domains", list)
    monkeypatch.setattr(learning, "shipped_sources", sources)
    monkeypatch.setattr(learning, "shipped_common", dict)
    monkeypatch.setattr(learning, "held_out_sources", list)
    _new_process(monkeypatch)
    return times


def _new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what this process has learned, for the time of the test."""
    monkeypatch.setattr(learning, "shared_knowledge", lru_cache(learning.shared_knowledge.__wrapped__))


def test_what_was_learned_is_kept_and_said_and_read_the_second_time(
    queryplan: Run, read: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, said, _ = queryplan("graph", "learn")
    assert code == 0
    assert "labelled questions: 4 of boats" in said
    (path,) = (tmp_path / "cache" / "graph").iterdir()
    learned = kept(path)
    assert learned is not None
    assert learned.choice.tolist() == starting_choice().tolist()
    _new_process(monkeypatch)
    assert queryplan("graph", "learn")[:2] == (0, said)
    assert read == ["boats"], "the second time nothing is learned"


def test_the_first_question_says_what_takes_long_and_later_ones_do_not(
    queryplan: Run, read: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = read_lesson(tmp_path / "boats.toml").schema
    (tmp_path / "s.json").write_text(schema.model_dump_json(), encoding="utf-8")
    (tmp_path / "n.jsonl").write_text(
        f'{{"id": "1", "name": "Aurora", "type": "{schema.nodes[0].name}"}}\n', encoding="utf-8"
    )
    (tmp_path / "e.tsv").write_text("source\tedge\ttarget\n", encoding="utf-8")
    files = (tmp_path / "n.jsonl", tmp_path / "e.tsv")
    queryplan("graph", "import", *files, "--schema", tmp_path / "s.json", "--out", tmp_path / "g.lbug")
    asked = ("graph", "run", "what is with Aurora", "--graph", tmp_path / "g.lbug", "--lm", "none")
    first = queryplan(*asked)[2]
    assert first.count("once for this user: three to eight minutes\n") == 1
    assert first.count("labelled questions of boats, once: less than a minute\n") == 1
    _new_process(monkeypatch)
    assert "learning" not in queryplan(*asked)[2]


def test_a_kept_file_that_was_tampered_with_is_learned_anew(
    queryplan: Run, read: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queryplan("graph", "learn")
    (path,) = (tmp_path / "cache" / "graph").iterdir()
    path.write_bytes(path.read_bytes()[:-9])
    _new_process(monkeypatch)
    assert queryplan("graph", "learn")[0] == 0
    assert len(read) == 2
    assert kept(path) is not None


def test_a_changed_lesson_is_learned(
    queryplan: Run, read: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queryplan("graph", "learn")
    (tmp_path / "boats.toml").write_text(LESSON.replace("who steers the", "who sails the"), encoding="utf-8")
    _new_process(monkeypatch)
    queryplan("graph", "learn")
    assert len(read) == 2
    assert len(list((tmp_path / "cache" / "graph").iterdir())) == 2


def test_how_plans_are_compared_is_written_as_a_file_that_can_be_shipped(
    queryplan: Run, read: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = np.linspace(-1, 1, len(CHOICE))
    asked: list[Any] = []
    monkeypatch.setattr(learning_choice, "learn_choice", lambda *given: asked.append(given) or weights)
    out = tmp_path / "choice.toml"
    assert queryplan("graph", "learn", "--choice", str(out))[:2] == (0, "")
    assert [source.name for source, _ in asked[0][0]] == ["boats"]
    monkeypatch.setattr(choosing, "LEARNED", out)
    assert starting_choice.__wrapped__() == pytest.approx(weights, abs=1e-3)
    assert not (tmp_path / "cache" / "graph").exists(), "what carries over was not asked for"


def test_where_the_file_cannot_be_written_is_said_before_ten_minutes_have_passed(
    queryplan: Run, read: list[str], tmp_path: Path
) -> None:
    code, _, said = queryplan("graph", "learn", "--choice", str(tmp_path / "no folder" / "choice.toml"))
    assert code == 2
    assert "no folder" in said
    assert read == []
