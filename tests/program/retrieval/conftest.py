"""The stores of shipped domains, opened once, what a date means, and a call that hangs until its test is over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest
from queryplan.data.card import domain_folder, load_card
from queryplan.program.retrieval.dates.finding import resolve_dates
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


@pytest.fixture(scope="session")
def days() -> Callable[[str], str | None]:
    """The days of a phrase, seen from Thursday, 13 November 2025, in sprint 43; None where it has none."""
    calendar = load_card(domain_folder("engineering")).calendar

    def meant(phrase: str) -> str | None:
        [found] = resolve_dates([phrase], date(2025, 11, 13), calendar)
        return found.period.text() if found.period else None

    return meant


@pytest.fixture
def hang() -> Iterator[Callable[..., Any]]:
    """A function that waits until its test is over."""
    over = threading.Event()
    yield lambda *_: over.wait(20)
    over.set()
