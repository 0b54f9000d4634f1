"""Graph plans: what the checker refuses, and what the shipped graph answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from queryplan.data.card import domain_folder, load_card
from queryplan.errors import DataError
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.executor import execute_graph
from queryplan.program.graph.executors.memory import MemoryGraph, load_graph
from queryplan.signatures.graph_steps import (
    AnchorStep,
    Condition,
    CountStep,
    DifferenceStep,
    ExpandStep,
    FilterStep,
    GraphPlan,
    GraphSchema,
    IntersectStep,
    NodeRef,
    OrderStep,
    UnionStep,
)

PODCAST = domain_folder("podcast")


def anchor(name: str, kind: str, store: str = "a") -> AnchorStep:
    return AnchorStep(store_as=store, node=NodeRef(name=name, type=kind))


def expand(edge: str, direction: Any, start: str = "a", store: str = "b") -> ExpandStep:
    return ExpandStep(store_as=store, start=start, edge=edge, direction=direction)


def plan(*steps: Any) -> GraphPlan:
    return GraphPlan(steps=steps)


@pytest.fixture(scope="module")
def graph() -> MemoryGraph:
    return load_graph(PODCAST)


YUSUF = anchor("Yusuf Demirkale", "Guest")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (plan(anchor("x", "Robot")), "there is no node type 'Robot'; use one of Guest, Host"),
        (plan(YUSUF, expand("EATS", "out")), "there is no edge 'EATS'; use one of APPEARS_IN"),
        (plan(YUSUF, expand("WROTE", "out", start="z")), "uses 'z', which no earlier step stores"),
        (plan(expand("WROTE", "out", start="b")), "uses 'b', which no earlier step stores"),
        (plan(YUSUF, expand("WROTE", "in")), "WROTE joins Guest to Book; going in it starts at Book, not Guest"),
        (plan(YUSUF, expand("MENTIONS", "out")), "MENTIONS joins Episode to Book; going out it starts at Episode"),
        (plan(YUSUF, anchor("Nell", "Host", "a")), "'a' is stored twice"),
        (plan(YUSUF, anchor("Nell", "Host", "n"), expand("WROTE", "out")), "the result of 'n' is never used"),
    ],
)
def test_each_kind_of_mistake_is_a_sentence(card: Any, made: GraphPlan, said: str) -> None:
    assert said in "; ".join(check_graph_plan(made, card.graph))


def test_a_plan_of_two_hops_is_well_typed(card: Any) -> None:
    made = plan(YUSUF, expand("APPEARS_IN", "out"), expand("DISCUSSES", "out", "b", "c"))
    assert check_graph_plan(made, card.graph) == []


FACTS = {
    "who wrote The Import of Small Things": (
        ("The Import of Small Things", "Book", ("WROTE", "in")), ("Yusuf Demirkale",)),
    "what did Yusuf write": (("Yusuf Demirkale", "Guest", ("WROTE", "out")), ("The Import of Small Things",)),
    "episodes with Yusuf": (
        ("yusuf demirkale", "Guest", ("APPEARS_IN", "out")),
        ("Episode 15: The Import of Small Things", "Episode 30: Stock in the Back Room")),
    "who is in episode 22": (
        ("Episode 22: The Maths of Getting Stuck", "Episode", ("APPEARS_IN", "in")),
        ("Chiamaka Eberle", "Ilse Brandvold")),
    "who recommends The Price of Certainty": (
        ("The Price of Certainty", "Book", ("RECOMMENDS", "in")), ("Henrik Solvang-Dube", "Rosalind Achterberg")),
    "what episode 5 discusses": (
        ("Episode 5: The Night Desk Goes Dark", "Episode", ("DISCUSSES", "out")),
        ("deliberate boredom", "headline fast")),
    "who introduced sleep debt": (("sleep debt", "Concept", ("INTRODUCED", "in")), ("Priya Raghunandan-Moss",)),
    "who wrote Waiting for God": (("Waiting for God", "Book", ("AUTHORED", "in")), ("Simone Weil",)),
    "episodes about the headline fast": (
        ("headline fast", "Concept", ("DISCUSSES", "in")),
        ("Episode 12: Year-End Letters, 2022", "Episode 26: Today's News, Tomorrow's Mind",
         "Episode 5: The Night Desk Goes Dark")),
    "what Beatriz wrote": (("Beatriz Amaral-Quint", "Guest", ("WROTE", "out")), ()),
}  # fmt: skip


@pytest.mark.parametrize("fact", FACTS.values(), ids=FACTS.keys())
def test_the_shipped_graph_answers_as_the_show_bible_says(card: Any, graph: MemoryGraph, fact: tuple) -> None:
    (name, kind, hop), answer = fact
    made = plan(anchor(name, kind), expand(*hop))
    assert check_graph_plan(made, card.graph) == []
    found = graph.run(made)
    assert found.names == answer
    assert found.unknown == ()


def test_two_hops_follow_every_node_of_the_first(graph: MemoryGraph) -> None:
    made = plan(YUSUF, expand("APPEARS_IN", "out"), expand("MENTIONS", "out", "b", "c"))
    assert graph.run(made).names == ("The Import of Small Things",)


def test_a_name_that_is_not_in_the_graph_is_reported(graph: MemoryGraph) -> None:
    found = graph.run(plan(anchor("Nobody", "Guest"), expand("WROTE", "out")))
    assert found.names == ()
    assert [n.name for n in found.unknown] == ["Nobody"]


def test_every_edge_of_the_shipped_graph_joins_the_types_its_schema_says() -> None:
    schema = load_card(PODCAST).graph
    assert schema is not None
    for line in (PODCAST / "graph" / "edges.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        source, name, target = line.split("\t")
        edge = schema.edge(name)
        assert edge is not None, line
        assert (source.split("::")[0], target.split("::")[0]) == (edge.source, edge.target), line


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from(["WROTE", "APPEARS_IN", "COVERS"]), st.booleans()), max_size=4
    )
)
def test_a_plan_that_the_checker_passes_can_be_run(hops: list[tuple[str, str, bool]]) -> None:
    schema = load_card(PODCAST).graph
    assert schema is not None
    steps = [
        expand(edge, "out" if out else "in", "a" if n == 0 else f"s{n - 1}", f"s{n}")
        for n, (_, edge, out) in enumerate(hops)
    ]
    made = plan(YUSUF, *steps)
    if not check_graph_plan(made, schema):
        assert load_graph_once().run(made).unknown == ()


_kept: list[MemoryGraph] = []


def load_graph_once() -> MemoryGraph:
    if not _kept:
        _kept.append(load_graph(PODCAST))
    return _kept[0]


# --- files


HEAD = b"source\tedge\ttarget\n"


def write(folder: Path, nodes: bytes, edges: bytes = HEAD) -> Path:
    (folder / "graph").mkdir()
    (folder / "graph" / "nodes.jsonl").write_bytes(nodes)
    (folder / "graph" / "edges.tsv").write_bytes(edges)
    return folder


GOOD = b'{"id": "1", "name": "a", "type": "T"}\n'


@pytest.mark.parametrize(
    ("nodes", "edges", "said"),
    [
        (GOOD + b"nonsense\n", b"", "nodes.jsonl:2: expected an object with id, name and type"),
        (GOOD + b"[1]\n", b"", "nodes.jsonl:2"),
        (GOOD + GOOD, b"", "nodes.jsonl:2: two nodes have the id '1'"),
        (b'{"id": "1"}\n', b"", "nodes.jsonl:1"),
        (GOOD, HEAD + b"1\tE\n", "edges.tsv:2: expected source, edge, target"),
        (GOOD, b"head\n", "edges.tsv:1: the first line must name the columns"),
        (GOOD, HEAD + b"1\tE\t1\n1\tE\t2\n", "edges.tsv:3: edge E joins the unknown node '2'"),
        (b"\xff\n", b"", "cannot be read"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, nodes: bytes, edges: bytes, said: str) -> None:
    with pytest.raises(DataError, match="(?s)" + said.replace("(", r"\(")):
        load_graph(write(tmp_path, nodes, edges))


def test_a_missing_graph_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"the graph of {tmp_path.name} cannot be read"):
        load_graph(tmp_path)


def test_a_name_may_hold_what_some_readers_take_for_a_line_end(tmp_path: Path) -> None:
    node = '{"id": "1", "name": "a\u2028b", "type": "T"}\n'.encode()
    assert load_graph(write(tmp_path, node)).run(plan(anchor("a\u2028b", "T"))).names == ("a\u2028b",)


# --- the rest of the algebra, on the shipped graph

ILSE = (anchor("Ilse Brandvold", "Guest"), expand("APPEARS_IN", "out"))
CHIAMAKA = (anchor("Chiamaka Eberle", "Guest", "c"), expand("APPEARS_IN", "out", "c", "d"))


@pytest.mark.parametrize(
    ("last", "answer"),
    [
        (IntersectStep(store_as="x", inputs=("b", "d")), ("Episode 22: The Maths of Getting Stuck",)),
        (
            DifferenceStep(store_as="x", inputs=("b", "d")),
            ("Episode 37: A Proof by Walking", "Episode 8: An Equation You Want to Keep"),
        ),
    ],
)
def test_episodes_of_two_guests_are_combined(card: Any, graph: MemoryGraph, last: Any, answer: tuple) -> None:
    made = plan(*ILSE, *CHIAMAKA, last)
    assert check_graph_plan(made, card.graph) == []
    assert graph.run(made).names == answer


def test_a_union_is_counted(card: Any, graph: MemoryGraph) -> None:
    union = UnionStep(store_as="x", inputs=("b", "d"))
    made = plan(*ILSE, *CHIAMAKA, union, CountStep(store_as="n", start="x"))
    assert check_graph_plan(made, card.graph) == []
    assert graph.run(made).names == ("5",)


def test_the_guest_with_the_most_episodes_of_those_who_recommend_a_book(card: Any, graph: MemoryGraph) -> None:
    first = OrderStep(store_as="x", start="b", degree_of="APPEARS_IN")
    made = plan(anchor("The Price of Certainty", "Book"), expand("RECOMMENDS", "in"), first)
    assert check_graph_plan(made, card.graph) == []
    assert graph.run(made).names == ("Rosalind Achterberg",)


def test_other_guests_of_an_episode_leave_out_where_one_came_from(card: Any, graph: MemoryGraph) -> None:
    back = ExpandStep(store_as="x", start="b", edge="APPEARS_IN", direction="in", exclude=("a",))
    made = plan(*ILSE, back)
    assert check_graph_plan(made, card.graph) == []
    assert graph.run(made).names == ("Ansei Takeda", "Chiamaka Eberle")


def test_a_filter_reads_names_without_regard_to_case(card: Any, graph: MemoryGraph) -> None:
    named = FilterStep(store_as="x", start="b", conditions=(Condition(property="name", op="contains", value="PROOF"),))
    made = plan(*ILSE, named)
    assert check_graph_plan(made, card.graph) == []
    assert graph.run(made).names == ("Episode 37: A Proof by Walking",)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            plan(YUSUF, CountStep(store_as="n", start="a"), OrderStep(store_as="o", start="n", property="name")),
            "a number",
        ),
        (plan(YUSUF, anchor("x", "Book", "b"), UnionStep(store_as="u", inputs=("a", "b"))), "mixes Book, Guest"),
        (plan(YUSUF, UnionStep(store_as="u", inputs=("a", "a"))), "the same input twice"),
        (plan(YUSUF, OrderStep(store_as="o", start="a", property="age")), "Guest has no property 'age'"),
        (plan(YUSUF, OrderStep(store_as="o", start="a", degree_of="MENTIONS")), "and no Guest"),
        (plan(AnchorStep(store_as="a", node=NodeRef(name="x", type="Guest", field="age"))), "no property 'age'"),
    ],
)
def test_each_mistake_of_the_algebra_is_a_sentence(card: Any, made: GraphPlan, said: str) -> None:
    assert said in "; ".join(check_graph_plan(made, card.graph))


MIXED = GraphSchema.model_validate(
    {"nodes": [{"name": "T", "properties": ["p"]}], "edges": [{"name": "E", "source": "T", "target": "T"}]}
)


def mixed() -> MemoryGraph:
    made = MemoryGraph()
    for number, value in enumerate((1, "one", 2.5, True, None, [1], "1")):
        made.add_node(str(number), f"n{number % 3}", "T", p=value)
    for number in range(6):
        made.add_edge(str(number), "E", str((number * 2) % 7))
    return made


STORED = st.sampled_from("abcd")
CONDITION = st.builds(
    Condition,
    property=st.sampled_from(["p", "name"]),
    op=st.sampled_from(["eq", "ne", "lt", "ge", "contains"]),
    value=st.sampled_from([1, "1", 2.5, True]),
)
STEP = st.one_of(
    st.builds(anchor, st.sampled_from(["n0", "n1", "x"]), st.just("T"), STORED),
    st.builds(expand, st.just("E"), st.sampled_from(["out", "in", "any"]), STORED, STORED),
    st.builds(UnionStep, store_as=STORED, inputs=st.tuples(STORED, STORED)),
    st.builds(IntersectStep, store_as=STORED, inputs=st.tuples(STORED, STORED)),
    st.builds(DifferenceStep, store_as=STORED, inputs=st.tuples(STORED, STORED)),
    st.builds(FilterStep, store_as=STORED, start=STORED, conditions=st.tuples(CONDITION)),
    st.builds(CountStep, store_as=STORED, start=STORED),
    st.builds(OrderStep, store_as=STORED, start=STORED, property=st.just("p"), limit=st.integers(1, 9)),
)


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.lists(STEP, max_size=3))
def test_whatever_the_checker_passes_can_be_run_on_properties_of_any_kind(steps: list[Any]) -> None:
    made = plan(anchor("n0", "T", "a"), *steps)
    if not check_graph_plan(made, MIXED):
        assert mixed().run(made).unknown == () or any(isinstance(s, AnchorStep) for s in steps)


def test_a_property_of_two_kinds_is_ordered_and_what_has_none_is_left_out() -> None:
    both = UnionStep(store_as="u", inputs=("a", "b"))
    ordered = OrderStep(store_as="o", start="u", property="p", limit=9)
    made = plan(anchor("n0", "T", "a"), anchor("n1", "T", "b"), both, ordered)
    assert check_graph_plan(made, MIXED) == []
    assert mixed().run(made).ids == ("1", "6", "0", "3")


def test_a_long_plan_says_how_its_answers_were_reached() -> None:
    hops = [expand("E", "any", f"s{n}", f"s{n + 1}") for n in range(3_000)]
    found = execute_graph(plan(anchor("n1", "T", "s0"), *hops), mixed(), paths=True)
    assert found.names
    assert {len(path) for path in found.paths} == {6_001}


TIED = (
    anchor("n0", "T", "a"),
    anchor("n1", "T", "b"),
    anchor("n2", "T", "c"),
    UnionStep(store_as="u", inputs=tuple("abc")),
)


@pytest.mark.parametrize(
    ("limit", "cut"),
    [
        (2, ("step 'o': by number of E 2 more are equal to the last of the first 2, which were taken by name",)),
        (4, ()),
        (9, ()),
    ],
)
def test_an_order_says_how_many_are_equal_to_the_last_that_it_keeps(limit: int, cut: tuple[str, ...]) -> None:
    graph = mixed()
    degrees = sorted((len(graph.joined(node, "E", "any")) for node in graph.nodes), reverse=True)
    assert degrees == [2, 2, 2, 2, 1, 1, 1]
    assert graph.run(plan(*TIED, OrderStep(store_as="o", start="u", degree_of="E", limit=limit))).cut == cut


def test_how_many_there_are_from_an_unknown_name_is_unknown_and_not_none() -> None:
    counted = CountStep(store_as="n", start="b")
    assert mixed().run(plan(anchor("nobody", "T"), expand("E", "out"), counted)).names == ()
    assert mixed().run(plan(anchor("n0", "T"), expand("NONE", "out"), counted)).names == ("0",)


def test_an_answer_cannot_be_cut_to_less_than_nothing() -> None:
    with pytest.raises(DataError, match="give a cap of 0 or more"):
        execute_graph(plan(anchor("n0", "T")), mixed(), cap=-1)


TWO = GraphSchema.model_validate(
    {
        "nodes": [{"name": "T", "properties": ["node_id", "self"]}, {"name": "U", "aliases": ["You"]}],
        "edges": [{"name": "E", "source": "T", "target": "U", "properties": ["source", "edge"]}],
    }
)
BOTH = GOOD + b'{"id": "2", "name": "b", "kind": "You"}\n'


@pytest.mark.parametrize(
    ("nodes", "edges", "said"),
    [
        (BOTH, HEAD + b"2\tE\t1\n", "edges.tsv:2: edge E joins T to U, and '2' is a U"),
        (BOTH, HEAD + b"1\tF\t2\n", "edges.tsv:2: the edge 'F' is none of E"),
        (b'{"id": "1", "name": 5, "type": "T"}\n', HEAD, "nodes.jsonl:1: id and name must be text"),
        (b'{"id": "1", "name": "a", "type": "T", "self": NaN}\n', HEAD, "nodes.jsonl:1: self of T must be text"),
    ],
)
def test_a_graph_that_does_not_fit_its_schema_is_refused(tmp_path: Path, nodes: bytes, edges: bytes, said: str) -> None:
    with pytest.raises(DataError, match=said):
        load_graph(write(tmp_path, nodes, edges), TWO)


@pytest.mark.parametrize("schema", [None, TWO])
def test_properties_may_have_any_name_and_files_a_mark_and_empty_lines(
    tmp_path: Path, schema: GraphSchema | None
) -> None:
    first = b'\xef\xbb\xbf{"id": "1", "name": "a", "type": "T", "node_id": "x", "self": "y"}\n\n'
    edges = b"\xef\xbb\xbfsource\tedge\ttarget\tsource\tedge\n1\tE\t2\tp\tq\n\n"
    read = load_graph(
        write(tmp_path, first + BOTH.replace(b"kind", b"type").replace(b"You", b"U")[len(GOOD) :], edges), schema
    )
    assert (read.nodes["1"]["node_id"], read.nodes["1"]["self"]) == ("x", "y")
    assert read.neighbours("1", "E", "out") == {"2": {"source": "p", "edge": "q"}}


def test_a_number_that_nothing_can_hold_is_named_by_its_line(tmp_path: Path) -> None:
    huge = b'{"id": "2", "name": "b", "type": "T", "p": 1' + b"0" * 400 + b"}\n"
    with pytest.raises(DataError, match=r"nodes\.jsonl:2: it has a number that 64 bits cannot hold"):
        load_graph(write(tmp_path, GOOD + huge))
