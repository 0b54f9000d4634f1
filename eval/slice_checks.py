"""Minimal figures on each slice of a labelled set: what the pytest plugin runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..data.domain import check_kinds, load_domain, rows_hash
from ..data.rows import LabelledRow, read_rows
from ..errors import DataError
from ..program.planner import QueryPlanner
from .evaluation import Case, Evaluation, evaluate
from .gate.judging import share_of
from .gate.settings import MEASURES
from .slices import WHOLE, reported, slices_of
from .statistics import Estimate
from .test_readings import record_reading
from .tracking.tracked import certainty, said

WORST = 5
WORK = Path(".queryplan/evaluations")


@dataclass(frozen=True)
class SliceResult:
    """What a slice showed.

    Attributes:
        figures: the share right, by measure.
        failed: the measures that are below their minimum.
        skipped: why nothing was judged; empty if something was.
        text: all of it for a person, the worst rows at the end.
    """

    name: str
    figures: Mapping[str, Estimate]
    failed: tuple[str, ...] = ()
    skipped: str = ""
    text: str = ""


@dataclass
class SliceChecks:
    """A program, labelled rows, and what each slice must reach. The rows are read at once, plans are made later.

    Args:
        program: a folder, or ``models:/NAME@ALIAS``.
        minimums: shares by measure of `MEASURES`.
        data: labelled rows; the domain's ``test.jsonl`` if not given, and then the reading is counted.
        domain: where it is not a shipped one.
        lm: another language model; what the program was compiled with if not given.
        smallest: rows that a slice must have to be judged.

    Raises:
        ProgramError: no such program.
        DataError: rows that cannot be read.
    """

    program: str
    minimums: Mapping[str, float]
    data: str | None = None
    domain: str | None = None
    lm: str | None = None
    smallest: int = 10
    work: Path = WORK
    planner: QueryPlanner = field(init=False)
    rows: tuple[LabelledRow, ...] = field(init=False)

    def __post_init__(self) -> None:
        model = "as compiled" if self.lm is None else self.lm
        self.planner = QueryPlanner.load(self.program, lm=model)
        self.rows = self._read()
        if not self.rows:
            raise DataError("there are no rows to test on: give a file with at least one labelled query")

    @property
    def slices(self) -> tuple[str, ...]:
        """All rows first, then every slice, largest first."""
        return (WHOLE, *reported([slices_of(row) for row in self.rows], 1))

    def check(self, name: str) -> SliceResult:
        """Judge one slice; the first call measures the program.

        Raises:
            QueryPlanError: the language model cannot be opened, or plans cannot be kept.
        """
        cases = [case for case in self._evaluation.cases if name == WHOLE or name in case.slices]
        figures = {m: found for m in self.minimums if (found := share_of(cases, m)) is not None}
        enough = {m: found for m, found in figures.items() if found.n >= self.smallest}
        skipped = "" if enough else f"{len(cases)} rows, and {self.smallest} are needed to say something"
        failed = tuple(m for m, found in enough.items() if found.value < self.minimums[m])
        lines = [self._line(m, found) for m, found in figures.items()]
        worst = _worst(cases, failed)
        return SliceResult(name, figures, failed, skipped, "\n".join([f"{name}, {len(cases)} rows", *lines, *worst]))

    @cached_property
    def _evaluation(self) -> Evaluation:
        self.planner.warm()
        lm = f" {self.lm}" if self.lm else ""
        resume = self.work / f"{self.planner.program_version}-{rows_hash(self.rows)}{lm.replace('/', '-')}.jsonl"
        version = f"{self.planner.program_version}{lm}"
        try:
            return evaluate(self.planner, self.rows, name="program", resume=resume, version=version)
        finally:
            self.planner.close()

    def _line(self, measure: str, found: Estimate) -> str:
        least = self.minimums[measure]
        told = (
            f"{measure} {found.value:.3f} ({found.low:.3f} to {found.high:.3f}) on {found.n} rows, at least {least:g}"
        )
        if found.value < least <= found.high:
            return f"{told}: below, though the interval reaches over it"
        return f"{told}: below" if found.value < least else told

    def _read(self) -> tuple[LabelledRow, ...]:
        card = self.planner.card
        if self.data is not None:
            rows = tuple(read_rows(Path(self.data)))
            check_kinds(rows, card, Path(self.data).name)
            return rows
        read = load_domain(self.domain or card.name, ("test",))
        rows = read.rows("test")
        record_reading(read.folder / "test.jsonl", self.planner.program_version, "pytest")
        return rows


def _worst(cases: Sequence[Case], failed: Sequence[str]) -> list[str]:
    """The wrong rows of the measures that failed, the surest first."""
    wrong = [c for c in cases if any(getattr(c.score, MEASURES[m]) is False for m in failed)]
    wrong.sort(key=lambda case: -certainty(case))
    lines = [f"  {c.row_id}: {c.query!r}\n    gold {said(c.gold)}\n    plan {said(c.plan)}" for c in wrong[:WORST]]
    more = len(wrong) - WORST
    return [*(["the worst rows:"] if lines else []), *lines, *([f"  … and {more} more"] if more > 0 else [])]
