"""Measuring one program on labelled rows beside its cheap rivals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..data.domain import check_kinds, load_domain, rows_hash
from ..data.rows import LabelledRow, read_rows
from ..program.planner import QueryPlanner
from .baselines import ConstantPlanner, TfidfPlanner
from .evaluation import Evaluation, evaluate
from .report import Report, build_report
from .sampling import Sample, sample_rows
from .test_readings import record_reading

WORK = Path(".queryplan/evaluations")


def measure(
    planner: QueryPlanner,
    domain: str,
    data: Path | None,
    size: int | None,
    why: str,
    progress: Callable[[int, int], None],
    work: Path = WORK,
) -> tuple[list[Evaluation], Report]:
    """Evaluate a program, the majority class and TF-IDF on the same rows.

    Args:
        data: labelled rows; the domain's ``test.jsonl`` if not given, and then the reading is counted.
        size: measure a stratified sample of so many rows.
        work: folder of the files that a stopped evaluation goes on from.

    Raises:
        DataError: the domain or the file cannot be read.
    """
    read = load_domain(domain)
    rows = tuple(read_rows(data)) if data is not None else read.rows("test")
    check_kinds(rows, planner.card, data.name if data else "test.jsonl")
    sample = sample_rows(rows, size or len(rows), name=data.stem if data else "test")
    notes = [] if data else [_counted(read.folder / "test.jsonl", planner.program_version, why)]
    train = read.rows("train")
    evaluations = [
        _pass(ConstantPlanner(train), "constant", sample, rows, work, lambda done, total: None),
        _pass(TfidfPlanner(train), "tf-idf", sample, rows, work, lambda done, total: None),
        _pass(planner, "program", sample, rows, work, progress),
    ]
    return evaluations, build_report(evaluations, title=f"{planner.program_version} on {read.card.name}", notes=notes)


def _counted(test: Path, version: str, why: str) -> str:
    return f"This was reading {record_reading(test, version, why)} of {test.name}."


def _pass(
    planner: ConstantPlanner | TfidfPlanner | QueryPlanner,
    name: str,
    sample: Sample,
    rows: tuple[LabelledRow, ...],
    work: Path,
    progress: Callable[[int, int], None],
) -> Evaluation:
    resume = work / f"{planner.program_version}-{rows_hash(sample.rows)}.jsonl"
    words = sample.name if len(sample.rows) < len(rows) else None
    return evaluate(planner, sample.rows, name=name, progress=progress, resume=resume, sample=words)
