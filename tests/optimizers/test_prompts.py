"""What predictors say to the model, as it is kept in the prompt registry."""

from __future__ import annotations

import dspy
import pytest
from queryplan.data.card import SHIPPED, load_card
from queryplan.optimizers.prompts import prompts_of
from queryplan.program.stages import DECIDING, StageSpec, new_predictor, stage_specs


@pytest.fixture(scope="module")
def specs() -> dict[str, StageSpec]:
    return stage_specs(load_card(SHIPPED / "podcast"))


def test_a_decision_is_shown_as_it_is_asked_with_its_inputs_as_variables(specs: dict[str, StageSpec]) -> None:
    predictor = new_predictor(specs["follow_up"])
    predictor.demos = [dspy.Example(query="and why?", history="user: what is focus?", is_follow_up=True)]
    (prompt,) = prompts_of("follow_up", predictor)
    assert prompt.name == "follow_up"
    assert [role for role, _ in prompt.messages] == ["system", "user", "assistant", "user"]
    assert "Answer with one of these words only" in prompt.messages[0][1]
    assert "and why?" in prompt.messages[1][1]
    assert prompt.messages[2][1] == "Yes"
    assert "{{query}}" in prompt.messages[3][1]


@pytest.mark.parametrize("stage", DECIDING)
def test_each_thing_that_a_stage_decides_has_a_prompt_of_its_own(specs: dict[str, StageSpec], stage: str) -> None:
    prompts = prompts_of(stage, new_predictor(specs[stage]))
    outputs = specs[stage].signature.output_fields
    expected = {stage} if len(outputs) == 1 else {f"{stage}.{name}" for name in outputs}
    assert {prompt.name for prompt in prompts} == expected
    assert len({prompt.messages[0] for prompt in prompts}) == len(prompts)


def test_what_is_written_is_shown_with_its_schema_and_demonstrations(specs: dict[str, StageSpec]) -> None:
    predictor = new_predictor(specs["rewrite"])
    inputs = dict.fromkeys(specs["rewrite"].signature.input_fields, "said before")
    predictor.demos = [dspy.Example(**inputs, referenced_entities=["Rick"], standalone_query="What does Rick say?")]
    (prompt,) = prompts_of("rewrite", predictor)
    text = "\n".join(content for _, content in prompt.messages)
    assert "What does Rick say?" in text
    assert "{{query}}" in prompt.messages[-1][1]
    assert "standalone_query" in prompt.messages[0][1]


def test_looking_at_a_prompt_changes_no_predictor(specs: dict[str, StageSpec]) -> None:
    predictor = new_predictor(specs["relevance"])
    before = predictor.dump_state()
    prompts_of("relevance", predictor)
    assert predictor.dump_state() == before
