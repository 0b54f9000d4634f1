"""LadybugDB and llama.cpp in one process."""

from __future__ import annotations

import subprocess
import sys

import pytest

ORDER = """
import sys
from queryplan.program.graph.executors.native import load_ladybug
load_ladybug()
loaded = list(sys.modules)
print(loaded.index("xllamacpp") < loaded.index("ladybug"))
"""


def test_llama_cpp_is_loaded_before_ladybug_which_would_break_it() -> None:
    pytest.importorskip("xllamacpp")
    done = subprocess.run([sys.executable, "-c", ORDER], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "True"


def test_without_the_embedded_model_ladybug_is_loaded_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from queryplan.program.graph.executors.native import load_ladybug

    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert load_ladybug().Database
