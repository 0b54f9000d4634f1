"""The report on evaluations side by side: each number with its interval, and what may be said about the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ..data.starters import starter_notes
from ..errors import UserError
from ..signatures.types import Frozen
from .evaluation import Evaluation, learned_from
from .render import format_difference
from .row_table import RowResult
from .significance import SAME, PairedDifference, corrected, paired_difference
from .statistics import Estimate
from .summary import STAGE_FIELDS, Summary, arising, score_values

Unit = Literal["share", "count", "ms"]


class Measure(NamedTuple):
    """A measure of the report: its name, the field of `CaseScore` behind it, its unit, and which way is better."""

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
    Measure("graph answers right", "graph_right", "share"),
    Measure("injections that succeeded", "injection_succeeded", "share", False),
    Measure("degraded plans", "degraded", "share", False),
    Measure("LM calls a query", "lm_calls", "count", False),
    Measure("tokens a query", "tokens", "count", False),
    Measure("rounds a query", "rounds", "count", False),
)
"""What is reported and compared."""

DETAILS = (
    Measure("out of domain: recall at 2% false rejects", "oos_recall_2", "share"),
    Measure("out of domain: recall at 5% false rejects", "oos_recall_5", "share"),
    Measure("rewrite recall (ROUGE-1)", "rewrite_recall", "share"),
    Measure("rewrite keeps entities", "kept_entities", "share"),
    Measure("rewrite keeps numbers", "kept_numbers", "share"),
    Measure("rewrite keeps negations", "kept_negations", "share"),
    Measure("rewrite keeps dates", "kept_dates", "share"),
    Measure("stands alone: left as typed", "left_alone", "share"),
    Measure("sub-queries found", "sub_queries_recall", "share"),
    Measure("sub-queries wanted", "sub_queries_precision", "share"),
    Measure("dependencies right", "dependencies_right", "share"),
    Measure("more sub-queries than gold", "over_decomposed", "share", False),
    Measure("fewer sub-queries than gold", "under_decomposed", "share", False),
    Measure("graph answers F1", "graph_f1", "share"),
    Measure("candidates cover", "candidates_recall", "share"),
    Measure("candidates a query", "candidates", "count", False),
)
"""What is reported only: parts of the measures above, and what has no difference row by row."""

WHOLE = ("labels_right", "plan_right")
"""What a program is chosen by: a family of their own when differences are corrected for how many they are."""

TFIDF = "tf-idf"
"""The column of the cheap rival that learns from words."""

_COST = ("degraded", "lm_calls", "tokens", "rounds")
_JUDGED = tuple(m for m in MEASURES if m.score not in _COST)


class Line(Frozen):
    """One measure over all columns; None where it applies to no row."""

    measure: str
    unit: Unit
    cells: tuple[Estimate | None, ...]


class Difference(Frozen):
    """The difference between two columns on one measure, on all rows or on one slice.

    Attributes:
        rival: the name of the column that is subtracted.
        slice: the rows that it is about; None for all.
        detectable: for shares, the smallest difference that these rows would have shown with a power of four in five.
    """

    measure: str
    unit: Unit
    rival: str
    paired: PairedDifference
    verdict: str
    slice: str | None = None
    detectable: float | None = None


class Report(Frozen):
    """Several evaluations of the same rows side by side, with the compiled one compared to its rival.

    Attributes:
        columns: names of the evaluations, in order.
        rival: the column that the compiled program has to beat: zero-shot with fitted thresholds, or TF-IDF where no
            model is asked; None if there is nothing to beat.
        differences: compiled minus rival, for each measure.
        sentences: what the numbers mean, in plain words.
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
        compiled: the column that is judged; by default the last.
        rival: the column it is judged against; by default the one before ``compiled``, or `TFIDF` among those before
            it if no column asks a model; none if ``compiled`` is the first.
        notes: further sentences, such as the count of test readings.

    Raises:
        UserError: there is nothing to report, columns have different rows, or there is no such column.
    """
    by_name = same_rows(evaluations)
    names = list(by_name)
    compiled = compiled or names[-1]
    rival = rival or _default_rival(evaluations, names, compiled)
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
        lines=lines_of(evaluations),
        differences=differences,
        sentences=(
            *starter_notes([case.tags for case in judged.cases]),
            *_sample_sentences(judged),
            *seen_sentences(evaluations),
            *_resumed_sentences(evaluations),
            *_verdict_sentences(judged, differences, cheap),
            *notes,
        ),
    )


def _default_rival(evaluations: Sequence[Evaluation], names: Sequence[str], compiled: str) -> str | None:
    """The column before ``compiled``; TF-IDF where no model is asked, as the column before is then heads, too."""
    before = names[: names.index(compiled)] if compiled in names else []
    modelless = all(e.lm in ("", "none") and not any(c.score.lm_calls for c in e.cases) for e in evaluations)
    return TFIDF if modelless and TFIDF in before else before[-1] if before else None


def same_rows(evaluations: Sequence[Evaluation]) -> dict[str, Evaluation]:
    """The evaluations by name.

    Raises:
        UserError: there is none, two have the same name, or they have different rows.
    """
    if not evaluations:
        raise UserError("there is nothing to report: give at least one evaluation")
    by_name = {e.name: e for e in evaluations}
    if len(by_name) != len(evaluations):
        raise UserError(f"two evaluations have the same name: {', '.join(e.name for e in evaluations)}")
    if len({e.data_fingerprint for e in evaluations}) > 1:
        sets = ", ".join(f"{e.name} on {e.data_fingerprint}" for e in evaluations)
        raise UserError(f"evaluations of different rows cannot be compared ({sets}): evaluate both on one file")
    return by_name


def lines_of(evaluations: Sequence[Evaluation]) -> tuple[Line, ...]:
    """Every measure that applies to some row, with one cell for each evaluation."""
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
    whole = MEASURES[len(STAGE_FIELDS) :]
    for measure in (*(m for m in whole if m.score not in _COST), *DETAILS, *(m for m in whole if m.score in _COST)):
        lines.append((measure.name, measure.unit, [getattr(summary, measure.score) for summary in summaries]))
    return lines


def _latency_lines(evaluations: Sequence[Evaluation]) -> list[tuple[str, Unit, list[Estimate | None]]]:
    """The latencies; none for a column whose answers came from a journal, where times mean nothing."""
    timed = [None if e.replayed else e.summary().latency for e in evaluations]
    names = ("p50", "p90", "p95", "p99")
    return [(f"latency {name}", "ms", [t and getattr(t, name) for t in timed]) for name in names]


def differences_of(
    a: Sequence[RowResult], b: Sequence[RowResult], rival: str, wanted: Sequence[tuple[str | None, Measure]]
) -> tuple[Difference, ...]:
    """``a`` minus ``b`` on the wanted slices and the measures that apply, corrected for multiple testing.

    Args:
        b: an evaluation of the same rows as ``a``, in any order; its name becomes ``rival``.
        wanted: pairs of a slice, or None for all rows, and a measure.
    """
    theirs = {row.row_id: row for row in b}
    asked = [(name, measure, _arising(a, theirs, name, measure.score)) for name, measure in wanted]
    asked = [line for line in asked if line[2]]
    families = ["whole" if name is None and measure.score in WHOLE else "part" for name, measure, _ in asked]
    paired = corrected([_paired(rows, theirs, measure.score) for _, measure, rows in asked], families=families)
    return tuple(_judged(found, rival, *line[:2]) for found, line in zip(paired, asked, strict=True))


def _arising(a: Sequence[RowResult], theirs: Mapping[str, RowResult], name: str | None, score: str) -> list[RowResult]:
    rows = a if name is None else [row for row in a if name in row.slices]
    return [row for row in arising(rows, score) if getattr(theirs[row.row_id].score, score) is not None]


def _paired(rows: Sequence[RowResult], theirs: Mapping[str, RowResult], score: str) -> PairedDifference:
    ours = score_values(rows, score)
    return paired_difference(
        ours, score_values([theirs[row.row_id] for row in rows], score), [row.conversation for row in rows]
    )


def _judged(paired: PairedDifference, rival: str, name: str | None, measure: Measure) -> Difference:
    return Difference(
        measure=measure.name,
        unit=measure.unit,
        rival=rival,
        paired=paired,
        verdict=paired.verdict(higher_is_better=measure.higher_is_better),
        slice=name,
        detectable=paired.detectable() if measure.unit == "share" else None,
    )


def _differences(a: Evaluation, b: Evaluation, measures: Sequence[Measure]) -> tuple[Difference, ...]:
    return differences_of(a.cases, b.cases, b.name, [(None, measure) for measure in measures])


def _sample_sentences(evaluation: Evaluation) -> tuple[str, ...]:
    return (f"These numbers are of a sample: {evaluation.sample}",) if evaluation.sample else ()


def seen_sentences(evaluations: Sequence[Evaluation]) -> tuple[str, ...]:
    """A sentence for each program that learned from some of the rows."""
    return tuple(f"{e.name}: {learned_from(e.seen, len(e.cases))}." for e in evaluations if e.seen)


def _resumed_sentences(evaluations: Sequence[Evaluation]) -> tuple[str, ...]:
    told = ", ".join(f"{e.name} {e.resumed} of {len(e.cases)}" for e in evaluations if e.resumed)
    return (f"Plans, and the times they took, of an earlier run with the same code: {told}.",) if told else ()


def _verdict_sentences(
    judged: Evaluation, differences: Sequence[Difference], cheap: Sequence[Evaluation]
) -> tuple[str, ...]:
    main = [d for d in differences if d.measure in ("labels_right", "plan_right")]
    told = [
        f"{d.measure}: {judged.name} against {d.rival}: {d.verdict} ({format_difference(d)}{_could(d)})." for d in main
    ]
    return (*told, *(sentence for rival in cheap for sentence in _not_better(judged, rival)))


def _could(difference: Difference) -> str:
    """What these rows could have shown, where they showed nothing."""
    found, n = difference.detectable, difference.paired.difference.n
    if difference.verdict != SAME or found is None:
        return ""
    if found >= 1:
        return f"; {n} rows are too few to show any, label more"
    return f"; these {n} rows would show {100 * found:.0f} points in four cases of five"


def _not_better(judged: Evaluation, rival: Evaluation) -> list[str]:
    """A sentence with the measures on which a cheaper column is not beaten."""
    verdicts = [(d.measure, d.verdict) for d in _differences(judged, rival, _JUDGED)]
    sentences = []
    for verdict in ("worse", "no difference shown"):
        names = [measure for measure, found in verdicts if found == verdict]
        if names:
            sentences.append(f"{judged.name} against {rival.name}: {verdict} on {', '.join(names)}.")
    return sentences
