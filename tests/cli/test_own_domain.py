"""A domain that does not ship, in a folder of one's own: what each command says of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from queryplan.data.card import load_card
from queryplan.data.domain import load_domain
from queryplan.data.learned import prints_of
from queryplan.data.newdomain import DomainAnswers, write_domain
from queryplan.program.artifact.folder import Manifest
from queryplan.program.heads import training
from queryplan.program.planner import QueryPlanner

Run = Callable[..., tuple[int, str, str]]
ANSWERS = DomainAnswers(
    name="cellar",
    title="The cellar",
    description="Wines in a cellar and what they go with.",
    covers=("wines: where they lie", "growers and their years"),
    excluded={"medical": "advice on health", "prices": "what a bottle costs"},
)
COLLECTION = '\n[collection]\ndirect_max_items = 15\nstore = "posts.jsonl"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_domain(tmp_path / "cellar", ANSWERS)
    return tmp_path / "cellar"


@pytest.fixture
def program(folder: Path, tmp_path: Path) -> Path:
    """One without heads, which takes no time."""
    QueryPlanner(load_card(folder)).save(tmp_path / "program")
    return tmp_path / "program"


@pytest.mark.parametrize("command", [("serve",), ("evaluate",), ("plan", "where is the Barolo?", "--program")])
def test_a_domain_that_is_given_for_a_program_is_known_as_one(
    queryplan: Run, folder: Path, command: tuple[str, ...]
) -> None:
    for domain in (str(folder), "podcast"):
        code, _, error = queryplan(*command, domain)
        assert code == 3
        assert f"it is a domain: say --domain {domain}" in error


@pytest.mark.parametrize("command", [("run", "where is the Barolo?", "--program"), ("evaluate",)])
def test_a_program_of_a_domain_that_does_not_ship_asks_for_its_folder(
    queryplan: Run, program: Path, command: tuple[str, ...]
) -> None:
    code, _, error = queryplan(*command, str(program), "--lm", "none")
    assert code == 2
    assert "of the domain cellar, which does not ship: give its folder with --domain" in error


def test_a_program_that_was_compiled_with_another_card_says_so(queryplan: Run, folder: Path, program: Path) -> None:
    asked = ("plan", "hello", "--program", str(program), "--domain", str(folder), "--lm", "none")
    assert "another card" not in queryplan(*asked)[2]
    card = folder / "domain.toml"
    card.write_text(card.read_text().replace("Wines in a cellar", "Wines in two cellars"))
    code, _, error = queryplan(*asked)
    assert code == 0
    assert f"was compiled with another card than cellar has now: queryplan compile {folder}" in error


def test_a_program_that_learned_from_rows_of_another_folder_says_so(
    queryplan: Run, folder: Path, tmp_path: Path
) -> None:
    rows = load_domain(folder, ("train",)).rows("train")
    planner = QueryPlanner(load_card(folder))
    planner.save(tmp_path / "program", Manifest(domain="cellar", learned=prints_of(rows)))
    asked = ("plan", "hello", "--program", str(tmp_path / "program"), "--domain", str(folder), "--lm", "none")
    assert "learned from" not in queryplan(*asked)[2]
    (folder / "train.jsonl").write_text("".join((folder / "train.jsonl").read_text().splitlines(keepends=True)[2:]))
    code, _, error = queryplan(*asked)
    assert code == 0
    assert f"learned from 2 rows that are not in {folder}'s train: queryplan compile {folder}" in error
    (folder / "train.jsonl").write_text("{half a row\n")  # planning needs none
    code, _, error = queryplan(*asked)
    assert code == 0
    assert "learned from" not in error


def test_a_compiled_program_reads_the_stores_of_its_own_domain(folder: Path, tmp_path: Path) -> None:
    with (folder / "domain.toml").open("a") as card:
        card.write(COLLECTION)
    (folder / "posts.jsonl").write_text('{"id": "1", "text": "Two of Barolo.", "date": "2025-10-01"}\n')
    QueryPlanner(load_card(folder)).save(tmp_path / "program")
    from queryplan.cli.opening import open_planner
    from queryplan.cli.settings import load_settings

    with open_planner(str(folder), str(tmp_path / "program"), load_settings(lm="none")) as planner:
        assert planner._retrieval.items() is not None


def test_a_plan_that_waits_for_heads_says_so_once(
    queryplan: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(training, "ROWS_A_MINUTE", 1)
    first, second = (queryplan("plan", "where is it?", "--domain", str(folder), "--lm", "none") for _ in range(2))
    assert (first[0], second[0]) == (0, 0)
    assert re.search(r"training heads from \d+ rows of cellar.*, once: about \d+ to \d+ minutes\n", first[2])
    assert "training" not in second[2]
