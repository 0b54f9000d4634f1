"""From head answers to a bound: one row a conversation, one joint loss, one parameter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from queryplan.data.domain import Domain, load_domain
from queryplan.errors import UserError
from queryplan.eval.cascade.head_answers import Answer, RowAnswers, head_answers, one_of_each
from queryplan.optimizers.bounding import bound_of, coverage, fit_bound
from queryplan.program.context import clean_row
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.heads.heads import Heads
from queryplan.program.heads.training import train_heads
from queryplan.program.uncompiled import uncompiled_planner


def row(number: int, certainty: float = 0.9, right: bool = True, **more: Answer) -> RowAnswers:
    answers = {"relevance": Answer(certainty, right), **more}
    return RowAnswers(f"r{number}", f"c{number}", answers, tuple(n for n in answers if n != "kind"))


def test_heads_answer_down_to_where_too_many_queries_would_be_wrong() -> None:
    answers = [row(n) for n in range(90)] + [row(n, 0.6, right=False) for n in range(90, 100)]
    bound = bound_of(answers)
    assert bound.certainty is not None
    assert 0.6 < bound.certainty <= 0.61
    assert (bound.conversations, bound.errors, bound.coverage["joint"]) == (100, 0, 0.9)
    assert "100 conversations" in bound.sentence
    assert "2.3% at best" in bound.sentence


def test_the_loss_is_joint_one_wrong_head_is_as_bad_as_two() -> None:
    both = [row(n, 0.9, n > 1, complexity=Answer(0.9, n > 1)) for n in range(100)]
    apart = [row(n, 0.9, n > 1, complexity=Answer(0.9, n not in (2, 3))) for n in range(100)]
    assert sum(r.wrong(0.8) for r in both) == 2
    assert sum(r.wrong(0.8) for r in apart) == 4


def test_with_too_few_conversations_no_head_answers_and_the_bound_says_how_many_are_needed() -> None:
    bound = bound_of([row(n) for n in range(44)])
    assert bound.certainty is None
    assert bound.reason == "44 conversations are too few: label 45 or more"
    assert bound_of([]).reason == "0 conversations are too few: label 45 or more"


def test_heads_that_are_certain_and_wrong_may_not_answer() -> None:
    bound = bound_of([row(n, 0.999, right=n % 2 == 0) for n in range(100)])
    assert bound.certainty is None
    assert "wrongly" in bound.reason
    assert "no head answers" in bound.sentence


def test_without_any_head_no_head_answers() -> None:
    bound = bound_of([RowAnswers(f"r{n}", f"c{n}", {}, ("relevance",)) for n in range(100)])
    assert bound.certainty is None
    assert "train on" in bound.reason


def test_a_head_that_rejects_needs_no_complexity_and_answers_for_its_kind() -> None:
    answers = {"relevance": Answer(0.9, True), "kind": Answer(0.9, False), "complexity": Answer(0.9, False)}
    rejected = RowAnswers("r", "c", answers, ("relevance",), rejects=True)
    assert rejected.used(0.8) == {"relevance", "kind"}
    assert rejected.wrong(0.8)
    assert rejected.whole(0.8)
    assert not rejected.used(0.95)


def test_what_a_rule_decides_is_no_head_s_and_needs_no_model() -> None:
    greeting = RowAnswers("r", "c")
    assert not greeting.wrong(0.0)
    assert greeting.whole(1.0)


def test_one_row_of_each_conversation_is_drawn_with_the_seed() -> None:
    rows = [RowAnswers(f"r{n}", f"c{n % 7}") for n in range(70)]
    drawn = one_of_each(rows, 1)
    assert len({r.conversation for r in drawn}) == len(drawn) == 7
    assert drawn == one_of_each(rows, 1)
    assert drawn != one_of_each(rows, 2)


@pytest.mark.parametrize("wrong", [{"error": 0.0}, {"error": 1.0}, {"confidence": 1.5}])
def test_a_bound_that_is_no_share_is_refused(wrong: dict[str, float]) -> None:
    read = load_domain("podcast", splits=("train",))
    heads = train_heads(read.rows("train")[:3], read.card, default_encoder())
    with pytest.raises(UserError, match="between 0 and 1"):
        fit_bound(heads, (), read.card, **wrong)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def podcast(heads_kept: Callable[[str], Path]) -> tuple[Domain, Heads]:
    read = load_domain("podcast", splits=("train", "dev"))
    heads = uncompiled_planner("podcast", heads_kept("podcast")).heads
    assert heads is not None
    return read, heads


def test_five_rows_teach_no_head_and_no_bound(podcast: tuple) -> None:
    read, _ = podcast
    heads = train_heads(read.rows("train")[:5], read.card, default_encoder())
    assert heads.heads == {}
    assert fit_bound(heads, read.rows("dev"), read.card).certainty is None


def test_on_real_rows_the_table_agrees_with_the_heads(podcast: tuple) -> None:
    read, heads = podcast
    table = head_answers(heads, read.rows("dev"), read.card)
    by_id = {answer.row_id: answer for answer in table}
    for one in read.rows("dev"):
        found = by_id[one.id]
        assert ("follow_up" in found.arises) == bool(one.history and found.arises)
        if "relevance" in found.answers:
            typed = clean_row(one, read.card).query if one.labels.is_follow_up else None
            said = heads.of_query(one.labels.standalone_query, typed, closely=True)["is_relevant"]
            assert found.answers["relevance"].right == ((said.label == "true") == one.labels.is_relevant)
    assert coverage(table, 0.0)["joint"] == 1.0
    assert 0 < coverage(table, 0.9)["joint"] < 0.6


def test_rows_of_one_class_teach_no_head_and_the_bound_says_what_to_do(podcast: tuple) -> None:
    read, _ = podcast
    alike = [
        row
        for row in read.rows("train")
        if row.labels.intent == "factual" and row.labels.complexity == "simple" and not row.history
    ]
    heads = train_heads(alike, read.card, default_encoder())
    assert heads.heads == {}
    calibrate = [row.model_copy(update={"conversation": row.id}) for row in read.rows("dev")]
    bound = fit_bound(heads, calibrate, read.card)
    assert bound.certainty is None
    assert "no head says anything" in bound.reason
