"""What carries over to any schema: what it is learned from, how often, and when it is learned anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from queryplan.program.graph.learning import learning
from queryplan.program.graph.learning.learning import kept_shared, shared_fingerprint
from queryplan.program.graph.learning.store import Learned, from_tensors, keep, kept, to_tensors
from queryplan.program.graph.ranking.choosing import starting_choice
from safetensors.numpy import load, save

from ..lessons import LESSON, OTHER

# --- what carries over


def test_what_carries_over_starts_from_the_shipped_comparison(taught: Learned) -> None:
    assert taught.choice.tolist() == starting_choice().tolist()


# --- the fingerprint


@dataclass
class Shipped:
    """A package with one small domain and one lesson, in a folder of its own."""

    domain: Path
    lessons: Path

    def evidence(self, *ids: str) -> None:
        """Plans beside the rows of these ids."""
        said = [{"id": name, "graph_plan": {"steps": [_anchor(name)]}} for name in ids]
        text = "".join(json.dumps(one) + "\n" for one in said)
        (self.domain / "evidence.jsonl").write_text(text, encoding="utf-8")


def _anchor(name: str) -> dict[str, Any]:
    return {"kind": "anchor", "store_as": "a", "node": {"name": name, "type": "Boat"}}


def _row(name: str, text: str) -> str:
    labels = {
        "standalone_query": text,
        "is_relevant": True,
        "complexity": "simple",
        "intent": "factual",
        "is_follow_up": False,
        "needs_decomposition": False,
    }
    return json.dumps({"id": name, "conversation": name, "turn": 1, "query": text, "labels": labels}) + "\n"


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shipped:
    domain, lessons = tmp_path / "boats", tmp_path / "lessons"
    (domain / "graph").mkdir(parents=True)
    lessons.mkdir()
    (domain / "domain.toml").write_text("name = 'boats'\n", encoding="utf-8")
    (domain / "graph" / "edges.tsv").write_text("source\tedge\ttarget\n", encoding="utf-8")
    for split in ("train", "calibrate", "dev", "test"):
        (domain / f"{split}.jsonl").write_text(_row(f"{split}-1", f"where does boat {split} lie"), encoding="utf-8")
    (lessons / "songs.toml").write_text(OTHER, encoding="utf-8")
    monkeypatch.setattr(learning, "shipped_domains", lambda: ["boats"])
    monkeypatch.setattr(learning, "domain_folder", lambda name: domain)
    monkeypatch.setattr(learning, "LESSONS", lessons)
    found = Shipped(domain, lessons)
    found.evidence("train-1", "test-1")
    return found


def _append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        lambda s: _append(s.lessons / "songs.toml", "# a word more\n"),
        lambda s: (s.lessons / "boats.toml").write_text(LESSON, encoding="utf-8"),
        lambda s: _append(s.domain / "train.jsonl", _row("train-2", "who steers it")),
        lambda s: _append(s.domain / "domain.toml", "purpose = 'boats'\n"),
        lambda s: _append(s.domain / "graph" / "edges.tsv", "Petrel\tTIED_TO\tCork\n"),
        lambda s: (s.domain / "words.tsv").write_text("element\tside\tde\n", encoding="utf-8"),
        lambda s: (s.domain / "names.tsv").write_text("name\tde\n", encoding="utf-8"),
        lambda s: s.evidence("test-1"),
    ],
    ids=["lesson", "new lesson", "train row", "card", "graph", "words", "names", "evidence of train"],
)
def test_the_fingerprint_changes_with_all_that_is_learned_from(
    shipped: Shipped, change: Callable[[Shipped], object]
) -> None:
    before = shared_fingerprint()
    assert shared_fingerprint() == before
    change(shipped)
    assert shared_fingerprint() != before


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.evidence("train-1"),
        lambda s: s.evidence("train-1", "test-1", "dev-1", "test-7"),
        lambda s: _append(s.domain / "test.jsonl", _row("test-2", "who steers it")),
        lambda s: _append(s.domain / "dev.jsonl", _row("dev-2", "who steers it")),
        lambda s: (s.domain / "notes.md").write_text("a note", encoding="utf-8"),
    ],
    ids=["no evidence of test", "evidence of test and dev", "test row", "dev row", "notes"],
)
def test_the_fingerprint_stays_where_nothing_is_learned_from(
    shipped: Shipped, change: Callable[[Shipped], object]
) -> None:
    before = shared_fingerprint()
    change(shipped)
    assert shared_fingerprint() == before


def test_another_recipe_or_comparison_is_another_fingerprint(
    shipped: Shipped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {shared_fingerprint()}
    with monkeypatch.context() as patch:
        patch.setattr(learning, "RECIPE", "another")
        found.add(shared_fingerprint())
    (tmp_path / "choice.toml").write_text("[weights]\n", encoding="utf-8")
    monkeypatch.setattr(learning, "LEARNED", tmp_path / "choice.toml")
    found.add(shared_fingerprint())
    assert len(found) == 3


# --- what is kept


@pytest.fixture
def counted(taught: Learned, shipped: Shipped, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every learning is counted; what is learned is what one lesson taught."""
    times: list[int] = []

    def learn(*_: Any) -> Learned:
        times.append(1)
        return taught

    monkeypatch.setattr(learning, "shipped_sources", list)
    monkeypatch.setattr(learning, "shipped_common", dict)
    monkeypatch.setattr(learning, "held_out_sources", list)
    monkeypatch.setattr(learning, "learn_shared", learn)
    return times


def learned_in(folder: Path) -> Learned:
    """What a process of its own would know."""
    return learning.shared_knowledge.__wrapped__(folder)


def test_what_carries_over_is_kept_beside_the_weights_of_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUERYPLAN_CACHE", str(tmp_path / "cache"))
    assert kept_shared() == tmp_path / "cache" / "graph"


def test_what_was_learned_once_is_read_the_second_time(counted: list[int], taught: Learned, tmp_path: Path) -> None:
    first, second = learned_in(tmp_path / "kept"), learned_in(tmp_path / "kept")
    assert len(counted) == 1
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [f"shared-{shared_fingerprint()}.safetensors"]
    assert first.notes == second.notes == taught.notes
    assert second.choice.tolist() == taught.choice.tolist()
    assert second.endings.dense.tolist() == taught.endings.dense.tolist()


def test_a_changed_lesson_is_learned_beside_what_was_kept(counted: list[int], shipped: Shipped, tmp_path: Path) -> None:
    learned_in(tmp_path / "kept")
    _append(shipped.lessons / "songs.toml", "# a word more\n")
    learned_in(tmp_path / "kept")
    assert len(counted) == 2
    assert len(list((tmp_path / "kept").iterdir())) == 2


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _with(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[bytes], bytes]:
    def changed(content: bytes) -> bytes:
        tensors = load(content)
        return save({**tensors, name: np.ascontiguousarray(change(tensors[name]))})

    return changed


@pytest.mark.parametrize(
    "tamper",
    [
        lambda content: b"",
        lambda content: b"no tensors at all",
        _cut,
        lambda content: save({"other": np.zeros(3)}),
        _with("graph.choice", lambda t: t[:-1]),
        _with("graph.table", lambda t: t[:, 1:]),
        _with("graph.table", lambda t: t[1:]),
        _with("graph.endings.table", lambda t: t[:, 1:]),
        _with("graph.scalars", lambda t: t[:1]),
        _with("graph.common.words", lambda t: t[: len(t) // 2]),
        _with("graph.choice", lambda t: -t),
    ],
    ids=["empty", "text", "cut", "other", "choice", "column", "row", "ending column", "scalars", "words", "a value"],
)
def test_a_kept_file_that_was_tampered_with_is_ignored_and_learned_anew(
    counted: list[int], tmp_path: Path, tamper: Callable[[bytes], bytes]
) -> None:
    learned_in(tmp_path)
    (path,) = tmp_path.glob("shared-*.safetensors")
    whole = path.read_bytes()
    path.write_bytes(tamper(whole))
    assert kept(path) is None
    learned_in(tmp_path)
    assert len(counted) == 2
    assert path.read_bytes() == whole, "the whole file stands again"


def test_where_nothing_can_be_kept_it_is_learned_and_said(counted: list[int], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    learned = learned_in(tmp_path / "file" / "kept")
    assert len(counted) == 1
    assert any("was not kept" in note for note in learned.notes)


def test_tensors_round_trip(taught: Learned, tmp_path: Path) -> None:
    keep(taught, tmp_path / "a")
    read = kept(tmp_path / "a")
    assert read is not None
    again = from_tensors(to_tensors(read))
    assert again is not None
    assert np.array_equal(again.paths.table, read.paths.table)
    assert np.array_equal(again.endings.table, read.endings.table)
    assert again.paths.common == read.paths.common
