"""Announces work that takes long before it starts; a listener decides how, and without one nothing is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_say: ContextVar[Callable[[str], None] | None] = ContextVar("say", default=None)


@contextmanager
def telling(say: Callable[[str], None]) -> Iterator[None]:
    """While this lasts, ``say`` is called with a sentence before what takes a minute or more."""
    token = _say.set(say)
    try:
        yield
    finally:
        _say.reset(token)


def tell(sentence: str) -> None:
    """Say that something takes long, if anyone looks on."""
    if (say := _say.get()) is not None:
        say(sentence)
