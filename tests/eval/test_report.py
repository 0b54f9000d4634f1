"""What a report says, in a terminal, in Markdown and as data."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.rows import LabelledRow
from queryplan.errors import UserError
from queryplan.eval.evaluation import Evaluation, evaluate
from queryplan.eval.page.confusion_pictures import write_confusions
from queryplan.eval.render import format_difference, format_estimate, format_rows, to_markdown, to_rich
from queryplan.eval.report import Report, build_report
from queryplan.eval.statistics import Estimate

Make = Callable[..., Any]


@pytest.fixture
def columns(rows: list[LabelledRow], table_planner: Make) -> list[Evaluation]:
    """A poor, a middling and a perfect column."""
    poor = {row.id: {"intent": "causal"} for row in rows if row.labels.is_relevant}
    middling = {name: poor[name] for name in list(poor)[::2]}
    made = {"constant": poor, "zero-shot": middling, "compiled": {}}
    return [evaluate(table_planner(rows, wrong), rows, name=name) for name, wrong in made.items()]


def text_of(report: Report) -> str:
    """The report as a terminal of 200 columns shows it."""
    from rich.console import Console

    shown = StringIO()
    Console(width=200, file=shown).print(to_rich(report))
    return shown.getvalue()


def test_every_number_has_its_interval_and_columns_keep_their_order(columns: list[Evaluation]) -> None:
    report = build_report(columns, title="podcast")
    assert report.columns == ("constant", "zero-shot", "compiled")
    line = next(line for line in report.lines if line.measure == "plan_right")
    assert [round(cell.value, 3) for cell in line.cells if cell] == [0.333, 0.667, 1.0]
    shown = text_of(report)
    assert "100% [63, 100]" in shown
    assert "24 rows in 8 conversations" in shown
    assert shown.index("constant") < shown.index("zero-shot") < shown.index("compiled")


def test_the_compiled_program_is_judged_against_the_column_before_it(columns: list[Evaluation]) -> None:
    report = build_report(columns)
    assert (report.compiled, report.rival) == ("compiled", "zero-shot")
    verdicts = {d.measure: d.verdict for d in report.differences}
    assert verdicts["plan_right"] == "better"
    assert verdicts["relevance accuracy"] == "no difference shown"
    assert any(s.startswith("plan_right: compiled against zero-shot: better (+33.3 points [") for s in report.sentences)


def test_where_no_model_is_asked_the_rival_is_tf_idf(columns: list[Evaluation]) -> None:
    poor, middling, compiled = columns
    heads = [poor.model_copy(update={"name": "tf-idf"}), middling.model_copy(update={"name": "best effort"}), compiled]
    assert build_report(heads).rival == "tf-idf"
    assert build_report(heads, rival="best effort").rival == "best effort"
    asked = [*heads[:2], compiled.model_copy(update={"lm": "local:1.5b"})]
    assert build_report(asked).rival == "best effort"


def test_a_judged_column_with_none_before_it_has_no_rival(columns: list[Evaluation]) -> None:
    report = build_report(columns, compiled="constant")
    assert (report.rival, report.differences) == (None, ())


def test_a_report_admits_where_a_cheap_column_is_not_beaten(columns: list[Evaluation]) -> None:
    sentences = build_report(columns).sentences
    assert any(
        s.startswith("compiled against constant: no difference shown on follow_up accuracy, relevance")
        for s in sentences
    )
    turned = build_report(columns[::-1]).sentences
    assert any(s.startswith("plan_right: constant against zero-shot: worse") for s in turned)
    assert any(s.startswith("constant against compiled: worse on intent accuracy") for s in turned)


def test_other_columns_can_be_chosen(columns: list[Evaluation]) -> None:
    report = build_report(columns, compiled="zero-shot", rival="constant")
    assert {d.rival for d in report.differences} == {"constant"}
    with pytest.raises(UserError, match="no column"):
        build_report(columns, compiled="other")


def test_a_sample_and_further_notes_are_named(columns: list[Evaluation]) -> None:
    sampled = [e.model_copy(update={"sample": "24 of 900 rows, every tenth conversation."}) for e in columns]
    report = build_report(sampled, notes=["The test set has been read 3 times."])
    for text in (text_of(report), to_markdown(report)):
        assert "These numbers are of a sample: 24 of 900 rows, every tenth conversation." in text
        assert "The test set has been read 3 times." in text


def test_one_column_is_a_report_without_differences(columns: list[Evaluation]) -> None:
    report = build_report(columns[:1])
    assert report.rival is None
    assert report.differences == ()
    assert "minus" not in to_markdown(report)


def test_columns_of_other_rows_or_of_one_name_are_refused(
    columns: list[Evaluation], rows: list[LabelledRow], table_planner: Make
) -> None:
    with pytest.raises(UserError, match="different rows"):
        build_report([columns[0], evaluate(table_planner(rows), rows[:6], name="few")])
    with pytest.raises(UserError, match="same name"):
        build_report([columns[0], columns[0]])
    with pytest.raises(UserError, match="nothing to report"):
        build_report([])


def test_markdown_has_one_row_a_measure_and_the_data_is_json(columns: list[Evaluation]) -> None:
    report = build_report(columns, title="podcast")
    text = to_markdown(report)
    assert text.startswith("# podcast\n")
    assert "| measure | rows | constant | zero-shot | compiled |" in text
    assert "## compiled minus zero-shot, paired" in text
    assert Report.model_validate(json.loads(json.dumps(report.to_dict()))) == report


def test_every_line_says_of_how_many_rows_it_is(columns: list[Evaluation]) -> None:
    report = build_report(columns)
    for line in report.lines:
        counts = {cell.n for cell in line.cells if cell is not None}
        unit = " (ms)" if line.unit == "ms" else ""
        said = " to ".join(map(str, sorted(counts)))
        assert f"| {line.measure}{unit} | {said} |" in to_markdown(report)
    for found in report.differences:
        assert f"| {found.measure} | {found.paired.difference.n} | " in to_markdown(report)
    assert "rows" in text_of(report).splitlines()[2]


def test_rows_that_columns_have_in_other_numbers_are_a_range() -> None:
    of = [Estimate(value=0.5, low=0.1, high=0.9, n=n, clusters=1) for n in (12, 3, 7)]
    assert format_rows([of[0], None, of[1], of[2]]) == "3 to 12"
    assert format_rows([of[1], None, of[1]]) == "3"
    assert format_rows([None, None]) == "–"


@pytest.mark.parametrize("conversations", [1, 2, 5, 6])
def test_where_too_few_conversations_differ_no_p_value_is_shown(
    rows: list[LabelledRow], table_planner: Make, conversations: int
) -> None:
    names = list(dict.fromkeys(row.conversation for row in rows))[:conversations]
    wrong = {row.id: {"intent": "causal"} for row in rows if row.labels.is_relevant and row.conversation in names}
    few = [evaluate(table_planner(rows, w), rows, name=n) for n, w in (("before", wrong), ("after", {}))]
    report = build_report(few)
    found = next(d for d in report.differences if d.measure == "plan_right")
    said = f"no test: {conversations} conversations differ, 6 must"
    assert found.paired.changed == conversations
    assert (said in format_difference(found)) is (conversations < 6)
    assert ("p = " in format_difference(found)) is (conversations == 6)
    sentence = next(s for s in report.sentences if s.startswith("plan_right: after against before"))
    assert ("no difference shown" in sentence) is ("four cases of five" in sentence)


@pytest.mark.parametrize("count", [0, 1, 24])
def test_a_report_says_how_many_rows_are_starters(rows: list[LabelledRow], table_planner: Make, count: int) -> None:
    marked = [row.model_copy(update={"tags": ("starter",)}) for row in rows[:count]] + rows[count:]
    sentences = build_report([evaluate(table_planner(marked, {}), marked, name="one")]).sentences
    said = [s for s in sentences if "starters from queryplan new-domain" in s]
    assert [s.split(" rows")[0] for s in said] == ([f"{count} of 24"] if count else [])


def test_rows_that_can_show_nothing_ask_for_more(rows: list[LabelledRow], table_planner: Make) -> None:
    one = [row for row in rows if row.conversation == rows[0].conversation][:2]
    report = build_report([evaluate(table_planner(one, {}), one, name=name) for name in ("before", "after")])
    said = f"; {len(one)} rows are too few to show any, label more)."
    assert next(s for s in report.sentences if s.startswith("plan_right")).endswith(said)


def test_names_with_markup_are_shown_as_they_are(columns: list[Evaluation]) -> None:
    named = [e.model_copy(update={"name": f"[red]{e.name}|"}) for e in columns]
    report = build_report(named)
    assert "[red]compiled|" in text_of(report)
    assert "[red]compiled\\|" in to_markdown(report)


def test_estimates_are_short() -> None:
    estimate = Estimate(value=0.824, low=0.75, high=0.881, n=50, clusters=20)
    assert format_estimate(estimate, "share") == "82% [75, 88]"
    assert format_estimate(estimate, "count") == "0.8 [0.8, 0.9]"
    assert format_estimate(None, "share") == "–"


def test_confusions_are_pictures_of_each_decision(columns: list[Evaluation], tmp_path: Path) -> None:
    files = write_confusions(columns[0], tmp_path / "pictures", formats=("png", "svg"))
    assert len(files) == 12
    assert (tmp_path / "pictures" / "confusion-intent.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "pictures" / "confusion-intent.svg").read_text()
