"""The surroundings of every test: a scrubbed environment, an empty current folder, no network.

All of it is in force from before the first test module is imported.
"""

from __future__ import annotations

import fcntl
import ipaddress
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

REAL_CACHE = Path(os.environ.get("QUERYPLAN_CACHE") or Path.home() / ".cache" / "queryplan").absolute()
"""Where the weights are on this machine; tests marked `weights` may read it."""

LENT_IN_TESTS = 6
"""Rows that another domain lends where a test does not ask for as many as users get."""
LENT: dict[str, int] = {}
"""How many users get, once it is known."""
_KEPT = {"QUERYPLAN_BENCHMARKS"}
_SCRUBBED = (
    "QUERYPLAN_",
    "MLFLOW_",
    "DSPY_",
    "LITELLM_",
    "HF_",
    "OPENAI_",
    "AZURE_",
    "ANTHROPIC_",
    "GEMINI_",
    "PYTEST_ADD",
)
_KEYS = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


class NetworkRefused(OSError):
    """A test tried to reach something that is not on this machine."""


def pytest_configure(config: pytest.Config) -> None:
    """Scrub the environment of the whole process, since packages read it when they are imported."""
    home = Path(tempfile.mkdtemp(prefix="queryplan-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    for name in list(os.environ):
        if name not in _KEPT and (name.startswith(_SCRUBBED) or name.endswith(_KEYS)):
            del os.environ[name]
    os.environ.update(_surroundings(home))
    # What graph plans share takes some minutes to learn; what was learned of the same rows before is as good.
    if (REAL_CACHE / "graph").is_dir():
        shutil.copytree(REAL_CACHE / "graph", home / "queryplan" / "graph")
    sys.addaudithook(_refuse_network)
    # What other domains lend takes some seconds to learn from, at every training of a small domain.
    from queryplan.program.heads import lending

    LENT["users"], lending.MOST = lending.MOST, LENT_IN_TESTS
    # A sentence takes MiniLM some milliseconds, and trainings read thousands; tests of it ask for it.
    from queryplan.program.heads import encoders

    encoders.missing_packages = lambda: ["left out in tests"]
    sys.path.append(str(ROOT / "tests"))  # where processes that tests start find it, too
    import some_rows

    some_rows.install()
    # A busy machine is no fault of what is tested.
    settings.register_profile("patient", deadline=None)
    settings.load_profile("patient")


def _surroundings(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "QUERYPLAN_CACHE": str(home / "queryplan"),
        "DSPY_CACHEDIR": str(home / "dspy"),
        "HF_HOME": str(home / "hf"),
        "HF_HUB_OFFLINE": "1",
        "MPLCONFIGDIR": str(home / "matplotlib"),
        "MPLBACKEND": "Agg",
        "LITELLM_LOCAL_MODEL_COST_MAP": "true",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
        "QUERYPLAN_ENCODER": "static",
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }


def _refuse_network(event: str, args: tuple[object, ...]) -> None:
    """Audit hook: sockets may be opened to this machine only."""
    if event in ("socket.connect", "socket.sendto"):
        address = args[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event == "socket.getaddrinfo":
        host = args[0]
    else:
        return
    if host is not None and not _is_loopback(host.decode() if isinstance(host, bytes) else str(host)):
        raise NetworkRefused(f"a test tried to reach {host}")


def _is_loopback(host: str) -> bool:
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs weights that are not here, and say which; begin with files that have slow tests.

    Processes take whole files, so that a long one taken last would keep the others waiting.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    for item in items:
        marker = item.get_closest_marker("weights")
        missing = marker and _missing(*marker.args, **marker.kwargs)
        if missing:
            item.add_marker(pytest.mark.skip(reason=missing))


def _missing(name: str = "0.5b") -> str | None:
    from queryplan.program.lm import weights

    if find_spec("xllamacpp") is None:
        return "the extra `local` is not installed"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QUERYPLAN_CACHE", str(REAL_CACHE))
        return None if weights.find(name) else f"no weights; run `queryplan models pull {name}`"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """An empty current folder; the environment as it was afterwards; the real weights where asked for."""
    monkeypatch.chdir(tmp_path)
    before = dict(os.environ)
    if request.node.get_closest_marker("weights"):
        os.environ["QUERYPLAN_CACHE"] = str(REAL_CACHE)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def full_lending() -> Callable[[], AbstractContextManager[None]]:
    """Within it other domains lend as many rows as users get."""
    from queryplan.program.heads import lending

    @contextmanager
    def lent() -> Iterator[None]:
        lending.MOST = LENT["users"]
        try:
            yield
        finally:
            lending.MOST = LENT_IN_TESTS

    return lent


@pytest.fixture(scope="session")
def heads_kept(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A folder with the heads that ``some_rows`` of a shipped domain train: spent once for all processes."""
    from queryplan.program.uncompiled import uncompiled_planner

    base = tmp_path_factory.getbasetemp()
    kept = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "heads"

    def trained(domain: str) -> Path:
        kept.mkdir(exist_ok=True)
        with (kept / f"{domain}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            uncompiled_planner(domain, kept).close()
        return kept

    return trained


@pytest.fixture(scope="session")
def mlflow_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An MLflow database whose tables exist: making them takes six seconds, so it is done once."""
    from queryplan.program.artifact.registry import client

    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    client(f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture
def mlflow_uri(mlflow_database: Path, tmp_path: Path) -> str:
    """The address of an empty MLflow database of the test's own."""
    shutil.copy(mlflow_database, tmp_path / "mlflow.db")
    return f"sqlite:///{tmp_path / 'mlflow.db'}"
