"""What a person sees who waits."""

from __future__ import annotations

import io
import sys

import pytest
from queryplan.optimizers.progress import RichProgress, SilentProgress, open_progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_without_a_terminal_there_are_plain_lines() -> None:
    stream = io.StringIO()
    with RichProgress(stream) as progress:
        progress.start("relevance", 10)
        for _ in range(10):
            progress.step(2, 50)
        progress.finish("relevance", "labeled-8, 0.9 on dev")
    lines = stream.getvalue().splitlines()
    assert lines[0] == "relevance: about 10 evaluations"
    assert lines[1] == "relevance: 2/10 evaluations, 4 LM calls, 100 tokens"
    assert lines[-1] == "relevance: labeled-8, 0.9 on dev"
    assert len(lines) == 6
    assert "\x1b" not in stream.getvalue()


def test_on_a_terminal_there_is_a_bar_with_calls_and_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name)
    stream = Terminal()
    with RichProgress(stream) as progress:
        progress.start("relevance", 2)
        progress.step(3, 1200)
        progress.step(3, 1200)
        progress.finish("relevance", "done")
    assert "2/2 evaluations, 6 LM calls, 2,400 tokens" in stream.getvalue()


def test_a_total_that_was_too_low_grows() -> None:
    stream = io.StringIO()
    with RichProgress(stream) as progress:
        progress.start("x", None)
        for _ in range(5):
            progress.step()
        progress.finish("x", "done")
    assert stream.getvalue().splitlines() == ["x: begins", "x: done"]


def test_a_stage_that_never_began_gets_its_line() -> None:
    stream = io.StringIO()
    with RichProgress(stream) as progress:
        progress.finish("graph", "left as it is: [0] examples")
    assert stream.getvalue() == "graph: left as it is: [0] examples\n"


def test_a_second_stage_counts_from_zero() -> None:
    stream = io.StringIO()
    with RichProgress(stream) as progress:
        for stage in ("a", "b"):
            progress.start(stage, 5)
            progress.step(7, 7)
            progress.finish(stage, "done")
    assert "b: 1/5 evaluations, 7 LM calls, 7 tokens" in stream.getvalue()


def test_the_stream_is_the_one_of_its_making(monkeypatch: pytest.MonkeyPatch) -> None:
    """DSPy's printing is caught by replacing standard error, and the bar must not be caught with it."""
    mine, caught = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", mine)
    progress = open_progress()
    monkeypatch.setattr(sys, "stderr", caught)
    with progress:
        progress.start("x", 3)
    assert (mine.getvalue(), caught.getvalue()) == ("x: about 3 evaluations\n", "")


def test_silence_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    with open_progress(quiet=True) as progress:
        progress.start("x", 1)
        progress.step()
        progress.finish("x", "done")
    assert isinstance(progress, SilentProgress)
    assert capfd.readouterr() == ("", "")
