"""Checks of minimum figures on each slice of a labelled set, which the pytest plugin runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..data.card import shipped_domains
from ..data.domain import check_kinds, load_domain
from ..data.rows import LabelledRow, read_rows
from ..errors import DataError
from ..program.plan import QueryPlan
from ..program.planner import QueryPlanner
from ..signatures.types import Labels
from .evaluation import Case, Evaluation, evaluate, learned_from
from .gate.judging import share_of
from .gate.settings import MEASURES
from .measuring import WORK, journal_of
from .slices import WHOLE, reported, slices_of
from .statistics import Estimate
from .test_readings import measured_on, read_of_test, record_reading, seen_before, seen_by
from .tracking.tracked import certainty, said

WORST = 5
_GIVE = "give its folder with --queryplan-domain, or labelled rows with --queryplan-data"


@dataclass(frozen=True)
class SliceResult:
    """The result of checking one slice.

    Attributes:
        figures: the share right, by measure.
        failed: the measures that are below their minimum, or that apply to too few of all rows; if the program learned
            from some rows, all measures of all rows.
        skipped: why nothing was judged; empty if something was.
        text: all of this for a person, with the worst rows at the end.
    """

    name: str
    figures: Mapping[str, Estimate]
    failed: tuple[str, ...] = ()
    skipped: str = ""
    text: str = ""


@dataclass
class SliceChecks:
    """A program, labelled rows, and the minimums for each slice. Rows are read at once, plans are made later.

    Args:
        program: a folder, or ``models:/NAME@ALIAS``.
        minimums: minimal shares for measures of `MEASURES`.
        data: labelled rows; by default the domain's test split, whose readings are counted.
        domain: the domain's folder, if it is not a shipped one.
        lm: another language model; by default the one that the program was compiled with.
        smallest: rows that a slice must have to be judged.

    Attributes:
        notes: sentences about the rows.

    Raises:
        ProgramError: there is no such program.
        DataError: the rows cannot be read.
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
    notes: tuple[str, ...] = field(init=False, default=())
    _test_file: Path | None = field(init=False, default=None)
    _seen: int = field(init=False, default=0)

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
        """Judge one slice; the first call measures the program. On all rows, a measure that cannot be judged fails.

        Raises:
            QueryPlanError: the language model cannot be opened, or plans cannot be kept.
        """
        cases = [case for case in self._evaluation.cases if name == WHOLE or name in case.slices]
        figures = {m: found for m in self.minimums if (found := share_of(cases, m)) is not None}
        enough = {m: found for m, found in figures.items() if found.n >= self.smallest}
        skipped = "" if enough else f"{len(cases)} rows, and {self.smallest} are needed to say something"
        failed = tuple(m for m, found in enough.items() if found.value < self.minimums[m])
        lines = [self._line(m, found) for m, found in figures.items()]
        if name == WHOLE and (unjudged := tuple(m for m in self.minimums if m not in enough)):
            skipped, failed = "", (*failed, *unjudged)
            lines += [self._unjudged(m, figures) for m in unjudged]
        if name == WHOLE and self._seen:
            skipped, failed = "", failed or tuple(self.minimums)
            lines.append(f"{learned_from(self._seen, len(self.rows))}: give --queryplan-data rows that are new to it")
        worst = _worst(cases, failed)
        return SliceResult(name, figures, failed, skipped, "\n".join([f"{name}, {len(cases)} rows", *lines, *worst]))

    @cached_property
    def _evaluation(self) -> Evaluation:
        self.planner.warm()
        lm, version = self.planner.lm_name, self.planner.program_version
        resume = journal_of(self.work, version, lm, self.rows)
        if self._test_file is not None:
            record_reading(self._test_file, version, "pytest", measured_on(version, lm, self.rows))
        try:
            return evaluate(self.planner, self.rows, name="program", resume=resume, lm=lm, seen=self._seen)
        finally:
            self.planner.close()

    def _unjudged(self, measure: str, figures: Mapping[str, Estimate]) -> str:
        rows = figures[measure].n if measure in figures else 0
        return (
            f"{measure} was judged nowhere: {rows} rows raise it, and {self.smallest} are needed; give more rows, or "
            "--queryplan-rows"
        )

    def _line(self, measure: str, found: Estimate) -> str:
        least = self.minimums[measure]
        told = f"{measure} {found.spelled('.3f')} on {found.n} rows, at least {least:g}"
        if found.value < least <= found.high:
            return f"{told}: below, though the interval reaches over it"
        return f"{told}: below" if found.value < least else told

    def _read(self) -> tuple[LabelledRow, ...]:
        card, data = self.planner.card, Path(self.data) if self.data is not None else None
        named = self.domain or (card.name if data is None or card.name in shipped_domains() else None)
        if named is not None and self.domain is None and named not in shipped_domains():
            raise DataError(f"the program is of the domain {named}, which does not ship: {_GIVE}")
        domain = load_domain(named) if named is not None else None
        rows = tuple(read_rows(data)) if data is not None else domain.rows("test") if domain is not None else ()
        check_kinds(rows, card, data.name if data is not None else "test.jsonl")
        self._test_file = read_of_test(rows, data, domain)
        self.notes = tuple(seen_before(rows, domain)) if domain is not None else ()
        self._seen = seen_by(self.planner, rows, domain)
        return rows


def _line_of(case: Case) -> str:
    gold, plan = _told(case, case.gold), _told(case, case.plan)
    return f"  {case.row_id}: {case.query!r}\n    gold {gold}\n    plan {plan}"


def _told(case: Case, labels: Labels | QueryPlan) -> str:
    """The labels in a line, with the texts where only these differ."""
    if said(case.gold) != said(case.plan):
        return said(labels)
    return "; ".join([said(labels), labels.standalone_query, *(part.text for part in labels.sub_queries)])


def _worst(cases: Sequence[Case], failed: Sequence[str]) -> list[str]:
    """The wrong rows of the failed measures, the most certain first."""
    wrong = [c for c in cases if any(getattr(c.score, MEASURES[m]) is False for m in failed)]
    wrong.sort(key=lambda case: -certainty(case))
    lines = [_line_of(case) for case in wrong[:WORST]]
    more = len(wrong) - WORST
    return [*(["the worst rows:"] if lines else []), *lines, *([f"  … and {more} more"] if more > 0 else [])]
