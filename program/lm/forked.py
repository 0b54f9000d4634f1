"""Resets what a forked process must not share with its parent: threads, and connections both would write to.

A server that opens its planner first and then forks its workers (``gunicorn --preload``) would wait for ever for
threads that it does not have, and two processes would read each other's answers.

SQLite needs more than a new connection in the child: it keeps in memory which locks on a file its process holds, so a
child of a process with an open connection believes to hold locks that it does not, even by connections of its own, and
what it writes can be lost. So files are closed while a process forks, and both open them again when they need them.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import Protocol
from weakref import WeakSet


class Renewable(Protocol):
    """Holds something that belongs to the process it was made in."""

    def renew(self) -> None:
        """Replace it; called in the child process before any of its threads runs."""


class Closable(Renewable, Protocol):
    """Holds what must not even be open while the process forks."""

    def before_fork(self) -> None:
        """Take its lock, so that no other thread is using it, and close it; called by the thread that forks."""

    def after_fork(self) -> None:
        """Give the lock back; called by the same thread in the parent, while ``renew`` is called in the child."""


_known: WeakSet[Renewable] = WeakSet()
_closable: WeakSet[Closable] = WeakSet()
_held: list[Closable] = []
_forking = Lock()
"""Held while a process forks, so that two threads that fork do not wait for each other's half of the locks."""


def renewed_in_child(one: Renewable) -> None:
    """Call ``renew`` in every process that is forked from now on, as long as the object lives."""
    _known.add(one)


def closed_in_fork(one: Closable) -> None:
    """Close it while the process forks, and ``renew`` it in the child, as long as the object lives.

    To be called before it is opened, which its own lock then guards.
    """
    with _forking:
        _closable.add(one)
        _known.add(one)


def _close_all() -> None:
    _forking.acquire()
    for one in list(_closable):
        one.before_fork()
        _held.append(one)


def _go_on() -> None:
    while _held:
        _held.pop().after_fork()
    _forking.release()


def _renew_all() -> None:
    global _forking
    _forking = Lock()
    _held.clear()
    for one in list(_known):
        one.renew()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(before=_close_all, after_in_parent=_go_on, after_in_child=_renew_all)
