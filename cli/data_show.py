"""Tables and pictures of what ``queryplan data`` finds in labelled sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..program.context import printable
from .show import escape

if TYPE_CHECKING:
    from ..data.checking import CheckReport, Finding
    from ..data.statistics import SetStatistics, Spread
    from ..eval.giveaway import Giveaway
    from ..eval.statistics import Estimate


def title_of(source: str, fingerprints: Mapping[str, str]) -> str:
    """A title that names the source and the content hashes of its splits."""
    return f"{source} ({', '.join(f'{name} {value}' for name, value in fingerprints.items())})"


def check_tables(report: CheckReport, given: Sequence[Giveaway]) -> Group:
    """The tables of everything that a check found."""
    parts: list[RenderableType] = [_labels(report.statistics, title_of(report.source, report.fingerprints))]
    if given:
        parts.append(_giveaway(given))
    if report.findings:
        parts += [_findings(report.findings), *(_examples(finding) for finding in report.findings)]
    parts += [Text(f"note: {note}", style="yellow") for note in report.notes]
    verdict = f"to be mended: {'; '.join(finding.kind for finding in report.findings)}"
    parts.append(Text(verdict, style="bold red") if report.findings else Text("clean", style="bold green"))
    return Group(*parts)


def statistics_tables(statistics: SetStatistics, title: str) -> Group:
    """The tables of what a labelled set consists of."""
    return Group(_splits(statistics, title), _labels(statistics, "labels, of the rows that raise the question"))


def draw(report: CheckReport, given: Sequence[Giveaway], path: Path) -> None:
    """Draw what a check found into a picture file."""
    from ..data.drawing import draw_set

    bars: dict[str, dict[str, float]] = {}
    for one in given:
        bars[one.label] = {"majority": one.majority.value, "TF-IDF": one.tfidf.value}
        if one.balanced_accuracy and one.auroc:
            bars[one.label] |= {
                "balanced accuracy, later turns": one.balanced_accuracy.value,
                "AUROC, later turns": one.auroc.value,
            }
    path.parent.mkdir(parents=True, exist_ok=True)
    draw_set(report.statistics, bars, title_of(report.source, report.fingerprints), path)


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=escape(title), title_justify="left")
    for n, head in enumerate(heads):
        table.add_column(escape(head), justify="left" if n == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    return table


def _labels(statistics: SetStatistics, title: str) -> Table:
    """Counts and shares by label, value and split; whole rows first."""
    splits = statistics.splits
    rows = [
        ["rows", *(f"{split.rows:,}" for split in splits.values())],
        ["conversations", *(f"{split.conversations:,}" for split in splits.values())],
        ["later turns", *(_share(split.later_turns, split.rows) for split in splits.values())],
    ]
    for label, values in statistics.labels.items():
        totals = {name: sum(by[name] for by in values.values()) for name in splits}
        for value, by in values.items():
            rows.append([f"{label}: {value}", *(_share(by[name], totals[name]) for name in splits)])
    return _table(title, ["", *splits], rows)


def _splits(statistics: SetStatistics, title: str) -> Table:
    splits = list(statistics.splits.values())
    rows = [
        ["rows", *(f"{s.rows:,}" for s in splits)],
        ["conversations", *(f"{s.conversations:,}" for s in splits)],
        ["later turns", *(f"{s.later_turns:,}" for s in splits)],
        ["words (median, 95%, most)", *(_spread(s.words) for s in splits)],
        ["characters", *(_spread(s.characters) for s in splits)],
        ["turns of a conversation", *(_spread(s.turns) for s in splits)],
        ["languages", *(_most(s.languages) for s in splits)],
        ["tags", *(_most(s.tags) for s in splits)],
        ["gold", *(_most(s.gold) for s in splits)],
    ]
    return _table(title, ["", *statistics.splits], rows)


def _giveaway(given: Sequence[Giveaway]) -> Table:
    heads = ["label", "rows", "majority", "TF-IDF", "later turns", "balanced accuracy", "AUROC"]
    rows = [
        [
            f"{one.label} ({one.values} values)",
            f"{one.tfidf.n:,}",
            _estimate(one.majority),
            _estimate(one.tfidf),
            f"{one.later_rows:,}",
            _estimate(one.balanced_accuracy),
            _estimate(one.auroc),
        ]
        for one in given
    ]
    title = "what the query alone gives away (train and dev, cross-validated; later turns at the right)"
    return _table(title, heads, rows)


def _findings(findings: Sequence[Finding]) -> Table:
    rows = [[f.kind, f"{'at least ' if f.more else ''}{f.count:,}", f.advice] for f in findings]
    return _table("to be mended", ["what", "how many", "how"], rows)


def _examples(finding: Finding) -> Text:
    more = finding.count - len(finding.examples)
    lines = [f"  {printable(example)}" for example in finding.examples]
    return Text("\n".join([finding.kind, *lines, *([f"  … and {more:,} more"] if more else [])]))


def _share(count: int, total: int) -> str:
    return f"{count:,} ({count / total:.0%})" if total else "–"


def _spread(spread: Spread) -> str:
    return f"{spread.median:g}, {spread.p95:g}, {spread.largest:,}"


def _most(counts: Mapping[str, int], shown: int = 8) -> str:
    parts = [f"{name} {count:,}" for name, count in list(counts.items())[:shown]]
    return ", ".join(parts + ([f"and {len(counts) - shown} others"] if len(counts) > shown else [])) or "–"


def _estimate(estimate: Estimate | None) -> str:
    return "–" if estimate is None else estimate.bracketed(".2f")
