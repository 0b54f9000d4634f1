"""Converters: labels from hand-made records in the published formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import DomainCard, ExcludedTopic
from queryplan.data.converters import CONVERTERS
from queryplan.data.converters.base import labels
from queryplan.data.converters.folder import card_toml, row_line
from queryplan.data.converters.rowset import SHARES, draw
from queryplan.data.domain import load_domain
from queryplan.data.rows import SPLITS, Gold, LabelledRow
from queryplan.errors import DataError
from queryplan.signatures.types import AnchorStep, CountStep, GraphPlan, Labels, NodeRef

from .converting import (
    BREAK,
    CAST,
    CLINC,
    FIRST,
    LATER,
    STRATEGY,
    convert_rows,
    converted,
    left_out,
    rows_of,
    write,
)

# What each says


def test_the_table_has_every_set_under_its_name() -> None:
    names = ["break_qdmr", "canard", "clinc150", "hetionet", "metaqa", "mtrag", "strategyqa", "trec_cast"]
    assert list(CONVERTERS) == names
    assert [converter.name for converter in CONVERTERS.values()] == names
    assert all(c.source.startswith("https://") and c.licence for c in CONVERTERS.values())


@pytest.mark.parametrize("name", CONVERTERS)
def test_every_label_is_either_said_or_not(name: str) -> None:
    says, lacks = set(CONVERTERS[name].says), set(CONVERTERS[name].cannot_say)
    assert says.isdisjoint(lacks)
    assert says | lacks >= set(Labels.model_fields)
    assert all([*CONVERTERS[name].says.values(), *CONVERTERS[name].cannot_say.values()])


def test_the_folder_says_which_labels_are_known_and_where_from(tmp_path: Path) -> None:
    convert_rows("canard", tmp_path, {**CAST[0], "is_follow_up": False})
    known = json.loads((tmp_path / "out" / "labels.json").read_text())
    assert known["known"] == ["is_follow_up", "standalone_query"]
    assert set(known["unknown"]) == set(Labels.model_fields) - set(known["known"])
    assert "CC BY-SA 4.0" in (tmp_path / "out" / "SOURCE.md").read_text()


# CLINC150


def test_clinc_takes_one_or_two_domains_as_inside(tmp_path: Path) -> None:
    others = [{**CLINC, "id": f"c-{d}", "domain": d} for d in ("work", "travel", None)]
    found = convert_rows("clinc150", tmp_path, CLINC, *others, domain=("banking", "work"))
    kinds = {row.id: row.labels.rejection_kind for row in found.values()}
    assert kinds == {"c-1": None, "c-work": None, "c-travel": "travel", "c-None": "oos"}
    assert not found["c-travel"].labels.is_relevant


def test_clinc_keeps_its_splits_and_halves_val(tmp_path: Path) -> None:
    vals = [{**CLINC, "id": f"v-{n}", "split": "val"} for n in range(40)]
    domain = converted("clinc150", write(tmp_path / "in.jsonl", CLINC, *vals), tmp_path / "out")
    assert [row.id for row in domain.rows("train")] == ["c-1"]
    assert set(domain.splits) == {"train", "dev", "calibrate"}


def test_clinc_tags_what_the_guide_would_label_otherwise(tmp_path: Path) -> None:
    hello = {**CLINC, "id": "h", "text": "hi", "intent": "greeting", "domain": "small_talk"}
    found = convert_rows("clinc150", tmp_path, CLINC, hello)
    assert "guide_differs" in found["h"].tags
    assert "guide_differs" not in found["c-1"].tags


@pytest.mark.parametrize("domain", ["nonsense", "oos", [], ["banking", "work", "home"]])
def test_clinc_refuses_other_domains(tmp_path: Path, domain: Any) -> None:
    with pytest.raises(DataError, match="one or two of auto_and_commute"):
        convert_rows("clinc150", tmp_path, CLINC, domain=domain)


# Conversations


def test_a_later_cast_turn_whose_rewrite_differs_is_a_follow_up(tmp_path: Path) -> None:
    found = convert_rows("trec_cast", tmp_path, *CAST)
    assert [row.labels.is_follow_up for row in found.values()] == [False, True, False]
    assert found["s-9_2"].labels.standalone_query == "Who wrote fugues?"
    assert found["s-9_3"].labels.standalone_query == "Who was Bach?"
    assert [turn.role for turn in found["s-9_2"].history] == ["user", "assistant"]
    assert {row.conversation for row in found.values()} == {"s-9"}


def test_canard_leaves_out_what_points_to_the_title(tmp_path: Path) -> None:
    null = {**CAST[0], "is_follow_up": None}
    follow = {**CAST[1], "is_follow_up": True}
    assert left_out("canard", tmp_path, null, follow) == {"first turn whose rewrite needs the article's title": 1}
    assert [row.labels.is_follow_up for row in rows_of(load_domain(tmp_path / "out")).values()] == [True]


def test_canard_as_published(tmp_path: Path) -> None:
    one = {"QuAC_dialog_id": "C_1_0", "Question_no": 1, "History": ["Bach", "Life"]}
    first = {**one, "Question": "Where was he born?", "Rewrite": "Where was Bach born?"}
    said = {"Question_no": 2, "History": ["Bach", "Life", "Where was he born?", "Eisenach"]}
    later = {**one, **said, "Question": "And when?", "Rewrite": "When was Bach born?"}
    source = tmp_path / "dev.json"
    source.write_text(json.dumps([first, later]))
    (row,) = rows_of(converted("canard", source, tmp_path / "out")).values()
    assert (row.id, row.turn, row.labels.standalone_query) == ("canard-C_1_0-2", 2, "When was Bach born?")
    assert [(t.role, t.content) for t in row.history] == [("user", "Where was he born?"), ("assistant", "Eisenach")]


def test_mtrag_takes_peoples_labels_and_keeps_the_rest_as_tags(tmp_path: Path) -> None:
    more = {"question_type": ["How-To"], "answerability": "PARTIAL"}
    first = {**FIRST, **more, "multi_turn_label": "N/A"}
    later = {**LATER, **more, "multi_turn_label": "Clarification"}
    found = convert_rows("mtrag", tmp_path, first, later)
    assert [row.labels.is_follow_up for row in found.values()] == [False, True]
    assert found["s-9_2"].labels.standalone_query == "Who wrote them"
    assert found["s-9_2"].tags == ("question:how-to", "multi_turn:clarification", "answer:partial")


def test_a_conversation_stays_in_one_split(tmp_path: Path) -> None:
    records = [{**turn, "id": f"s-{n}_{turn['turn']}"} for n in range(60) for turn in CAST]
    domain = converted("trec_cast", write(tmp_path / "in.jsonl", *records), tmp_path / "out")
    where = [(split, row.conversation) for split, rows in domain.splits.items() for row in rows]
    assert len(where) == 180
    assert len(set(where)) == 60
    assert set(domain.splits) == set(SPLITS)


def test_splits_are_drawn_by_name_alone_and_near_their_shares() -> None:
    drawn = [draw(str(n), SHARES) for n in range(5000)]
    assert drawn == [draw(str(n), SHARES) for n in range(5000)]
    assert all(abs(drawn.count(name) / 50 - share) < 3 for name, share in SHARES)


# Decomposition


def test_a_step_over_answers_is_no_sub_query(tmp_path: Path) -> None:
    (row,) = convert_rows("strategyqa", tmp_path, STRATEGY).values()
    assert [s.text for s in row.labels.sub_queries] == ["When did Ada die?", "When did Bo die?"]
    assert (row.labels.needs_decomposition, row.labels.complexity) == (True, "moderate")


def test_every_published_step_can_be_kept(tmp_path: Path) -> None:
    (row,) = convert_rows("strategyqa", tmp_path, STRATEGY, operations="keep").values()
    assert (row.labels.sub_queries[2].text, row.labels.sub_queries[2].depends_on) == ("Is {1} after {2}?", (1, 2))
    assert row.labels.complexity == "complex"


def test_an_operation_that_a_retrieval_needs_stays(tmp_path: Path) -> None:
    texts = ["When did Ada die?", "When did Bo die?", "Which of #1 and #2 is first?", "Who ruled in #3?"]
    record = {**STRATEGY, "decomposition": texts, "step_is_operation": [False, False, True, False]}
    (row,) = convert_rows("strategyqa", tmp_path, record).values()
    assert [s.depends_on for s in row.labels.sub_queries] == [(), (), (1, 2), (3,)]


def test_a_mark_without_an_earlier_answer_is_a_retrieval(tmp_path: Path) -> None:
    record = {**STRATEGY, "step_is_operation": [True, True, True]}
    (row,) = convert_rows("strategyqa", tmp_path, record).values()
    assert len(row.labels.sub_queries) == 2


def test_break_drops_return_and_sums_and_numbers_anew(tmp_path: Path) -> None:
    (row,) = convert_rows("break_qdmr", tmp_path, BREAK).values()
    assert [s.text for s in row.labels.sub_queries] == ["writer of Lo", "songs by {1}"]
    assert row.labels.complexity == "complex"
    assert row.tags == ("from:drop", "steps:3")


def test_break_with_one_retrieval_is_not_decomposed(tmp_path: Path) -> None:
    record = {**BREAK, "steps": ["return songs", "return number of #1"], "operators": ["select", "aggregate"]}
    (row,) = convert_rows("break_qdmr", tmp_path, record).values()
    assert (row.labels.needs_decomposition, row.labels.complexity) == (False, "simple")


def test_break_compares_two_answers_without_looking_up(tmp_path: Path) -> None:
    steps = ["return year of Lo", "return year of Mo", "return is #1 before #2"]
    record = {**BREAK, "steps": steps, "operators": ["select", "select", "boolean"]}
    (row,) = convert_rows("break_qdmr", tmp_path, record).values()
    assert len(row.labels.sub_queries) == 2


def test_break_as_published(tmp_path: Path) -> None:
    head = "question_id,question_text,decomposition,operators,split"
    line = (
        """DROP_1,"Songs, by the writer of Lo?",return writer of Lo ;return songs by #1,"['select', 'project']",dev"""
    )
    (row,) = rows_of(converted("break_qdmr", write(tmp_path / "dev.csv", head, line), tmp_path / "out")).values()
    assert row.query == "Songs, by the writer of Lo?"
    assert [s.text for s in row.labels.sub_queries] == ["writer of Lo", "songs by {1}"]


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        (["return #2", "return a"], "a step refers to one that is not before it"),
        (["return #0", "return a"], "a step refers to one that is not before it"),
        (list("abcde"), "more than 4 sub-queries"),
        (["a", BREAK["question"]], "a step is the question itself"),
    ],
)
def test_steps_that_no_row_can_hold_are_counted(tmp_path: Path, steps: list[str], reason: str) -> None:
    record = {**BREAK, "id": "bad", "steps": steps, "operators": ["select"] * len(steps)}
    assert left_out("break_qdmr", tmp_path, BREAK, record) == {reason: 1}


# What is written is what is read


@given(st.text(min_size=1).filter(lambda text: not any(0xD800 <= ord(c) <= 0xDFFF for c in text)))
def test_a_card_survives_toml(text: str) -> None:
    import tomllib

    topics = tuple(ExcludedTopic(kind=k, answer=k, description=text, reason=text) for k in ("a", "b"))
    card = DomainCard(name="x", title=text, description=text, covers=(text, "b"), excluded=topics)
    assert DomainCard.model_validate(tomllib.loads(card_toml(card, "comment"))) == card


def test_a_plan_survives_its_line() -> None:
    steps = (AnchorStep(node=NodeRef(name="A", type="Film"), store_as="a"), CountStep(start="a", store_as="n"))
    gold = Gold(graph_plan=GraphPlan(steps=steps), answers=("1",))
    row = LabelledRow(id="x", conversation="x", turn=1, query="q\u2028?", labels=labels("q\u2028?"), gold=gold)
    assert LabelledRow.model_validate_json(row_line(row)) == row
