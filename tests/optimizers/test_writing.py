"""Who rewrites: the model only where it is nearer to gold than the head, by a standard error."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM
from queryplan.data.card import DomainCard, HistoryWindow, domain_folder, load_card
from queryplan.data.rows import LabelledRow, read_rows
from queryplan.optimizers.writing import FittedWriting, fit_writing, unmeasured
from queryplan.program.context import clean_row
from queryplan.program.rewriting.rewriter import Rewritten
from queryplan.program.stages import examples, new_predictor, stage_specs
from queryplan.program.text.linker import Linker
from queryplan.program.written import _rewritten_by_head
from queryplan.signatures.types import SubQuery, Turn


class Guess:
    """A rewriter that writes what it is told, or leaves everything as typed, and keeps what it was asked."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.asked: list[tuple[str, tuple[Turn, ...]]] = []

    def rewrite(self, query: str, turns: tuple[Turn, ...], shown: str, linker: Any) -> Rewritten:
        self.asked.append((query, tuple(turns)))
        return Rewritten(self.text or query, "put" if self.text else "keep", "", 1.0)


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


def test_a_gain_in_one_conversation_alone_is_not_shown(rows: list[LabelledRow], card: DomainCard) -> None:
    for names, weight in ((list("abcdef"), 1.0), (["a"] * 6, 0.0), (list("aabbbb"), 0.0)):
        some = [row.model_copy(update={"conversation": name}) for row, name in zip(rows[:6], names, strict=True)]
        gold, other = written(some, card, gold=True), written(some, card, gold=False)
        for one in other:
            one["standalone_query"] = ""
        says = gold if len(set(names)) != 2 else [*gold[:2], *other[2:]]
        found = fitted(some, card, says, Guess())
        assert found is not None
        assert found.combination.lm_weight == weight


def test_a_model_that_is_no_nearer_is_not_asked(rows: list[LabelledRow], card: DomainCard) -> None:
    found = fitted(rows, card, written(rows, card, gold=False), Guess())
    assert found is not None
    assert found.combination.lm_weight == 0.0
    assert found.rows == 6
    assert "the head alone, the model does not beat it" in found.sentence


@pytest.mark.parametrize(
    "says", [{"nonsense": "x"}, *({"referenced_entities": "[]", "standalone_query": s} for s in ("", " ", "so " * 900))]
)
def test_where_no_plan_would_use_the_answer_it_has_the_heads(
    rows: list[LabelledRow], card: DomainCard, says: dict[str, str]
) -> None:
    found = fitted(rows, card, [says] * 40, Guess("what does Priya say of sleep?"))
    assert found is not None
    assert found.model == found.head != found.bare
    assert (found.unused, found.combination.lm_weight) == (6, 0.0)
    assert found.sentence.endswith("in 6 of them the model wrote nothing that can be used, and the head's counts)")


def test_a_few_unusable_answers_do_not_hide_how_good_the_others_are(rows: list[LabelledRow], card: DomainCard) -> None:
    says = written(rows[:6], card, gold=True)
    says[2] = {"referenced_entities": "[]", "standalone_query": ""}
    found = fitted(rows[:6], card, says, Guess())
    assert found is not None
    assert found.unused == 1
    assert found.head < found.model < 1.0
    assert found.combination.lm_weight == 1.0


def spoken(row: LabelledRow, before: str, behind: str, reason: str) -> LabelledRow:
    """The row between a greeting and thanks, after a rejection."""
    history = [*row.history, Turn(role="user", content="and tomorrow's rain?"), Turn(role="assistant", content=reason)]
    return row.model_copy(update={"query": f"{before}{row.query}{behind}", "history": tuple(history)})


@pytest.mark.parametrize(
    ("before", "behind"),
    [("hello! ", ""), ("", ", thanks"), ("Good morning, ", " 谢谢"), ("HI - ", ", s'il vous plaît!")],
)
def test_a_head_is_judged_by_what_a_plan_gives_it(
    rows: list[LabelledRow], card: DomainCard, before: str, behind: str
) -> None:
    card = card.model_copy(update={"greetings": (*card.greetings, "谢谢"), "history": HistoryWindow(messages=12)})
    greeted = [spoken(row, before, behind, card.excluded[0].reason) for row in rows[:6]]
    head = Guess("what does Priya say of sleep?")
    assert fitted(greeted, card, written(greeted, card, gold=False), head) is not None
    plain = Guess("what does Priya say of sleep?")
    assert fitted(rows[:6], card, written(rows[:6], card, gold=False), plain) is not None
    asked = [(query.rstrip(",.!? "), turns) for query, turns in head.asked]
    told = (Turn(role="user", content="and tomorrow's rain?"),)
    assert asked == [(query.rstrip(",.!? "), (*turns, *told)) for query, turns in plain.asked]
    heads = SimpleNamespace(rewriter=(planned := Guess("what does Priya say of sleep?")))
    for row in greeted:
        parts: Any = SimpleNamespace(heads=heads, card=card, linker=Linker(card.names))
        flow: Any = SimpleNamespace(parts=parts, clean=clean_row(row, card), labels=SimpleNamespace(), decide=print)
        assert _rewritten_by_head(flow)
    assert planned.asked == head.asked


def test_a_rewrite_that_no_plan_would_use_is_the_query_as_typed(rows: list[LabelledRow], card: DomainCard) -> None:
    found = fitted(rows, card, written(rows, card, gold=False), Guess("so " * 900))
    assert found is not None
    assert found.head == found.bare > 0.0


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


@pytest.mark.parametrize("listed", [(), (0, 2), (0, 1, 2, 3, 4)])
def test_a_query_that_lists_its_questions_asks_nobody(card: DomainCard, listed: tuple[int, ...]) -> None:
    found = [row for row in read_rows(domain_folder("podcast") / "dev.jsonl") if row.labels.sub_queries][:6]
    found = [row for row in found if not row.labels.is_follow_up]
    for place in listed:
        if place < len(found):
            text = "1. What is wool?\n2. What is salt?"
            labels = found[place].labels.model_copy(update={"standalone_query": text})
            found[place] = found[place].model_copy(update={"query": text, "labels": labels})
    asked = [row for place, row in enumerate(found) if place not in listed]
    spec = stage_specs(card)["decompose"]
    says = [{"sub_queries": "[]", "entities": "[]", "relationships_needed": "[]"}] * len(found)
    heads: Any = SimpleNamespace(decomposer=Cutter(), decomposed=lambda query: None)
    lm = SimpleNamespace(writer=DummyLM(says, adapter=dspy.JSONAdapter()), adapter=dspy.JSONAdapter())
    fit = fit_writing(spec, new_predictor(spec), heads, found, card, lm, written_dev=6)
    if len(asked) < 2:
        assert fit is None
    else:
        assert fit is not None
        assert fit.rows == len(asked)


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
