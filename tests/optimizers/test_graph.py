"""Compiling the stage ``graph``: what is learned from rows, and the score of written steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest
from queryplan.data.domain import Domain
from queryplan.data.graph_lessons import read_plan
from queryplan.data.rows import Gold, LabelledRow
from queryplan.errors import DataError
from queryplan.optimizers import graph as compiling
from queryplan.optimizers.graph import domain_graph, graph_metric, learn_graph, same_answers, sample_questions
from queryplan.program.graph.learning.labelled import Question
from queryplan.program.graph.learning.learning import learn_shared, shipped_common, source_of_lesson
from queryplan.program.graph.values import values_of
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType
from queryplan.signatures.types import Labels

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Ship"), NodeType(name="Captain")),
    edges=(
        EdgeType(name="COMMANDED_BY", source="Ship", target="Captain"),
        EdgeType(name="BUILT_BY", source="Ship", target="Captain"),
    ),
)


@pytest.fixture
def domain(tmp_path: Path) -> Domain:
    from queryplan.data.card import domain_folder, load_card

    (tmp_path / "graph").mkdir()
    nodes = [
        {"id": n, "name": n, "type": t}
        for n, t in (("Aurora", "Ship"), ("Borealis", "Ship"), ("Ida", "Captain"), ("Ole", "Captain"))
    ]
    (tmp_path / "graph" / "nodes.jsonl").write_text("".join(json.dumps(n) + "\n" for n in nodes), encoding="utf-8")
    edges = [
        "source\tedge\ttarget",
        "Aurora\tCOMMANDED_BY\tIda",
        "Borealis\tCOMMANDED_BY\tOle",
        "Aurora\tBUILT_BY\tOle",
    ]
    (tmp_path / "graph" / "edges.tsv").write_text("\n".join(edges) + "\n", encoding="utf-8")
    card = load_card(domain_folder("podcast")).model_copy(update={"name": "ships", "graph": SCHEMA, "names": ()})
    asked = [
        ("skipper of the {}", ">COMMANDED_BY"),
        ("who steers {}", ">COMMANDED_BY"),
        ("what yard made {}", ">BUILT_BY"),
    ]
    rows = [
        row(f"{ship}-{i}", text.format(ship), f"Ship:{ship} {hop}")
        for ship in ("Aurora", "Borealis")
        for i, (text, hop) in enumerate(asked)
    ]
    return Domain(tmp_path, card, {"train": tuple(rows[:5]), "calibrate": tuple(rows[5:])})


def row(name: str, text: str, plan: str) -> LabelledRow:
    labels = Labels.model_validate(
        {
            "standalone_query": text,
            "is_relevant": True,
            "complexity": "simple",
            "intent": "factual",
            "is_follow_up": False,
            "needs_decomposition": False,
        }
    )
    return LabelledRow(
        id=name,
        conversation=name,
        turn=1,
        query=text,
        labels=labels,
        gold=Gold(graph_plan=read_plan(plan), answers=("x",)),
    )


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """What carries over, learned from one lesson: all of them take half a minute."""
    from queryplan.data.graph_lessons import LESSONS, read_lesson
    from queryplan.program.heads.encoder import default_encoder

    source = source_of_lesson(read_lesson(LESSONS / "football.toml"), shipped_common())
    shared = learn_shared([(source, values_of(source.schema))], shipped_common(), default_encoder())
    monkeypatch.setattr(compiling, "shared_knowledge", lambda: shared)
    monkeypatch.setattr(compiling, "shipped_sources", lambda: [])


def test_a_domains_own_words_are_learned_from_its_rows(domain: Domain, little: None) -> None:
    from queryplan.program.graph.planner import GraphPlanner
    from queryplan.program.graph.sketch import canonical

    learned = learn_graph(domain, domain.rows("train"))
    graph = domain_graph(domain)
    from queryplan.program.graph.names.linking import NameIndex

    planner = GraphPlanner(SCHEMA, NameIndex(graph.names()), learned)
    for text, hop in (("skipper of Borealis please", ">COMMANDED_BY"), ("which yard made Borealis", ">BUILT_BY")):
        plan = planner.plan(text).plan
        assert plan is not None
        assert canonical(plan) == canonical(read_plan(f"Ship:Borealis {hop}"))
    assert learned.answers_from is None
    assert any("do not prove" in note for note in learned.notes)


def test_a_domain_that_teaches_nothing_of_graphs_is_refused(domain: Domain, little: None) -> None:
    with pytest.raises(DataError, match=r"no row of ships has gold\.graph_plan"):
        learn_graph(domain, ())
    bare = Domain(domain.folder, domain.card.model_copy(update={"graph": None}), domain.splits)
    with pytest.raises(DataError, match="has no graph"):
        learn_graph(bare, domain.rows("train"))


def test_written_steps_are_scored_by_running_them(domain: Domain) -> None:
    metric = graph_metric(domain_graph(domain))
    example: Any = dspy.Example(query="q", answers=("Ida", "Ole"))
    find = {"do": "find", "name": "Aurora", "type": "Ship"}
    follow = {"do": "follow", "start": 1, "edge": "COMMANDED_BY", "direction": "out"}
    assert metric(example, dspy.Prediction(steps=[find, follow])) == pytest.approx(2 / 3)
    assert metric(example, dspy.Prediction(steps=[find, {**follow, "direction": "in"}])) == 0
    assert metric(example, dspy.Prediction()) == 0


def test_at_most_so_many_questions_are_drawn_and_always_the_same() -> None:
    questions = [Question(str(i), None) for i in range(30)]
    assert sample_questions(questions, 1, 10) == sample_questions(questions, 1, 10)
    assert len(sample_questions(questions, 1, 10)) == 10
    assert sample_questions(questions, 1, 30) == tuple(questions)


def test_no_plan_is_right_for_what_the_schema_cannot_say(domain: Domain) -> None:
    assert same_answers(None, Question("q", None), domain_graph(domain))
    assert not same_answers(None, Question("q", read_plan("Ship:Aurora >BUILT_BY")), domain_graph(domain))
