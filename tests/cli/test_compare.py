"""``queryplan compare`` and ``evaluate`` at work: on folders, programs and runs, and on what cannot be compared."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from queryplan.data.domain import load_domain
from queryplan.errors import QueryPlanError
from queryplan.eval.evaluation import Evaluation, evaluate
from queryplan.eval.measured import Measured
from queryplan.eval.test_readings import READINGS_FILE
from queryplan.eval.tracking.stored import measured_of_run
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.heads.training import train_heads
from queryplan.program.planner import QueryPlanner

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def programs(small_domain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two programs without a language model, ``full`` and ``half``, and the evaluation of each on the test rows."""
    folder = tmp_path_factory.mktemp("programs")
    domain = load_domain(small_domain)
    for name, step in (("full", 1), ("half", 2)):
        heads = train_heads(domain.rows("train")[::step], domain.card, default_encoder(), 0)
        planner = QueryPlanner(domain.card, heads=heads)
        planner.save(folder / name)
        evaluate(planner, domain.rows("test"), name=name, domain=domain.card.name).save_folder(folder / f"{name}-kept")
    return folder


def test_two_evaluations_are_compared_in_words_and_as_data(queryplan: Run, programs: Path, tmp_path: Path) -> None:
    code, out, _ = queryplan("compare", programs / "full-kept", programs / "half-kept", "--html", tmp_path / "p.html")
    assert code == 0
    assert "half minus full" in out
    assert "no difference shown" in out
    assert (tmp_path / "p.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    code, out, _ = queryplan("compare", programs / "full-kept", programs / "half-kept", "--json")
    data = json.loads(out)
    assert data["columns"] == ["full", "half"]
    assert data["comparisons"][0]["differences"][0]["paired"]["difference"]["n"] == data["n"]


def test_programs_are_measured_on_the_same_rows_and_the_reading_is_counted(
    queryplan: Run, programs: Path, small_domain: Path, tmp_path: Path
) -> None:
    domain = tmp_path / "small"
    # Other tests of the same worker read the shared folder's test set; the count of this copy begins at nought.
    shutil.copytree(small_domain, domain, ignore=shutil.ignore_patterns(READINGS_FILE))
    code, out, err = queryplan("compare", programs / "full", programs / "half", "--domain", domain, "--json")
    assert code == 0
    assert json.loads(out)["columns"] == ["full", "half"]
    assert "This was reading 2 of test.jsonl." in err
    kept = sorted(path for path in Path(".queryplan/evaluations").iterdir() if path.is_dir())
    assert len(kept) == 2
    code, out, _ = queryplan("compare", *kept, "--json")
    assert json.loads(out)["n"] == 12


def test_what_cannot_be_compared_is_refused_before_test_rows_are_read(
    queryplan: Run, programs: Path, small_domain: Path, tmp_path: Path
) -> None:
    domain = tmp_path / "small"
    shutil.copytree(small_domain, domain, ignore=shutil.ignore_patterns(READINGS_FILE))
    for second in ((), (tmp_path / "nowhere",), ("0123456789abcdef" * 2,)):
        assert queryplan("compare", programs / "full", *second, "--domain", domain)[0] in (2, 3)
    asked = ("compare", programs / "full", programs / "half-kept", "--domain", domain, "--sample", "5")
    code, _, err = queryplan(*asked)
    assert code == 2
    assert "would be measured on other rows than half" in " ".join(err.split())
    assert not (domain / READINGS_FILE).exists()


def test_money_is_told_at_the_price_of_the_model_or_said_to_be_unknown(
    queryplan: Run, programs: Path, tmp_path: Path
) -> None:
    spent = Evaluation.load(programs / "full-kept")
    scores = [case.score.model_copy(update={"tokens": 1000, "completion_tokens": 0}) for case in spent.cases]
    cases = [case.model_copy(update={"score": score}) for case, score in zip(spent.cases, scores, strict=True)]
    spent.model_copy(update={"cases": tuple(cases), "lm": "openai/x"}).save_folder(tmp_path / "spent")
    asked = ("compare", tmp_path / "spent", programs / "half-kept", "--html", "p.html")
    page = Path("p.html")
    assert queryplan(*asked)[0] == 0
    said = page.read_text(encoding="utf-8")
    assert "set a price for &#39;openai/x&#39; under [prices] in queryplan.toml" in said
    assert "Plans cost no money" in said
    Path("queryplan.toml").write_text('[prices]\n"openai/x" = { prompt = 2, completion = 8 }\n')
    queryplan(*asked)
    assert "A thousand plans cost $2.00 [2.00, 2.00]" in page.read_text(encoding="utf-8")
    queryplan(*asked, "--price", "3,9")
    assert "A thousand plans cost $3.00 [3.00, 3.00]" in page.read_text(encoding="utf-8")
    code, _, err = queryplan(*asked, "--price", "cheap")
    assert (code, "--price takes dollars a million tokens" in " ".join(err.split())) == (2, True)
    Path("queryplan.toml").write_text('[prices]\n"openai/x" = "cheap"\n')
    code, _, err = queryplan(*asked)
    assert code != 0
    assert "queryplan.toml sets prices.openai/x" in " ".join(err.split())


@pytest.mark.slow
def test_an_evaluation_is_kept_with_its_ladder_and_found_again_by_its_run(
    queryplan: Run, programs: Path, small_domain: Path, tmp_path: Path
) -> None:
    data = tmp_path / "rows.jsonl"
    shutil.copyfile(small_domain / "test.jsonl", data)
    page, out = tmp_path / "page.html", tmp_path / "out"
    asked = ("--domain", small_domain, "--data", data, "--throughput", "--html", page, "--out", out)
    code, shown, err = queryplan("evaluate", programs / "full", *asked)
    assert code == 0
    assert "tf-idf" in shown
    assert {path.name for path in out.iterdir()} >= {"rows.jsonl", "rows.parquet", "oracle.json", "throughput.json"}
    assert "What each stage costs" in page.read_text(encoding="utf-8")
    run_id = err.split("in MLflow as run ")[1].split()[0]
    tracked = measured_of_run("sqlite:///.queryplan/mlflow.db", run_id)
    assert tracked.ladder is not None
    assert tracked.ladder == Measured.load(out).named(tracked.name).ladder
    code, shown, _ = queryplan("compare", run_id, out, "--json")
    assert code == 0
    assert json.loads(shown)["comparisons"][0]["worse"] == 0
    code, _, err = queryplan("compare", out, out, "--track")
    assert "in MLflow as run" in err


def test_what_cannot_be_compared_is_said_in_one_sentence(queryplan: Run, programs: Path, tmp_path: Path) -> None:
    def said(*args: object) -> str:
        with pytest.raises(QueryPlanError) as caught:
            _raise(queryplan(*map(str, args)))
        return str(caught.value)

    kept = programs / "full-kept"
    assert "two evaluations or more" in said("compare", kept)
    other = tmp_path / "other"
    shutil.copytree(kept, other)
    head = json.loads((other / "evaluation.json").read_text())
    (other / "evaluation.json").write_text(json.dumps({**head, "domain": "journal"}))
    assert "different domains" in said("compare", kept, other)
    (other / "evaluation.json").write_text(json.dumps({**head, "data_fingerprint": "f" * 16, "name": "other"}))
    assert "different rows" in said("compare", kept, other)
    (other / "rows.jsonl").unlink()
    assert "evaluate again" in said("compare", kept, other)
    assert "0123456789abcdef" in said("compare", kept, "0123456789abcdef" * 2)
    assert "nowhere" in said("compare", kept, tmp_path / "nowhere")


def _raise(result: tuple[int, str, str]) -> None:
    """What the shell prints in one sentence, as the error it came from."""
    code, _, err = result
    assert code in (2, 3)
    raise QueryPlanError(err)


def test_reports_of_compile_beside_the_programs_are_passed_over(queryplan: Run, programs: Path, tmp_path: Path) -> None:
    for name in ("full", "half"):
        shutil.copytree(programs / f"{name}-kept", tmp_path / "all" / name)
        (tmp_path / "all" / f"{name}.md").write_text("# measured")
        (tmp_path / "all" / f"{name}.tables.json").write_text("{}")
    code, out, _ = queryplan("compare", *sorted((tmp_path / "all").iterdir()), "--json")
    assert code == 0
    assert json.loads(out)["columns"] == ["full", "half"]
    (tmp_path / "alone.md").write_text("# mine")
    assert queryplan("compare", tmp_path / "all" / "full", tmp_path / "alone.md")[0] != 0
