"""Which rows demonstrate, and in which order."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import dspy
import pytest
from queryplan.optimizers.base import StageTask
from queryplan.optimizers.demonstrations import Answers, arranged, balanced, grouping, trait
from queryplan.program.stages import StageSpec


def labelled(**outputs: Any) -> dspy.Example:
    return dspy.Example(query="q", **outputs)


def test_a_rare_label_gets_its_half_of_every_beginning() -> None:
    rows = [labelled(x=i < 8) for i in range(40)]
    order = balanced(rows, ("x",), Random(0))
    assert [Counter(row.x for row in order[:n])[True] for n in (2, 4, 8, 16)] == [1, 2, 4, 8]
    assert len(order) == 40


def test_within_a_label_the_next_output_is_balanced() -> None:
    rows = [labelled(x=True) for _ in range(30)] + [labelled(x=False, kind=kind) for kind in "aaaaabbc"]
    order = balanced(rows, ("x", "kind"), Random(0))
    assert {row.kind for row in order[:6] if not row.x} == {"a", "b", "c"}


def test_another_seed_gives_other_rows_and_the_same_seed_the_same() -> None:
    rows = [labelled(x=i % 3, n=i) for i in range(60)]
    first, again, other = ([row.n for row in balanced(rows, ("x",), Random(seed))[:6]] for seed in (0, 0, 1))
    assert first == again != other


@pytest.mark.parametrize("labels", ["aaab", "abbb", "aabb", "aaaaaab", "abcabc", "baaa", "aaabbbcc"])
def test_no_run_of_one_label_stands_before_the_query(labels: str) -> None:
    shown = arranged([{"x": label} for label in labels], ("x",))
    assert sorted(demo["x"] for demo in shown) == sorted(labels)
    assert shown[-1]["x"] != shown[-2]["x"]


def test_one_label_or_one_demonstration_is_left_as_it_is() -> None:
    assert arranged([{"x": 1, "n": n} for n in range(3)], ("x",)) == [{"x": 1, "n": n} for n in range(3)]
    assert arranged([{"x": 1}], ("x",)) == [{"x": 1}]
    assert arranged([], ("x",)) == []


def test_arranging_twice_changes_nothing() -> None:
    once = arranged([{"x": label, "n": n} for n, label in enumerate("aaaabbc")], ("x",))
    assert arranged(once, ("x",)) == once


def test_stages_that_write_are_balanced_by_their_first_list(specs: dict[str, StageSpec]) -> None:
    assert grouping(specs["complexity"].signature) == ("complexity", "intent", "needs_decomposition")
    assert grouping(specs["decompose"].signature) == ("sub_queries",)
    assert grouping(specs["rewrite"].signature) == ("referenced_entities",)


def test_a_list_counts_by_length_and_links() -> None:
    assert trait([{"depends_on": []}, {"depends_on": [1]}]) == "2 linked"
    assert trait(["a"]) == "1"
    assert trait(None) == ""


def test_a_demonstration_is_plain_and_carries_the_label(make_task: Callable[..., StageTask]) -> None:
    task = make_task("relevance")
    answers = Answers(task.signature, task.train)
    inside = next(e for e in task.train if e.is_relevant)
    assert answers.demo(inside) == {"query": inside.query, "is_relevant": True}
    wrong = dspy.Example(query=inside.query, is_relevant=False, augmented=True)
    assert answers.demo(wrong)["is_relevant"] is True
    assert json.loads(json.dumps(answers.demo(inside))) == answers.demo(inside)


def test_an_unknown_demonstration_keeps_its_own_answer(make_task: Callable[..., StageTask]) -> None:
    answers = Answers(make_task("relevance").signature, [])
    assert answers.demo({"query": "new", "is_relevant": False}) == {"query": "new", "is_relevant": False}
