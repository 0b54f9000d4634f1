"""A queue on this disk of results for MLflow: each is kept until all of it has arrived, and sent once.

A *parcel* is a folder: ``record.json``, the program folder if there is one, and for the server it goes to a file of
the steps that are done. A server that goes away in the middle leaves the parcel where it is; whoever tracks something
next sends it again, and only what is missing.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...data.locks import wait_for
from ...errors import ConfigError
from ...program.artifact.registry import public_uri

WAITING = Path(".queryplan/waiting")
RECORD, PROGRAM = "record.json", "program"
_STEPS, _LOCK = "steps.json", "lock"


@dataclass(frozen=True)
class Parcel:
    """One record on its way to one server.

    Attributes:
        folder: where it lies.
        kind: ``compile`` or ``evaluation``.
        experiment: of MLflow.
        text: the record as JSON.
    """

    folder: Path
    kind: str
    experiment: str
    text: str

    @property
    def name(self) -> str:
        """The same for the same content."""
        return self.folder.name

    @property
    def program(self) -> Path:
        """The program folder that goes with it; not there for an evaluation."""
        return self.folder / PROGRAM

    def steps(self) -> Steps:
        """What the server has of it already."""
        return Steps(self.folder / _STEPS)


class Steps:
    """The steps of a parcel that are done, with what each returned, on the disk after each.

    A step that was broken off runs again as a whole, so each must bear being run twice.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._done: dict[str, Any] = _json(file) if file.is_file() else {}

    def once(self, name: str, do: Callable[[], Any]) -> Any:
        """What ``do`` returned, now or when the step was done before; plain data."""
        if name not in self._done:
            self._done[name] = do()
            self._write()
        return self._done[name]

    def get(self, name: str) -> Any:
        """What a step returned; None if it is not done."""
        return self._done.get(name)

    def forget(self) -> None:
        """Begin again, for the server has lost what it had."""
        self._done.clear()
        self._write()

    def _write(self) -> None:
        fresh = self._file.with_suffix(".new")
        fresh.write_text(json.dumps(self._done), encoding="utf-8")
        os.replace(fresh, self._file)


class Waiting:
    """The parcels for one server in one folder.

    Args:
        uri: the server's address; what is written down of it has no user and no password.
        folder: ``.queryplan/waiting`` if not given; created when something waits.
    """

    def __init__(self, uri: str, folder: Path | None = None) -> None:
        server = hashlib.sha256(public_uri(uri).encode()).hexdigest()[:8]
        self._folder = (folder or WAITING) / server

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until no other process is at these parcels: two that send one at once would lose it.

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
        """Keep a record; one with the same key that waits already is replaced, its done steps stay.

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
            fresh = folder / f"{RECORD}.new"
            fresh.write_text(f"{head}\n{record}", encoding="utf-8")
            os.replace(fresh, folder / RECORD)
        except OSError as error:
            raise self._unkept(folder, error) from error
        return Parcel(folder, kind, experiment, record)

    def all(self) -> Iterator[Parcel]:
        """Every parcel, oldest first; a folder whose record was never finished is passed over."""
        records = self._folder.glob(f"*/{RECORD}") if self._folder.is_dir() else ()
        for file in sorted(records, key=lambda path: path.stat().st_mtime_ns):
            head, _, text = file.read_text(encoding="utf-8").partition("\n")
            yield Parcel(file.parent, **json.loads(head), text=text)

    @staticmethod
    def _unkept(folder: Path, error: OSError) -> ConfigError:
        return ConfigError(f"{folder} cannot keep what is to be tracked ({error}): make room, or mend it")

    @staticmethod
    def drop(parcel: Parcel) -> None:
        """All of it has arrived."""
        shutil.rmtree(parcel.folder, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    """A whole copy or none."""
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        fresh = Path(scratch) / PROGRAM
        shutil.copytree(source, fresh)
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)


def _json(file: Path) -> dict[str, Any]:
    """Done steps; a file that cannot be read counts as none done."""
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}
