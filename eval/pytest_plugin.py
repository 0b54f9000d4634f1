"""A pytest plugin that tests a program: ``pytest --queryplan PROGRAM --min whole_plan=0.7 [--queryplan-data FILE]``.

Each slice of the labelled rows is one test, beside whatever else pytest collects. It fails where a figure is below
its minimum, and reports the figure with its interval and the worst rows; the test of all rows fails if they are too
few to judge what was required. The program is measured once, when the first of these tests runs; a stopped run
continues where it was, as one of `queryplan evaluate` does. Only pytest is imported until then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .slice_checks import SliceChecks

NAME = "queryplan"
_NOTES = pytest.StashKey[tuple[str, ...]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of this plugin."""
    group = parser.getgroup(NAME, "queryplan: measure a program, one test a slice")
    group.addoption("--queryplan", metavar="PROGRAM", help="A program folder, or models:/NAME@ALIAS.")
    group.addoption(
        "--queryplan-data", metavar="FILE", help="Labelled queries; default: test.jsonl of the program's domain."
    )
    group.addoption("--queryplan-domain", metavar="DOMAIN", help="The domain, where it is not a shipped one.")
    group.addoption("--queryplan-lm", metavar="MODEL", help="Another language model than compiled with, or none.")
    group.addoption(
        "--min",
        dest="queryplan_min",
        action="append",
        default=[],
        metavar="MEASURE=SHARE",
        help="What each slice must reach, such as whole_plan=0.7 or relevance=0.9; may be given more than once.",
    )
    group.addoption(
        "--queryplan-rows",
        type=int,
        default=10,
        metavar="N",
        help="Slices with fewer rows are skipped, and so is a measure that fewer rows raise (default: 10).",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a wrong command before anything runs."""
    if config.getoption("queryplan") is None:
        if config.getoption("queryplan_min") or config.getoption("queryplan_data"):
            raise pytest.UsageError("--min and --queryplan-data need --queryplan PROGRAM")
        return
    minimums(config.getoption("queryplan_min") or ())


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add one test for each slice."""
    if config.getoption("queryplan") is not None:
        parent: Any = Program.from_parent(session, name=f"{NAME}::{config.getoption('queryplan')}")
        items.extend(parent.collect())


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the notes on the rows, whatever passed."""
    for note in config.stash.get(_NOTES, ()):
        terminalreporter.write_line(f"{NAME}: {note}")


def minimums(given: Iterable[str]) -> dict[str, float]:
    """Parse ``whole_plan=0.7`` into a measure and its minimum; by default ``whole_plan=0``, which shows all figures.

    Raises:
        pytest.UsageError: the measure is unknown, or the minimum is not between 0 and 1.
    """
    from .gate.settings import ALIASES, MEASURES

    found: dict[str, float] = {}
    for text in given:
        name, _, number = text.partition("=")
        measure = ALIASES.get(name.strip(), name.strip())
        if measure not in MEASURES:
            raise pytest.UsageError(f"--min {text}: {name!r} is none of {', '.join([*ALIASES, *MEASURES])}")
        try:
            found[measure] = float(number)
        except ValueError:
            raise pytest.UsageError(f"--min takes MEASURE=SHARE, such as whole_plan=0.7, not {text!r}") from None
        if not 0 <= found[measure] <= 1:
            raise pytest.UsageError(f"--min {text}: a share is between 0 and 1, such as 0.7")
    return found or {"plan_right": 0.0}


class Program(pytest.Collector):
    """The program under test; measured once."""

    checks: SliceChecks | None = None

    def collect(self) -> Iterator[SliceTest]:
        """A test for all rows, and one for each slice."""
        from ..errors import QueryPlanError
        from .slice_checks import SliceChecks

        option: Any = self.config.getoption
        try:
            self.checks = SliceChecks(
                option("queryplan"),
                minimums(option("queryplan_min")),
                data=option("queryplan_data"),
                domain=option("queryplan_domain"),
                lm=option("queryplan_lm"),
                smallest=option("queryplan_rows"),
            )
        except QueryPlanError as error:
            raise pytest.UsageError(str(error)) from error
        self.config.stash[_NOTES] = self.checks.notes
        for name in self.checks.slices:
            yield SliceTest.from_parent(self, name=name)


class SliceTest(pytest.Item):
    """One slice of the rows."""

    def runtest(self) -> None:
        """Measure, and fail if a minimum is not reached."""
        found = self._checks.check(self.name)
        self.add_report_section("call", NAME, found.text)
        for measure, estimate in found.figures.items():
            self.user_properties.append((measure, estimate.spelled(".4f")))
        if found.skipped:
            pytest.skip(found.skipped)
        if found.failed:
            raise BelowMinimum(found.text)

    @property
    def _checks(self) -> SliceChecks:
        parent = self.parent
        assert isinstance(parent, Program)
        assert parent.checks is not None, "a slice is made by its program"
        return parent.checks

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The figures and the worst rows, or one sentence on what went wrong, without a traceback."""
        from ..errors import QueryPlanError

        if isinstance(excinfo.value, BelowMinimum | QueryPlanError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, None, str]:
        """The reported location: the program."""
        return str(self.config.getoption("queryplan")), None, f"{NAME}: {self.name}"


class BelowMinimum(AssertionError):
    """A figure of a slice is below its minimum."""
