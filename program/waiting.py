"""Announces work that takes long before it starts; a listener decides how, and without one nothing is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_say: ContextVar[Callable[[str], None] | None] = ContextVar("say", default=None)


@contextmanager
def telling(say: Callable[[str], None]) -> Iterator[None]:
    """In this block, ``say`` is called with a sentence before anything that takes a minute or more."""
    token = _say.set(say)
    try:
        yield
    finally:
        _say.reset(token)


def tell(sentence: str) -> None:
    """Announce that something takes long, if there is a listener."""
    if (say := _say.get()) is not None:
        say(sentence)
