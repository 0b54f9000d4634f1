"""Turns decision requests into chat messages that ask for one word.

Pure functions. What never changes comes first (instructions, question, definitions, demonstrations) and the query
comes last and alone, so that a server can keep everything before it: with eight demonstrations that is nearly the
whole prompt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Option(NamedTuple):
    """One legal answer: its label, the word the model says for it, and when it is right."""

    label: str
    word: str
    when: str


class ChatPrompt(NamedTuple):
    """A system message, answered example turns, and the turn to answer."""

    system: str
    examples: tuple[tuple[str, str], ...]
    user: str


def options_of(question: Mapping[str, Any]) -> tuple[Option, ...]:
    """The legal answers of a decision question, in declaration order.

    Labels are ``"true"`` and ``"false"`` for a ``noul``, the choices for a ``choice``, and level
    numbers from ``"0"`` for a ``score``. A criterion may be ``{"answer": word, "when": text}``,
    plain text, or nothing; without a word the label stands for itself, and Yes and No for a noul.
    """
    criteria = question.get("criteria")
    if question["type"] == "noul":
        given = criteria if isinstance(criteria, Mapping) else {}
        return (_option("true", "Yes", given.get("true")), _option("false", "No", given.get("false")))
    if isinstance(criteria, Mapping):
        return tuple(_option(label, label, entry) for label, entry in criteria.items())
    return tuple(_option(str(i), str(i), entry) for i, entry in enumerate(criteria or ()))


def _option(label: str, word: str, entry: Any) -> Option:
    if isinstance(entry, Mapping):
        return Option(label, str(entry.get("answer") or word), _text(entry.get("when")))
    return Option(label, word, _text(entry))


def build(state: Mapping[str, Any], name: str, question: Mapping[str, Any]) -> ChatPrompt:
    """The chat for one question of a decision request.

    Args:
        state: DSPy's ``{"instructions", "input_fields", "inputs", "demos"}`` of the request.
        name: the output field that the question fills; demonstrations carry its value by that name.
        question: ``{"instructions", "type", "criteria"}``.
    """
    options = options_of(question)
    fields = _in_declared_order(state)
    examples = (_example(demo, fields, name, options) for demo in state.get("demos") or ())
    return ChatPrompt(
        system=system_message(state.get("instructions"), question, options),
        examples=tuple(e for e in examples if e is not None),
        user=render_inputs(state["inputs"], fields),
    )


def _in_declared_order(state: Mapping[str, Any]) -> list[str]:
    """The input fields as the signature declares them.

    DSPy passes inputs in the order of the call's keyword arguments; a prompt that followed it would
    share no prefix with the same call written the other way round (5.4 s instead of 0.5 measured).
    The order is only in DSPy's description of the fields, which puts each name in backquotes.
    """
    described = str(state.get("input_fields") or "")
    places = {name: described.find(f"`{name}`") for name in state["inputs"]}
    return sorted(places, key=lambda name: (places[name] < 0, places[name], name))


def system_message(instructions: Any, question: Mapping[str, Any], options: Sequence[Option]) -> str:
    """The question, the task, and every legal answer with its definition.

    The question comes first so that the prompts of one signature's questions differ from the first
    tokens on: a server that gives a request the slot with the longest common prefix then keeps one
    slot a question, where it had read half of each prompt again for every other request.
    """
    lines = [f"- {o.word}: {o.when}" if o.when else f"- {o.word}" for o in options]
    answers = "Answer with one of these words only:\n" + "\n".join(lines)
    parts = [_text(question.get("instructions")), _text(instructions), answers]
    return "\n\n".join(p for p in parts if p)


def render_inputs(values: Mapping[str, Any], fields: Sequence[str]) -> str:
    """Field label and value, one field after the other; a value of several lines begins on its own."""
    return "\n".join(_field(name, _text(values[name])) for name in fields if name in values)


def _field(name: str, text: str) -> str:
    return f"{name}:\n{text}" if "\n" in text else f"{name}: {text}"


def _example(
    demo: Mapping[str, Any], fields: Sequence[str], name: str, options: Sequence[Option]
) -> tuple[str, str] | None:
    """The demonstration as a turn and its answer; None when it does not show this output."""
    word = _answer_word(demo.get(name), options)
    user = render_inputs(demo, fields)
    return (user, word) if word and user else None


def _answer_word(value: Any, options: Sequence[Option]) -> str | None:
    """The word for a demonstrated value: a bool, a label, or a dumped ``Noul`` or ``Choice``."""
    if isinstance(value, Mapping):
        value = value.get("value")
    label = str(value).lower() if isinstance(value, bool) else str(value)
    return next((o.word for o in options if o.label == label), None)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
