"""The program folder: what is saved is what is loaded, and what was changed is refused by name."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.errors import ProgramError
from queryplan.program.artifact import folder as folders
from queryplan.program.artifact.folder import (
    CARD,
    HEADS,
    MANIFEST,
    PREDICTORS,
    Manifest,
    load_program,
    read_manifest,
    save_program,
)
from queryplan.program.artifact.planner_state import FUNCTION_WORDS
from queryplan.program.heads.training import train_heads
from queryplan.program.planner import QueryPlanner
from queryplan.program.settle import Combination
from queryplan.program.text.in_english import VERSION

OLD_VERSION = "podcast-cb370e3c4746"
WEIGHED = Combination(lm_weight=0.7, head_weight=0.3, bias={"true": 0.1, "false": 0.0})
QUESTIONS = ["Who is Nell?", "How do Ilse and Takeda differ on beauty?", "Will it rain in Bergen?", "你好吗"]


@pytest.fixture(scope="module")
def small(card: Any, rows: Callable[[str], Any], trained: Any) -> QueryPlanner:
    """A planner with some of everything that a program holds, and few numbers."""
    few = [r for r in rows("train") if r.labels.is_relevant][:8] + [
        r for r in rows("train") if not r.labels.is_relevant
    ][:4]
    planner = QueryPlanner(card, heads=train_heads(few, card, trained.features.encoder))
    compiled = planner.stage_predictors["relevance"].deepcopy()
    compiled.demos = [{"query": "Who is Nell? 你好", "is_relevant": True}]
    compiled.fields = {"is_relevant": {"threshold": 0.25}}
    return planner.use({"relevance": compiled}, {"is_relevant": WEIGHED})


@pytest.fixture(scope="module")
def saved(small: QueryPlanner, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved program; tests change copies of it."""
    target = tmp_path_factory.mktemp("programs") / "one"
    small.save(target, Manifest(domain="podcast", metrics={"labels_right": 0.612345678901234}, compiled={"seed": 0}))
    return target


@pytest.fixture
def copy(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "copy"))


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def content(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


# --- there and back


def test_a_program_is_four_plain_files(saved: Path) -> None:
    assert names(saved) == [CARD, HEADS, MANIFEST, PREDICTORS]
    for name in (CARD, MANIFEST, PREDICTORS):
        json.loads((saved / name).read_text(encoding="utf-8"))
    assert all(p.stat().st_mode & 0o111 == 0 for p in saved.iterdir())


def test_nothing_in_it_is_a_pickle(saved: Path) -> None:
    for data in content(saved).values():
        # A safetensors file begins with the length of its header, which may be 0x80 too.
        assert not data.startswith(b"\x80") or data[8:10] == b'{"'
        assert b"pickle" not in data


def test_no_language_model_is_in_the_predictors(saved: Path) -> None:
    state = json.loads((saved / PREDICTORS).read_text(encoding="utf-8"))
    assert set(state) == {"follow_up", "relevance", "complexity", "rewrite", "decompose", "graph"}
    assert not any("lm" in predictor for predictor in state.values())


def test_a_key_that_a_predictor_was_given_is_not_saved(card: Any, tmp_path: Path) -> None:
    import dspy

    planner = QueryPlanner(card)
    planner.stage_predictors["rewrite"].lm = dspy.LM("openai/m", api_key="sk-hidden", api_base="http://hidden")
    planner.save(tmp_path / "p")
    assert not any(b"hidden" in data for data in content(tmp_path / "p").values())


def test_a_loaded_program_plans_as_the_saved_one(small: QueryPlanner, saved: Path) -> None:
    loaded = QueryPlanner.load(saved)
    assert loaded.program_version == read_manifest(saved).version == small.program_version
    assert loaded.combinations == small.combinations
    for question in QUESTIONS:
        one, two = small.plan(question), loaded.plan(question)
        assert one.model_dump(exclude={"trace"}) == two.model_dump(exclude={"trace"})
        assert [d.confidence for d in one.trace.decisions] == [d.confidence for d in two.trace.decisions]


def test_demonstrations_and_thresholds_come_back(saved: Path) -> None:
    loaded = QueryPlanner.load(saved).stage_predictors["relevance"]
    assert [dict(d) for d in loaded.demos] == [{"query": "Who is Nell? 你好", "is_relevant": True}]
    assert loaded.fields["is_relevant"]["threshold"] == 0.25
    assert loaded.lm is None


def test_the_manifest_says_what_it_stands_on(saved: Path) -> None:
    manifest = read_manifest(saved)
    assert set(manifest.fingerprints) == {"card", "schema", "signatures", "encoder", FUNCTION_WORDS}
    assert manifest.thresholds == {"relevance": {"is_relevant": {"threshold": 0.25}}}
    assert manifest.combinations == {"is_relevant": WEIGHED}
    assert manifest.metrics == {"labels_right": 0.612345678901234}
    assert manifest.heads["is_relevant"]["labels"] == ["false", "true"]


def test_metrics_do_not_change_the_version_but_are_sealed(saved: Path, copy: Path) -> None:
    planner = QueryPlanner.load(copy)
    again = planner.save(copy, read_manifest(saved).model_copy(update={"metrics": {"labels_right": 0.9}}))
    assert again.version == read_manifest(saved).version
    assert again.seal != read_manifest(saved).seal


def test_saving_a_loaded_program_gives_the_same_bytes(saved: Path, tmp_path: Path) -> None:
    QueryPlanner.load(saved).save(tmp_path / "again", read_manifest(saved))
    assert content(tmp_path / "again") == content(saved)


def test_another_demonstration_is_another_version(saved: Path, tmp_path: Path) -> None:
    planner = QueryPlanner.load(saved)
    other = planner.stage_predictors["relevance"].deepcopy()
    other.demos = []
    assert planner.use({"relevance": other}).save(tmp_path / "p").version != read_manifest(saved).version


def test_a_program_without_heads_has_no_tensors(card: Any, tmp_path: Path) -> None:
    QueryPlanner(card).save(tmp_path / "p")
    assert HEADS not in names(tmp_path / "p")
    assert QueryPlanner.load(tmp_path / "p").heads is None


def test_a_metric_that_is_no_number_can_be_saved_and_loaded(card: Any, tmp_path: Path) -> None:
    QueryPlanner(card).save(tmp_path / "p", Manifest(domain="podcast", metrics={"f1": float("nan"), "n": (1, 2)}))
    assert read_manifest(tmp_path / "p").metrics == {"f1": None, "n": [1, 2]}


def test_a_program_of_an_earlier_version_still_loads(old_program: Path) -> None:
    size = sum(p.stat().st_size for p in old_program.iterdir())
    assert size < 150_000
    planner = QueryPlanner.load(old_program)
    plan = planner.plan("Who is Nell?")
    assert plan.is_relevant
    assert plan.program_version == OLD_VERSION
    assert planner.heads is not None
    assert set(planner.heads.heads) == {"is_relevant"}
    assert len(planner.stage_predictors["relevance"].demos) == 2
    assert planner.combinations["is_relevant"].head_weight == 1.0


# --- refused


@pytest.mark.parametrize("name", [CARD, HEADS, MANIFEST, PREDICTORS])
def test_one_altered_byte_is_refused_and_the_file_named(copy: Path, name: str) -> None:
    whole = (copy / name).read_bytes()
    rng = random.Random(0)
    spots = range(len(whole)) if name == MANIFEST else sorted(rng.sample(range(len(whole)), 150))
    for spot in spots:
        changed = bytearray(whole)
        changed[spot] = rng.choice([b for b in (whole[spot] ^ 1, 32, 9, 48, 57, 255) if b != whole[spot]])
        (copy / name).write_bytes(changed)
        with pytest.raises(ProgramError) as caught:
            load_program(copy)
        assert name in str(caught.value), (spot, changed[spot])


@pytest.mark.parametrize("name", [CARD, HEADS, MANIFEST, PREDICTORS])
@pytest.mark.parametrize("change", [lambda data: b"", lambda data: data + b"\n", lambda data: data[:-1]])
def test_a_file_cut_or_lengthened_is_refused(copy: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    (copy / name).write_bytes(change((copy / name).read_bytes()))
    with pytest.raises(ProgramError, match=name.replace(".", r"\.")):
        load_program(copy)


@pytest.mark.parametrize("name", [CARD, HEADS, PREDICTORS])
def test_a_removed_file_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(ProgramError, match=f"lacks {name}"):
        load_program(copy)


@pytest.mark.parametrize("name", ["extra.py", "code/extra.py", ".hidden"])
def test_an_added_file_is_named(copy: Path, name: str) -> None:
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_text("import os")
    with pytest.raises(ProgramError, match=f"has a file it was not saved with: {name}"):
        load_program(copy)


def test_an_added_link_is_named(copy: Path) -> None:
    (copy / "link").symlink_to("/nowhere")
    with pytest.raises(ProgramError, match="link"):
        load_program(copy)


@pytest.mark.parametrize("key", ["metrics", "compiled", "lm", "fingerprints", "thresholds", "heads", "domain"])
def test_an_altered_entry_of_the_manifest_is_refused(copy: Path, key: str) -> None:
    manifest = json.loads((copy / MANIFEST).read_text())
    manifest[key] = "other" if isinstance(manifest[key], str) else {"labels_right": "0.99"}
    (copy / MANIFEST).write_text(json.dumps(manifest, indent=1))
    with pytest.raises(ProgramError, match=r"manifest\.json of .* was altered"):
        load_program(copy)


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", '{"format": 1, "domain": "a", "more": 1}', "\ufeff{}"])
def test_a_manifest_that_is_none_is_refused(copy: Path, text: str) -> None:
    (copy / MANIFEST).write_text(text)
    with pytest.raises(ProgramError) as caught:
        load_program(copy)
    assert "\n" not in str(caught.value)
    assert "pydantic" not in str(caught.value)


@pytest.mark.parametrize(
    ("number", "advice"), [(2, "install a newer queryplan, or compile again with this one"), (0, "compile again")]
)
def test_another_format_is_named(copy: Path, number: int, advice: str) -> None:
    manifest = json.loads((copy / MANIFEST).read_text())
    (copy / MANIFEST).write_text(json.dumps({**manifest, "format": number}))
    with pytest.raises(ProgramError, match=f"has program format {number}, this version reads 1; {advice}"):
        load_program(copy)


def test_a_folder_that_is_no_program_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=r"is not a compiled program.*queryplan compile"):
        load_program(tmp_path)


@pytest.mark.parametrize("name", ["card", "schema", "signatures", "encoder"])
def test_a_program_compiled_with_something_else_is_refused(copy: Path, name: str) -> None:
    state = load_program(copy)
    other = state.manifest.model_copy(update={"fingerprints": {**state.manifest.fingerprints, name: "0" * 16}})
    save_program(folders.ProgramState(other, state.card, state.predictors, state.heads), copy)
    with pytest.raises(ProgramError, match=f"compiled with another {name} .*compile it again"):
        QueryPlanner.load(copy)


def test_a_program_that_read_other_languages_otherwise_says_so(copy: Path, tmp_path: Path) -> None:
    state = load_program(copy)
    assert state.manifest.fingerprints[FUNCTION_WORDS] == VERSION
    assert not any("function words" in note for note in QueryPlanner.load(copy).notes)
    other = state.manifest.model_copy(update={"fingerprints": {**state.manifest.fingerprints, FUNCTION_WORDS: "0"}})
    save_program(folders.ProgramState(other, state.card, state.predictors, state.heads), copy)
    planner = QueryPlanner.load(copy, lm=None)
    assert any("function words" in note for note in planner.plan("Wer ist Nell?").trace.notes)
    assert planner.manifest
    planner.save(tmp_path / "again", planner.manifest)
    assert load_program(tmp_path / "again").manifest.fingerprints[FUNCTION_WORDS] == "0"


def test_a_stage_that_this_version_does_not_know_is_named(copy: Path) -> None:
    state = load_program(copy)
    predictors = {**state.predictors, "telepathy": {}}
    save_program(folders.ProgramState(state.manifest, state.card, predictors, state.heads), copy)
    with pytest.raises(ProgramError, match="telepathy"):
        QueryPlanner.load(copy)


# --- a disk that fails


def full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("call", ["fsync", "rename", "mkdtemp"])
def test_a_full_disk_leaves_the_old_version_and_nothing_else(
    copy: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    before = content(copy)
    planner = QueryPlanner.load(copy)
    if call == "fsync":
        monkeypatch.setattr(os, "fsync", full_disk)
    elif call == "mkdtemp":
        monkeypatch.setattr(folders.tempfile, "mkdtemp", full_disk)
    else:
        monkeypatch.setattr(Path, "rename", failing_second(Path.rename))
    with pytest.raises(ProgramError, match="No space left on device"):
        planner.save(copy)
    assert names(copy.parent) == ["copy"]
    assert content(copy) == before
    load_program(copy)


def failing_second(rename: Callable[[Path, Path], Path]) -> Callable[[Path, Path], Path]:
    """A rename that works, fails, and works again: the disk is full just when the new one comes in."""
    calls: list[Path] = []

    def run(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) == 2:
            full_disk()
        return rename(self, target)

    return run


def test_who_interrupts_between_the_old_program_and_the_new_has_the_old(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    planner = QueryPlanner.load(copy)
    before, calls, rename = content(copy), iter([Path.rename, interrupted, Path.rename]), Path.rename
    monkeypatch.setattr(Path, "rename", lambda self, target: next(calls)(self, target))
    with pytest.raises(KeyboardInterrupt):
        planner.save(copy)
    monkeypatch.setattr(Path, "rename", rename)
    assert names(copy.parent) == ["copy"]
    assert content(copy) == before


@pytest.mark.parametrize("error", [KeyboardInterrupt(), TypeError("not JSON")])
def test_a_save_that_was_stopped_leaves_nothing_behind(
    copy: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def stop(*_: object) -> None:
        raise error

    planner = QueryPlanner.load(copy)
    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(type(error)):
        planner.save(copy)
    assert names(copy.parent) == ["copy"]
    load_program(copy)


def test_a_program_that_is_saved_as_it_was_loaded_keeps_its_record(copy: Path, tmp_path: Path) -> None:
    planner = QueryPlanner.load(copy)
    before = planner.manifest
    assert planner.save(tmp_path / "again") == before
    signature: Any = planner.stage_predictors["relevance"].signature
    planner.stage_predictors["relevance"].signature = signature.with_instructions("Judge.")
    changed = planner.save(tmp_path / "changed")
    assert (changed.metrics, changed.compiled) == ({}, {})


def test_a_program_whose_save_was_ended_half_way_is_found_again(copy: Path, tmp_path: Path) -> None:
    for load in (QueryPlanner.load, lambda path: QueryPlanner.load(copy).save(path)):
        copy.rename(tmp_path / ".copy-old-abc123")
        load(copy)
        assert names(copy.parent) == ["copy"]


def test_a_folder_of_a_save_that_was_ended_is_in_nobodys_way(copy: Path, tmp_path: Path) -> None:
    left = tmp_path / f".copy-old-{os.getpid()}"
    left.mkdir()
    (left / "x").write_text("x")
    planner = QueryPlanner.load(copy)
    assert planner.save(copy).version == QueryPlanner.load(copy).program_version


def test_saving_over_a_program_replaces_all_of_it(card: Any, copy: Path) -> None:
    QueryPlanner(card).save(copy)
    assert names(copy) == [CARD, MANIFEST, PREDICTORS]
    assert names(copy.parent) == ["copy"]


def test_saving_never_empties_a_folder_of_the_users(card: Any, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("three years")
    with pytest.raises(ProgramError, match="choose another folder"):
        QueryPlanner(card).save(tmp_path)
    with pytest.raises(ProgramError, match="choose another folder"):
        QueryPlanner(card).save(tmp_path / "thesis.txt")
    assert (tmp_path / "thesis.txt").read_text() == "three years"


def test_saving_into_an_empty_folder_is_fine(card: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    QueryPlanner(card).save(tmp_path / "empty")
    load_program(tmp_path / "empty")
