"""Converters: labels from hand-made records in the published formats, errors by file and line, and the real sets."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import DomainCard, ExcludedTopic
from queryplan.data.converters import CONVERTERS, sources
from queryplan.data.converters.base import labels
from queryplan.data.converters.folder import card_toml, row_line
from queryplan.data.converters.rowset import SHARES, draw
from queryplan.data.domain import Domain, load_domain
from queryplan.data.rows import SPLITS, Gold, LabelledRow
from queryplan.errors import DataError
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.memory import load_graph
from queryplan.signatures.types import AnchorStep, CountStep, GraphPlan, Labels, NodeRef

Fields = dict[str, Any]

CLINC = {"id": "c-1", "split": "train", "text": "my balance", "intent": "balance", "domain": "banking"}
FIRST = {"id": "s-9_1", "conversation_id": "9", "turn": "1", "history": [], "utterance": "What is a fugue?"}
LATER = {
    "id": "s-9_2",
    "conversation_id": "9",
    "turn": "2",
    "history": [{"role": "user", "text": "What is a fugue?"}, {"role": "system", "text": "A piece."}],
    "utterance": "Who wrote them ",
}
CAST = [
    {**FIRST, "resolved_utterance": "what is a fugue"},
    {**LATER, "resolved_utterance": "Who wrote fugues?"},
    {**LATER, "id": "s-9_3", "turn": "3", "utterance": "Who was Bach?", "resolved_utterance": "who was Bach"},
]
STRATEGY = {
    "id": "q1",
    "question": "Did Ada outlive Bo?",
    "decomposition": ["When did Ada die?", "When did Bo die?", "Is #1 after #2?"],
    "step_is_operation": [False, False, True],
}
BREAK = {
    "id": "DROP_1",
    "source_dataset": "DROP",
    "question": "How many songs by the writer of Lo?",
    "steps": ["return writer of  Lo", "return songs by #1", "return number of  #2"],
    "operators": ["select", "project", "aggregate"],
}
KB = ["A|directed_by|Ann", "B|directed_by|Ann", "B|release_year|1999", "C|directed_by|Bo", "A|release_year|1980"]
HOPS = [
    {"relation": "directed_by", "direction": "forward"},
    {"relation": "directed_by", "direction": "inverse"},
    {"relation": "release_year", "direction": "forward"},
]


def question(hops: int, answers: Sequence[str]) -> Fields:
    words = {"question": f"{hops} of A", "topic_entity": "A", "qtype": f"type{hops}"}
    return {"id": f"m-{hops}", **words, "plan": HOPS[:hops], "answers": list(answers)}


METAQA = {1: question(1, ["Ann"]), 2: question(2, ["B"]), 3: question(3, ["1999"])}
HETIONET = {
    "nodes.jsonl": [
        {"id": "Disease::1", "name": "gout", "kind": "Disease"},
        {"id": "Side Effect::2", "name": "rash", "kind": "Side Effect"},
        {"id": "Compound::3", "name": "colchicine", "kind": "Compound"},
    ],
    "edges.tsv": ["source\tmetaedge\ttarget", "Compound::3\tCtD\tDisease::1", "Compound::3\tCcSE\tSide Effect::2"],
    "neo4j-labels.tsv": [
        "metanode\tabbreviation\tlabel",
        "Disease\tD\tDisease",
        "Side Effect\tSE\tSideEffect",
        "Compound\tC\tCompound",
    ],
    "neo4j-types.tsv": [
        "metaedge\trel_type",
        "Compound - treats - Disease\tTREATS_CtD",
        "Compound - causes - Side Effect\tCAUSES_CcSE",
    ],
    "metaedges.tsv": [
        "metaedge\tabbreviation",
        "Compound - treats - Disease\tCtD",
        "Compound - causes - Side Effect\tCcSE",
    ],
}


def write(path: Path, *lines: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def metaqa_folder(folder: Path, kb: Sequence[str] = KB) -> Path:
    write(folder / "kb.txt.gz", *kb)
    for hops, record in METAQA.items():
        write(folder / f"{hops}hop_dev.jsonl.gz", record)
    return folder


def hetionet_folder(folder: Path, **change: Sequence[Any]) -> Path:
    for name, lines in {**HETIONET, **change}.items():
        write(folder / name, *lines)
    return folder


def converted(name: str, source: Path | str, out: Path, **options: Any) -> Domain:
    CONVERTERS[name].convert(source, out, **options)
    return load_domain(out)


def rows_of(domain: Domain) -> dict[str, LabelledRow]:
    return {row.id: row for rows in domain.splits.values() for row in rows}


def convert_rows(name: str, tmp_path: Path, *records: Any, **options: Any) -> dict[str, LabelledRow]:
    return rows_of(converted(name, write(tmp_path / "in.jsonl", *records), tmp_path / "out", **options))


def left_out(name: str, tmp_path: Path, *records: Fields) -> dict[str, int]:
    return dict(CONVERTERS[name].convert(write(tmp_path / "in.jsonl", *records), tmp_path / "out").left_out)


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


# Graphs


def test_metaqa_plans_run_on_its_graph_and_give_the_answers(tmp_path: Path) -> None:
    domain = converted("metaqa", metaqa_folder(tmp_path / "in"), tmp_path / "out")
    graph = load_graph(tmp_path / "out")
    assert wrong_answers(domain, graph, rows_of(domain).values()) == []
    assert {row.labels.entities for row in rows_of(domain).values()} == {("A",)}


def test_metaqa_takes_the_topic_out_after_the_second_hop_alone(tmp_path: Path) -> None:
    found = rows_of(converted("metaqa", metaqa_folder(tmp_path / "in"), tmp_path / "out"))
    plan = found["m-3"].gold.graph_plan.steps  # type: ignore[union-attr]
    assert [getattr(step, "exclude", None) for step in plan] == [None, (), ("topic",), ()]


def test_metaqa_holds_out_question_types(tmp_path: Path) -> None:
    domain = converted("metaqa", metaqa_folder(tmp_path / "in"), tmp_path / "out", hold_out=["type2"])
    assert [row.id for row in domain.rows("test")] == ["m-2"]


@pytest.mark.parametrize(("options", "said"), [({"hold_out": ["typo"]}, "typo"), ({"hops": [4]}, "hops")])
def test_metaqa_refuses_types_and_hops_that_are_not_there(tmp_path: Path, options: Fields, said: str) -> None:
    with pytest.raises(DataError, match=said):
        converted("metaqa", metaqa_folder(tmp_path / "in"), tmp_path / "out", **options)


def test_metaqa_leaves_out_a_topic_that_case_alone_tells_apart(tmp_path: Path) -> None:
    source = metaqa_folder(tmp_path / "in", [*KB, "a|directed_by|Bo"])
    write(source / "1hop_dev.jsonl.gz", {**METAQA[1], "topic_entity": "B", "id": "m-b"})
    summary = CONVERTERS["metaqa"].convert(source, tmp_path / "out")
    assert list(summary.left_out.values()) == [2]
    assert list(rows_of(load_domain(tmp_path / "out"))) == ["m-b"]


def test_metaqa_names_the_line_of_a_bad_triple(tmp_path: Path) -> None:
    source = metaqa_folder(tmp_path / "in", [*KB, "A|eats|B"])
    with pytest.raises(DataError, match=r"kb\.txt\.gz:6: expected film\|relation\|value"):
        converted("metaqa", source, tmp_path / "out")


def test_hetionet_has_the_names_of_its_database(tmp_path: Path) -> None:
    domain = converted("hetionet", hetionet_folder(tmp_path / "in"), tmp_path / "out")
    schema = domain.card.graph
    assert schema is not None
    ends = [(edge.name, edge.source, edge.target) for edge in schema.edges]
    assert ends == [("CAUSES_CcSE", "Compound", "SideEffect"), ("TREATS_CtD", "Compound", "Disease")]
    neighbours = load_graph(tmp_path / "out").neighbours("Compound::3", "CAUSES_CcSE", "out")
    assert list(neighbours) == ["Side Effect::2"]
    assert domain.splits == {}


def test_hetionet_can_keep_some_edge_types(tmp_path: Path) -> None:
    summary = CONVERTERS["hetionet"].convert(hetionet_folder(tmp_path / "in"), tmp_path / "out", edges=["TREATS_CtD"])
    assert (summary.nodes, summary.edges) == (2, 1)
    with pytest.raises(DataError, match="there is no type EATS"):
        CONVERTERS["hetionet"].convert(tmp_path / "in", tmp_path / "other", edges="EATS")


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("edges.tsv", "Compound::3\tCtD\tDisease::9", r"edges.tsv:4: .*unknown node 'Disease::9'"),
        ("edges.tsv", "Compound::3\tXX\tDisease::1", r"edges.tsv:4: metaedge: 'XX'"),
        ("edges.tsv", "Compound::3\tCtD", r"edges.tsv:4: expected source, metaedge, target"),
        ("nodes.jsonl", HETIONET["nodes.jsonl"][0], r"nodes.jsonl:4: two nodes have the id"),
        ("metaedges.tsv", "Compound ? Disease\tCx", r"metaedges.tsv:4: metaedge"),
    ],
)
def test_hetionet_names_the_line_of_a_mistake(tmp_path: Path, name: str, line: Any, said: str) -> None:
    source = hetionet_folder(tmp_path / "in", **{name: [*HETIONET[name], line]})
    with pytest.raises(DataError, match=said):
        converted("hetionet", source, tmp_path / "out")


# Bad input


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([CLINC, "{"], "in.jsonl:2: not JSON"),
        (["[" * 100_000], "in.jsonl:1: not JSON"),
        ([CLINC, "[1]"], "in.jsonl:2: expected an object"),
        ([{"id": "a"}], "in.jsonl:1: there is no field 'text'; the record has id"),
        ([CLINC, {**CLINC, "id": "b", "text": " "}], "in.jsonl:2: text: expected text"),
        ([CLINC, CLINC], "in.jsonl:2: two rows have the id 'c-1'"),
        ([{**CLINC, "domain": "moon"}], "in.jsonl:1: domain: 'moon' is none of"),
        ([{**CLINC, "split": "moon"}], "in.jsonl:1: split: 'moon' is none of"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_is_left_behind(tmp_path: Path, lines: list[Any], said: str) -> None:
    with pytest.raises(DataError) as caught:
        convert_rows("clinc150", tmp_path, *lines)
    assert str(caught.value).startswith(said)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize(
    ("name", "record", "said"),
    [
        ("trec_cast", {**CAST[0], "turn": "one"}, "turn: expected a whole number"),
        ("trec_cast", {**CAST[0], "turn": 0}, "greater than or equal to 1"),
        ("trec_cast", {**CAST[1], "history": [{"role": "god", "text": "x"}]}, "history.0: expected a role"),
        ("trec_cast", {**CAST[1], "history": []}, "is_follow_up must be false without history"),
        ("canard", {**CAST[0], "is_follow_up": "no"}, "is_follow_up: expected true, false or null"),
        ("mtrag", {**FIRST, "multi_turn_label": "Maybe"}, "multi_turn_label: 'Maybe' is none of"),
        ("strategyqa", {**STRATEGY, "step_is_operation": [True]}, "decomposition: 3 steps, but"),
        ("strategyqa", {**STRATEGY, "decomposition": "When?"}, "decomposition: expected a list of str"),
        ("break_qdmr", {**BREAK, "operators": []}, "steps: 3 steps, but operators has 0"),
    ],
)
def test_a_wrong_field_is_named_with_its_line(tmp_path: Path, name: str, record: Fields, said: str) -> None:
    with pytest.raises(DataError) as caught:
        convert_rows(name, tmp_path, record)
    assert str(caught.value).startswith("in.jsonl:1: ")
    assert said in str(caught.value)


def test_a_truncated_gzip_is_named_with_the_line_it_stops_at(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl.gz", *({**CLINC, "id": f"c-{n * 7919}"} for n in range(3000)))
    source.write_bytes(source.read_bytes()[:-2000])
    with pytest.raises(DataError, match=r"in\.jsonl\.gz:\d+: cannot be read from here on"):
        converted("clinc150", source, tmp_path / "out")


@pytest.mark.parametrize(
    ("file", "data", "said"),
    [
        ("in.jsonl.gz", b"no gzip", "in.jsonl.gz:1: cannot be read"),
        ("in.jsonl", json.dumps(CLINC).encode() + b'\n{"a": "\xe9"}\n', "in.jsonl:2: not UTF-8"),
        ("in.json", b"{}", "in.json: expected a list"),
        ("in.json", b"[", "in.json: not JSON"),
        ("in.csv", b"a,b\n1\n", "in.csv:2: expected a, b"),
        ("in.xml", b"<a/>", "in.xml: expected .jsonl"),
        ("in.jsonl", b"", "gave no row of clinc150"),
    ],
)
def test_a_file_of_the_wrong_format_is_named(tmp_path: Path, file: str, data: bytes, said: str) -> None:
    (tmp_path / file).write_bytes(data)
    with pytest.raises(DataError) as caught:
        converted("clinc150", tmp_path / file, tmp_path / "out")
    assert said in str(caught.value)


def test_a_line_too_long_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_LINE", 200)
    with pytest.raises(DataError, match=r"in\.jsonl:2: the line is longer"):
        convert_rows("clinc150", tmp_path, CLINC, {**CLINC, "id": "b", "text": "x" * 300})


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"\xef\xbb\xbf" + json.dumps(CLINC).encode() + b"\r\n")
    assert list(rows_of(converted("clinc150", source, tmp_path / "out"))) == ["c-1"]


# Where from, where to


def test_the_benchmarks_folder_is_the_source_when_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "all" / "clinc150" / "train.jsonl.gz", CLINC)
    monkeypatch.setenv("QUERYPLAN_BENCHMARKS", str(tmp_path / "all"))
    assert CONVERTERS["clinc150"].convert(None, tmp_path / "out").rows == {"train": 1}
    with pytest.raises(DataError, match=r"there is no folder .*mtrag"):
        CONVERTERS["mtrag"].convert(None, tmp_path / "other")


def test_without_any_source_the_message_says_what_to_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUERYPLAN_BENCHMARKS", raising=False)
    with pytest.raises(DataError, match="or set QUERYPLAN_BENCHMARKS"):
        CONVERTERS["metaqa"].convert(None, tmp_path / "out")


@pytest.mark.parametrize("source", ["nowhere", "a/b/c.jsonl", Path("owner/name")])
def test_a_source_that_is_not_there(tmp_path: Path, source: Path | str) -> None:
    with pytest.raises(DataError, match="there is no file or folder"):
        CONVERTERS["clinc150"].convert(source, tmp_path / "out")


def test_a_folder_without_data_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(DataError, match=r"has no \.jsonl"):
        converted("clinc150", tmp_path / "in", tmp_path / "out")
    with pytest.raises(DataError, match=r"has no kb\.txt"):
        converted("metaqa", tmp_path / "in", tmp_path / "out")


def test_a_hub_name_is_read_through_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def load_dataset(*names: Any, **options: Any) -> dict[str, list[Fields]]:
        asked.append((names, options))
        return {"train": [{key: value for key, value in CLINC.items() if key != "split"}]}

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    assert CONVERTERS["clinc150"].convert("owner/name:full", tmp_path / "out").rows == {"train": 1}
    assert asked == [(("owner/name", "full"), {"streaming": True})]
    with pytest.raises(DataError, match="cannot be read from a hub"):
        CONVERTERS["metaqa"].convert("owner/name", tmp_path / "other")


def test_a_hub_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load_dataset(*names: Any, **options: Any) -> None:
        raise ConnectionError("no route")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    with pytest.raises(
        DataError, match="there is no file owner/name, and no such set on the hub can be read: no route"
    ):
        CONVERTERS["clinc150"].convert("owner/name", tmp_path / "out")


def test_a_folder_that_has_something_is_not_touched(tmp_path: Path) -> None:
    mine = write(tmp_path / "out" / "mine.txt", "keep")
    with pytest.raises(DataError, match="is there already"):
        convert_rows("clinc150", tmp_path, CLINC)
    assert [mine] == list((tmp_path / "out").iterdir())
    with pytest.raises(DataError, match="cannot be written"):
        CONVERTERS["clinc150"].convert(tmp_path / "in.jsonl", mine / "below")


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert list(convert_rows("clinc150", tmp_path, CLINC)) == ["c-1"]


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("canard", {"domain": "x"}, "canard has no option domain; it has split"),
        ("clinc150", {"split": "exam"}, "there is no split 'exam'"),
        ("strategyqa", {"operations": "burn"}, "operations: give drop or keep"),
        ("metaqa", {"typo": 1}, "metaqa has no option typo; it has split, hops, hold_out"),
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, name: str, options: Fields, said: str) -> None:
    with pytest.raises(DataError, match=said):
        CONVERTERS[name].convert(write(tmp_path / "in.jsonl", CLINC), tmp_path / "out", **options)


def test_all_rows_can_go_to_one_split(tmp_path: Path) -> None:
    domain = converted("trec_cast", write(tmp_path / "in.jsonl", *CAST), tmp_path / "out", split="test")
    assert {split: len(rows) for split, rows in domain.splits.items()} == {"test": 3}


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


# The real sets

BENCHMARKS = os.environ.get("QUERYPLAN_BENCHMARKS")
real = pytest.mark.skipif(BENCHMARKS is None, reason="QUERYPLAN_BENCHMARKS names no folder with the public sets")


def wrong_answers(domain: Domain, graph: Any, rows: Any) -> list[str]:
    """Rows whose gold plan does not pass the check or does not give the gold answers."""
    assert domain.card.graph is not None
    return [
        row.id
        for row in rows
        if check_graph_plan(row.gold.graph_plan, domain.card.graph)
        or graph.run(row.gold.graph_plan).names != row.gold.answers
    ]


@real
@pytest.mark.parametrize("name", [name for name in CONVERTERS if name not in ("metaqa", "hetionet")])
def test_a_real_set_converts_to_rows_that_load(tmp_path: Path, name: str) -> None:
    folder = Path(str(BENCHMARKS)) / name
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}")
    summary = CONVERTERS[name].convert(folder, tmp_path / "out")
    lines = sum(len(gzip.decompress(file.read_bytes()).splitlines()) for file in folder.glob("*.jsonl.gz"))
    assert len(rows_of(load_domain(tmp_path / "out"))) == sum(summary.rows.values())
    assert sum(summary.rows.values()) + sum(summary.left_out.values()) == lines


@real
def test_real_metaqa_plans_give_the_gold_answers(tmp_path: Path) -> None:
    domain = converted("metaqa", Path(str(BENCHMARKS)) / "metaqa", tmp_path / "out")
    graph = load_graph(tmp_path / "out")
    found = rows_of(domain).values()
    for hops in ("hops:1", "hops:2", "hops:3"):
        some = list(islice((row for row in found if hops in row.tags), 300))
        assert len(some) == 300
        assert wrong_answers(domain, graph, some) == []


@real
@pytest.mark.slow
def test_real_hetionet_loads_as_a_graph(tmp_path: Path) -> None:
    summary = CONVERTERS["hetionet"].convert(Path(str(BENCHMARKS)) / "hetionet", tmp_path / "out", edges=["DpS", "CtD"])
    graph = load_graph(tmp_path / "out")
    assert len(graph.nodes) == summary.nodes > 1000
    assert summary.edges > 3000
    assert graph.find(NodeRef(name="gout", type="Disease"))
