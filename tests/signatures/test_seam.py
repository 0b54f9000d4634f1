"""What we rely on of DSPy's experimental decision seam; an upgrade that breaks it breaks here."""

from __future__ import annotations

import json
from typing import Any

import dspy
import pytest
from dspy.adapters.types.decision import decision_type
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from queryplan.data.card import DomainCard, domain_folder, load_card
from queryplan.program.stages import DECIDING, StageSpec, examples, stage_specs
from queryplan.signatures.decompose_query import DecomposeQuery
from queryplan.signatures.detect_follow_up import DetectFollowUp
from queryplan.signatures.plan_graph_steps import describe, plan_graph_steps, to_plan
from queryplan.signatures.seam import Choice, DecisionState, Noul, answer, choice_of, yes_no
from queryplan.signatures.types import COMPLEXITIES, IN_DOMAIN_INTENTS, EdgeType, GraphSchema, NodeType

CARD: DomainCard = load_card(domain_folder("podcast"))
SPECS: dict[str, StageSpec] = {str(name): spec for name, spec in stage_specs(CARD).items()}
INPUTS = {"history": "User: a", "query": "q", "active_entity": ""}


class Recorder:
    """A decision client that keeps what it was asked."""

    supports_decision_requests = True
    model = "recorder"
    cache = False

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.state: dict[str, Any] = {}
        self.questions: dict[str, Any] = {}
        self.callbacks: list[Any] = []
        self.kwargs: dict[str, Any] = {}
        self.history: list[Any] = []

    def __call__(self, state: Any, questions: Any) -> dict[str, Any]:
        self.state, self.questions = state, questions
        return {name: self.answers[name] for name in questions}

    async def acall(self, state: Any, questions: Any) -> dict[str, Any]:
        return self(state, questions)


def decide(signature: Any, client: Recorder, fields: dict[str, Any] | None = None, **inputs: Any) -> dspy.Prediction:
    predictor = dspy.Predict(signature)
    predictor.fields = fields or {}
    return predictor(lm=client, **inputs)


@pytest.mark.parametrize("stage", DECIDING)
def test_a_signature_that_decides_has_decisions_alone(stage: str) -> None:
    kinds: list[Any] = [decision_type(field) for field in SPECS[stage].signature.output_fields.values()]
    assert kinds
    assert all(kind is not None and issubclass(kind, (Noul, Choice)) for kind in kinds)


@pytest.mark.parametrize("stage", ["rewrite", "decompose", "graph"])
def test_a_signature_that_writes_has_no_decision(stage: str) -> None:
    fields = SPECS[stage].signature.output_fields.values()
    assert not any(isinstance(f.annotation, type) and issubclass(f.annotation, (Noul, Choice)) for f in fields)


@pytest.mark.parametrize("stage", DECIDING)
def test_every_answer_is_a_word_with_a_definition_and_words_differ_within_a_question(stage: str) -> None:
    signature = SPECS[stage].signature
    state = DecisionState(signature, {}, system_one=True)
    for name in signature.output_fields:
        criteria: Any = state.get_criteria(name)
        words = [given["answer"] for given in criteria.values()]
        assert len({word.casefold() for word in words}) == len(words), name
        assert all(word.isalpha() for word in words)
        assert all(set(given) == {"answer", "when"} and given["when"] for given in criteria.values())


def test_the_labels_are_those_of_the_vocabulary() -> None:
    state: Any = DecisionState(SPECS["complexity"].signature, {}, system_one=True)
    assert tuple(state.get_criteria("complexity")) == COMPLEXITIES
    assert tuple(state.get_criteria("intent")) == IN_DOMAIN_INTENTS
    relevance: Any = DecisionState(SPECS["relevance"].signature, {}, system_one=True)
    assert tuple(relevance.get_criteria("rejection_kind")) == CARD.kinds


def test_a_request_carries_state_and_questions_with_criteria() -> None:
    client = Recorder(is_follow_up={"noul": 0.7})
    predictor = dspy.Predict(DetectFollowUp)
    predictor.demos = [dspy.Example(history="h", query="why?", is_follow_up=True)]
    predictor(lm=client, history="User: a", query="and b?")
    assert client.state["inputs"] == {"history": "User: a", "query": "and b?"}
    assert client.state["instructions"].startswith("Decide whether a query")
    assert client.state["demos"] == [{"history": "h", "query": "why?", "is_follow_up": True}]
    question = client.questions["is_follow_up"]
    assert question["type"] == "noul"
    assert set(question["criteria"]) == {"true", "false"}
    assert question["criteria"]["true"]["answer"] == "Yes"
    assert "points back" in question["criteria"]["true"]["when"]


@pytest.mark.parametrize(("threshold", "value"), [(0.5, True), (0.9, False)])
def test_a_threshold_in_fields_decides(threshold: float, value: bool) -> None:
    client = Recorder(is_follow_up={"noul": 0.7})
    found = decide(DetectFollowUp, client, {"is_follow_up": {"threshold": threshold}}, history="h", query="q")
    assert (found.is_follow_up.value, found.is_follow_up.probability) == (value, 0.7)


def test_weights_in_fields_decide_a_choice_and_leave_its_probabilities() -> None:
    kind = choice_of([("a", "first", "when a"), ("b", "second", "when b")])
    fields = {"query": (str, dspy.InputField()), "label": (kind, dspy.OutputField(desc="Which?"))}
    signature = dspy.Signature(fields, "Choose.")  # type: ignore[call-arg]
    client = Recorder(label={"choice": "a", "confidence": 0.6, "probabilities": {"a": 0.6, "b": 0.4}})
    assert decide(signature, client, query="q").label.value == "a"
    found = decide(signature, client, {"label": {"weights": {"a": 1.0, "b": 2.0}}}, query="q").label
    assert (found.value, found.probabilities) == ("b", {"a": 0.6, "b": 0.4})


@pytest.mark.parametrize("stage", list(SPECS))
def test_state_round_trips_through_json(stage: str) -> None:
    predictor: Any = dspy.Predict(SPECS[stage].signature)
    predictor.demos = [{**INPUTS, "rationale": "你好"}]
    if stage == "follow_up":
        predictor.fields = {"is_follow_up": {"threshold": 0.25}}
        criteria = predictor.get_criteria("is_follow_up")
        criteria["true"]["when"] = "an optimizer wrote this"
        predictor.set_criteria("is_follow_up", criteria)
    predictor.signature = predictor.signature.with_instructions("Other words.")
    state = json.loads(json.dumps(predictor.dump_state()))
    again: Any = dspy.Predict(SPECS[stage].signature).load_state(state)
    assert again.dump_state() == predictor.dump_state()
    assert again.signature.instructions == "Other words."
    if stage == "follow_up":
        assert again.get_criteria("is_follow_up")["true"]["when"] == "an optimizer wrote this"


def test_a_description_is_a_word_and_when_it_is_right() -> None:
    assert answer("Yes", "it is so") == {"answer": "Yes", "when": "it is so"}
    assert yes_no("a", "b").criteria() == {"true": answer("Yes", "a"), "false": answer("No", "b")}


def test_a_label_or_a_word_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="answer words must differ"):
        choice_of([("a", "same", "x"), ("b", "same", "y")])
    with pytest.raises(ValueError, match="distinct"):
        choice_of([("a", "one", "x"), ("a", "two", "y")])


def test_an_unknown_label_is_no_threshold() -> None:
    with pytest.raises(ValueError, match="must map known"):
        DecisionState(SPECS["complexity"].signature, {"complexity": {"weights": {"hard": 1.0}}}, system_one=True)


def test_criteria_may_be_changed_but_not_their_labels() -> None:
    predictor = dspy.Predict(DetectFollowUp)
    with pytest.raises(ValueError, match="criteria"):
        predictor.set_criteria("is_follow_up", {"maybe": answer("Maybe", "who knows")})


# --- signatures that write


NAMES = st.lists(st.text("ABCDEFGH_", min_size=1, max_size=6), min_size=1, max_size=5, unique=True)


@given(NAMES, NAMES)
def test_graph_steps_follow_any_schema(nodes: list[str], edges: list[str]) -> None:
    schema = GraphSchema(
        nodes=tuple(NodeType(name=n) for n in nodes),
        edges=tuple(EdgeType(name=e, source=nodes[0], target=nodes[-1], description="d") for e in edges),
    )
    steps = TypeAdapter(plan_graph_steps(schema).output_fields["steps"].annotation)
    find = {"do": "find", "name": "x", "type": nodes[0]}
    follow = {"do": "follow", "start": 1, "edge": edges[-1], "direction": "out"}
    made = to_plan(steps.validate_python([find, follow]), schema)
    assert [step.kind for step in made.steps] == ["anchor", "expand"]
    assert describe(schema).count("\n") == len(edges) - 1
    with pytest.raises(ValueError, match="Input should be"):
        steps.validate_python([{**find, "type": "nowhere"}])


def test_sub_queries_are_bounded_in_the_schema() -> None:
    field = DecomposeQuery.output_fields["sub_queries"]
    schema = TypeAdapter(field.rebuild_annotation()).json_schema()
    assert (schema["minItems"], schema["maxItems"]) == (2, 4)


def test_the_domain_stands_in_the_instructions_of_relevance() -> None:
    instructions = SPECS["relevance"].signature.instructions
    assert all(line in instructions for line in CARD.covers)
    assert all(topic.description in instructions for topic in CARD.excluded)


def test_a_card_without_a_graph_has_no_graph_stage() -> None:
    assert "graph" in SPECS
    assert "graph" not in stage_specs(CARD.model_copy(update={"graph": None}))


# --- rows as examples


def test_examples_have_gold_inputs_and_only_the_labels_that_count() -> None:
    from queryplan.data.domain import load_domain

    rows = load_domain("podcast", splits=("dev",)).rows("dev")
    found = {name: examples(spec, rows, CARD) for name, spec in SPECS.items()}
    assert len(found["follow_up"]) == sum(bool(r.history) for r in rows)
    assert len(found["relevance"]) == len(rows)
    assert len(found["complexity"]) == sum(r.labels.is_relevant for r in rows)
    assert len(found["rewrite"]) == sum(r.labels.is_follow_up for r in rows)
    assert len(found["decompose"]) == sum(r.labels.needs_decomposition for r in rows)
    assert found["graph"] == []
    for name, made in found.items():
        for example in made:
            assert set(example.inputs().keys()) == set(SPECS[name].inputs)
            assert any(field in example for field in SPECS[name].signature.output_fields)
    rejected = [e for e in found["relevance"] if not e.is_relevant]
    assert all("rejection_kind" in e for e in rejected)
    assert "rejection_kind" not in next(e for e in found["relevance"] if e.is_relevant)
