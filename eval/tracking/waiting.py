"""A queue on this disk of results for MLflow: each is kept until all of it has arrived, and sent once.

A *parcel* is a folder with ``record.json``, the program folder if there is one, and a file that says which steps of
sending are done. If the server goes away in the middle, the parcel stays; the next time something is tracked, what is
missing of it is sent.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...data.disk import write_whole
from ...data.locks import wait_for
from ...errors import ConfigError
from ...program.artifact.registry import public_uri

logger = logging.getLogger(__name__)

WAITING = Path(".queryplan/waiting")
RECORD, PROGRAM = "record.json", "program"
_STEPS, _LOCK = "steps.json", "lock"


@dataclass(frozen=True)
class Parcel:
    """One record that waits to be sent to one server.

    Attributes:
        folder: where it is kept.
        kind: ``compile`` or ``evaluation``.
        experiment: the name of the MLflow experiment.
        text: the record as JSON.
    """

    folder: Path
    kind: str
    experiment: str
    text: str

    @property
    def name(self) -> str:
        """The name of its folder, a hash that is the same for the same record."""
        return self.folder.name

    @property
    def program(self) -> Path:
        """The program folder that goes with it; not there for an evaluation."""
        return self.folder / PROGRAM

    def steps(self) -> Steps:
        """The steps of sending that are done already."""
        return Steps(self.folder / _STEPS)


class Steps:
    """The steps of a parcel that are done, with the result of each; written to the disk after each step.

    A step that was interrupted runs again from its beginning, so each step must have the same effect when run twice.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._done: dict[str, Any] = _json(file) if file.is_file() else {}

    def once(self, name: str, do: Callable[[], Any]) -> Any:
        """Do a step unless it is done already, and return its result (data that JSON can hold)."""
        if name not in self._done:
            self._done[name] = do()
            self._write()
        return self._done[name]

    def get(self, name: str) -> Any:
        """The result of a step; None if it is not done."""
        return self._done.get(name)

    def forget(self) -> None:
        """Mark every step as not done, because the server no longer has what was sent."""
        self._done.clear()
        self._write()

    def _write(self) -> None:
        write_whole(self._file, json.dumps(self._done).encode())


class Waiting:
    """The parcels for one server in one folder.

    Args:
        uri: the server's address; user and password in it are not written to the disk.
        folder: ``.queryplan/waiting`` if not given; created when something waits.
    """

    def __init__(self, uri: str, folder: Path | None = None) -> None:
        server = hashlib.sha256(public_uri(uri).encode()).hexdigest()[:8]
        self._folder = (folder or WAITING) / server

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold these parcels alone, after waiting for any other process: two that send one at once would lose it.

        Raises:
            ConfigError: the disk cannot be written.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            file = (self._folder / _LOCK).open("a")
        except OSError as error:
            raise self._unkept(self._folder, error) from error
        with file:
            wait_for(file)
            yield

    def put(self, kind: str, experiment: str, record: str, key: str, program: Path | None = None) -> Parcel:
        """Keep a record on the disk; it replaces a waiting one with the same key, whose done steps stay done.

        Raises:
            ConfigError: the disk cannot be written.
        """
        name = hashlib.sha256(f"{kind} {experiment} {key}".encode()).hexdigest()[:24]
        folder = self._folder / name
        head = json.dumps({"kind": kind, "experiment": experiment})
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if program is not None:
                _copy(program, folder / PROGRAM)
            write_whole(folder / RECORD, f"{head}\n{record}".encode())
        except OSError as error:
            raise self._unkept(folder, error) from error
        return Parcel(folder, kind, experiment, record)

    def all(self) -> Iterator[Parcel]:
        """Every parcel that can be read, oldest first, without folders whose record was never fully written."""
        records = self._folder.glob(f"*/{RECORD}") if self._folder.is_dir() else ()
        for file in sorted(records, key=lambda path: path.stat().st_mtime_ns):
            try:
                head, _, text = file.read_text(encoding="utf-8").partition("\n")
                yield Parcel(file.parent, **json.loads(head), text=text)
            except (OSError, ValueError, TypeError) as error:
                logger.warning("%s cannot be read (%s): move it away", file.parent, error)

    @staticmethod
    def _unkept(folder: Path, error: OSError) -> ConfigError:
        return ConfigError(f"{folder} cannot keep what is to be tracked ({error}): make room, or mend it")

    @staticmethod
    def drop(parcel: Parcel) -> None:
        """Remove a parcel from the disk, since all of it has arrived."""
        shutil.rmtree(parcel.folder, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    """Copy a folder, replacing ``target``; an interrupted copy leaves no partial folder there."""
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        fresh = Path(scratch) / PROGRAM
        shutil.copytree(source, fresh)
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)


def _json(file: Path) -> dict[str, Any]:
    """The done steps from a file; none if it cannot be read."""
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}
