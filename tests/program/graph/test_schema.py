"""Reading schemas: our own files, SPOKE's types documents, and what is refused."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from queryplan.data.card import domain_folder, load_card
from queryplan.errors import DataError
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.schema import describe_schema, parse_schema, read_schema, schema_fingerprint
from queryplan.signatures.graph_steps import Condition, ExpandStep, GraphPlan, GraphSchema, PropertyType

TOML = """
[[nodes]]
name = "Drug"
properties = ["phase"]
query_fields = ["name"]
[[nodes.details]]
name = "phase"
kind = "number"
minimum = 0
maximum = 4

[[nodes]]
name = "Disease"

[[edges]]
name = "TREATS"
source = "Drug"
target = "Disease"
description = "helps with"
"""


def test_a_toml_file_and_its_json_are_one_schema(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TOML, encoding="utf-8")
    read = read_schema(tmp_path / "s.toml").schema
    (tmp_path / "s.json").write_text(read.model_dump_json(exclude_defaults=True), encoding="utf-8")
    again = read_schema(tmp_path / "s.json").schema
    assert again == read
    assert schema_fingerprint(again) == schema_fingerprint(read)


def test_the_graph_of_a_card_is_a_schema() -> None:
    folder = domain_folder("biomedical")
    assert read_schema(folder / "domain.toml").schema == load_card(folder).graph


def test_a_byte_order_mark_is_no_part_of_a_schema(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TOML, encoding="utf-8-sig")
    read = read_schema(tmp_path / "s.toml").schema
    (tmp_path / "s.json").write_text(read.model_dump_json(exclude_defaults=True), encoding="utf-8-sig")
    assert read_schema(tmp_path / "s.json").schema == read


@pytest.mark.parametrize(
    "document",
    [
        {"nodes": ["Compound", "Disease"], "edges": ["TREATS_CtD"]},
        {"nodes": ["Compound", {"label": "Disease"}], "edges": ["TREATS_CtD"]},
        {"nodes": {"Compound": {}, "Disease": {}}, "edges": ["TREATS_CtD"]},
    ],
)
def test_names_alone_are_a_types_document(document: dict[str, Any]) -> None:
    read = parse_schema(document, "t.json")
    assert [node.name for node in read.schema.nodes] == ["Compound", "Disease"]
    assert [(edge.name, edge.source, edge.target) for edge in read.schema.edges] == [
        ("TREATS_CtD", "Compound", "Disease")
    ]


def test_an_edge_whose_name_alone_does_not_say_what_it_joins_is_left_out_with_a_word() -> None:
    read = parse_schema({"nodes": ["Compound"], "edges": ["TREATS"]}, "t.json")
    assert read.schema.edges == ()
    assert "edge type TREATS" in read.left_out[0]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("s.toml", "nodes = [", "s.toml cannot be read"),
        ("s.json", "{", "s.json cannot be read"),
        ("s.json", "[" * 100_000, "nested too deeply"),
        ("s.json", "[]", "s.json is no graph schema"),
        ("s.json", '{"edges": []}', "it must have nodes and edges"),
        ("s.json", '{"nodes": []}', "nodes: must have at least 1 entry"),
        ("s.json", '{"nodes": [{"name": "T"}], "edges": [{"name": "E", "source": "T", "target": "X"}]}', "undeclared"),
        ("s.json", '{"nodes": [{"name": "T"}, {"name": "T"}]}', "declared twice"),
        ("s.json", '{"nodes": [{"name": "number"}]}', "cannot be called"),
        ("s.json", '{"nodes": [{"label": ""}]}', "an entry has no label"),
        ("s.json", '{"nodes": ["A", ""]}', "an entry has no label"),
        ("s.json", '{"nodes": [3]}', r"nodes\.0: expected an object, not a number"),
        ("s.json", '{"nodes": {"A": {}}, "edges": 5}', "no types document"),
        ("s.json", '{"nodes": {"A": {"cutoffs": 3}}}', "no types document"),
        ("s.json", '{"nodes": {"A": {"properties": {"p": {"type": "int", "min": "low"}}}}}', "minimum"),
    ],
)
def test_what_is_no_schema_is_said(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        read_schema(tmp_path / name)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nothing\.toml cannot be read"):
        read_schema(tmp_path / "nothing.toml")


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "p", "kind": "enum"},
        {"name": "p", "kind": "text", "values": ["a"]},
        {"name": "p", "kind": "colour"},
    ],
)
def test_a_property_that_contradicts_itself_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PropertyType.model_validate(wrong)


def test_details_of_a_property_that_is_not_listed_are_refused() -> None:
    with pytest.raises(ValidationError, match="does not list"):
        GraphSchema.model_validate({"nodes": [{"name": "T", "details": [{"name": "p"}]}]})


@pytest.mark.parametrize(("op", "value"), [("in", 1), ("eq", [1]), ("contains", ["a", "b"])])
def test_only_the_comparison_in_has_a_list(op: str, value: Any) -> None:
    with pytest.raises(ValidationError, match="comparison in"):
        Condition.model_validate({"property": "p", "op": op, "value": value})


def test_a_step_written_before_there_were_several_edges_is_read_and_written_alike() -> None:
    old = {"kind": "expand", "store_as": "b", "start": "a", "edge": "E", "direction": "out"}
    step = ExpandStep.model_validate(old)
    assert step.edges == ("E",)
    assert step.model_dump(exclude_defaults=True) == old


# --- SPOKE


TYPES = {
    "nodes": {
        "Disease": {"properties": {"vestige": "string"}},
        "Gene": {"properties": ["chromosome"], "query_fields": ["name", "identifier"]},
        "Compound": {"cutoffs": {"cutoff_Compound_max_phase": {"type": "int", "min": 0, "max": 4}}},
        "Protein": {},
        "Version": {},
    },
    "edges": {
        "ASSOCIATES_DaG": {"properties": {"textmining": {"type": "float"}}},
        "TREATS_CtD": {},
        "INTERACTS_PiP": {},
        "ODD": {},
        "LINKS_QxQ": {},
    },
    "cutoffs": ["cutoff_CtD_phase", "cutoff_DaG_textmining", {"name": "cutoff_PiP_source", "enum": ["a", "b"]}],
}


def test_what_a_spoke_server_says_of_its_types_is_a_schema() -> None:
    read = parse_schema(TYPES, "types")
    schema = read.schema
    assert [n.name for n in schema.nodes] == ["Disease", "Gene", "Compound", "Protein"]
    joined = {e.name: (e.source, e.target) for e in schema.edges}
    assert joined == {
        "ASSOCIATES_DaG": ("Disease", "Gene"),
        "TREATS_CtD": ("Compound", "Disease"),
        "INTERACTS_PiP": ("Protein", "Protein"),
    }
    assert [line.split(":")[0] for line in read.left_out] == ["edge type ODD", "edge type LINKS_QxQ"]


def test_cutoffs_belong_to_the_type_in_their_name() -> None:
    schema = parse_schema(TYPES, "types").schema
    treats, interacts, compound = schema.edge("TREATS_CtD"), schema.edge("INTERACTS_PiP"), schema.node("Compound")
    assert treats is not None
    assert interacts is not None
    assert compound is not None
    assert [(c.name, c.property, c.op) for c in treats.cutoffs] == [("cutoff_CtD_phase", "phase", "ge")]
    assert [(c.property, c.op) for c in interacts.cutoffs] == [("source", "in")]
    assert compound.property_type("max_phase") == PropertyType(name="max_phase", kind="number", minimum=0, maximum=4)


def test_a_cutoff_of_unknown_kind_may_be_a_number() -> None:
    steps: list[Any] = [
        {"kind": "anchor", "store_as": "a", "node": {"name": "x", "type": "Compound"}},
        {"kind": "expand", "store_as": "b", "start": "a", "edge": "TREATS_CtD", "direction": "out",
         "where": [{"property": "phase", "op": "ge", "value": 3}]},
    ]  # fmt: skip
    assert check_graph_plan(GraphPlan.model_validate({"steps": steps}), parse_schema(TYPES, "t").schema) == []


def test_a_list_of_labels_is_read_and_teaches_abbreviations() -> None:
    document = {
        "nodes": [{"label": "Zebra", "count": 3}, {"label": "Yak"}],
        "edges": [{"type": "EATS_ZeY", "source": "Zebra", "target": "Yak"}, {"type": "SEES_YsZ"}],
    }
    schema = parse_schema(document, "x").schema
    seen = schema.edge("SEES_YsZ")
    assert seen is not None
    assert (seen.source, seen.target) == ("Yak", "Zebra")
    assert all(node.key == "identifier" for node in schema.nodes)


def test_a_node_is_found_by_its_query_fields_alone() -> None:
    schema = parse_schema(TYPES, "types").schema
    steps: list[Any] = [
        {"kind": "anchor", "store_as": "a", "node": {"name": "1", "type": "Gene", "field": "chromosome"}}
    ]
    problems = check_graph_plan(GraphPlan.model_validate({"steps": steps}), schema)
    assert problems == ["Gene cannot be found by 'chromosome'; use one of name, id"]


def test_a_schema_is_described_in_lines(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TOML, encoding="utf-8")
    lines = describe_schema(read_schema(tmp_path / "s.toml").schema)
    assert lines == [
        "Drug (found by name) [phase: number from 0 to 4]",
        "Disease",
        "Drug -TREATS-> Disease: helps with",
    ]


KEYS = st.sampled_from(["nodes", "edges", "label", "type", "source", "name", "cutoffs", "properties"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_whatever_json_holds_is_a_schema_or_a_sentence(document: Any) -> None:
    for told in (document, {"nodes": document}, {"nodes": {"A": {}}, "edges": document, "cutoffs": document}):
        with suppress(DataError):
            assert parse_schema(told, "it").schema.nodes
