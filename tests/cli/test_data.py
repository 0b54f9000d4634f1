"""``queryplan data``, ``new-domain`` and ``label`` as they are typed."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from queryplan.cli import main
from queryplan.cli.errors import STOPPED
from queryplan.data.card import domain_folder
from queryplan.data.domain import load_domain
from queryplan.data.locks import alone_at
from queryplan.data.rows import read_rows
from typer.testing import CliRunner

PODCAST = domain_folder("podcast")
HISTORY = [{"role": "user", "content": "Who hosts it?"}, {"role": "assistant", "content": "Nell does."}]
PLAN: dict[str, Any] = {
    "standalone_query": "Why does Nell host it?", "is_follow_up": True, "referenced_entities": ["Nell"],
    "is_relevant": True, "complexity": "moderate", "intent": "causal", "needs_decomposition": False,
    "entities": ["Nell"], "trace": {"decisions": [{"stage": "relevance", "confidence": 0.4}]},
}  # fmt: skip


def run(*args: str, typed: str | None = None) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of a command line."""
    result = CliRunner().invoke(main.app, list(args), input=typed)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A domain with a few rows in train and dev."""
    folder = tmp_path / "small"
    folder.mkdir()
    shutil.copy(PODCAST / "domain.toml", folder)
    for split, count in (("train", 60), ("dev", 20)):
        lines = (PODCAST / f"{split}.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / f"{split}.jsonl").write_text("".join(lines[:count]), encoding="utf-8")
    return folder


# -- check


def test_a_clean_set_ends_with_0(small: Path) -> None:
    code, out, _ = run("data", "check", str(small))
    assert code == 0
    assert "clean" in out
    assert "is_follow_up (2 values)" in out
    assert "AUROC" in out
    assert load_domain(small).fingerprint in out


def test_a_spoilt_set_ends_with_1_and_says_how_to_mend_it(small: Path) -> None:
    first = (small / "train.jsonl").read_text(encoding="utf-8").splitlines()[0]
    with (small / "dev.jsonl").open("a", encoding="utf-8") as file:
        file.write(first + "\n{}\n")
    code, out, _ = run("data", "check", str(small), "--quick")
    assert code == 1
    for said in ("rows that cannot be read", "ids used in two splits", "conversations in two splits", "data split"):
        assert said in out
    assert "dev.jsonl:22: id: this field is missing" in out


def test_json_holds_everything(small: Path) -> None:
    code, out, _ = run("data", "check", str(small), "--json", "--quick")
    report = json.loads(out)
    assert code == 0
    assert report["findings"] == []
    assert report["giveaway"] == []
    assert set(report["fingerprints"]) == {"data", "card", "schema"}
    assert report["statistics"]["splits"]["train"]["rows"] == 60


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_picture_is_drawn(small: Path, tmp_path: Path, ending: str) -> None:
    assert run("data", "check", str(small), "--quick", "--picture", str(tmp_path / f"a.{ending}"))[0] == 0
    assert (tmp_path / f"a.{ending}").stat().st_size > 1000


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("check", "bakery"), "there is no domain 'bakery'"),
        (("check", "no/such/file.jsonl"), "there is no file or folder"),
        (("stats", "cut.jsonl.gz"), "is no gzip file"),
        (("split", "cut.jsonl.gz", "--out", "o"), "is no gzip file"),
        (("convert", "nothing", "--out", "o"), "there is no converter 'nothing': give one of break_qdmr"),
        (("convert", "mine.csv", "--out", "o"), "rows of your own need none: queryplan data split FILE --out FOLDER"),
    ],
)
def test_what_cannot_be_read_ends_with_2_and_one_sentence(args: tuple[str, ...], said: str) -> None:
    Path("cut.jsonl.gz").write_bytes(b"{}")
    code, _, err = run("data", *args)
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1


# -- stats, split


def test_stats_count(small: Path) -> None:
    code, out, _ = run("data", "stats", str(small))
    assert code == 0
    assert "turns of a conversation" in out
    assert "is_relevant: true" in out
    counted = json.loads(run("data", "stats", str(small), "--json")[1])
    assert counted["splits"]["dev"]["rows"] == 20
    assert counted["fingerprints"]["data"] == load_domain(small).fingerprint


def test_stats_say_that_rows_cannot_be_read(small: Path) -> None:
    (small / "test.jsonl").write_text("{}\n")
    assert f"1 rows cannot be read: queryplan data check {small}" in run("data", "stats", str(small))[2]


def test_split_writes_files_that_are_clean(small: Path, tmp_path: Path) -> None:
    rows = read_rows(small / "train.jsonl")
    as_json = run("data", "split", str(small / "train.jsonl"), "--out", str(tmp_path / "plain"), "--json")[1]
    assert json.loads(as_json)["splits"].keys() == {"train", "dev", "calibrate", "test"}
    args = ("data", "split", str(small / "train.jsonl"), "--out", str(tmp_path / "new"), "--seed", "3")
    assert run(*args, "--shares", "train=0.6,dev=0.2,test=0.2")[0] == 0
    parts = {p.stem: read_rows(p) for p in (tmp_path / "new").iterdir()}
    assert sorted(row.id for part in parts.values() for row in part) == sorted(row.id for row in rows)
    assert set(parts) == {"train", "dev", "test"}
    code, _, err = run(*args)
    assert code == 2
    assert "already" in err


# -- new-domain


def test_a_begun_domain_is_clean_and_its_name_is_taken_once() -> None:
    flags = ("--covers", "sourdough", "--covers", "ovens", "--excluded", "weather=weather reports")
    code, out, _ = run("new-domain", "bread-help", *flags)
    assert code == 0
    assert "queryplan compile bread-help --lm none" in out
    card = load_domain("bread-help").card
    assert (card.title, card.kinds) == ("Bread Help", ("weather", "general_knowledge", "tasks"))
    assert run("data", "check", "bread-help", "--quick")[0] == 0
    code, _, err = run("new-domain", "bread-help", *flags)
    assert (code, "already" in err) == (2, True)


def test_without_a_terminal_what_is_missing_is_named() -> None:
    code, _, err = run("new-domain", "bread")
    assert code == 2
    assert "--covers TEXT" in err


def test_at_a_terminal_it_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("queryplan.cli.new_domain._at_a_terminal", lambda: True)
    typed = "sourdough\novens\n\nThe Bread Desk\nAbout bread.\nweather=rain\n\n"
    code, _, _ = run("new-domain", "bread", "--out", "here", typed=typed)
    card = load_domain("here").card
    assert code == 0
    assert (card.covers, card.title, card.description) == (("sourdough", "ovens"), "The Bread Desk", "About bread.")


def test_a_begun_domain_plans() -> None:
    run("new-domain", "bread", "--covers", "sourdough", "--covers", "ovens")
    code, out, _ = run("plan", "What is rye bread?", "--domain", "bread", "--lm", "none", "--json")
    assert code == 0
    assert json.loads(out)["query"] == "What is rye bread?"


# -- label


@pytest.fixture
def log() -> str:
    lines = [{"query": "why her?", "history": HISTORY, "plan": PLAN}]
    sure = {**PLAN, "trace": {"decisions": [{"confidence": 0.99}]}}
    lines.append({"query": "and when?", "history": HISTORY, "plan": sure})
    Path("log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return "log.jsonl"


LABEL = ("label", "log.jsonl", "--domain", "podcast", "--out", "rows.jsonl")


def test_plans_are_offered_least_certain_first_and_accepted_with_enter(log: str) -> None:
    code, out, _ = run(*LABEL, typed="\n" * 40)
    assert code == 0
    assert out.index("why her?") < out.index("and when?")
    assert [row.query for row in read_rows(Path("rows.jsonl"))] == ["why her?", "and when?"]
    assert "2 rows added" in out
    assert "0 to label" in run(*LABEL)[1]


def test_two_at_once_do_not_label_into_one_file(log: str) -> None:
    with alone_at(Path("rows.jsonl")):
        code, out, err = run(*LABEL, typed="\n" * 40)
    assert (code, out) == (2, "")
    assert "rows.jsonl is being written by another process" in err


def test_rows_are_refused_a_place_before_anything_is_asked(log: str) -> None:
    Path("rows.jsonl").mkdir()
    code, out, err = run(*LABEL, typed="\n" * 40)
    assert (code, out) == (2, "")
    assert "--out rows.jsonl is a folder: give the name of a file" in err


def test_plans_of_another_domain_are_told(log: str) -> None:
    text = Path(log).read_text().replace('"plan": {', '"plan": {"program_version": "bells-0123456789ab", ')
    Path(log).write_text(text)
    _, out, err = run(*LABEL, typed="/q\n")
    assert "2 to label" in out
    assert "some of these plans are of the domain bells, not of podcast" in err


def test_plans_logged_as_traces_are_offered_too(mlflow_uri: str) -> None:
    from queryplan.program.artifact.registry import client
    from queryplan.program.plan_traces import TracedPlan, write_traces

    tags = {"queryplan.kind": "plan", "queryplan.text": "kept"}
    asked = [{"query": query, "history": HISTORY} for query in ("why her?", "and when?")]
    traces = [TracedPlan(str(n), PLAN, inputs, 0, 1.0, tags=tags) for n, inputs in enumerate(asked)]
    write_traces(mlflow_uri, client(mlflow_uri).create_experiment("plans"), traces)
    command = ("label", "--traces", "plans", "--tracking-uri", mlflow_uri, "--domain", "podcast", "--out", "rows.jsonl")
    code, _, err = run(*command, typed="\n" * 40)
    assert code == 0, err
    assert {row.query for row in read_rows(Path("rows.jsonl"))} == {"why her?", "and when?"}
    assert "0 to label" in run(*command)[1]


def test_what_a_batch_wrote_is_offered_in_its_conversation(tmp_path: Path) -> None:
    rows = [{"id": 1, "query": "Who hosts the show?"}, {"id": 2, "query": "and why does it split?", "history": HISTORY}]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("new-domain", "show", "--covers", "the show")
    code, _, err = run("plan", "--batch", "in.jsonl", "--out", "log.jsonl", "--domain", "show", "--lm", "none")
    assert code == 0, err
    command = ("label", "log.jsonl", "--domain", "show", "--out", "rows.jsonl")
    _, out, err = run(*command, typed="/s\n/s\n")
    assert err == ""
    later = out[out.index("and why does it split?") - 60 :]
    assert "assistant: Nell does." in later
    assert "does it need an earlier turn?" in later
    lines = [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]
    Path("log.jsonl").write_text("".join(json.dumps({"id": x["id"], "plan": x["plan"]}) + "\n" for x in lines))
    _, out, err = run(*command, typed="/s\n/s\n")
    assert "1 to label" in out
    assert err.startswith("1 plans are left out: they were made in conversations that are not there")


def test_a_log_or_an_experiment_and_not_both(log: str) -> None:
    code, _, err = run("label", "--domain", "podcast", "--out", "rows.jsonl")
    assert code == 2
    assert "--traces EXPERIMENT" in err
    assert run(*LABEL, "--traces", "plans")[0] == 2


def test_stopping_in_the_middle_of_a_row_goes_on_there(log: str) -> None:
    code, out, _ = run(*LABEL, typed="n\n/q\n")
    assert code == 0
    assert "run the same command again" in out
    assert not Path("rows.jsonl").exists()
    _, out, _ = run(*LABEL, "--limit", "1", typed="\n" * 20)
    assert "earlier turn" not in out, "it was answered before"
    (row,) = read_rows(Path("rows.jsonl"))
    assert row.labels.is_follow_up is False


def test_the_end_of_input_is_a_stop(log: str) -> None:
    code, out, _ = run(*LABEL, typed="y\n")
    assert code == 0
    assert "stopped" in out
    assert Path("rows.jsonl.draft.json").exists()


class Interrupted(io.StringIO):
    """A keyboard at which some lines are typed, and then Ctrl-C."""

    def readline(self, size: int | None = -1, /) -> str:
        if line := super().readline():
            return line
        raise KeyboardInterrupt


def test_ctrl_c_ends_with_130_and_keeps_what_was_labelled(
    log: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(*LABEL, "--limit", "1", typed="\n" * 20)
    monkeypatch.setattr("sys.stdin", Interrupted("n\n"))
    with pytest.raises(SystemExit) as end:
        main.app(list(LABEL))
    said = capsys.readouterr()
    assert end.value.code == 130
    assert "0 rows added to rows.jsonl" in said.out
    assert said.err == f"{STOPPED}\n"
    assert [row.query for row in read_rows(Path("rows.jsonl"))] == ["why her?"]
    assert json.loads(Path("rows.jsonl.draft.json").read_text())["answers"] == {"is_follow_up": False}


def test_a_row_can_be_skipped_and_a_reply_corrected(log: str) -> None:
    _, out, _ = run(*LABEL, typed="/s\nperhaps\ny\n" + "\n" * 20)
    assert "reply y or n" in out
    assert [row.query for row in read_rows(Path("rows.jsonl"))] == ["and when?"]


def test_answers_against_the_guide_are_asked_again(log: str) -> None:
    wrong = "y\n\nBob\n" + "\n" * 6
    _, out, _ = run(*LABEL, "--limit", "1", typed=f"{wrong}\n\nNell\n" + "\n" * 20)
    assert "which no earlier turn says" in out
    assert "once more, Enter takes what you said" in out
    assert read_rows(Path("rows.jsonl"))[0].labels.referenced_entities == ("Nell",)


def test_what_enter_takes_is_shown_before_it_is_asked(log: str) -> None:
    _, out, _ = run(*LABEL, "--limit", "1", typed="\n" * 20)
    assert "[yes]" in out
    assert "[moderate]" in out


def test_a_topic_that_the_plan_does_not_name_has_to_be_typed(log: str) -> None:
    _, out, _ = run(*LABEL, "--limit", "1", typed="n\nn\n\n\nnews\n")
    assert out.count("reply one of") == 2
    assert read_rows(Path("rows.jsonl"))[0].labels.rejection_kind == "news"


def test_brackets_of_a_users_are_no_markup_where_labels_are_asked() -> None:
    query = "what is [/b in [red and :heart:?"
    plan = {**PLAN, "query": query, "standalone_query": query, "entities": ["[/b"]}
    Path("log.jsonl").write_text(json.dumps({"query": query, "history": HISTORY, "plan": plan}))
    code, out, _ = run(*LABEL, typed="\n" * 20)
    assert code == 0
    assert f"[{query}]" in out
    assert "[[/b]" in out


@pytest.mark.parametrize("indent", [1, 2, 4])
def test_one_document_over_many_lines_is_told_so(log: str, indent: int) -> None:
    first = json.loads(Path("log.jsonl").read_text(encoding="utf-8").splitlines()[0])
    Path("log.jsonl").write_text(json.dumps(first, indent=indent), encoding="utf-8")
    code, _, err = run(*LABEL)
    assert (code, err) == (2, "error: log.jsonl is one JSON document over several lines: write one object a line\n")
