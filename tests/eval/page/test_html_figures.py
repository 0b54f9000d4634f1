"""Every figure on the page is computed again from the row table."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from queryplan.eval.compare import compare
from queryplan.eval.evaluation import Evaluation
from queryplan.eval.row_answers import reliabilities, risk_curves
from scipy.stats import norm

from .reading import Page


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
    for stage, field in STAGES:
        matrix = text[text.index(f'data-confusion="{stage}"') :].split("</table>")[0]
        labels = re.findall(r'<th scope="col">([^<]*)</th>', matrix)
        shown = [int(n) for n in re.findall(r">(\d+)</td>", matrix)]
        some = [case for case in pair[1].cases if _arises(stage, case.gold)]
        counts = Counter((str(getattr(case.gold, field)), str(getattr(case.plan, field))) for case in some)
        assert shown == [counts[g, p] for g in labels for p in labels]
        assert sum(shown) == len(some)
    table = tables["new"]
    for cost in (c for c in page.having("data-cost") if c["data-column"] == "new"):
        kind, name = str(cost["data-cost"]).split(" ", 1)
        some = table[table["route"] == name] if kind == "route" else table[table["lm_calls"] > 0]
        times = some["milliseconds" if kind == "route" else "ms_relevance"]
        line = text[text.index(f'data-cost="{cost["data-cost"]}" data-column="new"') :].split("</tr>")[0]
        cells = [cell.split()[0] for cell in re.findall(r"<td>([^<]*)</td>", line)]
        quantiles = [f"{np.quantile(times, q, method='inverted_cdf'):.1f}" for q in (0.5, 0.9, 0.99)]
        assert cells == [str(len(some)), *quantiles, f"{some['lm_calls'].mean():.1f}", f"{some['tokens'].mean():.1f}"]
    dollars = ((table["tokens"] - table["completion_tokens"]) * 3 + table["completion_tokens"] * 12).mean() / 1000
    assert f"A thousand plans cost ${dollars:.2f} [" in text
    assert f"{100 * table['wasted_calls'].sum() / table['lm_calls'].sum():.0f} % of requests" in text


STAGES = (
    ("follow_up", "is_follow_up"),
    ("relevance", "is_relevant"),
    ("complexity", "complexity"),
    ("intent", "intent"),
    ("needs_decomposition", "needs_decomposition"),
    ("rejection_kind", "rejection_kind"),
)


def _arises(stage: str, gold: Any) -> bool:
    """Whether a decision is asked for: three of an own query only, the kind of rejection of others only."""
    if stage in ("follow_up", "relevance"):
        return True
    return gold.is_relevant == (stage != "rejection_kind")


def test_the_counts_of_slices_rows_and_conversations_are_those_of_the_table(
    page: Page, tables: dict[str, Any], text: str
) -> None:
    table = tables["new"]
    for cell in page.having("data-rows"):
        assert int(str(cell["data-rows"])) == len(part(table, str(cell["data-slice"])))
    conversations = table["conversation"].nunique()
    assert f"{len(table)} rows in {conversations} conversations" in text
    for line in page.having("data-p"):
        assert 0 <= float(str(line["data-p"])) <= 1


def test_what_could_have_been_shown_is_a_normal_approximation_over_conversations(
    pair: list[Evaluation], tables: dict[str, Any], text: str
) -> None:
    """Of a share on all rows: (z(1 - alpha/2) + z(0.8)) standard errors, alpha shared by its family."""
    old, new = (tables[n].set_index("row_id") for n in ("old", "new"))
    gained = new["plan_right"].astype(int) - old["plan_right"].astype(int)
    sums = gained.groupby(new["conversation"]).agg(["sum", "count"])
    rest = sums["sum"] - gained.mean() * sums["count"]
    k = len(sums)
    error = np.sqrt(k / (k - 1) * (rest**2).sum()) / len(gained)
    difference = next(d for d in compare(pair).comparisons[0].differences if d.measure == "plan_right" and not d.slice)
    assert difference.paired.family == 4
    expected = (norm.ppf(1 - 0.05 / 4 / 2) + norm.ppf(0.8)) * error
    assert difference.detectable == pytest.approx(expected)
    line = text[text.index('data-difference="plan_right" data-later="new" data-slice=""') :].split("</tr>")[0]
    assert f"<td>{100 * expected:.1f}</td>" in line


def test_calibration_and_risk_are_drawn_from_the_decisions_of_the_rows(
    pair: list[Evaluation], tables: dict[str, Any]
) -> None:
    table = tables["new"]
    certain = np.array([json.loads(text)["trace"]["decisions"][0]["confidence"] for text in table["plan"]])
    right = table["relevance_right"].to_numpy(dtype=bool)
    (found,) = [one for one in reliabilities(pair[1].cases) if one.stage == "relevance"]
    assert sum(b.right.n for b in found.bins) == len(table)
    weighed = sum(b.right.n * b.certainty for b in found.bins) / len(table)
    assert weighed == pytest.approx(certain.mean())
    assert sum(b.right.n * b.right.value for b in found.bins) == pytest.approx(right.sum())
    (curve,) = [one for one in risk_curves(pair[1].cases) if one.stage == "relevance"]
    surest = np.argsort(-certain, kind="stable")
    for point in curve.points:
        taken = surest[: round(point.coverage * len(table))]
        assert point.risk == pytest.approx((~right[taken]).mean())
