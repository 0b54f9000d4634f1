"""Puts several files of a folder in the place of others at once, also if the process is killed in between.

No file system renames several files in one step. So the new files are first written beside the old ones, then a marker
names them, and only then each takes its place. Without the marker nothing has happened yet; with it, whoever reads the
folder next finishes what was begun (a redo log of one entry).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ..errors import DataError
from .locks import alone_at

MARKER = ".replacing.json"
"""The file that is there while files take their places; it has their names."""
BESIDE = ".unfinished"
"""What the name of a new file ends with until it takes its place."""


def replace_all(folder: Path, files: Mapping[str, Callable[[Path], None]], check: Callable[[], None]) -> None:
    """Write files into a folder; whoever reads them by ``finish`` first sees all of the new ones, or none.

    Args:
        files: by name, what writes the file that it is given.
        check: raises if this must not be done; called when no other process writes the folder.

    Raises:
        DataError: another process replaces files of this folder.
        OSError: the disk refused a file. Before all are written nothing has changed; after that the next reader
            finishes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with alone_at(folder / MARKER, folder):
        _take_places(folder)
        check()
        try:
            for name, write in files.items():
                write(beside := _beside(folder, name))
                _on_disk(beside)
            _write_marker(folder, list(files))
        except BaseException:
            # The marker first: it must not name files of which some are taken away.
            _take_away([folder / MARKER, *(_beside(folder, name) for name in (MARKER, *files))])
            raise
        _take_places(folder)


def finish(folder: Path) -> None:
    """Finish what a killed process began in a folder; mostly nothing.

    Raises:
        DataError: another process is at it, or the folder may not be written.
    """
    if not (folder / MARKER).exists():
        return
    try:
        with alone_at(folder / MARKER, folder):
            _take_places(folder)
    except OSError as error:
        raise DataError(
            f"{folder} has new files that did not take the place of the old ones ({error.strerror}): "
            "make it writable and run the same again"
        ) from error


def _take_places(folder: Path) -> None:
    """Let each file that the marker names take its place, and the marker go last."""
    names = _named(folder)
    if names is None:
        return
    for name in names:
        if (beside := _beside(folder, name)).exists():
            os.replace(beside, folder / name)
    (folder / MARKER).unlink()


def _named(folder: Path) -> Sequence[str] | None:
    """The names in the marker; None without one."""
    try:
        names = json.loads((folder / MARKER).read_text(encoding="utf-8"))["files"]
        return [name for name in names if Path(name).name == name]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{folder / MARKER} cannot be read; remove it to go on") from error


def _write_marker(folder: Path, names: Sequence[str]) -> None:
    beside = _beside(folder, MARKER)
    beside.write_text(json.dumps({"files": list(names)}), encoding="utf-8")
    _on_disk(beside)
    os.replace(beside, folder / MARKER)


def _beside(folder: Path, name: str) -> Path:
    return folder / f"{name}{BESIDE}"


def _on_disk(path: Path) -> None:
    """Wait until the content is on the disk, so that no name comes to stand for half a file after a power cut."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _take_away(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
