"""Writes files so that a crash leaves no half of one, and names the file where the disk refuses."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Add the file's name to errors in this block without one: the system names it on opening, but not on writing.

    Raises:
        OSError: as in the block.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        raise


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place and then put it there: whoever reads it sees the old content or all of the new.

    Its folder is made if it is not there.

    Raises:
        OSError: the disk refuses; what was there before is unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}-{os.getpid()}-{get_ident()}.new")  # two may write the same file at once
    try:
        with writing(path):
            fresh.write_bytes(content)
            os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
