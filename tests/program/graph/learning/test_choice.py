"""How complete plans are compared: learned from each half of the domains, ranked by what the other half teaches."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.program.graph.learning import choice as learning_choice
from queryplan.program.graph.learning.choice import choices, halves, learn_choice
from queryplan.program.graph.learning.fit_ranking import related
from queryplan.program.graph.learning.labelled import SOME, Labelled, Question, Source, some_of
from queryplan.program.graph.learning.store import Learned
from queryplan.program.graph.names.linking import NameIndex
from queryplan.program.graph.ranking.choosing import CHOICE, only_chance
from queryplan.program.graph.values import Values
from queryplan.program.heads.encoder import default_encoder
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType

from ..lessons import LESSON, OTHER, lesson


def labelled(name: str, questions: int, *edges: str) -> Labelled:
    """A domain of so many questions whose schema has these edges between two types."""
    kinds = (NodeType(name="A"), NodeType(name="B"))
    schema = GraphSchema(nodes=kinds, edges=tuple(EdgeType(name=edge, source="A", target="B") for edge in edges))
    asked = tuple(Question(f"{name} {number}", None) for number in range(questions))
    return Source(name, schema, NameIndex([]), asked), Values()


def names(half: list[Labelled]) -> set[str]:
    return {source.name for source, _ in half}


# --- halves


def test_each_half_is_asked_what_the_other_teaches() -> None:
    sources = [labelled(name, 10, f"E{name}") for name in "abcd"]
    (taught, asked), (taught_next, asked_next) = halves(sources)
    assert (taught, asked) == (asked_next, taught_next)
    assert names(taught) | names(asked) == set("abcd")
    assert not names(taught) & names(asked)


def test_domains_that_share_an_edge_stand_together_and_the_rest_is_split_about_evenly() -> None:
    sources = [
        labelled("big", 50, "X", "Y"),
        labelled("same", 30, "Y"),
        *(labelled(f"s{i}", 9, f"E{i}") for i in "1234567"),
    ]
    first, second = halves(sources)[0]
    together = first if "big" in names(first) else second
    assert {"big", "same"} <= names(together)
    counts = [sum(len(source.questions) for source, _ in half) for half in (first, second)]
    assert sorted(counts) == [63, 80]


def test_domains_that_a_third_joins_stand_together_too() -> None:
    sources = [
        labelled("left", 30, "X"),
        labelled("right", 20, "Y"),
        labelled("both", 5, "X", "Y"),
        labelled("z", 1, "Z"),
    ]
    for taught, asked in halves(sources):
        for source, _ in asked:
            assert related(source.schema, [other for other, _ in taught]) == []


@given(st.lists(st.tuples(st.integers(1, 40), st.sets(st.sampled_from("UVWXYZ"), min_size=1, max_size=3)), max_size=9))
def test_no_half_ever_has_an_edge_of_the_other(said: list[tuple[int, set[str]]]) -> None:
    sources = [labelled(f"s{i}", count, *sorted(edges)) for i, (count, edges) in enumerate(said)]
    for taught, asked in halves(sources):
        edges = [{edge.name for source, _ in half for edge in source.schema.edges} for half in (taught, asked)]
        assert not edges[0] & edges[1]
        assert len(taught) + len(asked) == len(sources)


def test_one_domain_has_no_halves_and_what_is_believed_before_stays() -> None:
    one = labelled("only", 5, "X")
    assert halves([one]) == halves([]) == []
    assert learn_choice([one], {}, default_encoder()).tolist() == only_chance().tolist()


@settings(deadline=None)  # makes up to 2,000 questions; on a crowded machine that takes longer than the default
@given(st.integers(0, 2000))
def test_about_so_many_questions_of_a_domain_are_used_spread_over_all(count: int) -> None:
    source, _ = labelled("x", count, "E")
    some = some_of(source).questions
    assert min(count, SOME) <= len(some) < 2 * SOME
    places = [source.questions.index(question) for question in some]
    assert len({b - a for a, b in pairwise(places)}) <= 1
    assert some[:1] == source.questions[:1]


# --- the comparison of complete plans


def test_comparing_plans_is_learned_from_what_the_rankings_did_not_learn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [lesson(tmp_path, "boats", LESSON), lesson(tmp_path, "songs", OTHER)]
    taught: list[set[str]] = []
    asked: list[str] = []
    learn, look = learning_choice.learn_shared, learning_choice.choices

    def learn_seen(given: list[Labelled], *rest: Any) -> Learned:
        taught.append(names(given))
        return learn(given, *rest)

    def look_seen(learned: Learned, source: Source, *rest: Any) -> Any:
        assert source.name not in taught[-1]
        asked.append(source.name)
        return look(learned, source, *rest)

    monkeypatch.setattr(learning_choice, "learn_shared", learn_seen)
    monkeypatch.setattr(learning_choice, "choices", look_seen)
    weights = learn_choice(sources, {}, default_encoder())
    assert sorted(asked) == ["boats", "songs"]
    assert weights.shape == (len(CHOICE),)
    assert np.isfinite(weights).all()
    assert not np.allclose(weights, only_chance())


def test_a_question_is_seen_as_its_plans_and_which_are_right(taught: Learned, tmp_path: Path) -> None:
    source, values = lesson(tmp_path, "boats", LESSON)
    seen = choices(taught, source, values, default_encoder())
    assert len(seen) == len(source.questions)
    for (numbers, right), question in zip(seen, source.questions, strict=True):
        assert numbers.shape == (len(right), len(CHOICE))
        assert right.dtype == bool
        assert right.sum() <= 1, question.text
    assert sum(right.any() for _, right in seen) >= 4
