"""The prompts of a compiled predictor as they are sent to the model, with ``{{name}}`` where the inputs go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from ..eval.tracking.prompt_registry import PromptText
from ..program.lm.decider import even_answer
from ..program.lm.prompt import build
from ..program.lm.warming import decides, fields_of
from .base import signature_of

Questions = Mapping[str, Mapping[str, Any]]


def prompts_of(stage: str, predictor: dspy.Predict) -> tuple[PromptText, ...]:
    """The prompts of a predictor: one for each output that it decides, or the one that it writes with.

    Decision prompts are rendered by the same function as for the model. A writing prompt is formatted by DSPy's JSON
    adapter, which is used with every model.
    """
    inputs = {name: f"{{{{{name}}}}}" for name in fields_of(predictor, "input_fields")}
    return _deciding(stage, predictor, inputs) if decides(predictor) else (_writing(stage, predictor, inputs),)


class _Recorder:
    """A decision client that records its requests; all answers are equally likely."""

    supports_decision_requests = True
    model, cache, callbacks, history = "recorder", False, (), ()

    def __init__(self) -> None:
        self.asked: list[tuple[Mapping[str, Any], Questions]] = []

    def __call__(self, state: Mapping[str, Any], questions: Questions) -> dict[str, dict[str, Any]]:
        self.asked.append((state, questions))
        return {name: even_answer(question) for name, question in questions.items()}

    def copy(self, **kwargs: Any) -> _Recorder:
        """The same client, as nothing about it can change."""
        return self


def _deciding(stage: str, predictor: dspy.Predict, inputs: Mapping[str, str]) -> tuple[PromptText, ...]:
    recorder = _Recorder()
    with dspy.context(lm=recorder, disable_history=True):
        predictor.deepcopy()(lm=recorder, **inputs)
    ((state, questions),) = recorder.asked
    alone = len(questions) == 1
    return tuple(
        PromptText(name=stage if alone else f"{stage}.{name}", messages=_chat(state, name, question))
        for name, question in questions.items()
    )


def _chat(state: Mapping[str, Any], name: str, question: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    chat = build(state, name, question)
    turns = [turn for user, reply in chat.examples for turn in (("user", user), ("assistant", reply))]
    return (("system", chat.system), *turns, ("user", chat.user))


def _writing(stage: str, predictor: dspy.Predict, inputs: Mapping[str, str]) -> PromptText:
    adapter = dspy.JSONAdapter(use_native_function_calling=False)
    demos: Sequence[Any] = predictor.demos
    messages = adapter.format(signature_of(predictor), list(demos), dict(inputs))
    return PromptText(name=stage, messages=tuple((m["role"], str(m["content"])) for m in messages))
