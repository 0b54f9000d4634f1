"""Lets one process at a time use a file; the system frees the lock when the file is closed or the process ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ..errors import DataError


def claim(file: IO[Any]) -> bool:
    """Whether this process alone has the file now; on Windows always."""
    return _lock(file, wait=False)


def wait_for(file: IO[Any]) -> None:
    """Wait until this process alone has the file; on Windows return at once."""
    _lock(file, wait=True)


@contextmanager
def alone_at(path: Path, named: Path | None = None) -> Iterator[None]:
    """Hold ``path``, which may be written anew meanwhile, by a file beside it that is gone at the end.

    Where nothing can be made beside it, nobody is kept away: whether ``path`` can be written shows in writing it.

    Args:
        named: what the error names instead of ``path``, such as the folder that a file of ours stands for.

    Raises:
        DataError: another process holds it.
    """
    beside = path.with_name(f".{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = beside.open("a")
    except OSError:
        yield
        return
    with file:
        # Who held it may have taken away, since it was opened here, the file that this holds now.
        if not (claim(file) and _is_there_still(file, beside)):
            raise DataError(
                f"{named or path} is being written by another process: wait for it or stop it, or name another"
                f" {'file' if named is None else 'folder'}"
            )
        try:
            yield
        finally:
            with suppress(OSError):  # Windows keeps what is open
                beside.unlink()


def _is_there_still(file: IO[Any], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _lock(file: IO[Any], wait: bool) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
