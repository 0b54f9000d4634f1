"""``queryplan models adapt`` from the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from queryplan.cli import main
from queryplan.optimizers import adapting
from typer.testing import CliRunner


def test_without_pytorch_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    result = CliRunner().invoke(main.app, ["models", "adapt", "--out", str(tmp_path / "a.safetensors")])
    assert result.exit_code == 2
    assert "adapting MiniLM needs PyTorch; run: pip install 'queryplan[adapt]'" in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_what_was_held_out_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Path, float]] = []

    def learned(path: Path, *, held_out: float, report: object) -> dict[str, float]:
        asked.append((path, held_out))
        return {"railway": 0.8125} if held_out else {}

    monkeypatch.setattr(adapting, "adapt_minilm", learned)
    path = tmp_path / "a.safetensors"
    shown = CliRunner().invoke(main.app, ["models", "adapt", "--out", str(path), "--held-out", "0.2"])
    assert asked == [(path, 0.2)]
    assert "wrote a.safetensors" in shown.stdout
    assert "railway" in shown.stdout
    assert "0.812" in shown.stdout
    assert "railway" not in CliRunner().invoke(main.app, ["models", "adapt", "--out", str(path)]).stdout
