"""Files on this disk: where a user's are kept, writing them whole, and naming them where the disk refuses."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident


def user_cache(part: str) -> Path:
    """The folder of a part of what is kept for all projects of this user, there or not.

    It is ``$QUERYPLAN_CACHE/PART``, or ``~/.cache/queryplan/PART`` where that is not set.
    """
    root = os.environ.get("QUERYPLAN_CACHE")
    return (Path(root) if root else Path.home() / ".cache" / "queryplan") / part


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
