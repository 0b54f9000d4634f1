"""One process at a time at a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from queryplan.data.locks import alone_at
from queryplan.errors import DataError

HOLD = """
import sys, time
from pathlib import Path
from queryplan.data.locks import alone_at
with alone_at(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_file_that_another_process_holds_is_refused_until_that_ends(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(DataError, match="wait for it or stop it"), alone_at(path):
        pass
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with alone_at(path):
        path.write_text("mine")
    assert [left.name for left in tmp_path.iterdir()] == ["rows.jsonl"]


def test_it_is_let_go_of_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), alone_at(tmp_path / "rows.jsonl"):
        raise RuntimeError
    with alone_at(tmp_path / "rows.jsonl"):
        pass
    assert not list(tmp_path.iterdir())


def test_where_nothing_can_be_made_beside_a_file_nobody_is_kept_away(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with alone_at(tmp_path / "file" / "rows.jsonl"):
        pass
