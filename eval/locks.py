"""Lets one process at a time use a file; the system frees the lock when the file is closed or the process ends."""

from __future__ import annotations

from typing import IO, Any


def claim(file: IO[Any]) -> bool:
    """Whether this process alone has the file now; on Windows always."""
    return _lock(file, wait=False)


def wait_for(file: IO[Any]) -> None:
    """Wait until this process alone has the file; on Windows return at once."""
    _lock(file, wait=True)


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
