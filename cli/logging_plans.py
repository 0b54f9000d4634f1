"""``--log``: a log of the plans that a command or a service makes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError, UserError

if TYPE_CHECKING:
    from ..program.planner import QueryPlanner


@contextmanager
def logging_plans(planner: QueryPlanner, path: Path | None, text: bool) -> Iterator[None]:
    """A context in which the plans that the planner makes are logged to a file; without a path, nothing is logged.

    Args:
        text: also keep what users typed.

    Raises:
        UserError: text is to be kept, but there is no file.
        DataError: the file cannot be written.
    """
    if path is None:
        if text:
            raise UserError("--log-text needs --log, the file that the plans are written to")
        yield
        return
    from ..program.plan_log import JsonlSink, PlanLog

    try:
        log = PlanLog(JsonlSink(path), text=text)
    except OSError as error:
        raise DataError(f"{path} cannot be written ({error.strerror}); give another file to --log") from error
    with log:
        planner.log = log
        try:
            yield
        finally:
            planner.log = None


@contextmanager
def logging_service(planner: QueryPlanner, path: Path | None, text: bool) -> Iterator[None]:
    """As `logging_plans`; without a path, ``QUERYPLAN_PLAN_LOG`` and ``QUERYPLAN_PLAN_LOG_TEXT`` decide.

    Raises:
        UserError, DataError: as `logging_plans`.
    """
    from ..program.plan_log import log_of_environment

    if path is not None or text:
        with logging_plans(planner, path, text):
            yield
        return
    try:
        log = log_of_environment()
    except OSError as error:
        raise DataError(f"QUERYPLAN_PLAN_LOG cannot be written ({error.strerror}); name another file") from error
    with log or nullcontext():
        planner.log = log
        try:
            yield
        finally:
            planner.log = None
