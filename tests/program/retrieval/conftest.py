"""The stores of shipped domains, opened once, and a call that hangs until its test is over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from queryplan.program.retrieval.stores import Stores, open_stores


@pytest.fixture(scope="session")
def podcast() -> Stores:
    """The podcast's texts and graph."""
    return open_stores("podcast")


@pytest.fixture(scope="session")
def engineering() -> Stores:
    """The engineering team's records."""
    return open_stores("engineering")


@pytest.fixture(scope="session")
def journal() -> Stores:
    """The journal's collection."""
    return open_stores("journal")


@pytest.fixture
def hang() -> Iterator[Callable[..., Any]]:
    """A function that waits until its test is over."""
    over = threading.Event()
    yield lambda *_: over.wait(20)
    over.set()
