"""The graph planner: from a question to a proposal, with and without a language model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.data.graph_lessons import read_plan
from queryplan.program.graph.asking import restated as asking_restated
from queryplan.program.graph.asking import steps as asking_steps
from queryplan.program.graph.asking.restated import Restating
from queryplan.program.graph.asking.steps import WrittenPlan, read_steps
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.executor import execute_graph
from queryplan.program.graph.executors.memory import MemoryGraph
from queryplan.program.graph.names.linking import NameIndex
from queryplan.program.graph.names.unknown import SchemaValues, unknown_beside
from queryplan.program.graph.planner import GraphPlanner
from queryplan.program.graph.sketch import canonical
from queryplan.program.graph.values import Values, values_of
from queryplan.program.heads.encoder import default_encoder
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType, PropertyType

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Ship"), NodeType(name="Captain", description="who commands a ship")),
    edges=(EdgeType(name="COMMANDED_BY", source="Ship", target="Captain"),),
)


@pytest.fixture(scope="module")
def graph() -> MemoryGraph:
    made = MemoryGraph(declared=SCHEMA)
    for node, name, kind in (
        ("s1", "Aurora", "Ship"),
        ("s2", "x'}) DELETE n //", "Ship"),
        ("c1", "Ida Holm", "Captain"),
    ):
        made.add_node(node, name, kind)
    made.add_edge("s1", "COMMANDED_BY", "c1")
    made.add_edge("s2", "COMMANDED_BY", "c1")
    return made


@pytest.fixture(scope="module")
def planner(graph: MemoryGraph, taught: Any) -> GraphPlanner:
    return GraphPlanner(SCHEMA, NameIndex(graph.names()), taught)


def test_a_question_becomes_a_plan_with_its_names_and_its_answer_type(
    planner: GraphPlanner, graph: MemoryGraph
) -> None:
    proposal = planner.plan("who is the captain of the Aurora?")
    assert proposal.plan is not None
    assert execute_graph(proposal.plan, graph).names == ("Ida Holm",)
    assert (proposal.answer_type, proposal.decided_by) == ("Captain", "head")
    assert [(e.text, e.name, e.how) for e in proposal.entities] == [("Aurora", "Aurora", "exact")]
    assert 0 < proposal.confidence < 1
    assert proposal.milliseconds > 0


def test_a_question_that_only_says_what_is_left_out_has_no_plan_and_says_which_name(planner: GraphPlanner) -> None:
    proposal = planner.plan("which ships are not commanded by Ida Holm?")
    assert proposal.plan is None
    assert "left out (Ida Holm)" in proposal.reason
    assert proposal.others == ()
    assert planner.plan("which ships are commanded by Ida Holm?").plan is not None


def test_an_unsure_plan_says_that_it_is_a_best_effort(planner: GraphPlanner) -> None:
    from dataclasses import replace

    unsure = GraphPlanner(SCHEMA, planner.answerer.index, replace(planner.learned, sure=planner.learned.sure * 0 - 1))
    assert any("best effort" in line for line in unsure.plan("captain of the Aurora").degraded)


def test_a_plan_taken_for_what_the_graph_has_says_which_one_the_words_rather_mean(taught: Any) -> None:
    own = EdgeType(name="SISTER_OF", source="Ship", target="Ship")
    schema = SCHEMA.model_copy(update={"edges": (*SCHEMA.edges, own)})
    graph = MemoryGraph(declared=schema)
    for name in ("Aurora", "Borealis"):
        graph.add_node(name, name, "Ship")
    graph.add_edge("Borealis", "SISTER_OF", "Aurora")
    index, question = NameIndex(graph.names()), "sister of the Borealis"
    likelier = GraphPlanner(schema, index, taught).plan(question).plan
    assert likelier is not None
    taken = GraphPlanner(schema, index, taught, probe=lambda plan: canonical(plan) != canonical(likelier)).plan(
        question
    )
    assert taken.plan != likelier
    (said,) = [line for line in taken.degraded if line.startswith("by its words the question rather means")]
    assert "along SISTER_OF" in said


def test_a_name_that_tries_to_be_code_is_data(planner: GraphPlanner, graph: MemoryGraph) -> None:
    proposal = planner.plan("captain of x'}) DELETE n // please")
    assert proposal.plan is not None
    assert execute_graph(proposal.plan, graph).names == ("Ida Holm",)
    assert len(graph.nodes) == 3


def test_an_unknown_name_gets_a_plan_that_says_so_with_near_names(planner: GraphPlanner, graph: MemoryGraph) -> None:
    proposal = planner.plan("who is the captain of the Zorbulon?")
    assert proposal.plan is not None
    assert execute_graph(proposal.plan, graph).names == ()
    assert any("Zorbulon" in line for line in proposal.degraded)
    misspelled = planner.plan("ships of the captain Idda Hollmann-Schmidt")
    assert any("Ida Holm" in name for e in misspelled.entities for name in (*e.near, e.name))


@pytest.mark.parametrize(
    ("query", "strange"),
    [
        ("who is the captain of the Aurora and Zorbulon?", ["Zorbulon"]),
        ("captains of Aurora, Zorbulon or Quexit Prime", ["Zorbulon", "Quexit Prime"]),
        ("captain of Zorbulon & Aurora", ["Zorbulon"]),
        ("ships of Ida Holm y Zorbulon", ["Zorbulon"]),
        ("ships of Ida Holm and of Zorbulon", ["Zorbulon"]),
        ("who is the captain of the Aurora and why?", []),
        ("who is the captain of the Aurora?", []),
    ],
)
def test_an_unknown_name_in_an_enumeration_is_left_out_and_said(
    planner: GraphPlanner, query: str, strange: list[str]
) -> None:
    proposal = planner.plan(query)
    assert proposal.plan is not None
    said = [line for line in proposal.degraded if line.endswith("the plan leaves it out")]
    assert said == [f"the graph has no name {name!r}: the plan leaves it out" for name in strange]


def test_nouns_with_capitals_are_no_unknown_names_in_a_language_that_writes_all_so(planner: GraphPlanner) -> None:
    query = "wer ist der Kapitän der Aurora und das Schiff?"
    assert unknown_beside(query, planner.answerer.mentions(query), planner.answerer) == ()


def test_an_unknown_name_is_said_where_there_is_no_plan_either(planner: GraphPlanner) -> None:
    proposal = planner.plan("which captains are older than the Aurora and Zorbulon?")
    assert proposal.plan is None
    assert proposal.degraded == ("the graph has no name 'Zorbulon'",)


def test_a_strange_word_is_not_near_another_by_its_first_letter() -> None:
    values = Values(texts={("Gene", "chromosome"): ("z", "zlaz")})
    words = SchemaValues(values, default_encoder())
    assert words.has("z")
    assert not words.has("zorblatt")


def test_a_name_that_is_left_out_is_said_with_those_like_it(planner: GraphPlanner) -> None:
    proposal = planner.plan("who is the captain of the Aurora and Ida?")
    (said,) = [line for line in proposal.degraded if "the plan leaves it out" in line]
    assert said == "the graph has no name 'Ida': the plan leaves it out; names like it: Ida Holm (Captain)"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("which captains are older than Ida Holm?", "no step compares with what another node has (Ida Holm)"),
        ("captains of at least two ships like the Aurora", "no step tests how many neighbours a node has (two ships)"),
        ("which ship is uncommanded by Ida Holm?", "no edge of the schema says uncommanded, only the opposite"),
        ("captains that never led a ship called Aurora", "the question only says what is left out (Aurora)"),
    ],
)
def test_what_no_step_can_say_has_no_plan_and_says_why(planner: GraphPlanner, query: str, reason: str) -> None:
    proposal = planner.plan(query)
    assert proposal.plan is None
    assert proposal.reason.startswith(reason)


@pytest.mark.parametrize("query", ["which ship has the fewest captains", "the most commanded ships", "newest ship"])
def test_words_of_plans_and_of_the_schema_are_no_unknown_names(planner: GraphPlanner, query: str) -> None:
    proposal = planner.plan(query)
    assert (proposal.plan, proposal.entities) == (None, ())
    assert proposal.reason == "the question has no name of the graph to start from"


@pytest.mark.parametrize("query", ["", "   ", "what is the?", "?!"])
def test_without_a_name_there_is_no_plan_and_a_reason(planner: GraphPlanner, query: str) -> None:
    proposal = planner.plan(query)
    assert proposal.plan is None
    assert proposal.reason


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_any_text_gets_a_proposal_whose_plan_fits_the_schema(planner: GraphPlanner, text: str) -> None:
    proposal = planner.plan(f"{text} Aurora")
    assert proposal.plan is None or check_graph_plan(proposal.plan, SCHEMA) == []


def test_a_graph_that_cannot_list_its_names_takes_them_as_written(taught: Any) -> None:
    proposal = GraphPlanner(SCHEMA, NameIndex(()), taught).plan("captain of the Zorbulon")
    assert proposal.plan is not None
    assert any("cannot list its names" in line for line in proposal.degraded)


def test_notes_are_said_in_every_proposal(planner: GraphPlanner) -> None:
    noted = GraphPlanner(SCHEMA, planner.answerer.index, planner.learned, notes=("of last year",))
    assert noted.plan("").degraded == ("of last year",)


# --- with a language model


CAPTAIN = read_plan("Ship:Aurora >COMMANDED_BY")


class Model:
    """Says again and writes by script; remembers what it was asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, written: WrittenPlan, said: Restating) -> None:
        self.asked: list[str] = []
        self._written, self._said = written, said
        monkeypatch.setattr(asking_steps, "ask_steps", self.steps)
        monkeypatch.setattr(asking_restated, "ask_restated", self.again)

    def steps(self, *args: Any, **kwargs: Any) -> WrittenPlan:
        self.asked.append("steps")
        return self._written

    def again(self, *args: Any, **kwargs: Any) -> Restating:
        self.asked.append("again")
        return self._said


def asked(
    planner: GraphPlanner,
    monkeypatch: pytest.MonkeyPatch,
    written: WrittenPlan | None = None,
    said: Restating | None = None,
    enough: float = 1.1,
    query: str = "captain of the Aurora",
    seldom: float = 1.1,
) -> Any:
    model = Model(
        monkeypatch, written or WrittenPlan(None, "it wrote nothing"), said or Restating(problem="it is down")
    )
    monkeypatch.setattr(asking_restated, "SELDOM", seldom)
    lm: Any = object()
    learned = replace(planner.learned, answers_from=enough)
    return GraphPlanner(SCHEMA, planner.answerer.index, learned, lm=lm).plan(query), model


def test_ordinary_words_are_ranked_without_the_model(planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch) -> None:
    proposal, model = asked(planner, monkeypatch, WrittenPlan(CAPTAIN))
    assert (proposal.decided_by, model.asked) == ("head", [])
    assert canonical(proposal.plan) == canonical(CAPTAIN)


def test_words_seldom_met_are_said_again_and_no_steps_are_asked_for(
    planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal, model = asked(planner, monkeypatch, said=Restating("who is the captain of the Aurora"), seldom=0.0)
    assert (proposal.decided_by, model.asked) == ("lm", ["again"])
    assert canonical(proposal.plan) == canonical(CAPTAIN)


def test_a_model_that_gives_no_answer_is_not_asked_again_and_the_ranking_is_used(
    planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal, model = asked(planner, monkeypatch, seldom=0.0)
    assert (proposal.decided_by, model.asked) == ("head", ["again"])
    assert canonical(proposal.plan) == canonical(CAPTAIN)
    assert any("it is down" in line for line in proposal.degraded)


def test_other_words_that_lead_nowhere_leave_the_rankings_plan(
    planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal, model = asked(planner, monkeypatch, said=Restating("I cannot say"), seldom=0.0)
    assert (proposal.decided_by, model.asked) == ("head", ["again"])
    assert canonical(proposal.plan) == canonical(CAPTAIN)


@pytest.mark.parametrize(("seldom", "asks"), [(1.1, ["steps"]), (0.0, ["again", "steps"])])
def test_where_there_is_no_plan_at_all_the_model_is_asked_for_steps(
    planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch, seldom: float, asks: list[str]
) -> None:
    query, said = "who was it", Restating("I cannot say")
    proposal, model = asked(planner, monkeypatch, WrittenPlan(CAPTAIN), said, query=query, seldom=seldom)
    assert model.asked == asks
    assert (proposal.plan, proposal.decided_by, proposal.answer_type) == (CAPTAIN, "lm", "Captain")


def test_no_model_is_asked_where_the_bound_lets_the_ranking_answer(
    planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal, model = asked(planner, monkeypatch, enough=0.0)
    assert (proposal.decided_by, model.asked) == ("head", [])


def test_a_model_that_writes_nothing_usable_is_said(planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch) -> None:
    proposal, _ = asked(planner, monkeypatch, WrittenPlan(None, "no edge of that name"), query="who was it")
    assert proposal.plan is None
    assert any("no edge of that name" in line for line in proposal.degraded)


def test_written_steps_are_checked_before_they_are_a_plan() -> None:
    good = [
        {"do": "find", "name": "Aurora", "type": "Ship"},
        {"do": "follow", "start": 1, "edge": "COMMANDED_BY", "direction": "out"},
    ]
    plan, refused, problem = read_steps(good, SCHEMA)
    assert plan is not None
    assert (refused, problem) == (None, "")
    plan, refused, problem = read_steps([good[0], {**good[1], "direction": "in"}], SCHEMA)
    assert plan is None
    assert refused is not None
    assert "joins Ship to Captain" in problem
    assert read_steps([], SCHEMA)[2].startswith("write 1 to")
    assert read_steps(None, SCHEMA)[0] is None


def test_a_program_without_the_stage_graph_is_refused(graph: MemoryGraph, tmp_path: Path) -> None:
    from queryplan.data.card import domain_folder, load_card
    from queryplan.errors import ProgramError
    from queryplan.program.planner import QueryPlanner

    QueryPlanner(load_card(domain_folder("podcast"))).save(tmp_path / "p")
    with pytest.raises(ProgramError, match="--stages graph"):
        GraphPlanner.for_executor(graph, program=tmp_path / "p")


def test_a_program_carries_what_it_learned_of_graphs(graph: MemoryGraph, taught: Any, tmp_path: Path) -> None:
    from queryplan.data.card import domain_folder, load_card
    from queryplan.program.planner import QueryPlanner

    card = load_card(domain_folder("podcast")).model_copy(update={"graph": SCHEMA, "names": ()})
    saved = QueryPlanner(card).with_graph(taught)
    saved.save(tmp_path / "p")
    loaded = QueryPlanner.load(tmp_path / "p", lm=None)
    assert loaded.graph is not None
    assert loaded.graph.notes == taught.notes
    proposal = GraphPlanner.for_executor(graph, program=tmp_path / "p").plan("captain of the Aurora")
    assert canonical(proposal.plan) == canonical(read_plan("Ship:Aurora >COMMANDED_BY"))  # type: ignore[arg-type]


# --- names that the graph does not have

FLEET = GraphSchema(
    nodes=(
        NodeType(
            name="Ship",
            properties=("armed", "rig", "tonnage"),
            details=(
                PropertyType(name="armed", kind="boolean"),
                PropertyType(name="rig", kind="enum", values=("schooner", "brig")),
                PropertyType(name="tonnage", kind="number"),
            ),
        ),
        *SCHEMA.nodes[1:],
    ),
    edges=SCHEMA.edges,
)


@pytest.fixture(scope="module")
def fleet(graph: MemoryGraph, taught: Any) -> GraphPlanner:
    return GraphPlanner(FLEET, NameIndex(graph.names()), taught, values=values_of(FLEET))


@pytest.mark.parametrize(
    "query",
    [
        "which armed ships have a tonnage above 900",
        "unarmed ships",
        "how many ships are schooners?",
        "brig-rigged ships under 90",
        "navires armés",
        "quante navi sono schooner",
        "cheap ships",
        "welche Schiffe sind armed?",
        "ships over 60",
    ],
)
def test_words_of_properties_and_what_is_asked_for_are_no_unknown_names(fleet: GraphPlanner, query: str) -> None:
    proposal = fleet.plan(query)
    assert (proposal.plan, proposal.entities) == (None, ())


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("ships commanded by Zorbulon", "Zorbulon"),
        ("what does zyxofenib command", "zyxofenib"),
        ("zorbulon ships", "zorbulon"),
        ("armed ships of zorbulon", "zorbulon"),
        ("which ships does Kapitän Quistorp command", "Quistorp"),
    ],
)
def test_a_name_that_the_graph_does_not_have_is_still_said(fleet: GraphPlanner, query: str, name: str) -> None:
    assert any("the graph has no name" in line and name in line for line in fleet.plan(query).degraded)
