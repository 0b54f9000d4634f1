"""The graph planner: from a question to a proposal, with and without a language model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.data.graph_lessons import read_plan
from queryplan.program.graph import asking_choice, asking_steps
from queryplan.program.graph.asking_choice import SHOWN, Choosing, shown_order
from queryplan.program.graph.asking_steps import WrittenPlan, read_steps
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.executor import execute_graph
from queryplan.program.graph.linking import NameIndex
from queryplan.program.graph.memory import MemoryGraph
from queryplan.program.graph.planner import GraphPlanner
from queryplan.program.graph.sketch import canonical
from queryplan.signatures.choose_graph_plan import LETTERS
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType

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


def test_an_unsure_plan_says_that_it_is_a_best_effort(planner: GraphPlanner) -> None:
    from dataclasses import replace

    unsure = GraphPlanner(SCHEMA, planner.answerer.index, replace(planner.learned, sure=planner.learned.sure * 0 - 1))
    assert any("best effort" in line for line in unsure.plan("captain of the Aurora").degraded)


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
COUNT = read_plan("count; Ship:Aurora >COMMANDED_BY")


class Model:
    """Chooses and writes by script; remembers what it was asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, written: WrittenPlan, choose: Any) -> None:
        self.asked: list[str] = []
        self.plans: list[Any] = []
        self._written, self._choose = written, choose
        monkeypatch.setattr(asking_steps, "ask_steps", self.steps)
        monkeypatch.setattr(asking_choice, "ask_choice", self.choice)

    def steps(self, *args: Any, **kwargs: Any) -> WrittenPlan:
        self.asked.append("steps")
        return self._written

    def choice(self, query: str, schema: Any, plans: Any, ranking: Any, lm: Any) -> Choosing:
        self.asked.append("choice")
        self.plans = [canonical(plan) for plan in plans]
        assert len(ranking) == len(plans) + 1
        return self._choose(self.plans)


def none_of(plans: list[str], chance: float = 0.9) -> Choosing:
    return Choosing((*[(1 - chance) / len(plans)] * len(plans), chance))


def one_of(plan: Any) -> Any:
    def choose(plans: list[str]) -> Choosing:
        place = plans.index(canonical(plan))
        return Choosing(tuple(0.9 if i == place else 0.1 / len(plans) for i in range(len(plans) + 1)))

    return choose


def asked(
    planner: GraphPlanner,
    monkeypatch: pytest.MonkeyPatch,
    written: WrittenPlan | None = None,
    choose: Any = none_of,
    enough: float = 1.1,
    query: str = "captain of the Aurora",
) -> Any:
    model = Model(monkeypatch, written or WrittenPlan(None, "it wrote nothing"), choose)
    lm: Any = object()
    learned = replace(planner.learned, answers_from=enough)
    return GraphPlanner(SCHEMA, planner.answerer.index, learned, lm=lm).plan(query), model


def test_a_model_chooses_among_the_likeliest_plans_where_the_ranking_is_not_sure(
    planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal, model = asked(planner, monkeypatch, choose=one_of(COUNT))
    assert canonical(proposal.plan) == canonical(COUNT)
    assert (proposal.decided_by, proposal.answer_type, proposal.confidence) == ("lm", "number", 0.9)
    assert proposal.entities[0].name == "Aurora"
    assert model.asked == ["choice"]
    assert model.plans[0] == canonical(CAPTAIN)
    assert 2 <= len(set(model.plans)) == len(model.plans) <= SHOWN


def test_where_the_model_chooses_none_it_is_asked_for_steps_and_a_doubtful_none_gives_way(
    planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = read_plan("Captain:Ida Holm <COMMANDED_BY")
    proposal, model = asked(planner, monkeypatch, WrittenPlan(plan), lambda plans: none_of(plans, 0.6))
    assert (proposal.plan, proposal.decided_by, model.asked) == (None, "lm", ["choice", "steps"])
    assert "cannot say" in proposal.reason
    seconded = asked(planner, monkeypatch, WrittenPlan(COUNT), lambda plans: none_of(plans, 0.45))[0]
    assert canonical(seconded.plan) == canonical(COUNT)


def test_a_model_that_gives_no_answer_is_not_asked_again_and_the_ranking_is_used(
    planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal, model = asked(planner, monkeypatch, choose=lambda plans: Choosing(problem="it is down"))
    assert model.asked == ["choice"]
    assert canonical(proposal.plan) == canonical(CAPTAIN)
    assert proposal.decided_by == "head"
    assert any("it is down" in line for line in proposal.degraded)


def test_where_there_is_nothing_to_choose_from_the_model_is_asked_for_steps(
    planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal, model = asked(planner, monkeypatch, WrittenPlan(CAPTAIN), query="who was it")
    assert model.asked == ["steps"]
    assert (proposal.plan, proposal.decided_by) == (CAPTAIN, "lm")


def test_a_plan_that_was_chosen_in_doubt_says_so(planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch) -> None:
    def even(plans: list[str]) -> Choosing:
        rest = 0.6 / len(plans)
        return Choosing((0.4, *[rest] * len(plans)))

    proposal, _ = asked(planner, monkeypatch, choose=even)
    assert canonical(proposal.plan) == canonical(CAPTAIN)
    assert any("0.40" in line for line in proposal.degraded)


def test_no_model_is_asked_where_the_bound_lets_the_ranking_answer(
    planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal, model = asked(planner, monkeypatch, enough=0.0)
    assert (proposal.decided_by, model.asked) == ("head", [])


def test_a_model_that_writes_nothing_usable_is_said(planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch) -> None:
    proposal, _ = asked(planner, monkeypatch, WrittenPlan(None, "no edge of that name"))
    assert proposal.plan is None
    assert any("no edge of that name" in line for line in proposal.degraded)


def test_a_model_behind_the_real_signature_chooses_by_letters(planner: GraphPlanner, bench: Any) -> None:
    learned = replace(planner.learned, answers_from=1.1)
    query = "captain of the Aurora"
    plans = [one.plan for one in planner.ranked(query).likeliest if not one.none][:SHOWN]
    second = shown_order(query, len(plans)).index(1)
    lm = bench.lm({"chosen": {name: float(place == second) for place, name in enumerate(LETTERS)}})
    proposal = GraphPlanner(SCHEMA, planner.answerer.index, learned, lm=lm).plan(query)
    assert lm.decider.asked() == ["chosen"]
    assert (proposal.plan, proposal.decided_by) == (plans[1], "lm")


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
