"""Labels that the guide does not allow are named; rows that follow it are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queryplan.data import rows
from queryplan.data.domain import load_domain
from queryplan.data.guide import contradictions
from queryplan.data.rows import SESSION_KEYS, LabelledRow
from queryplan.signatures.types import INTENTS, Labels

PAGE = Path(rows.__file__).with_name("README.md")
MakeRow = Callable[..., LabelledRow]
PARTS = [{"id": 1, "text": "who is she?"}, {"id": 2, "text": "what did {1} do?", "depends_on": [1]}]
SPLIT = {"needs_decomposition": True, "complexity": "complex"}


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"row_turn": 2, "is_follow_up": True}, ["a follow-up whose standalone_query resolves nothing"]),
        ({"row_turn": 2, "row_history": [{"role": "user", "content": "hi"}] * 2}, ["turn is 2, but the history has 2"]),
        ({"entities": ["Nell"]}, ["entities has 'Nell', which standalone_query does not say"]),
        ({"intent": "greeting", "complexity": "moderate"}, ["a greeting is simple"]),
        ({"intent": "multi_part", "complexity": "moderate"}, ["several questions in one"]),
        ({"intent": "cross_episode"}, ["across episodes or over time"]),
        ({"intent": "comparison"}, ["comparison is moderate at least"]),
        ({**SPLIT, "sub_queries": PARTS, "complexity": "simple"}, ["one retrieval at most"]),
        ({**SPLIT, "sub_queries": [PARTS[0], {**PARTS[0], "id": 2}]}, ["two sub-queries ask the same"]),
        ({**SPLIT, "sub_queries": [PARTS[0], {**PARTS[1], "depends_on": []}]}, ["sub-query 2 uses {1}"]),
        ({**SPLIT, "sub_queries": PARTS}, []),
        ({}, []),
    ],
)
def test_a_contradiction_is_one_sentence(make_row: MakeRow, labels: dict[str, Any], said: list[str]) -> None:
    turn = labels.pop("row_turn", 1)
    found = contradictions(make_row("why did she?", turn=turn, **labels))
    assert len(found) == len(said)
    assert all(part in sentence for part, sentence in zip(said, found, strict=True))


def test_a_referenced_name_must_have_been_said(make_row: MakeRow) -> None:
    labels = {"is_follow_up": True, "standalone_query": "why did Nell?", "referenced_entities": ["Nell"]}
    said = [{"role": "assistant", "content": "nell did"}]
    assert contradictions(make_row("why?", turn=2, **labels, row_history=said)) == []
    (sentence,) = contradictions(make_row("why?", turn=2, **labels))
    assert sentence == "referenced_entities has 'Nell', which no earlier turn says"


def test_the_shipped_rows_follow_the_guide() -> None:
    rows = [row for part in load_domain("podcast").splits.values() for row in part]
    assert [row.id for row in rows if contradictions(row)] == []


def test_the_row_that_the_page_shows_follows_the_guide() -> None:
    (line,) = (line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith('{"id"'))
    assert contradictions(LabelledRow.model_validate_json(line)) == []


def test_the_page_names_every_field_and_intent() -> None:
    page = PAGE.read_text(encoding="utf-8")
    shown = {*LabelledRow.model_fields, *Labels.model_fields, *INTENTS, *SESSION_KEYS}
    assert [name for name in sorted(shown) if f"`{name}`" not in page] == []
