"""Evaluations side by side: each number with its interval, and what may be said about the difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from ..errors import UserError
from ..signatures.types import Frozen
from .evaluation import Case, Evaluation
from .render import format_difference
from .statistics import Estimate, PairedDifference, paired_difference
from .summary import STAGE_FIELDS, Summary, arising, score_values

Unit = Literal["share", "count", "ms"]


class Measure(NamedTuple):
    """A line of the report: its name, the field of `CaseScore` behind it, its unit, and its better end."""

    name: str
    score: str
    unit: Unit
    higher_is_better: bool = True


MEASURES = (
    *(Measure(f"{field.stage} accuracy", field.score, "share") for field in STAGE_FIELDS),
    Measure("labels_right", "labels_right", "share"),
    Measure("plan_right", "plan_right", "share"),
    Measure("rewrite token F1", "rewrite_f1", "share"),
    Measure("rewrite keeps entities, numbers, negations", "rewrite_kept", "share"),
    Measure("sub_queries_right", "sub_queries_right", "share"),
    Measure("degraded plans", "degraded", "share", False),
    Measure("LM calls a query", "lm_calls", "count", False),
    Measure("tokens a query", "tokens", "count", False),
    Measure("rounds a query", "rounds", "count", False),
)
_JUDGED = tuple(m for m in MEASURES if m.unit == "share" and m.score != "degraded")


class Line(Frozen):
    """One measure over all columns; None where no row raises the question."""

    measure: str
    unit: Unit
    cells: tuple[Estimate | None, ...]


class Difference(Frozen):
    """The compiled program against one other column on one measure."""

    measure: str
    unit: Unit
    rival: str
    paired: PairedDifference
    verdict: str


class Report(Frozen):
    """Several evaluations of the same rows, in a given order, and the compiled one compared.

    Attributes:
        columns: names of the evaluations, in order.
        rival: the column that the compiled program has to beat: zero-shot with fitted thresholds.
        differences: compiled minus rival, measure by measure.
        sentences: what the numbers amount to, in plain words.
    """

    title: str
    columns: tuple[str, ...]
    versions: tuple[str, ...]
    compiled: str
    rival: str | None
    n: int
    conversations: int
    data_fingerprint: str
    load_average: tuple[tuple[float, ...], ...]
    lines: tuple[Line, ...]
    differences: tuple[Difference, ...]
    sentences: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, for JSON."""
        return self.model_dump(mode="json")


def build_report(
    evaluations: Sequence[Evaluation],
    *,
    title: str = "Evaluation",
    compiled: str | None = None,
    rival: str | None = None,
    notes: Sequence[str] = (),
) -> Report:
    """Put evaluations of the same rows side by side, in the order given.

    Args:
        compiled: the column that is judged; the last if not given.
        rival: the column it is judged against; the one before ``compiled`` if not given.
        notes: further sentences, such as the count of test readings.

    Raises:
        UserError: nothing to report, other rows in one column than in another, or no such column.
    """
    by_name = _same_rows(evaluations)
    names = list(by_name)
    compiled = compiled or names[-1]
    rival = rival or next(iter(names[names.index(compiled) - 1 :: -1]), None) if compiled in names else rival
    if missing := {n for n in (compiled, rival) if n is not None} - by_name.keys():
        raise UserError(f"the report has no column {sorted(missing)}: it has {', '.join(names)}")
    rival = None if rival == compiled else rival
    judged = by_name[compiled]
    differences = _differences(judged, by_name[rival], MEASURES) if rival else ()
    cheap = [e for n, e in by_name.items() if n not in (compiled, rival) and names.index(n) < names.index(compiled)]
    return Report(
        title=title,
        columns=tuple(names),
        versions=tuple(e.program_version for e in evaluations),
        compiled=compiled,
        rival=rival,
        n=len(judged.cases),
        conversations=judged.summary().conversations,
        data_fingerprint=judged.data_fingerprint,
        load_average=tuple(e.load_average for e in evaluations),
        lines=_lines(evaluations),
        differences=differences,
        sentences=(*_sample_sentences(judged), *_verdict_sentences(judged, differences, cheap), *notes),
    )


def paired_differences(a: Evaluation, b: Evaluation) -> tuple[Difference, ...]:
    """``a`` minus ``b`` on every measure that their rows raise.

    Raises:
        UserError: the two are of different rows.
    """
    _same_rows([a, b.model_copy(update={"name": f"{b.name} (b)"})] if a.name == b.name else [a, b])
    return _differences(a, b, MEASURES)


def _same_rows(evaluations: Sequence[Evaluation]) -> dict[str, Evaluation]:
    if not evaluations:
        raise UserError("there is nothing to report: give at least one evaluation")
    by_name = {e.name: e for e in evaluations}
    if len(by_name) != len(evaluations):
        raise UserError(f"two evaluations have the same name: {', '.join(e.name for e in evaluations)}")
    if len({e.data_fingerprint for e in evaluations}) > 1:
        sets = ", ".join(f"{e.name} on {e.data_fingerprint}" for e in evaluations)
        raise UserError(f"evaluations of different rows cannot be compared ({sets}): evaluate both on one file")
    return by_name


def _lines(evaluations: Sequence[Evaluation]) -> tuple[Line, ...]:
    found: list[Line] = []
    summaries = [evaluation.summary() for evaluation in evaluations]
    for name, unit, cells in (*_score_lines(summaries), *_latency_lines(evaluations)):
        if any(cell is not None for cell in cells):
            found.append(Line(measure=name, unit=unit, cells=tuple(cells)))
    return tuple(found)


def _score_lines(summaries: Sequence[Summary]) -> list[tuple[str, Unit, list[Estimate | None]]]:
    lines: list[tuple[str, Unit, list[Estimate | None]]] = []
    for field in STAGE_FIELDS:
        rows = [summary.stage(field.stage) for summary in summaries]
        lines.append((f"{field.stage} accuracy", "share", [row.accuracy if row else None for row in rows]))
        lines.append((f"{field.stage} macro-F1", "share", [row.macro_f1 if row else None for row in rows]))
    for measure in MEASURES[len(STAGE_FIELDS) :]:
        lines.append((measure.name, measure.unit, [getattr(summary, measure.score) for summary in summaries]))
    return lines


def _latency_lines(evaluations: Sequence[Evaluation]) -> list[tuple[str, Unit, list[Estimate | None]]]:
    """Latencies; none for a column whose answers came from a journal, whose times mean nothing."""
    timed = [None if e.replayed else e.summary().latency for e in evaluations]
    names = ("p50", "p90", "p95", "p99")
    return [(f"latency {name}", "ms", [t and getattr(t, name) for t in timed]) for name in names]


def _differences(a: Evaluation, b: Evaluation, measures: Sequence[Measure]) -> tuple[Difference, ...]:
    found = (_difference(a, b, measure) for measure in measures)
    return tuple(difference for difference in found if difference is not None)


def _difference(a: Evaluation, b: Evaluation, measure: Measure) -> Difference | None:
    ours = arising(a.cases, measure.score)
    if not ours:
        return None
    theirs: dict[str, Case] = {case.row_id: case for case in b.cases}
    paired = paired_difference(
        score_values(ours, measure.score).tolist(),
        score_values([theirs[case.row_id] for case in ours], measure.score).tolist(),
        [case.conversation for case in ours],
    )
    verdict = paired.verdict(higher_is_better=measure.higher_is_better)
    return Difference(measure=measure.name, unit=measure.unit, rival=b.name, paired=paired, verdict=verdict)


def _sample_sentences(evaluation: Evaluation) -> tuple[str, ...]:
    return (f"These numbers are of a sample: {evaluation.sample}",) if evaluation.sample else ()


def _verdict_sentences(
    judged: Evaluation, differences: Sequence[Difference], cheap: Sequence[Evaluation]
) -> tuple[str, ...]:
    main = [d for d in differences if d.measure in ("labels_right", "plan_right")]
    told = [f"{d.measure}: {judged.name} against {d.rival}: {d.verdict} ({format_difference(d)})." for d in main]
    return (*told, *(sentence for rival in cheap for sentence in _not_better(judged, rival)))


def _not_better(judged: Evaluation, rival: Evaluation) -> list[str]:
    """A sentence naming the measures on which a cheaper column is not beaten."""
    verdicts = [(d.measure, d.verdict) for d in _differences(judged, rival, _JUDGED)]
    sentences = []
    for verdict in ("worse", "no difference shown"):
        names = [measure for measure, found in verdicts if found == verdict]
        if names:
            sentences.append(f"{judged.name} against {rival.name}: {verdict} on {', '.join(names)}.")
    return sentences
