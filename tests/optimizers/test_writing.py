"""Who rewrites: the model only where it is nearer to gold than the head, by a standard error."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM
from queryplan.data.card import DomainCard, domain_folder, load_card
from queryplan.data.rows import LabelledRow, read_rows
from queryplan.optimizers.writing import FittedWriting, fit_writing, unmeasured
from queryplan.program.stages import examples, new_predictor, stage_specs
from queryplan.program.text.linker import Linker
from queryplan.signatures.types import SubQuery


class Guess:
    """A rewriter that leaves everything as typed."""

    def rewrite(self, query: str, turns: Any, shown: str, linker: Any) -> Any:
        return SimpleNamespace(text=query)


@pytest.fixture
def card() -> DomainCard:
    return load_card(domain_folder("podcast"))


@pytest.fixture
def rows() -> list[LabelledRow]:
    found = read_rows(domain_folder("podcast") / "dev.jsonl")
    return [row for row in found if row.labels.is_follow_up][:8]


def fitted(rows: list[LabelledRow], card: DomainCard, says: list[dict[str, str]], head: Any) -> FittedWriting | None:
    spec = stage_specs(card)["rewrite"]
    heads: Any = SimpleNamespace(rewriter=head, features=SimpleNamespace(linker=Linker(card.names)))
    lm = SimpleNamespace(writer=DummyLM(says, adapter=dspy.JSONAdapter()), adapter=dspy.JSONAdapter())
    return fit_writing(spec, new_predictor(spec), heads, rows, card, lm, written_dev=6)


def written(rows: list[LabelledRow], card: DomainCard, gold: bool) -> list[dict[str, str]]:
    made = examples(stage_specs(card)["rewrite"], rows, card)
    texts = [example["standalone_query"] if gold else "?" for example in made]
    return [{"referenced_entities": "[]", "standalone_query": text} for text in texts]


def test_a_model_that_writes_gold_rewrites(rows: list[LabelledRow], card: DomainCard) -> None:
    found = fitted(rows[:6], card, written(rows[:6], card, gold=True), Guess())
    assert found is not None
    assert found.model == 1.0
    assert found.head == found.bare < 1.0
    assert found.combination.lm_weight == 1.0
    assert found.sentence.startswith("standalone_query: the model (token F1 on dev: head 0.")


def test_a_model_that_is_no_nearer_is_not_asked(rows: list[LabelledRow], card: DomainCard) -> None:
    found = fitted(rows, card, written(rows, card, gold=False), Guess())
    assert found is not None
    assert found.combination.lm_weight == 0.0
    assert found.rows == 6
    assert "the head alone, the model does not beat it" in found.sentence


def test_an_answer_that_cannot_be_read_is_worth_nothing(rows: list[LabelledRow], card: DomainCard) -> None:
    found = fitted(rows, card, [{"nonsense": "x"}] * 40, Guess())
    assert found is not None
    assert found.model == 0.0


def test_without_a_head_that_rewrites_nothing_is_decided(rows: list[LabelledRow], card: DomainCard) -> None:
    assert fitted(rows, card, [], None) is None


class Cutter:
    """A decomposer that gives what it is told."""

    def __init__(self, sub_queries: tuple[SubQuery, ...] = ()) -> None:
        self.sub_queries = sub_queries

    def decompose(self, query: str, linker: Any) -> Any:
        return SimpleNamespace(sub_queries=self.sub_queries) if self.sub_queries else None


def cut(card: DomainCard, gold: bool, head: Any) -> FittedWriting | None:
    """Sub-queries of six rows of ``dev``, by a model that writes gold ones or the same two for all."""
    found = [row for row in read_rows(domain_folder("podcast") / "dev.jsonl") if row.labels.sub_queries][:6]
    spec = stage_specs(card)["decompose"]
    made = examples(spec, found, card)
    written = [[one.model_dump(exclude={"id"}) for one in row.labels.sub_queries] for row in found]
    nothing = [{"text": "what is wool", "depends_on": []}, {"text": "what is salt", "depends_on": []}]
    says = [
        {"sub_queries": json.dumps(of if gold else nothing), "entities": "[]", "relationships_needed": "[]"}
        for of in written[: len(made)]
    ]
    heads: Any = SimpleNamespace(decomposer=head, decomposed=lambda query: head.decompose(query, None))
    lm = SimpleNamespace(writer=DummyLM(says, adapter=dspy.JSONAdapter()), adapter=dspy.JSONAdapter())
    return fit_writing(spec, new_predictor(spec), heads, found, card, lm, written_dev=6)


def test_a_model_that_writes_gold_sub_queries_is_asked_for_them(card: DomainCard) -> None:
    found = cut(card, gold=True, head=Cutter())
    assert found is not None
    assert (found.output, found.model, found.head, found.bare) == ("sub_queries", pytest.approx(1.0), 0.0, 0.0)
    assert found.right == 6
    assert (found.combination.lm_weight, found.combination.surer) == (1.0, 0.929)
    assert found.sentence.startswith("sub_queries: the head where it is surer than 0.93, else the model (6 of the")
    assert "score on dev: head 0.000, model 1.000, searched whole 0.000" in found.sentence


def test_a_model_whose_sub_queries_are_never_right_is_asked_where_a_head_has_none(card: DomainCard) -> None:
    head = Cutter((SubQuery(id=1, text="what is wool"), SubQuery(id=2, text="what is salt")))
    found = cut(card, gold=False, head=head)
    assert found is not None
    assert (found.right, found.combination.surer) == (0, 0.071)
    assert found.head == pytest.approx(found.model)
    assert cut(card, gold=False, head=None) is None


@pytest.mark.parametrize(
    ("rewriter", "decomposer"), [(None, None), (Guess(), None), (None, Cutter()), (Guess(), Cutter())]
)
def test_what_nobody_compiled_is_written_by_the_heads_there_are(rewriter: Any, decomposer: Any) -> None:
    heads: Any = SimpleNamespace(rewriter=rewriter, decomposer=decomposer)
    found = unmeasured(heads)
    assert found.keys() == {
        *(["standalone_query"] if rewriter else []),
        *(["sub_queries"] if decomposer else []),
    }
    if rewriter:
        assert found["standalone_query"].lm_weight == 0.0
    if decomposer:
        assert (found["sub_queries"].lm_weight, found["sub_queries"].surer) == (1.0, 0.0)
