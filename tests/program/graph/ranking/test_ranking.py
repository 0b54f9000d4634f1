"""Learning to rank plans: what is learned, what carries over, and that it can be kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.data.card import KnownName
from queryplan.data.graph_lessons import read_plan
from queryplan.errors import ProgramError
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.learning.fit_names import fit_logistic, plain_of
from queryplan.program.graph.learning.fit_ranking import related
from queryplan.program.graph.learning.labelled import Question, Source, common_words
from queryplan.program.graph.learning.learning import fit_sure, judge, learn_domain, same_plan
from queryplan.program.graph.learning.store import from_tensors, keep, kept, to_tensors
from queryplan.program.graph.names.hypotheses import hypotheses
from queryplan.program.graph.names.linking import NameIndex
from queryplan.program.graph.ranking import candidates
from queryplan.program.graph.ranking.answering import Answerer
from queryplan.program.graph.ranking.combining import COUNTS, ways_of
from queryplan.program.graph.ranking.evidence import DENSE, MEASURES, Sight, dense_of
from queryplan.program.graph.ranking.paths import PathTable
from queryplan.program.graph.ranking.pool import COMBINES
from queryplan.program.graph.ranking.ranking import Ranker
from queryplan.program.graph.sketch import canonical
from queryplan.program.graph.values import Values, values_of
from queryplan.program.heads.encoder import default_encoder
from queryplan.signatures.graph_steps import AnchorStep, EdgeType, ExpandStep, GraphSchema, NodeType

SCHEMA = GraphSchema(
    nodes=(
        NodeType(name="Ship"),
        NodeType(name="Captain", description="who commands a ship"),
        NodeType(name="Harbour"),
    ),
    edges=(
        EdgeType(name="COMMANDED_BY", source="Ship", target="Captain"),
        EdgeType(name="MOORED_AT", source="Ship", target="Harbour", description="where the ship lies"),
        EdgeType(name="SISTER_OF", source="Ship", target="Ship"),
    ),
)
INDEX = NameIndex(
    [("1", "Aurora", "Ship"), ("2", "Borealis", "Ship"), ("3", "Ida Holm", "Captain"), ("4", "Rostock", "Harbour")]
)


@pytest.fixture(scope="module")
def answerer(taught: Any) -> Answerer:
    return Answerer(
        Ranker(PathTable(SCHEMA), default_encoder(), taught.paths), taught, INDEX, Values(), default_encoder()
    )


@pytest.mark.parametrize(
    ("question", "plan"),
    [
        ("captain of the Aurora", "Ship:Aurora >COMMANDED_BY"),
        ("which ships are moored at Rostock", "Harbour:Rostock <MOORED_AT"),
        ("which captains are at Rostock", "Harbour:Rostock <MOORED_AT >COMMANDED_BY"),
        ("ships of Ida Holm", "Captain:Ida Holm <COMMANDED_BY"),
    ],
)
def test_what_one_lesson_taught_carries_over_to_a_schema_never_seen(
    answerer: Answerer, question: str, plan: str
) -> None:
    assert canonical(answerer.best(question)[0].plan) == canonical(read_plan(plan))


def test_the_lesson_itself_was_learned(taught: Any, lesson_source: Source) -> None:
    values = values_of(lesson_source.schema)
    learned = learn_domain(taught, lesson_source.schema, (lesson_source, values), [], default_encoder())
    ranker = Ranker(PathTable(lesson_source.schema), default_encoder(), learned.paths)
    answerer = Answerer(ranker, learned, lesson_source.index, values, default_encoder())
    right = [same_plan(next(iter(answerer.best(q.text)), None), q) for q in lesson_source.questions]
    assert sum(right) / len(right) > 0.75


def test_probabilities_are_probabilities_and_the_best_comes_first(answerer: Answerer) -> None:
    found = answerer.best("which captains are at Rostock", count=8)
    chances = [one.chance for one in found]
    assert chances == sorted(chances, reverse=True)
    assert 0 < sum(chances) <= 1 + 1e-9
    assert all(0 < one.sure < 1 for one in found)


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=40), st.lists(st.sampled_from(["Aurora", "Borealis", "Ida Holm", "Rostock"]), max_size=4))
def test_whatever_is_asked_every_plan_is_well_typed(answerer: Answerer, text: str, names: list[str]) -> None:
    for found in answerer.best(f"{text} {' and '.join(names)}", count=8):
        assert check_graph_plan(found.plan, SCHEMA) == []


def test_a_path_that_leads_nowhere_counts_for_less(taught: Any, answerer: Answerer) -> None:
    question = "what about the Aurora"
    first = next(one for one in answerer.best(question) if not one.none)
    empty = canonical(first.plan)
    probed = Answerer(
        answerer.ranker, taught, INDEX, Values(), default_encoder(), probe=lambda plan: canonical(plan) != empty
    )
    assert canonical(next(one for one in probed.best(question) if not one.none).plan) != empty


def test_what_neither_of_two_names_has_is_no_plan_and_never_what_one_has(answerer: Answerer) -> None:
    index = NameIndex([("1", "Rostock", "Harbour"), ("2", "Cork", "Harbour")])
    both = Answerer(answerer.ranker, answerer.learned, index, Values(), default_encoder())
    assert not any(
        one.sketch.combine == "difference" for one in both.best("ships at neither Rostock nor Cork", count=50)
    )
    assert any(one.sketch.combine == "difference" for one in both.best("ships at Rostock but not at Cork", count=50))


@pytest.mark.parametrize(
    ("question", "sayable"),
    [
        ("which ships are moored at Rostock", True),
        ("which ships are not moored at Rostock", False),
        ("how many ships are without Ida Holm", False),
        ("ships neither at Rostock nor under Ida Holm", False),
        ("ships of Ida Holm that are not at Rostock", True),
        ("not only Rostock: which ships are moored there", True),
    ],
)
def test_no_plan_says_what_is_left_where_every_name_is_denied(answerer: Answerer, question: str, sayable: bool) -> None:
    found = answerer.best(question, count=50)
    assert any(not one.none and one.chance > 0 for one in found) is sayable
    assert sayable or found[0].none


@pytest.mark.parametrize(
    "question",
    [
        "ships of Ida Holm that are not at Rostock",
        "ships not moored at Rostock of Ida Holm",
        "ships without Rostock of Ida Holm",
        "Schiffe ohne Rostock von Ida Holm",
        "barcos sin Rostock de Ida Holm",
    ],
)
def test_of_two_names_the_one_that_is_denied_is_taken_away(answerer: Answerer, question: str) -> None:
    best = answerer.best(question)[0]
    assert best.sketch.combine == "difference"
    anchors = [step.node.name for step in best.plan.steps if isinstance(step, AnchorStep)]
    assert anchors == ["Ida Holm", "Rostock"]


def test_what_is_denied_stays_a_plan_over_edges_that_deny(taught: Any) -> None:
    edge = EdgeType(name="KEEPS_AWAY", source="Ship", target="Harbour", description="must not be moored there")
    schema = SCHEMA.model_copy(update={"edges": (*SCHEMA.edges, edge)})
    ranker = Ranker(PathTable(schema), default_encoder(), taught.paths)
    found = Answerer(ranker, taught, INDEX, Values(), default_encoder()).best("ships not moored at Rostock", count=50)
    likely = [one.plan for one in found if not one.none and one.chance > 0]
    over = [{step.edge for step in plan.steps if isinstance(step, ExpandStep)} for plan in likely]
    assert {"KEEPS_AWAY"} in over
    assert [edges for edges in over if "KEEPS_AWAY" not in edges and "MOORED_AT" in edges] == []


@pytest.mark.parametrize("question", ["captain of the Aurora", "ships of Ida Holm", "which captains are at Rostock"])
def test_a_plan_that_finds_nothing_is_not_taken_for_what_cannot_be_said(
    taught: Any, answerer: Answerer, question: str
) -> None:
    likeliest = answerer.best(question)[0]
    probed = Answerer(answerer.ranker, taught, INDEX, Values(), default_encoder(), probe=lambda plan: False)
    first = probed.best(question)[0]
    assert (first.sketch, first.none, first.instead_of) == (likeliest.sketch, False, None)
    assert first.sure <= likeliest.sure


def test_what_is_kept_of_many_candidates_is_what_looking_at_it_alone_gives(
    answerer: Answerer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "MOST", 12)
    monkeypatch.setattr(candidates, "TAILED", 5)
    question, ranker = "which ships of Ida Holm are moored with Aurora and Borealis at Rostock", answerer.ranker
    ranked = ranker.rank(question, answerer.mentions(question))
    parts = [one for one in ranked if one.pool.part_of is not None]
    assert len(parts) > 3
    for one in parts:
        shape, elements = ranker.look(one.pool)
        dense = dense_of(one.pool, shape, Sight(one.view, ranker.told(one.view)), one.hypothesis.log_prior)
        assert (elements == one.elements).all()
        np.testing.assert_allclose(one.dense, dense, atol=1e-12)
        combined = ranker.combined(one.view, one.hypothesis)
        assert combined is not None
        expected = (
            ranker.weights.scale * (dense @ ranker.weights.dense + one.told) + COUNTS * combined[ways_of(one.pool)]
        )
        np.testing.assert_allclose(one.scores, expected)


def test_more_evidence_never_makes_a_plan_less_likely(taught: Any) -> None:
    for name, weight in zip(DENSE, taught.paths.dense, strict=True):
        low, high = MEASURES[name]
        assert low is None or weight >= low, name
        assert high is None or weight <= high, name


def test_what_was_learned_is_kept_and_read_again(taught: Any, answerer: Answerer, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "graph.safetensors"
    keep(taught, path)
    read = kept(path)
    assert read is not None
    assert read.notes == taught.notes
    again = Answerer(Ranker(PathTable(SCHEMA), default_encoder(), read.paths), read, INDEX, Values(), default_encoder())
    question = "which captains are at Rostock"
    assert canonical(again.best(question)[0].plan) == canonical(answerer.best(question)[0].plan)
    assert again.best(question)[0].chance == pytest.approx(answerer.best(question)[0].chance, abs=0.02)


def test_what_cannot_be_read_is_learned_again(tmp_path: Path) -> None:
    path = tmp_path / "graph.safetensors"
    assert kept(path) is None
    path.write_bytes(b"no tensors")
    assert kept(path) is None


def test_a_program_without_graphs_has_none_and_one_of_another_version_is_refused(taught: Any) -> None:
    assert from_tensors({"is_relevant.dual": np.zeros(2)}) is None
    tensors = to_tensors(taught)
    with pytest.raises(ProgramError, match="another version"):
        from_tensors({**tensors, "graph.dense": np.zeros(3)})
    with pytest.raises(ProgramError, match="compile again"):
        from_tensors({name: t for name, t in tensors.items() if name != "graph.span"})


def test_mentions_that_overlap_are_never_meant_together() -> None:
    index = NameIndex([("1", "The Hours", "F"), ("2", "Hours", "F"), ("3", "It", "F")])
    mentions = index.mentions("It and The Hours")
    for hypothesis in hypotheses(mentions, [0.6] * len(mentions)):
        chosen = hypothesis.mentions
        assert not any(a is not b and a.overlaps(b) for a in chosen for b in chosen)


def test_two_mentions_that_may_be_one_node_are_first_taken_for_it() -> None:
    nodes = [("1", "Photophobia", "Symptom"), ("2", "Photophobia", "SideEffect"), ("3", "Nausea", "Symptom")]
    card = [KnownName(name="Photophobia", type=kind, aliases=("light hurts",)) for kind in ("Symptom", "SideEffect")]
    index = NameIndex([*nodes, ("4", "Nausea", "SideEffect")], card)
    mentions = index.mentions("light hurts: drugs for photophobia")
    both = [h for h in hypotheses(mentions, [0.9, 0.9]) if len(h.mentions) == 2]
    same = [len({reading.type for reading in h.readings}) == 1 for h in both]
    assert same == [True, True, False, False]
    # One word said twice may well mean two things.
    again = index.mentions("nausea by drugs against nausea")
    priors = [h.log_prior for h in hypotheses(again, [0.9, 0.9]) if len(h.mentions) == 2]
    assert max(priors) - min(priors) < 1


def test_words_of_one_domain_say_more_than_words_of_all() -> None:
    weights = common_words([["what drug treats"], ["what film shows"], ["what team owns"]])
    assert weights["what"] < weights["drug"] <= 1


def test_names_that_stand_in_questions_without_being_meant_are_counted() -> None:
    index = NameIndex([("1", "film", "Tag"), ("2", "Aurora", "Ship")])
    rows = (Question("which film has the Aurora", read_plan("Ship:Aurora >MOORED_AT")),)
    assert plain_of(Source("s", SCHEMA, index, rows)) == {"film": 1}


def test_an_edge_of_the_same_name_between_other_types_is_another_edge(lesson_source: Source) -> None:
    assert related(lesson_source.schema, [lesson_source]) == [lesson_source]
    edge = lesson_source.schema.edges[0]
    other = GraphSchema(
        nodes=(NodeType(name="X"), NodeType(name="Y")), edges=(EdgeType(name=edge.name, source="X", target="Y"),)
    )
    assert related(other, [lesson_source]) == []


def test_logistic_weights_stay_where_no_row_says_otherwise() -> None:
    start = np.array([0.5, -2.0])
    fitted = fit_logistic(np.array([[1.0, 0.0]] * 20), np.array([True] * 10 + [False] * 10), start, 1.0)
    assert fitted[1] == pytest.approx(-2.0)
    assert abs(fitted[0]) < 0.1


def test_certainty_is_fitted_on_questions_held_out(answerer: Answerer) -> None:
    questions = [
        Question("captain of the Aurora", read_plan("Ship:Aurora >COMMANDED_BY")),
        Question("captain of the Borealis", read_plan("Ship:Borealis >MOORED_AT")),
        Question("nothing named here", None),
    ]
    judged = judge(answerer, questions)
    assert judged.right.tolist() == [True, False]
    assert len(fit_sure(judged)) == judged.features.shape[1]
    assert ((judged.certainty(fit_sure(judged)) > 0) & (judged.certainty(fit_sure(judged)) < 1)).all()


def test_several_names_are_combined_in_every_way(answerer: Answerer) -> None:
    ranked = answerer.ranker.rank(
        "Aurora, Borealis, Rostock and Ida Holm", answerer.mentions("Aurora, Borealis, Rostock and Ida Holm")
    )
    used = {COMBINES[int(c)] for r in ranked for c in r.pool.combine}
    assert {"union", "intersect"} <= used
