"""The package as a whole: its surface, what importing it costs, and who may import whom."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import queryplan

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("signatures", "data", "program", "eval", "optimizers", "cli")
"""From the lowest; each imports only from itself and those before it."""

_OURS = ("cli", "data", "eval", "optimizers", "program", "signatures")


def _sources() -> list[Path]:
    """Every module of the package, tests not among them."""
    return sorted([*ROOT.glob("*.py"), *(file for layer in _OURS for file in (ROOT / layer).rglob("*.py"))])


def _folder_packages() -> set[str]:
    folders = {file.parent.relative_to(ROOT) for file in _sources()}
    return {".".join(("queryplan", *folder.parts)) for folder in folders}


def _imports(file: Path) -> Iterator[tuple[int, str]]:
    """(line, absolute dotted name) of each import in a file, those inside functions too."""
    package = ("queryplan", *file.relative_to(ROOT).parent.parts)
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            start = ".".join((*base, *([node.module] if node.module else [])))
            yield from ((node.lineno, f"{start}.{alias.name}") for alias in node.names)


def _layer(dotted: str) -> str | None:
    parts = dotted.split(".")
    return parts[1] if parts[0] == "queryplan" and len(parts) > 1 and parts[1] in LAYERS else None


def _run(code: str, cwd: Path) -> str:
    """Run code in a fresh interpreter that imports the package as this one does."""
    seed = f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}\n"
    done = subprocess.run([sys.executable, "-c", seed + code], cwd=cwd, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


# The surface


def test_public_names_are_sorted_listed_and_there() -> None:
    assert list(queryplan.__all__) == sorted(set(queryplan.__all__))
    assert set(queryplan.__all__) <= set(dir(queryplan))
    for name in queryplan.__all__:
        assert getattr(queryplan, name).__name__ == name


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = queryplan.nonsense


def test_version_is_the_one_in_pyproject() -> None:
    assert queryplan.__version__ == _pyproject()["project"]["version"]


# What importing costs

_WATCH = """
import json, os
events = {"opened": [], "sockets": []}
def hook(event, args):
    if event == "open" and isinstance(args[0], (str, bytes)):
        events["opened"].append(os.fsdecode(args[0]))
    elif event.startswith("socket."):
        events["sockets"].append(event)
sys.addaudithook(hook)
import queryplan
events["modules"] = sorted({name.split(".")[0] for name in sys.modules})
print(json.dumps(events))
"""


@pytest.fixture(scope="module")
def importing(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What `import queryplan` opened and imported, in a fresh interpreter."""
    return json.loads(_run(_WATCH, tmp_path_factory.mktemp("import")))


def test_import_brings_no_heavy_package(importing: dict[str, list[str]]) -> None:
    heavy = {"mlflow", "datasets", "litellm", "dspy", "openai", "numpy", "sklearn", "matplotlib"}
    heavy |= {"fastapi", "uvicorn", "xllamacpp"}
    assert heavy.isdisjoint(importing["modules"])


def test_import_opens_no_socket(importing: dict[str, list[str]]) -> None:
    assert importing["sockets"] == []


def test_import_opens_no_file_of_ours_but_code(importing: dict[str, list[str]]) -> None:
    ours = [name for name in importing["opened"] if _is_ours(name)]
    assert [name for name in ours if not name.endswith((".py", ".pyc")) and ".pyc." not in name] == []


def _is_ours(name: str) -> bool:
    path = Path(name).resolve()
    return path.is_relative_to(ROOT) and ".venv" not in path.relative_to(ROOT).parts


def test_help_brings_no_heavy_package(tmp_path: Path) -> None:
    code = """
from queryplan.cli.main import app
try:
    app(["--help"])
except SystemExit as stop:
    assert stop.code == 0
print("MODULES", sorted({"mlflow", "datasets", "litellm", "dspy", "numpy", "xllamacpp", "fastapi"} & set(sys.modules)))
"""
    assert _run(code, tmp_path).splitlines()[-1] == "MODULES []"


NEED = {"queryplan.optimizers.sentence_model": "torch"}
"""Modules that cannot be imported without an extra which a usual install leaves out."""


def test_no_module_of_ours_is_imported_twice() -> None:
    for source in _sources():
        dotted = ".".join(("queryplan", *source.relative_to(ROOT).with_suffix("").parts))
        missing = dotted in NEED and find_spec(NEED[dotted]) is None
        if source.name not in ("__init__.py", "__main__.py") and not missing:
            import_module(dotted)
    files = [Path(f).resolve() for m in list(sys.modules.values()) if (f := getattr(m, "__file__", None))]
    sources = set(_sources())
    ours = Counter(f for f in files if f in sources)
    assert [str(f) for f, times in ours.items() if times > 1] == []


# The house


def test_each_layer_imports_only_from_those_below_it() -> None:
    wrong = []
    for file in _sources():
        here = file.relative_to(ROOT).parts[0]
        if here not in LAYERS:
            continue
        for line, dotted in _imports(file):
            there = _layer(dotted)
            if there and LAYERS.index(there) > LAYERS.index(here):
                wrong.append(f"{file.relative_to(ROOT)}:{line} imports {dotted}")
    assert wrong == []


def test_errors_import_nothing_of_ours() -> None:
    assert [name for _, name in _imports(ROOT / "errors.py") if name.startswith("queryplan")] == []


_SCRIPTS = {"program/artifact/pyfunc.py"}
"""MLflow runs a copy of it outside the package, so its imports must be absolute."""


def test_imports_inside_the_package_are_relative() -> None:
    files = [file for file in _sources() if str(file.relative_to(ROOT)) not in _SCRIPTS]
    wrong = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        if any(name.split(".")[0] in ("queryplan", *_OURS) for name in _absolute(node))
    ]
    assert wrong == []


def _absolute(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [] if node.level else [node.module or ""]


def test_nothing_pickles() -> None:
    pickles = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
    found = [
        f"{file.relative_to(ROOT)}:{line} imports {dotted}"
        for file in _sources()
        for line, dotted in _imports(file)
        if dotted.split(".")[0] in pickles
    ]
    assert found == []


def test_what_goes_between_processes_is_not_pickled() -> None:
    """What ``multiprocessing`` sends by itself it pickles; bytes it leaves as they are."""
    senders = {"Queue", "SimpleQueue", "JoinableQueue", "Manager", "Pool", "ProcessPoolExecutor"}
    text = {str(file.relative_to(ROOT)): ast.parse(file.read_text(encoding="utf-8")) for file in _sources()}
    forking = {name: tree for name, tree in text.items() if "multiprocessing" in ast.unparse(tree)}
    found = [
        f"{name}:{node.lineno} {node.attr}"
        for name, tree in forking.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in {"send", "recv", *senders}
    ]
    assert found == []
    assert set(forking) == {"program/processes.py"}


def test_experimental_dspy_is_imported_by_one_module() -> None:
    users = {
        str(f.relative_to(ROOT)) for f in _sources() for _, name in _imports(f) if name.startswith("dspy.experimental")
    }
    assert users <= {"signatures/seam.py"}


def test_every_folder_with_code_is_in_pyproject() -> None:
    assert set(_pyproject()["tool"]["setuptools"]["packages"]) == _folder_packages()


def test_constraints_pin_versions_and_name_no_address(root: Path) -> None:
    lines = [line for line in (root / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert [line for line in lines if line.count("==") != 1 or "/" in line or "@" in line] == []


def test_every_direct_dependency_is_pinned(root: Path) -> None:
    project = _pyproject()["project"]
    wanted = [*project["dependencies"], *(r for extra in project["optional-dependencies"].values() for r in extra)]
    pinned = {_normal(line.split("==")[0]) for line in (root / "constraints.txt").read_text().splitlines()}
    assert {_normal(requirement) for requirement in wanted} - pinned == set()


_IMPORT_NAMES = {"scikit-learn": "sklearn"}
RUNTIME = ("local", "langgraph", "minilm", "adapt", "qdrant", "serve")
"""Extras that are part of what is run; the others test and lint."""
GUESTS = {"semantic_router", "pytest"}
"""A rival that is measured where somebody has it, and what our plugin runs inside of; nothing else needs them."""


def test_what_is_imported_is_declared() -> None:
    project = _pyproject()["project"]
    declared = {
        _normal(r)
        for r in (*project["dependencies"], *(r for extra in RUNTIME for r in project["optional-dependencies"][extra]))
    }
    known = {_IMPORT_NAMES.get(name, name.replace("-", "_")) for name in declared} | {"queryplan"} | GUESTS
    wrong = {
        f"{file.relative_to(ROOT)}:{line} imports {dotted}"
        for file in _sources()
        for line, dotted in _imports(file)
        if (top := dotted.split(".")[0]) not in known and top not in sys.stdlib_module_names
    }
    assert wrong == set()


def _normal(requirement: str) -> str:
    name = requirement
    for stop in "[=<>!~; ":
        name = name.split(stop)[0]
    return name.lower().replace("_", "-")


def _pyproject() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


# The wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel of what git tracks was installed, without its dependencies."""
    pytest.importorskip("setuptools", minversion="77", reason="the extra `test` is not installed")
    work = tmp_path_factory.mktemp("wheel")
    source, target = work / "source", work / "target"
    for name in _tracked():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    pip = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "--quiet"]
    _call([*pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", str(work), str(source)])
    (built,) = work.glob("*.whl")
    _call([*pip, "install", "--no-deps", "--no-index", "--target", str(target), str(built)])
    return target


def _tracked() -> list[str]:
    """Paths that git tracks, or would with `git add .`, and that are still there."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def _call(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_wheel_has_what_git_tracks(wheel: Path) -> None:
    package = wheel / "queryplan"
    there = {str(f.relative_to(package)) for f in package.rglob("*") if f.is_file() and "__pycache__" not in f.parts}
    wanted = {name for name in _tracked() if _belongs(name)}
    assert there == wanted


_DATA = ("data/domains/", "eval/page/templates/", "eval/samples/", "eval/sets/", "program/heads/minilm-adapter")


def _belongs(name: str) -> bool:
    first = name.split("/")[0]
    code = name.endswith(".py") and (first in _OURS or "/" not in name)
    return code or name == "py.typed" or name.startswith(_DATA)


@pytest.mark.slow
def test_the_wheel_plans(wheel: Path, tmp_path: Path, heads_kept: Callable[[str], Path]) -> None:
    from queryplan.program.heads import lending

    (tmp_path / ".queryplan").mkdir()
    (tmp_path / ".queryplan/heads").symlink_to(heads_kept("podcast"))
    command = ["plan", "who talked about meditation?", "--domain", "podcast", "--lm", "none", "--json"]
    code = (
        f"import queryplan; assert queryplan.__file__.startswith({str(wheel)!r}), queryplan.__file__\n"
        f"from queryplan.program.heads import lending; lending.MOST = {lending.MOST}\n"  # as for the kept heads
        f"import sys; sys.path.append({str(Path(__file__).parent)!r}); import some_rows; some_rows.install()\n"
        f"from queryplan.cli.main import app; app({command!r})"
    )
    paths = os.pathsep.join([str(wheel), *(p for p in sys.path if p.endswith("site-packages"))])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["query"] == "who talked about meditation?"
