"""The page: what stands on it, and that it needs nothing beside itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from queryplan.data.rows import LabelledRow
from queryplan.eval.compare import side_by_side
from queryplan.eval.evaluation import Evaluation, evaluate
from queryplan.eval.measured import Measured
from queryplan.eval.oracle import OracleLadder, Rung
from queryplan.eval.page.html_pictures import pareto_front
from queryplan.eval.page.html_report import html_page, write_page
from queryplan.eval.page.sentences import summary_sentences
from queryplan.eval.significance import SAME, PairedDifference
from queryplan.eval.statistics import Estimate

from ..conftest import TablePlanner
from .reading import Page


def test_the_ladder_and_the_throughput_stand_there_as_they_were_measured(pair: list[Evaluation], text: str) -> None:
    assert "<td>8</td><td>64</td><td>123.4</td><td>5.0</td><td>9.0</td>" in text
    rungs = [_rung(None, 0.5), _rung("follow_up", 0.6), _rung("graph", 1.0)]
    short = OracleLadder(name="old", program_version="v", data_fingerprint="d", rungs=tuple(rungs[:2]))
    long = OracleLadder(name="new", program_version="v", data_fingerprint="d", rungs=tuple(rungs))
    shown = Page(html_page([Measured(pair[0], short), Measured(pair[1], long)]))
    cells = {(c["data-rung"], c["data-column"]): float(str(c["data-value"])) for c in shown.having("data-rung")}
    assert cells == {
        ("nothing", "old"): 0.5,
        ("follow_up", "old"): 0.6,
        ("nothing", "new"): 0.5,
        ("follow_up", "new"): 0.6,
        ("graph", "new"): 1.0,
    }
    assert [float(str(c["data-gain"])) for c in shown.having("data-gain")] == pytest.approx([0.1, 0.1, 0.4])
    assert "a plan is right only with the right answers" in "".join(shown.text)


def _rung(stage: str | None, right: float) -> Rung:
    one = Estimate(value=right, low=0, high=1, n=10, clusters=5)
    step = {"follow_up": 0.1, "graph": 0.4}.get(stage or "", 0.0)
    gain = PairedDifference(difference=one.model_copy(update={"value": step}), p_value=1.0) if stage else None
    return Rung(stage=stage, labels_right=one, plan_right=one, gain=gain, all_right=one)


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
