"""An evaluation with what was measured beside it, kept in one folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ..data.disk import write_whole
from ..errors import DataError
from .evaluation import HEAD_FILE, Evaluation
from .oracle import OracleLadder
from .prices import Price
from .throughput import Throughput

ORACLE_FILE, THROUGHPUT_FILE = "oracle.json", "throughput.json"
_THROUGHPUT = TypeAdapter(tuple[Throughput, ...])


@dataclass(frozen=True)
class Measured:
    """An evaluation with its oracle ladder and its throughput, if they were measured."""

    evaluation: Evaluation
    ladder: OracleLadder | None = None
    throughput: tuple[Throughput, ...] = ()

    @property
    def name(self) -> str:
        """The heading of its column."""
        return self.evaluation.name

    def named(self, name: str) -> Measured:
        """The same measurements under another heading."""
        ladder = self.ladder and self.ladder.model_copy(update={"name": name})
        return replace(self, evaluation=self.evaluation.model_copy(update={"name": name}), ladder=ladder)

    def priced(self, price: Price | None) -> Measured:
        """The same measurements at another price; None changes nothing."""
        return replace(self, evaluation=self.evaluation.priced(price))

    def save(self, folder: Path) -> None:
        """Write the folder of the evaluation with ``oracle.json`` and ``throughput.json``."""
        self.evaluation.save_folder(folder)
        self.save_beside(folder)

    def save_beside(self, folder: Path) -> None:
        """Write what was measured beside the evaluation into an existing folder; what was not is no longer there."""
        ladder = self.ladder.model_dump_json(indent=1).encode() if self.ladder is not None else b""
        throughput = _THROUGHPUT.dump_json(self.throughput, indent=1) if self.throughput else b""
        for name, content in ((ORACLE_FILE, ladder), (THROUGHPUT_FILE, throughput)):
            if content:
                write_whole(folder / name, content + b"\n")
            else:
                (folder / name).unlink(missing_ok=True)

    @classmethod
    def load(cls, path: Path) -> Measured:
        """Read a folder that `save` wrote, or the JSON file of an evaluation alone.

        Raises:
            DataError: a file is missing or not of this version.
        """
        evaluation = Evaluation.load(path)
        if not path.is_dir():
            return cls(evaluation)
        try:
            ladder, throughput = path / ORACLE_FILE, path / THROUGHPUT_FILE
            return cls(
                evaluation,
                OracleLadder.model_validate_json(ladder.read_bytes()) if ladder.is_file() else None,
                _THROUGHPUT.validate_json(throughput.read_bytes()) if throughput.is_file() else (),
            )
        except (OSError, ValidationError) as error:
            raise DataError(f"{path} holds something that this version cannot read: {error}") from error


def is_evaluation(path: Path) -> bool:
    """Whether a path looks like the folder or the file of an evaluation."""
    return (path / HEAD_FILE).is_file() or (path.is_file() and path.suffix == ".json")


def apart(measured: Sequence[Measured]) -> list[Measured]:
    """The same with distinct headings: by program version, and also by number if versions are equal."""
    names = [one.name for one in measured]
    if len(set(names)) < len(names):
        names = [f"{one.name} {one.evaluation.program_version}" for one in measured]
    if len(set(names)) < len(names):
        names = [f"{name} ({i})" for i, name in enumerate(names, 1)]
    return [one.named(name) for one, name in zip(measured, names, strict=True)]
