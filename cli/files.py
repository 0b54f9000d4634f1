"""Checks of files and folders that commands read and write, made before any work is done."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import typer

from ..data.lines import numbered_lines
from ..errors import ConfigError, DataError, UserError


def read_json(path: Path, what: str, lines: bool = False) -> Any:
    """What a JSON file holds.

    Args:
        what: what it should be, for the message, such as ``"a JSON object"``.
        lines: whether it may also have one object a line, which become a list.

    Raises:
        DataError: it cannot be read, is empty, or is not JSON.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        if not text.strip():
            raise DataError(f"{path} is empty: write {what} into it")
        return (_each_line(text) if lines else None) or json.loads(text)
    except UnicodeDecodeError as error:
        from ..data.rows import not_utf8

        raise not_utf8(path) from error
    except OSError as error:
        raise DataError(f"{path} cannot be read as {what}: {error.strerror}") from error
    except RecursionError as error:
        raise DataError(f"{path} is not {what}: it is nested too deeply") from error
    except ValueError as error:
        raise DataError(f"{path} is not {what}: {error}") from error


def _each_line(text: str) -> list[Any] | None:
    """The objects of a text that has one a line; None for any other."""
    written = [line for _, line in numbered_lines(text)]
    if len(written) < 2 or not all(line.lstrip().startswith("{") for line in written):
        return None
    try:
        return [json.loads(line) for line in written]
    except ValueError:
        return None


def check_file(flag: str, path: Path | None) -> None:
    """Refuse a file that could not be written later; nothing is created.

    Raises:
        UserError: it is a folder, or its place cannot be written to.
    """
    if path is None:
        return
    if os.path.isdir(path):
        raise UserError(f"{flag} {path} is a folder: give the name of a file")
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise UserError(f"{flag} {path} may not be written: give another file")
    _check_place(flag, path)


def check_folder(flag: str, path: Path | None) -> None:
    """Refuse a folder that could not be written later; nothing is created.

    Raises:
        UserError: it is a file, or its place cannot be written to.
    """
    if path is None:
        return
    if os.path.exists(path) and not os.path.isdir(path):
        raise UserError(f"{flag} {path} is a file: give the name of a folder")
    if os.path.isdir(path):  # the folder above it need not be writable, as with a mounted folder
        if not os.access(path, os.W_OK | os.X_OK):
            raise UserError(f"{flag} {path} may not be written to; give another folder")
        return
    _check_place(flag, path)


def check_tracking(uri: str, named: bool) -> None:
    """Refuse an address that MLflow cannot use, before doing the work that would be sent there.

    If no server answers, which may be temporary, a line says so and the work goes on: its results wait on this disk.

    Args:
        named: whether this command names the address; then a server must answer.

    Raises:
        QueryPlanError: the address cannot be used, or it was named and no server answers.
    """
    from ..program.artifact.registry import client, speaking_to_mlflow, sqlite_file

    if (file := sqlite_file(uri)) is not None:
        return check_file("the database of --tracking-uri", file)
    try:
        with speaking_to_mlflow(uri):
            client(uri)
    except ConfigError as error:
        if named or not isinstance(error.__cause__, ConnectionError | TimeoutError | socket.gaierror):
            raise
        typer.echo(f"{error}; until then what is measured waits on this disk", err=True)


def _check_place(flag: str, path: Path) -> None:
    """Check that the nearest existing folder above is writable; missing ones are created when the file is written."""
    above = next(parent for parent in path.absolute().parents if os.path.lexists(parent))
    if not above.is_dir():
        raise UserError(f"{flag} {path} cannot be made: {above} is a file; give another place")
    if not os.access(above, os.W_OK | os.X_OK):
        raise UserError(f"{flag} {path} cannot be made: {above} may not be written to; give another place")
