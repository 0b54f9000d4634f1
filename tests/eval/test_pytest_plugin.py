"""A program under pytest: one test a slice, with figures and the worst rows where it fails."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

import pytest
from queryplan.data.card import SHIPPED, load_card
from queryplan.data.learned import prints_of
from queryplan.data.rows import LabelledRow, read_rows, write_rows
from queryplan.eval import pytest_plugin
from queryplan.eval.measuring import Measuring, Wanted
from queryplan.eval.test_readings import readings
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.heads.training import train_heads
from queryplan.program.planner import QueryPlanner

pytestmark = pytest.mark.slow

PODCAST = SHIPPED / "podcast"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of heads, trained on a few rows."""
    folder = tmp_path_factory.mktemp("program") / "podcast"
    card = load_card(PODCAST)
    QueryPlanner(card, heads=train_heads(_rows("train", 80), card, default_encoder(), 0)).save(folder)
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("data") / "held.jsonl"
    write_rows(file, _rows("dev", 60))
    return file


def _rows(split: str, count: int) -> list[LabelledRow]:
    return read_rows(PODCAST / f"{split}.jsonl")[:count]


class Ran(NamedTuple):
    """How a pytest of its own ended, and what it said."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run a pytest of its own in this process and the current folder, with the plugin."""
    named = any(entry.name == "queryplan" for entry in entry_points(group="pytest11"))
    plugins = [] if named else [pytest_plugin]

    def go(*arguments: object) -> Ran:
        capsys.readouterr()
        code = pytest.main(["-p", "no:cacheprovider", *map(str, arguments)], plugins=plugins)
        out, err = capsys.readouterr()
        return Ran(int(code), str(out), str(err))

    return go


def test_each_slice_is_a_test_and_a_low_one_fails_with_figures_and_the_worst_rows(
    run: Callable[..., Ran], program: Path, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "test_other.py").write_text("def test_mine():\n    pass\n")
    report = tmp_path / "junit.xml"
    asked = ("--queryplan", program, "--queryplan-data", data, "--min", "whole_plan=0.99", "--min", "relevance=0.1")
    done = run(*asked, "-q", f"--junit-xml={report}")
    assert done.code == 1, done.out + done.err
    cases = {case.attrib["name"]: case for case in ET.parse(report).getroot().iter("testcase")}
    assert {"test_mine", "all rows", "follow-up", "first turn"} <= cases.keys()
    failure = cases["all rows"].find("failure")
    assert failure is not None
    said = failure.text or ""
    assert "plan_right 0." in said
    assert "on 60 rows, at least 0.99: below" in said
    assert said.count("gold ") == 5
    assert "more" in said
    assert "Traceback" not in said
    assert cases["test_mine"].find("failure") is None
    properties = {p.attrib["name"] for p in cases["all rows"].iter("property")}
    assert properties == {"plan_right", "relevance"}
    # Measured once: run again, everything comes from the journal.
    (journal,) = (tmp_path / ".queryplan" / "evaluations").glob("*.jsonl")
    before = journal.read_bytes()
    assert run(*asked, "-q").code == 1
    assert journal.read_bytes() == before


def test_what_was_evaluated_is_taken_over_by_pytest_and_both_are_one_reading(
    run: Callable[..., Ran], program: Path, tmp_path: Path
) -> None:
    file = tmp_path / "test.jsonl"
    write_rows(file, _rows("dev", 30))
    measuring = Measuring(QueryPlanner.load(program, lm=None), Wanted(data=file))
    assert measuring.counted()[0] == "This was reading 1 of test.jsonl."
    assert measuring.program().evaluation.resumed == 0
    (journal,) = (tmp_path / ".queryplan" / "evaluations").glob("*.jsonl")
    before = journal.read_bytes()
    done = run("--queryplan", program, "--queryplan-data", file, "--min", "relevance=0.1", "-q")
    assert done.code == 0, done.out + done.err
    assert "30 of these 30 rows are in dev of podcast" in done.out
    assert journal.read_bytes() == before
    assert readings(file) == 1


def test_what_reaches_its_minimum_passes_and_small_slices_are_skipped(
    run: Callable[..., Ran], program: Path, data: Path
) -> None:
    done = run("--queryplan", program, "--queryplan-data", data, "--min", "relevance=0.2", "-q", "-rs")
    assert done.code == 0, done.out + done.err
    assert "are needed to say something" in done.out


def test_what_too_few_rows_raise_to_be_judged_anywhere_fails(
    run: Callable[..., Ran], program: Path, data: Path, tmp_path: Path
) -> None:
    few = tmp_path / "few.jsonl"
    write_rows(few, _rows("dev", 5))
    done = run("--queryplan", program, "--queryplan-data", few, "--min", "relevance=0", "-q")
    assert done.code == 1, done.out + done.err
    assert "relevance was judged nowhere: 5 rows raise it, and 10 are needed" in done.out
    done = run("--queryplan", program, "--queryplan-data", data, "--min", "relevance=0", "--min", "graph=0.5", "-q")
    assert done.code == 1, done.out + done.err
    assert "graph was judged nowhere: 0 rows raise it" in done.out


def test_rows_that_the_program_learned_from_are_no_test_of_it(
    run: Callable[..., Ran], program: Path, tmp_path: Path
) -> None:
    planner = QueryPlanner.load(program, lm=None)
    planner.learned = prints_of(_rows("train", 80))
    planner.save(tmp_path / "mine")
    file = tmp_path / "held.jsonl"
    write_rows(file, [*_rows("dev", 30), *_rows("train", 2)])
    evaluation = Measuring(QueryPlanner.load(tmp_path / "mine", lm=None), Wanted(data=file)).program().evaluation
    assert evaluation.seen == 2
    done = run("--queryplan", tmp_path / "mine", "--queryplan-data", file, "--min", "relevance=0", "-q")
    assert done.code == 1, done.out + done.err
    assert "the program learned from 2 of these 32 rows" in done.out
    assert "give --queryplan-data rows that are new to it" in done.out


def test_a_program_of_a_domain_that_does_not_ship_asks_for_its_folder(run: Callable[..., Ran], tmp_path: Path) -> None:
    card = load_card(PODCAST).model_copy(update={"name": "bells"})
    QueryPlanner(card).save(tmp_path / "bells")
    done = run("--queryplan", tmp_path / "bells")
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert "of the domain bells, which does not ship: give its folder with --queryplan-domain" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--min", "whole_plan=0.7"), "need --queryplan PROGRAM"),
        (("--queryplan", "nowhere", "--min", "wit=0.7"), "'wit' is none of whole_plan"),
        (("--queryplan", "nowhere", "--min", "whole_plan"), "MEASURE=SHARE"),
        (("--queryplan", "nowhere", "--min", "whole_plan=70"), "between 0 and 1"),
        (("--queryplan", "nowhere", "--min", "whole_plan=0.7"), "there is no program folder nowhere"),
    ],
)
def test_a_wrong_command_is_a_sentence(run: Callable[..., Ran], arguments: tuple[str, ...], said: str) -> None:
    done = run(*arguments)
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert said in done.err
    assert "Traceback" not in done.err


def test_without_its_option_the_plugin_adds_nothing_and_imports_nothing() -> None:
    code = (
        f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}\n"
        "import queryplan.eval.pytest_plugin\n"
        "print({'dspy', 'numpy', 'mlflow', 'queryplan.program.planner'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "set()\n"), done.stderr


def test_without_its_option_other_tests_run_alone(run: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "test_alone.py").write_text("def test_mine():\n    pass\n")
    done = run("-q")
    assert done.code == 0, done.out
    assert "1 passed" in done.out
