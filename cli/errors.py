"""How a failing command ends: with one sentence on stderr, and an exit code that scripts can read.

====  ==========================================================================
code  meaning
====  ==========================================================================
1     a check found something wrong (`data check`, `graph check`), or an answer of `graph run` has gaps;
      in any command a fault of queryplan's or of the machine (a full disk)
2     a wrong command, file (also one that may not be read or written), name or setting (``UserError``),
      or a language model that must answer and does not (``LMError``); one query is planned without it
3     a compiled program that cannot be loaded or trusted (``ProgramError``)
4     `queryplan promote`: the gate says no
5     `queryplan promote`: the rows cannot decide
130   stopped with Ctrl-C
141   nobody reads the output any more, as behind ``| head``
====  ==========================================================================

``QUERYPLAN_DEBUG=1`` shows the traceback instead.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from typer.exceptions import TyperException

from ..errors import LMError, ProgramError, QueryPlanError, UserError

STOPPED = "stopped; run the same command again to continue"

SHOWN = 3
"""The most complaints about a file that one sentence shows."""

_MORE = re.compile(r"… and (\d+) more")

UNREAD = 141
"""The exit code if nobody reads the output: the one of a process that SIGPIPE ended."""

MISPLACED = frozenset(
    {errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG}
    | {errno.EACCES, errno.EPERM, errno.EROFS}
)
"""System errors that mean that a wrong file was named, not that the machine fails."""

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""System errors that mean that nothing more can be written."""

_CODES: tuple[tuple[type[QueryPlanError], int], ...] = ((UserError, 2), (LMError, 2), (ProgramError, 3))


def exit_code(error: BaseException) -> int:
    """The exit code of a process that an error ends."""
    if isinstance(error, KeyboardInterrupt):
        return 130
    if isinstance(error, OSError) and error.errno in MISPLACED and error.filename:
        return 2
    return next((code for kind, code in _CODES if isinstance(error, kind)), 1)


def sentence(error: BaseException) -> str:
    """An error as one line to print."""
    if isinstance(error, KeyboardInterrupt):
        return STOPPED
    if isinstance(error, QueryPlanError):
        lines = [line for line in (" ".join(line.split()) for line in str(error).splitlines()) if line]
        return "; ".join(_first(lines))
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename!s:.200}" if error.filename else ""
        advice = "; free some space, or write to another disk, and run the same again" if error.errno in FULL else ""
        return f"{error.strerror}{where}{advice}"
    said = " ".join(str(error).split())
    return f"a fault of queryplan's ({type(error).__name__}: {said}); set QUERYPLAN_DEBUG=1 to see where, and report it"


def _first(lines: list[str]) -> list[str]:
    """The first few complaints and the number of the others, including those that the last line already counts."""
    if len(lines) <= SHOWN:
        return lines
    counted = _MORE.fullmatch(lines[-1])
    others = len(lines) - SHOWN if counted is None else len(lines) - 1 - SHOWN + int(counted[1])
    return [*lines[:SHOWN], f"… and {others} more"]


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn what a command raises into one sentence and an exit code."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        if _is_for_typer(error) or os.environ.get("QUERYPLAN_DEBUG") == "1":
            raise
        prefix = "" if isinstance(error, KeyboardInterrupt) else "error: "
        console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
        console.print(f"{prefix}{sentence(error)}")
        raise typer.Exit(exit_code(error)) from None


def _is_for_typer(error: BaseException) -> bool:
    """Whether an error is a usage error, exit, aborted prompt or closed pipe, which typer handles well by itself."""
    if isinstance(error, OSError):
        return error.errno == errno.EPIPE
    return isinstance(error, typer.Exit | typer.Abort | TyperException)
