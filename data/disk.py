"""Names the file in an error of a disk that refused to write it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
