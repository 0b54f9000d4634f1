"""Counts what the language model calls in a block of code cost.

A meter travels in DSPy's settings and not in a context variable of its own: settings reach every asyncio task *and*
the worker threads of ``dspy.Parallel`` and ``dspy.Evaluate``, which copy DSPy's overrides only.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_SETTING = "_queryplan_meters"


class CallMeter:
    """The cost of the requests in one block; safe to read and write from any thread.

    Attributes:
        calls: answered requests, including those answered from the journal.
        cached: how many of ``calls`` the journal answered, so that nothing was paid now.
        failed: requests that ended in an error; they are not in ``calls``.
        prompt_tokens: tokens read by the model, by its own count.
        completion_tokens: tokens written by the model, by its own count.
        milliseconds: sum over requests, not wall clock: requests in flight together add up.

    A request answered from the journal counts with the tokens and milliseconds of the call that
    was paid for, so a compile that was stopped and continued reports the same cost as one that ran
    through.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.cached = 0
        self.failed = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.milliseconds = 0.0
        self._lock = threading.Lock()

    def add(self, *, milliseconds: float, prompt_tokens: int, completion_tokens: int, cached: bool) -> None:
        """Count one answered request."""
        with self._lock:
            self.calls += 1
            self.cached += cached
            self.prompt_tokens += prompt_tokens
            self.completion_tokens += completion_tokens
            self.milliseconds += milliseconds

    def add_failure(self) -> None:
        """Count one request that ended in an error."""
        with self._lock:
            self.failed += 1

    def __deepcopy__(self, memo: dict[int, Any]) -> CallMeter:
        """The same meter: DSPy copies settings for its workers, and all must count here."""
        return self

    def __repr__(self) -> str:
        return (
            f"CallMeter(calls={self.calls}, cached={self.cached}, failed={self.failed}, "
            f"prompt_tokens={self.prompt_tokens}, completion_tokens={self.completion_tokens}, "
            f"milliseconds={self.milliseconds:.0f})"
        )


@contextmanager
def meter() -> Iterator[CallMeter]:
    """Count every request that starts inside the block, also for the meters around it."""
    import dspy

    own = CallMeter()
    with dspy.context(**{_SETTING: (*active_meters(), own)}):
        yield own


def active_meters() -> tuple[CallMeter, ...]:
    """The meters of the blocks this code runs in, outermost first."""
    import dspy

    return dspy.settings.get(_SETTING) or ()
