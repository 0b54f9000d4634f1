"""The lessons that graph planners learn from, and their notation."""

from __future__ import annotations

from pathlib import Path

import pytest
from queryplan.data.graph_lessons import load_lessons, read_lesson, read_plan
from queryplan.errors import DataError
from queryplan.eval import __file__ as eval_package
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.question.words import name_words
from queryplan.program.graph.schema import read_schema
from queryplan.signatures.graph_steps import GraphSchema

SETS = Path(eval_package).parent / "sets"


def test_every_shipped_plan_fits_its_schema() -> None:
    for lesson in load_lessons():
        for question in lesson.questions:
            problems = check_graph_plan(question.plan, lesson.schema) if question.plan else []
            assert not problems, (lesson.name, question.text, problems)


def test_no_question_is_there_twice() -> None:
    texts = [q.text.casefold() for lesson in load_lessons() for q in lesson.questions]
    assert len(texts) == len(set(texts))


def test_lessons_ask_for_everything_a_plan_can_do() -> None:
    steps = {step.kind for lesson in load_lessons() for q in lesson.questions if q.plan for step in q.plan.steps}
    assert steps == {"anchor", "expand", "union", "intersect", "difference", "filter", "count", "order"}
    assert all(any(q.plan is None for q in lesson.questions) for lesson in load_lessons())


def test_no_lesson_is_about_what_the_unseen_schema_is_about() -> None:
    """A score on a schema that was never seen means nothing if a lesson has another one of the same subject."""

    def types(schema: GraphSchema) -> set[str]:
        return {word for node in schema.nodes for word in name_words(node.name)}

    unseen = types(read_schema(SETS / "unseen" / "schema.toml").schema)
    shared = {lesson.name: types(lesson.schema) & unseen for lesson in load_lessons()}
    assert all(len(words) <= 2 for words in shared.values()), shared


def test_a_value_in_quotation_marks_is_text() -> None:
    found = [read_plan(f"if x eq {value}; A:y >E").steps[-1] for value in ("17", '"17"', '"true"', '"')]
    assert [step.conditions[0].value for step in found] == [17, "17", "true", '"']  # type: ignore[union-attr]


def test_the_notation_says_steps() -> None:
    plan = read_plan("count; if year gt 1990; (A:x y | A:z) >E <F! & B:it's")
    assert [s.kind for s in plan.steps] == [
        "anchor",
        "anchor",
        "union",
        "expand",
        "expand",
        "anchor",
        "intersect",
        "filter",
        "count",
    ]
    assert plan.steps[4].exclude == ("s3",)  # type: ignore[union-attr]
    assert plan.steps[5].node.name == "it's"  # type: ignore[union-attr]


def test_order_by_property_and_by_number_of_edges() -> None:
    ordered = read_plan("min year 3; A:x >E").steps[-1]
    assert (ordered.property, ordered.descending, ordered.limit) == ("year", False, 3)  # type: ignore[union-attr]
    assert read_plan("fewest E 1; A:x >E").steps[-1].degree_of == "E"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("12", 12),
        ("-3", -3),
        ("0.5", 0.5),
        ("true", True),
        ("false", False),
        ("12 b", "12 b"),
        ("1.2.3", "1.2.3"),
        ("truer", "truer"),
    ],
)
def test_the_value_of_a_condition_is_a_number_a_truth_value_or_text(said: str, value: object) -> None:
    condition = read_plan(f"if p eq {said}; A:x").steps[-1].conditions[0]  # type: ignore[union-attr]
    assert condition.value == value
    assert type(condition.value) is type(value)


def test_an_edge_may_have_a_condition() -> None:
    plan = read_plan("A:x >E[score ge 0.7] <F[kind eq last resort]! >G")
    _, first, second, third = plan.steps
    assert [(c.property, c.op, c.value) for c in first.where] == [("score", "ge", 0.7)]  # type: ignore[union-attr]
    assert [(c.property, c.op, c.value) for c in second.where] == [("kind", "eq", "last resort")]  # type: ignore[union-attr]
    assert (first.exclude, second.exclude) == ((), ("s1",))  # type: ignore[union-attr]
    assert third.where == ()  # type: ignore[union-attr]


@pytest.mark.parametrize("said", ["A:x >E[]", "A:x >E[score]", "A:x >E[score ge]", "A:x >E[score ge 1"])
def test_a_condition_of_an_edge_that_is_none_is_refused(said: str) -> None:
    with pytest.raises(DataError, match="plan"):
        read_plan(said)


@pytest.mark.parametrize(
    "said", ["", "A:x >", "(A:x", "A:x & ", "sum; A:x", "A x", "A:x ) B:y", "if year; A:x", "& A:x"]
)
def test_what_is_no_plan_is_refused(said: str) -> None:
    with pytest.raises(DataError, match="plan"):
        read_plan(said)


def test_a_broken_lesson_is_named(tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    with pytest.raises(DataError, match=r"odd\.toml cannot be read"):
        read_lesson(path)
    path.write_text("[schema]\nnodes = [{ name = 'A' }]\n[questions]\nlines = 'no arrow'\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"odd\.toml.*expected question => plan"):
        read_lesson(path)
