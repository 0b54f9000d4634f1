"""Gold plans are run: what does not give its answers is found, and the shipped domains give all of theirs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from queryplan.data.card import SHIPPED
from queryplan.data.checking import open_set
from queryplan.errors import DataError
from queryplan.eval.graph.gold_plans import check_gold_plans
from queryplan.program.retrieval.stores import open_stores


@pytest.fixture
def biomedical(tmp_path: Path) -> Path:
    folder = tmp_path / "biomedical"
    shutil.copytree(SHIPPED / "biomedical", folder)
    (folder / "test.jsonl").unlink()
    return folder


def change(folder: Path, split: str, where: str, by: str) -> str:
    """Replace text in the first row that has it; the id of that row."""
    path = folder / f"{split}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    number = next(n for n, line in enumerate(lines) if where in line)
    lines[number] = lines[number].replace(where, by, 1)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return json.loads(lines[number])["id"]


@pytest.mark.parametrize(("domain", "at_least"), [("biomedical", 200), ("podcast", 30), ("engineering", 0)])
def test_every_gold_plan_that_ships_gives_its_answers(domain: str, at_least: int) -> None:
    found = check_gold_plans(open_set(domain), SHIPPED / domain)
    assert found.findings == ()
    assert found.run >= at_least


def test_a_wrong_answer_is_named_with_its_row(biomedical: Path) -> None:
    row = change(biomedical, "train", '"answers":["', '"answers":["someone else","')
    finding = check_gold_plans(open_set(biomedical), biomedical).findings[0]
    assert finding.count == 1
    assert finding.examples[0].startswith(f"train {row}: the plan returns ")
    assert "someone else" in finding.examples[0]


def test_an_ill_typed_plan_is_named_before_it_is_run(biomedical: Path) -> None:
    change(biomedical, "train", '"edge":"TREATS_CtD"', '"edge":"CURES_CcD"')
    assert "there is no edge 'CURES_CcD'" in check_gold_plans(open_set(biomedical), biomedical).findings[0].examples[0]


def test_an_anchor_that_the_graph_lacks_is_named(biomedical: Path) -> None:
    change(biomedical, "train", '"name":"lamotrigine"', '"name":"lamotrygine"')
    example = check_gold_plans(open_set(biomedical), biomedical).findings[0].examples[0]
    assert "the graph has no Compound 'lamotrygine'" in example


def test_a_plan_without_a_graph_to_run_it_on_is_found(biomedical: Path) -> None:
    found = check_gold_plans(open_set(biomedical / "dev.jsonl"), None)
    assert found.run == found.findings[0].count > 0


def test_a_filter_that_no_source_declares_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "engineering"
    shutil.copytree(SHIPPED / "engineering", folder)
    path = folder / "dev.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"projects"', '"colours"'), encoding="utf-8")
    finding = check_gold_plans(open_set(folder), folder).findings[0]
    assert finding.kind == "gold source plans that ask what no source declares"
    assert "'colours'" in finding.examples[0]


def test_evidence_that_cannot_be_read_is_named_with_its_line(biomedical: Path) -> None:
    (biomedical / "evidence.jsonl").write_text('{"id": "x", "answer": []}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"evidence.jsonl:1: expected an object with id"):
        check_gold_plans(open_set(biomedical), biomedical)


def test_nodes_of_a_type_that_the_schema_lacks_are_counted_with_what_may_be_meant(biomedical: Path) -> None:
    assert not check_gold_plans(open_set(biomedical), biomedical).findings
    nodes = biomedical / "graph" / "nodes.jsonl"
    with nodes.open("a", encoding="utf-8") as file:
        file.writelines(f'{{"id": "x{n}", "name": "x{n}", "type": "Compounds"}}\n' for n in range(3))
    (finding,) = check_gold_plans(open_set(biomedical), biomedical).findings
    assert finding.examples == ("nodes of type 'Compounds': not in the schema, 3 times (nearest: Compound)",)
    assert open_stores(biomedical).left_out == finding.examples
    with (biomedical / "graph" / "edges.tsv").open("a", encoding="utf-8") as file:
        file.write("x1\tTREATS_CtD\tx2\t\t\n")
    with pytest.raises(DataError, match=r"joins 'x1', a 'Compounds', which the schema does not have"):
        open_stores(biomedical)
