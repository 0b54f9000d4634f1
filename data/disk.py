"""Names the file in an error of a disk that refused to write it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Put the file's name into errors of this block that have none: the system names it on opening, not on writing.

    Raises:
        OSError: as in the block.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        raise
