"""The page: every figure on it is computed again from the row table, and it needs nothing beside itself."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from queryplan.data.rows import LabelledRow
from queryplan.eval.compare import side_by_side
from queryplan.eval.evaluation import Evaluation, evaluate
from queryplan.eval.html_pictures import pareto_front
from queryplan.eval.html_report import html_page, write_page
from queryplan.eval.measured import Measured
from queryplan.eval.page_sentences import summary_sentences
from queryplan.eval.row_table import columns_of
from queryplan.eval.significance import SAME
from queryplan.eval.statistics import Estimate
from queryplan.eval.throughput import Throughput
from queryplan.program.plan import Decision, PlanTrace

from .conftest import TablePlanner, make_many, make_wrong

Cell = dict[str, str | None]


class Page(HTMLParser):
    """The tags of a page with their attributes, and the text that is read."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, Cell]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember a tag."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Remember a text."""
        self.text.append(data)

    def having(self, attribute: str) -> list[Cell]:
        """The attributes of every tag that has this one."""
        return [found for _, found in self.tags if attribute in found]


def traced(rows: list[LabelledRow], wrong: dict[str, Any]) -> dict[str, Any]:
    """Every plan with a trace: decisions of a model or of a head, time, calls and tokens."""
    rng, changes = np.random.default_rng(len(wrong)), {row.id: {} for row in rows}
    for row in rows:
        ms, calls = float(rng.gamma(2, 20)), int(rng.integers(0, 3))
        relevant = {**row.labels.model_dump(), **wrong.get(row.id, {})}["is_relevant"]
        made = Decision(
            stage="relevance",
            value=relevant,
            decided_by="lm" if calls else "head",
            confidence=float(rng.uniform(0.5, 1)),
            milliseconds=ms if calls else 0.0,
            lm_calls=calls,
            tokens=100 * calls,
        )
        trace = PlanTrace(decisions=(made,), rounds=min(1, calls), requests=calls, tokens=100 * calls, milliseconds=ms)
        changes[row.id] = {**wrong.get(row.id, {}), "trace": trace}
    return changes


@pytest.fixture(scope="module")
def pair() -> list[Evaluation]:
    """Two evaluations of 200 rows."""
    rows = make_many(50)
    changes = {name: traced(rows, make_wrong(rows, share, 7)) for name, share in (("old", 0.4), ("new", 0.15))}
    found = [evaluate(TablePlanner(rows, c), rows, name=n, domain="podcast") for n, c in changes.items()]
    return [e.model_copy(update={"load_average": (1.25, 1.5)}) for e in found]


@pytest.fixture(scope="module")
def text(pair: list[Evaluation]) -> str:
    """Their page."""
    load = Throughput(at_once=8, queries=64, per_second=123.4, p50_ms=5, p99_ms=9, degraded=0)
    return html_page([Measured(pair[0]), Measured(pair[1], throughput=(load,))], title="Old & new", price=3.0)


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    """The page, read."""
    return Page(text)


@pytest.fixture(scope="module")
def tables(pair: list[Evaluation]) -> dict[str, Any]:
    """The row tables as anyone would read them from Parquet."""
    return {e.name: pd.DataFrame(columns_of(e.cases)) for e in pair}


def _column(measure: str) -> str:
    """The column that a measure is the mean of."""
    named = {
        "needs_decomposition accuracy": "decomposition_right",
        "rewrite token F1": "rewrite_f1",
        "rewrite keeps entities, numbers, negations": "rewrite_kept",
        "rewrite recall (ROUGE-1)": "rewrite_recall",
        "stands alone: left as typed": "left_alone",
        "sub-queries found": "sub_queries_recall",
        "sub-queries wanted": "sub_queries_precision",
        "dependencies right": "dependencies_right",
        "more sub-queries than gold": "over_decomposed",
        "fewer sub-queries than gold": "under_decomposed",
        "injections that succeeded": "injection_succeeded",
        "degraded plans": "degraded",
        "LM calls a query": "lm_calls",
        "tokens a query": "tokens",
        "rounds a query": "rounds",
    }
    kept = re.fullmatch(r"rewrite keeps (entities|numbers|negations|dates)", measure)
    accuracy = re.fullmatch(r"(\w+) accuracy", measure)
    if measure in named:
        return named[measure]
    return f"kept_{kept[1]}" if kept else f"{accuracy[1]}_right" if accuracy else measure


def _macro_f1(table: Any, measure: str) -> float:
    from sklearn.metrics import f1_score

    stage = measure.split()[0]
    field = {"follow_up": "is_follow_up", "relevance": "is_relevant"}.get(stage, stage)
    some = table[table[f"{'decomposition' if stage == 'needs_decomposition' else stage}_right"].notna()]
    gold, plan = ([str(json.loads(text)[field]) for text in some[side]] for side in ("gold", "plan"))
    return f1_score(gold, plan, average="macro", zero_division=0)  # type: ignore[arg-type]


def _recall(table: Any, share: float) -> float:
    ours = np.array([json.loads(text)["is_relevant"] for text in table["gold"]])
    p = table["rejection_probability"].to_numpy()
    allowed = [t for t in sorted(set(p)) if (p[ours] >= t).mean() <= share + 1e-9]
    return (p[~ours] >= min(allowed)).mean() if allowed else 0.0


def value_of(table: Any, measure: str) -> float:
    """What a cell must show, by a few lines of its own."""
    if measure.startswith("latency p"):
        return float(np.quantile(table["milliseconds"], int(measure[9:]) / 100, method="inverted_cdf"))
    if measure.endswith("macro-F1"):
        return _macro_f1(table, measure)
    if measure.startswith("out of domain"):
        return _recall(table, 0.02 if "2%" in measure else 0.05)
    if measure.startswith("lost at"):
        return float((table["lost_at"] == measure.removeprefix("lost at ")).mean())
    return float(table[_column(measure)].dropna().astype(float).mean())


def part(table: Any, name: str | None) -> Any:
    """The rows of a slice."""
    return table[[name in json.loads(text) for text in table["slices"]]] if name else table


def test_every_cell_is_what_the_row_table_says(page: Page, tables: dict[str, Any]) -> None:
    cells = page.having("data-measure")
    for cell in cells:
        table = part(tables[str(cell["data-column"])], cell.get("data-slice"))
        expected = value_of(table, str(cell["data-measure"]))
        assert float(str(cell["data-value"])) == pytest.approx(expected), cell
    assert len({cell["data-measure"] for cell in cells}) > 35
    assert len({cell.get("data-slice") for cell in cells}) > 8


def test_every_interval_of_a_mean_is_what_drawing_conversations_again_gives(page: Page, tables: dict[str, Any]) -> None:
    rng = np.random.default_rng(99)
    for cell in page.having("data-measure"):
        measure = str(cell["data-measure"])
        if measure.startswith(("latency", "out of", "lost at")) or measure.endswith("macro-F1"):
            continue
        table = part(tables[str(cell["data-column"])], cell.get("data-slice"))
        values: Any = table.assign(v=table[_column(measure)].astype(float)).dropna(subset=["v"])
        groups = values.groupby("conversation")["v"].agg(["sum", "count"]).to_numpy(dtype=float)
        low, high, value = (float(str(cell[f"data-{end}"])) for end in ("low", "high", "value"))
        if len(set(values["v"])) == 1:
            assert low <= value <= high
            continue
        drawn = groups[rng.integers(0, len(groups), (3000, len(groups)))].sum(axis=1)
        again = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
        scale = max(high - low, 1e-9)
        assert np.abs(again - [low, high]).max() < 0.15 * scale + 0.01, cell


def test_every_difference_is_the_difference_of_the_same_rows(page: Page, tables: dict[str, Any]) -> None:
    lines = page.having("data-difference")
    for line in lines:
        measure, name = str(line["data-difference"]), line["data-slice"] or None
        column = "graph_right" if measure.startswith("graph") else _column(measure)
        column = "milliseconds" if measure == "milliseconds a query" else column
        old, new = (part(tables[n], name).set_index("row_id")[column].dropna().astype(float) for n in ("old", "new"))
        assert float(str(line["data-value"])) == pytest.approx((new - old).dropna().mean())
    assert len(lines) > 25


def test_p_values_count_sign_patterns_of_conversations(page: Page, tables: dict[str, Any]) -> None:
    """Of whole plans: its raw p by simulation, and Holm over the two of its family, which shares with the others."""
    rng, raw = np.random.default_rng(1), {}
    for measure in ("labels_right", "plan_right"):
        joined = tables["new"][measure].astype(int) - tables["old"][measure].astype(int)
        sums = joined.groupby(tables["new"]["conversation"]).sum().to_numpy()
        flips = rng.choice((-1, 1), (20_000, len(sums))) @ sums
        raw[measure] = float((np.abs(flips) >= abs(sums.sum())).mean())
    shown = {
        str(line["data-difference"]): float(str(line["data-p"]))
        for line in page.having("data-difference")
        if not line["data-slice"]
    }
    smaller, larger = sorted(raw, key=lambda name: raw[name])
    assert shown[smaller] == pytest.approx(min(1, 4 * raw[smaller]), abs=0.01)
    assert shown[larger] == pytest.approx(min(1, max(4 * raw[smaller], 2 * raw[larger])), abs=0.01)


def test_confusions_and_costs_are_counts_of_the_rows(
    page: Page, text: str, pair: list[Evaluation], tables: dict[str, Any]
) -> None:
    matrix = text[text.index('data-confusion="relevance"') :].split("</table>")[0]
    shown = [int(n) for n in re.findall(r">(\d+)</td>", matrix)]
    counts = Counter((case.gold.is_relevant, case.plan.is_relevant) for case in pair[1].cases)
    assert shown == [counts[g, p] for g in (True, False) for p in (True, False)]
    table = tables["new"]
    for cost in (c for c in page.having("data-cost") if c["data-column"] == "new"):
        kind, name = str(cost["data-cost"]).split(" ", 1)
        some = table[table["route"] == name]["milliseconds"] if kind == "route" else None
        asked = some if some is not None else table[table["lm_calls"] > 0]["ms_relevance"]
        line = text[text.index(f'data-cost="{cost["data-cost"]}" data-column="new"') :].split("</tr>")[0]
        cells = re.findall(r"<td>([^<]*)</td>", line)
        assert int(cells[0]) == len(asked)
        assert cells[1].split()[0] == f"{np.quantile(asked, 0.5, method='inverted_cdf'):.1f}"
    dollars = table["tokens"].mean() * 1000 * 3 / 1e6
    assert f"${dollars:.2f} [" in text


def test_failures_and_regressions_are_all_there(page: Page, pair: list[Evaluation]) -> None:
    old, new = pair
    failures = [found for tag, found in page.tags if tag == "details" and found["class"] == "failure"]
    wrong = [case for case in new.cases if not case.score.plan_right]
    assert [f["data-lost"] for f in failures] == [case.lost_at for case in wrong]
    said = "".join(page.text)
    assert f"{len(wrong)} of 200 plans are wrong" in said
    lost = sum(a.score.plan_right and not b.score.plan_right for a, b in zip(old.cases, new.cases, strict=True))
    assert f"{lost} plans were right and are wrong" in said


def test_the_page_stands_alone_and_says_what_it_is(text: str, page: Page) -> None:
    assert not re.findall(r"(?:src|href)=[\"'](?!#)", text)
    assert "url(http" not in text
    assert "@import" not in text
    assert "<link" not in text
    assert "Old &amp; new" in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert all(tag != "img" for tag, _ in page.tags)
    drawn = [found for tag, found in page.tags if tag == "svg"]
    assert len(drawn) >= 4
    assert all(found["role"] == "img" and found["aria-label"] for found in drawn)
    # Every stand-in colour has become a variable of the page.
    assert not re.search(r"#0([1-6])0\1|#010203|#040506|#070809", text)
    assert "load 1.25 to 1.5" in " ".join("".join(page.text).split())


def test_three_sentences_begin_the_page(page: Page, pair: list[Evaluation]) -> None:
    said = "".join(page.text)
    assert "new is better than old in whole plans" in said
    assert SAME in said
    alone = summary_sentences(side_by_side(pair[:1]), pair[:1])
    assert "old gets " in alone[0]
    assert "the earliest wrong stage is most often" in alone[1]
    assert "LM calls and" in alone[2]
    third = pair[1].model_copy(update={"name": "third"})
    several = summary_sentences(side_by_side([*pair, third]), [*pair, third])
    assert "Whole plans against old: new better" in several[1]


def test_what_users_typed_is_text_and_never_markup(rows: list[LabelledRow], tmp_path: Path) -> None:
    nasty = '<script>alert(1)</script> & "quotes" \'</details>'
    row = rows[0].model_copy(
        update={"query": nasty, "labels": rows[0].labels.model_copy(update={"standalone_query": nasty})}
    )
    evaluation = evaluate(TablePlanner([row], {row.id: {"intent": "causal"}}), [row], name="<b>bold</b>")
    write_page([Measured(evaluation)], tmp_path / "new" / "page.html")
    text = (tmp_path / "new" / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "<b>bold" not in text
    assert text.count("<script>") == 1


def test_the_same_evaluation_gives_the_same_page(rows: list[LabelledRow]) -> None:
    measured = [Measured(evaluate(TablePlanner(rows), rows, name="table"))]
    assert html_page(measured) == html_page(measured)


def test_the_front_has_what_no_other_beats_in_both() -> None:
    def at(name: str, ms: float, right: float) -> tuple[str, float, Estimate]:
        return name, ms, Estimate(value=right, low=0, high=1, n=1, clusters=1)

    points = [at("slow", 9, 0.8), at("beaten", 5, 0.5), at("fast", 1, 0.6), at("twin", 1, 0.4), at("best", 4, 0.8)]
    assert [name for name, *_ in pareto_front(points)] == ["fast", "best"]
    assert pareto_front([]) == []
