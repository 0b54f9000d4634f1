"""Two ways from one name: candidates where a question is likely to ask so, and the right way round."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.learning.fit_endings import starting_endings
from queryplan.program.graph.learning.fit_ranking import starting_weights
from queryplan.program.graph.learning.learning import starting_sure
from queryplan.program.graph.learning.store import Learned, from_tensors, to_tensors
from queryplan.program.graph.names.linking import NameIndex
from queryplan.program.graph.question.twofold import LIKELY, TWOFOLD, may_be_twofold
from queryplan.program.graph.ranking.candidates import candidate_pools
from queryplan.program.graph.ranking.choosing import starting_choice
from queryplan.program.graph.ranking.combining import WAYS, CombineWeights, Said, fit_combines, said_of
from queryplan.program.graph.ranking.paths import PathTable
from queryplan.program.graph.ranking.pool import COMBINES, Pool
from queryplan.program.graph.ranking.ranking import Ranker
from queryplan.program.heads.encoder import default_encoder
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Person"), NodeType(name="Firm")),
    edges=(
        EdgeType(name="owns", source="Person", target="Firm"),
        EdgeType(name="manages", source="Person", target="Firm"),
        EdgeType(name="married", source="Person", target="Person"),
    ),
)
TABLE = PathTable(SCHEMA)
INDEX = NameIndex([("p1", "Ruth", "Person"), ("p2", "Omar", "Person"), ("f1", "Acme", "Firm")])
ENCODER = default_encoder()
STARTING = starting_weights({})
PLAIN = Ranker(TABLE, ENCODER, STARTING)
TAUGHT = [
    ("either bought or sold by Omar", "union"),
    ("whatever Omar bought or sold", "union"),
    ("firms Omar buys or sells", "union"),
    ("Acme, who sold or bought it", "union"),
    ("bought but never sold by Omar", "difference"),
    ("Omar buys them, never sells them", "difference"),
    ("Acme buyers who never sold it", "difference"),
    ("what did Omar buy", "alone"),
    ("Omar sold which firms", "alone"),
    ("Acme sellers", "alone"),
    ("who bought Acme", "alone"),
    ("firms sold by Omar", "alone"),
]


def said(question: str) -> Said:
    hypothesis = PLAIN.hypotheses(question, INDEX.mentions(question, frozenset()))[0]
    return said_of(PLAIN.view(question, hypothesis), [one.type for one in hypothesis.readings])


@pytest.fixture(scope="module")
def ranker(taught: Learned) -> Ranker:
    """What a lesson taught of paths, and the questions here of two ways."""
    twofold = fit_combines([(said(question), way) for question, way in TAUGHT])
    return Ranker(TABLE, ENCODER, replace(taught.paths, twofold=twofold))


def plan_of(ranker: Ranker, question: str, combine: str | None = None) -> list[str]:
    """The likeliest candidate, or the likeliest pair of ways that is put together so."""
    found = ranker.rank(question, INDEX.mentions(question, frozenset()))
    kept = [one for one in found if combine is None or one.pool.twofold]
    scores = [
        np.where((one.pool.combine == COMBINES.index(combine)) if combine else True, one.scores, -np.inf)
        for one in kept
    ]
    best, among = max(zip(kept, scores, strict=True), key=lambda one: float(one[1].max()))
    steps = best.pool.sketch(int(np.argmax(among)), TABLE).to_plan().steps
    return [f"{step.kind} {getattr(step, 'edge', '')}".strip() for step in steps]


def pairs(twofold: bool) -> list[Pool]:
    hypothesis = PLAIN.hypotheses("Ruth", INDEX.mentions("Ruth", frozenset()))[0]
    pools = candidate_pools(hypothesis, TABLE, lambda pool: np.zeros(len(pool)), twofold)
    return [pool for pool in pools if pool.twofold]


def test_pairs_of_ways_are_candidates_only_where_they_are_asked_for() -> None:
    assert not pairs(twofold=False)
    assert len(pairs(twofold=True)) == 1


def test_each_pair_is_there_once_and_what_is_taken_away_comes_second() -> None:
    [pool] = pairs(twofold=True)
    plans = [pool.sketch(i, TABLE).to_plan() for i in range(len(pool))]
    assert all(not check_graph_plan(plan, SCHEMA) for plan in plans)
    halves = [(tuple(row[:3]), tuple(row[3:6]), COMBINES[c]) for row, c in zip(pool.hops, pool.combine, strict=True)]
    assert all(first != second for first, second, _ in halves)
    seen = Counter((frozenset((one, two)), combine) for one, two, combine in halves)
    assert {seen[key] for key in seen if key[1] == "difference"} == {2}
    assert {seen[key] for key in seen if key[1] != "difference"} == {1}
    assert {combine for _, combine in seen} == set(TWOFOLD)


@pytest.mark.parametrize(
    ("question", "steps"),
    [
        ("firms that Ruth owns or manages", ["anchor", "expand owns", "anchor", "expand manages", "union"]),
        ("which firms does Ruth own", ["anchor", "expand owns"]),
    ],
)
def test_whole_questions_tell_whether_two_ways_are_asked_for(ranker: Ranker, question: str, steps: list[str]) -> None:
    assert plan_of(ranker, question) == steps


@pytest.mark.parametrize(("kept", "away"), [("owns", "manages"), ("manages", "owns")])
def test_what_is_taken_away_is_what_is_told_behind(ranker: Ranker, kept: str, away: str) -> None:
    steps = ["anchor", f"expand {kept}", "anchor", f"expand {away}", "difference"]
    assert plan_of(ranker, f"what Ruth {kept} but never {away}", "difference") == steps


def test_without_labels_no_pair_is_looked_at() -> None:
    question = "firms that Ruth owns or manages"
    assert not any(one.pool.twofold for one in PLAIN.rank(question, INDEX.mentions(question, frozenset())))


def test_pairs_are_looked_at_from_a_probability_on() -> None:
    unlikely, likely = np.full(len(WAYS), LIKELY / 4), np.full(len(WAYS), LIKELY / 4)
    likely[WAYS.index("union")] = LIKELY
    assert not may_be_twofold(np.log(unlikely))
    assert may_be_twofold(np.log(likely))


def test_a_file_keeps_what_was_learned_of_them(ranker: Ranker) -> None:
    learned = Learned(ranker.weights, starting_endings(), starting_choice(), starting_sure())
    kept = from_tensors(to_tensors(learned))
    assert kept is not None
    assert kept.paths.twofold.grams.tolist() == ranker.weights.twofold.grams.tolist()
    assert kept.paths.twofold.table == pytest.approx(ranker.weights.twofold.table, abs=1e-3)
    assert isinstance(kept.paths.twofold, CombineWeights)


def test_a_file_of_before_plans_as_it_did(ranker: Ranker) -> None:
    learned = Learned(ranker.weights, starting_endings(), starting_choice(), starting_sure())
    before = {name: tensor for name, tensor in to_tensors(learned).items() if "twofold" not in name}
    kept = from_tensors(before)
    assert kept is not None
    again = Ranker(TABLE, ENCODER, kept.paths)
    question = "firms that Ruth owns or manages"
    assert not any(one.pool.twofold for one in again.rank(question, INDEX.mentions(question, frozenset())))
