"""``queryplan run``: plan a query and execute it on a domain's own stores."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from queryplan.cli import main
from queryplan.data.card import domain_folder, load_card
from queryplan.data.labelling import read_logged
from queryplan.program.artifact.folder import Manifest
from queryplan.program.planner import QueryPlanner
from typer.testing import CliRunner

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Programs that rules alone decide, so that no test trains: every question is a simple one."""
    found = {}
    for domain in ("podcast", "journal", "engineering"):
        folder = tmp_path_factory.mktemp("programs") / domain
        QueryPlanner(load_card(domain_folder(domain))).save(folder, Manifest(domain=domain))
        found[domain] = str(folder)
    return found


@pytest.fixture
def run(programs: dict[str, str]) -> Run:
    """Run ``queryplan run … --lm none`` with the program of a domain."""

    def run(*args: str, domain: str = "podcast") -> tuple[int, str, str]:
        given = ["run", *map(str, args), "--program", programs[domain], "--lm", "none"]
        result = CliRunner().invoke(main.app, given)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


def test_a_run_shows_plan_evidence_sources_and_cost(run: Run) -> None:
    code, out, _ = run("what is the two-minute doorway?")
    assert code == 0
    assert out.splitlines()[0] == "what is the two-minute doorway?"
    assert "transcripts 1[2], 2022-01-11" in out
    assert "rule_based:standalone" in out
    assert "searches in" in out
    assert "the graph knows" in out


def test_a_greeting_is_answered_without_a_search(run: Run) -> None:
    _, out, _ = run("hello")
    assert "answer: The Slow Lantern" in out
    assert "evidence" not in out


def test_as_json_plan_and_result_can_be_read(run: Run) -> None:
    _, out, _ = run("what is the two-minute doorway?", "--json", "--limit", "3")
    read = json.loads(out)
    assert read["kind"] == "searched"
    assert read["plan"]["query"] == "what is the two-minute doorway?"
    assert len(read["evidence"]) == 3
    assert {"id", "source", "title", "date", "text", "query_variant"} <= set(read["evidence"][0])
    assert read["trace"]["queries"] >= 1


def test_records_of_sources_are_shown_with_their_fields(run: Run) -> None:
    _, out, _ = run("which pipelines of atlas failed?", domain="engineering")
    assert "gitlab" in out
    assert "status failed" in out


def test_a_collection_is_read_as_a_whole_where_the_session_says_it_is_small(run: Run, tmp_path: Path) -> None:
    now = "2025-03-31T12:00:00+02:00"
    session = {"now": now, "collection": {"composition_count": 4, "last_stats_update": now}}
    (tmp_path / "session.json").write_text(json.dumps(session))
    _, out, _ = run("what did I write about the cat?", "--session", "session.json", domain="journal")
    assert "everything (4)" in out


def test_gaps_are_shown(run: Run) -> None:
    _, out, _ = run("zeppelin volcano")
    assert "gap: " in out


def test_nothing_that_was_typed_is_taken_for_markup(run: Run) -> None:
    _, out, _ = run("[red]zeppelin[/red] [bold")
    assert "[red]zeppelin[/red] [bold" in out


def test_a_batch_is_run_row_by_row_and_goes_on_where_it_was(run: Run, tmp_path: Path) -> None:
    before = [{"role": "user", "content": "hi"}]
    first = {"id": "a", "query": "the two-minute doorway", "history": before, "conversation": "k"}
    rows = [first, {"id": "b"}, {"id": "c", "query": "hello", "session": {}}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, _, said = run("--batch", "in.jsonl", "--out", "out.jsonl")
    assert code == 2
    assert "2 queries run, all of them in out.jsonl; rows that are no query: 1," in said
    done = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in done] == ["a", "b", "c"]
    assert done[0]["run"]["evidence"]
    labelled = read_logged(tmp_path / "out.jsonl")
    assert [(plan.query, len(plan.history), plan.conversation) for plan in labelled] == [
        ("the two-minute doorway", 1, "k"),
        ("hello", 0, None),
    ]
    assert "this row is no query" in done[1]["error"]
    assert done[2]["run"]["kind"] == "direct_answer"
    _, _, again = run("--batch", "in.jsonl", "--out", "out.jsonl")
    assert "0 queries run" in again
    assert (tmp_path / "out.jsonl").read_text().count("\n") == 3


def test_a_deadline_that_is_over_gives_a_result_that_says_so(run: Run) -> None:
    code, out, _ = run("what is the two-minute doorway?", "--deadline", "0")
    assert code == 0
    assert "the deadline came" in out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), "give a query or --batch"),
        (("q", "--batch", "in.jsonl"), "and not both"),
        (("--batch", "in.jsonl"), "--batch and --out go together"),
        (("q", "--out", "out.jsonl"), "--batch and --out go together"),
        (("q", "--session", "missing.json"), "missing.json cannot be read as a JSON object"),
        (("q", "--domain", "nowhere"), "there is no domain 'nowhere'"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(run: Run, args: tuple[str, ...], words: str) -> None:
    code, _, said = run(*args)
    assert code == 2
    assert words in said
    assert said.startswith("error: ")


def test_a_session_that_is_a_list_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text("[]")
    code, _, said = run("q", "--session", "s.json")
    assert (code, "must hold a JSON object" in said) == (2, True)


def test_the_help_names_the_command() -> None:
    result = CliRunner().invoke(main.app, ["--help"])
    assert "execute it on the domain's own stores" in " ".join(result.stdout.split())
