"""Logged plans become rows: the least certain first, answers checked, nothing lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from queryplan.data.card import DomainCard, domain_folder, load_card
from queryplan.data.label_file import Answers, LabelFile
from queryplan.data.labelling import (
    LoggedPlan,
    Question,
    in_their_conversation,
    least_certain_first,
    make_row,
    next_question,
    read_answer,
    read_logged,
)
from queryplan.data.rows import read_rows
from queryplan.errors import DataError

HISTORY = [{"role": "user", "content": "Who hosts it?"}, {"role": "assistant", "content": "Nell does."}]
PLAN: dict[str, Any] = {
    "query": "why her?", "standalone_query": "Why does Nell host it?", "is_follow_up": True,
    "referenced_entities": ["Nell"], "is_relevant": True, "complexity": "moderate", "intent": "causal",
    "needs_decomposition": False, "sub_queries": [], "entities": ["Nell"], "relationships_needed": ["hosts"],
}  # fmt: skip


@pytest.fixture(scope="module")
def card() -> DomainCard:
    return load_card(domain_folder("podcast"))


def logged(query: str = "why her?", confidences: tuple[float, ...] = (0.9,), **change: Any) -> LoggedPlan:
    trace = {"decisions": [{"stage": "relevance", "confidence": c} for c in confidences]}
    line = {"query": query, "history": HISTORY, "plan": {**PLAN, "query": query, "trace": trace}}
    return LoggedPlan.model_validate({**line, **change})


def answer_all(plan: LoggedPlan, card: DomainCard, replies: dict[str, str]) -> Answers:
    """Answer what is asked; Enter where no reply is given."""
    answers: Answers = {}
    while (question := next_question(plan, answers, card)) is not None:
        answers[question.field] = read_answer(question, replies.get(question.field, ""))
    return answers


# -- reading


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines), encoding="utf-8")
    return path


def test_a_log_is_read(tmp_path: Path) -> None:
    batch = {"id": "1", "plan": PLAN}
    full = {"query": "hm?", "history": HISTORY, "plan": PLAN, "conversation": "x", "more": 1}
    run = {"id": "3", "history": HISTORY, "run": {"kind": "answer", "plan": PLAN}}
    found = read_logged(write(tmp_path / "log.jsonl", batch, "", {"id": "2", "error": "no query"}, full, run))
    read = [(p.query, len(p.history), p.conversation) for p in found]
    assert read == [("why her?", 0, None), ("hm?", 2, "x"), ("why her?", 2, None)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "not JSON"),
        ("[1]", "expected an object"),
        ({"query": "x"}, "plan: this field is missing"),
        ({"plan": {}}, "query: expected text"),
        ({"query": "x", "plan": 3}, "plan: "),
        ({"query": "x", "run": {"kind": "rejected"}}, "plan: "),
        ({"query": "x", "run": "done"}, "plan: "),
        ({"query": "x", "plan": {}, "history": [{"role": "robot", "content": ""}]}, r"history\.0\.role: "),
    ],
)
def test_a_bad_line_names_file_line_and_field(tmp_path: Path, line: Any, said: str) -> None:
    with pytest.raises(DataError, match=rf"^log\.jsonl:2: .*{said}"):
        read_logged(write(tmp_path / "log.jsonl", {"plan": PLAN}, line))


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_a_log_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "log.jsonl").write_bytes(content)
    with pytest.raises(DataError, match=r"log\.jsonl(:1: the line)? cannot be read"):
        read_logged(tmp_path / "log.jsonl")


@pytest.mark.parametrize("change", [{"is_follow_up": True}, {"is_follow_up": False, "conversation_context": "Who?"}])
def test_a_plan_without_its_conversation_is_not_read_as_a_first_turn(tmp_path: Path, change: dict[str, Any]) -> None:
    lost, first = {"id": "1", "plan": {**PLAN, **change}}, {"id": "2", "plan": {**PLAN, "is_follow_up": False}}
    whole = {**lost, "history": HISTORY}
    path = write(tmp_path / "log.jsonl", lost, first, whole, {**lost, "history": []})
    found, count = in_their_conversation(read_logged(path), "log.jsonl")
    assert ([len(plan.history) for plan in found], count) == ([0, 2, 0], 1)
    with pytest.raises(DataError, match=r"all 1 plans of log\.jsonl were made in conversations .*write history into"):
        in_their_conversation(read_logged(write(path, lost)), "log.jsonl")


# -- order


def test_the_least_certain_comes_first_and_each_once() -> None:
    plans = [logged("a", (0.9, 0.9)), logged("b", (0.9, 0.5)), logged("c", ()), logged("a", (0.9, 0.9))]
    assert [p.query for p in least_certain_first(plans)] == ["c", "b", "a"]
    assert plans[1].certainty == pytest.approx(0.45)


def test_what_is_done_is_not_offered_again() -> None:
    plans = [logged("a"), logged("b")]
    assert least_certain_first(plans, {plans[0].key}) == plans[1:]
    assert logged("a").key != logged("a", history=[]).key


# -- questions


def test_accepting_everything_gives_the_plan(card: DomainCard) -> None:
    row = make_row(logged(), answer_all(logged(), card, {}))
    labels = row.labels.model_dump()
    assert {k: v for k, v in PLAN.items() if isinstance(v, bool | str) and k != "query"}.items() <= labels.items()
    assert (row.turn, row.tags, row.labels.entities) == (2, ("logged",), ("Nell",))


def test_only_what_applies_is_asked(card: DomainCard) -> None:
    first = answer_all(logged(history=[]), card, {})
    assert "is_follow_up" not in first
    outside = answer_all(logged(), card, {"is_follow_up": "n", "is_relevant": "no", "rejection_kind": "news"})
    assert list(outside) == ["is_follow_up", "is_relevant", "rejection_kind"]
    assert make_row(logged(), outside).labels.intent == "out_of_scope"


def test_sub_queries_are_typed_in_one_line(card: DomainCard) -> None:
    replies = {"needs_decomposition": "y", "sub_queries": "Who is Nell? | What did {1} say? ", "intent": "multi_p",
               "complexity": "complex"}  # fmt: skip
    row = make_row(logged(), answer_all(logged(), card, replies))
    assert [(s.text, s.depends_on) for s in row.labels.sub_queries] == [
        ("Who is Nell?", ()),
        ("What did {1} say?", (1,)),
    ]


def test_turns_of_one_conversation_share_its_name(card: DomainCard) -> None:
    opening = logged("Who hosts it?", history=[])
    later = make_row(logged(), answer_all(logged(), card, {}))
    assert make_row(opening, answer_all(opening, card, {})).conversation == later.conversation
    named = logged(conversation="chat-7")
    assert make_row(named, answer_all(named, card, {})).conversation == "chat-7"


def test_answers_against_the_guide_are_refused(card: DomainCard) -> None:
    with pytest.raises(DataError, match="which no earlier turn says"):
        make_row(logged(), answer_all(logged(), card, {"referenced_entities": "Bob"}))
    with pytest.raises(DataError, match="exactly when needs_decomposition"):
        make_row(logged(), answer_all(logged(), card, {"needs_decomposition": "y", "sub_queries": "-"}))


@pytest.mark.parametrize("typed", ["", "one", "a | b | c | d | e", " | "])
def test_so_many_sub_queries_as_no_row_has_are_refused_at_once(card: DomainCard, typed: str) -> None:
    answers: Answers = {"is_follow_up": False, "is_relevant": True, "needs_decomposition": True}
    answers |= {"complexity": "complex", "intent": "multi_part"}
    question = next_question(logged(), answers, card)
    assert question is not None
    assert question.field == "sub_queries"
    with pytest.raises(ValueError, match=r"write 2 to 4 with \| between"):
        read_answer(question, typed)


def test_answers_that_contradict_each_other_are_proposed_once_more(card: DomainCard) -> None:
    before: Answers = {"is_follow_up": True, "standalone_query": "Why does Bob host it?", "is_relevant": True}
    first = next_question(logged(), {}, card, before)
    second = next_question(logged(), {"is_follow_up": True}, card, before)
    assert first is not None
    assert second is not None
    assert (read_answer(first, ""), read_answer(second, "")) == (True, "Why does Bob host it?")


def test_a_file_of_queries_is_told_from_one_of_plans(tmp_path: Path) -> None:
    path = write(tmp_path / "queries.jsonl", {"query": "who?"}, {"query": "why?"})
    with pytest.raises(DataError, match=r"^queries\.jsonl has no plans: plan its queries first, with queryplan plan"):
        read_logged(path)


@pytest.mark.parametrize(
    ("version", "domain"),
    [("bells-0123456789ab", "bells"), ("old-bells-0123456789ab-bounded", "old-bells"), ("uncompiled-0123456789ab", "")],
)
def test_a_plan_knows_the_domain_of_its_program(version: str, domain: str) -> None:
    assert logged(plan={**PLAN, "program_version": version}).compiled_for == domain


@pytest.mark.parametrize("half", ["{", '{"id":"logged-7","conv', '{"id":"log\u00fc'])
def test_a_row_that_was_cut_off_in_writing_is_labelled_again(tmp_path: Path, card: DomainCard, half: str) -> None:
    path, row = tmp_path / "rows.jsonl", make_row(logged(), answer_all(logged(), card, {}))
    LabelFile(path).append(row)
    whole = path.read_bytes()
    path.write_bytes(whole + half.encode()[:-1] if len(half) > 1 else whole + half.encode())
    assert LabelFile(path).rows == [row]
    assert path.read_bytes() == whole


def test_what_is_no_half_row_is_left_where_it_is(tmp_path: Path, card: DomainCard) -> None:
    path, row = tmp_path / "rows.jsonl", make_row(logged(), answer_all(logged(), card, {}))
    path.write_text(row.model_dump_json())
    assert LabelFile(path).rows == [row]
    path.write_text("a shopping list")
    with pytest.raises(DataError, match="no file of labelled rows"):
        LabelFile(path)
    assert path.read_text() == "a shopping list"


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.jsonl.gz"])
def test_rows_are_appended_to_lines_of_json_alone(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"name a \.jsonl file"):
        LabelFile(tmp_path / name)


@pytest.mark.parametrize(
    ("kind", "typed", "meant"),
    [
        ("yes_no", "Yes", True),
        ("yes_no", "n", False),
        ("choice", "red", "red"),
        ("choice", "g", "green"),
        ("text", " who? ", "who?"),
        ("list", "a; b ;", ["a", "b"]),
        ("list", "-", []),
        ("parts", "-", []),
        ("text", "", "proposed"),
    ],
)
def test_replies_mean(kind: Any, typed: str, meant: Any) -> None:
    assert read_answer(Question("f", "?", kind, "proposed", ("red", "green", "grey2")[:2]), typed) == meant


@pytest.mark.parametrize(("kind", "typed", "said"), [("yes_no", "perhaps", "y or n"), ("choice", "blue", "red, rose"),
                                                     ("choice", "r", "red, rose")])  # fmt: skip
def test_a_reply_that_means_nothing_says_what_would(kind: Any, typed: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_answer(Question("f", "?", kind, None, ("red", "rose")), typed)


@pytest.mark.parametrize("plan", [{"rejection_kind": "cakes"}, {"rejection_kind": None}, {}])
def test_enter_chooses_nothing_that_the_plan_does_not_say(card: DomainCard, plan: dict[str, Any]) -> None:
    question = next_question(logged(plan=plan), {"is_follow_up": False, "is_relevant": False}, card)
    assert question is not None
    assert question.proposed is None
    with pytest.raises(ValueError, match="reply one of"):
        read_answer(question, "")
    with pytest.raises(ValueError, match="reply one of red"):
        read_answer(Question("f", "?", "choice", None, ("red",)), "")


# -- what is kept


def test_rows_are_appended_and_remembered(tmp_path: Path, card: DomainCard) -> None:
    kept = LabelFile(tmp_path / "deep" / "rows.jsonl")
    plan, other = logged(), logged("and him?")
    kept.keep(plan.key, {"is_follow_up": True})
    kept.append(make_row(plan, answer_all(plan, card, {})))
    assert not kept.draft.exists()
    again = LabelFile(kept.path)
    assert again.done == {plan.key}
    again.append(make_row(other, answer_all(other, card, {})))
    assert [row.query for row in read_rows(kept.path)] == ["why her?", "and him?"]


def test_a_file_without_a_last_line_end_is_not_broken(tmp_path: Path, card: DomainCard) -> None:
    row = make_row(logged(), answer_all(logged(), card, {}))
    (tmp_path / "rows.jsonl").write_text(row.model_dump_json())
    other = logged("and him?")
    LabelFile(tmp_path / "rows.jsonl").append(make_row(other, answer_all(other, card, {})))
    assert len(read_rows(tmp_path / "rows.jsonl")) == 2


def test_half_done_answers_are_kept_for_their_plan(tmp_path: Path) -> None:
    kept = LabelFile(tmp_path / "rows.jsonl")
    assert (kept.in_hand, kept.answers("k")) == (None, {})
    kept.keep("k", {"is_follow_up": False})
    again = LabelFile(tmp_path / "rows.jsonl")
    assert again.in_hand == "k"
    assert again.answers("k") == {"is_follow_up": False}
    assert again.answers("other") == {}


def test_a_broken_draft_says_what_to_do(tmp_path: Path) -> None:
    kept = LabelFile(tmp_path / "rows.jsonl")
    kept.draft.write_text("{")
    assert kept.in_hand is None
    with pytest.raises(DataError, match="remove it to go on"):
        kept.answers("k")


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("{}\n")
    with pytest.raises(DataError, match=r"rows\.jsonl:1: id: this field is missing"):
        LabelFile(tmp_path / "rows.jsonl")


def test_plans_logged_without_text_are_passed_over_and_named_when_there_is_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    silent = json.dumps({"text": False, "plan": {"is_relevant": True}})
    path.write_text(silent + "\n" + json.dumps({"text": True, "query": "why her?", "plan": PLAN}) + "\n")
    assert [plan.query for plan in read_logged(path)] == ["why her?"]
    path.write_text(f"{silent}\n{silent}\n")
    with pytest.raises(DataError, match="all 2 plans were logged without what users typed"):
        read_logged(path)
