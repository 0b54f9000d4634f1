"""Resets what a forked process must not share with its parent: threads, and connections both would write to.

A server that opens its planner first and then forks its workers (``gunicorn --preload``) would wait for ever for
threads that it does not have, and two processes would read each other's answers.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Renewable(Protocol):
    """Holds something that belongs to the process it was made in."""

    def renew(self) -> None:
        """Replace it; called in the child process before any of its threads runs."""


_known: WeakSet[Renewable] = WeakSet()


def renewed_in_child(one: Renewable) -> None:
    """Call ``renew`` in every process that is forked from now on, as long as the object lives."""
    _known.add(one)


def _renew_all() -> None:
    for one in list(_known):
        one.renew()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_renew_all)
