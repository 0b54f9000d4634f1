"""Learned heads behind DSPy's decision seam, so that any ``dspy.Predict`` and ``ReAnchor`` can ask them.

    predict = dspy.Predict(AssessComplexity)
    predict(lm=HeadClient(planner.heads), query="How does flow differ from focus?").complexity.value

A head answers the question that has its name (``is_follow_up``, ``is_relevant``, ``complexity`` …), from the
inputs ``query`` and, for ``is_follow_up``, ``history``. Instructions and demonstrations change nothing. Each head
answers by itself; a plan chooses complexity, intent and decomposition together (``joint.py``), so that one of them may
differ. A domain with few labelled rows may lack a head, such as ``rejection_kind``; ``program.stages.narrowed`` gives a
predictor that does not ask for it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dspy.utils.callback import with_callbacks

from ...errors import LMError
from ...signatures.types import Turn
from ..context import ROLES, said_in
from ..lm.decider import answer_for
from ..lm.prompt import options_of
from .heads import HeadAnswer, Heads

_SPEAKER = re.compile(r"^(User|Assistant): ", re.MULTILINE)
_SMALLEST = 1e-12


class HeadClient:
    """A decision client that answers from heads. Safe to share between threads.

    ``model``, ``cache``, ``callbacks``, ``kwargs`` and ``history`` are what DSPy expects of a language model.
    """

    supports_decision_requests = True

    def __init__(self, heads: Heads, *, callbacks: Sequence[Any] = ()) -> None:
        self.heads = heads
        self.model = "heads"
        self.cache = True  # ReAnchor asks whether a repeated request is free, and with heads every request is
        self.callbacks = list(callbacks)
        self.kwargs: dict[str, Any] = {}
        self.history: list[dict[str, Any]] = []

    @with_callbacks
    def __call__(self, state: Mapping[str, Any], questions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """One answer for each question.

        Raises:
            LMError: there is no head of that name, or it cannot read the query.
        """
        return self._answers(state, questions)

    @with_callbacks
    async def acall(self, state: Mapping[str, Any], questions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """As a call, without waiting for anything."""
        return self._answers(state, questions)

    def _answers(self, state: Mapping[str, Any], questions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        inputs = state["inputs"]
        query = str(inputs.get("query") or "")
        said = self.heads.of_query(query) if set(questions) - {"is_follow_up"} else {}
        if "is_follow_up" in questions and (turn := self.heads.of_turn(query, turns_of(inputs.get("history")))):
            said = {**said, "is_follow_up": turn}
        return {name: self._answer(name, question, said.get(name)) for name, question in questions.items()}

    def _answer(self, name: str, question: Mapping[str, Any], answer: HeadAnswer | None) -> dict[str, Any]:
        if answer is None:
            known = ", ".join(self.heads.heads) or "none"
            why = "it cannot read this query" if name in self.heads.heads else f"there are heads for {known}"
            raise LMError(f"no head answers {name!r}: {why}.")
        given = {o.label: max(answer.probabilities.get(o.label, 0.0), _SMALLEST) for o in options_of(question)}
        if answer.withheld:  # the seam takes the likeliest label
            given[answer.label] = max(given.values()) * (1 + _SMALLEST)
        total = sum(given.values())
        return answer_for(question, {label: p / total for label, p in given.items()})

    def check_answer_words(self, questions: Mapping[str, Mapping[str, Any]]) -> None:
        """Accept any words, as heads know labels."""

    def copy(self, **kwargs: Any) -> HeadClient:
        """The same heads; settings of a language model do not apply to them."""
        other = copy.copy(self)
        other.callbacks = list(kwargs.get("callbacks", self.callbacks))
        return other

    def dump_state(self) -> dict[str, Any]:
        """The name; clients are bound in code and never loaded from a file."""
        return {"model": self.model}

    def __deepcopy__(self, memo: dict[int, Any]) -> HeadClient:
        """The same client: optimizers copy programs, and heads never change."""
        return self

    def __repr__(self) -> str:
        return f"HeadClient({', '.join(self.heads.heads)})"


def turns_of(history: Any) -> tuple[Turn, ...]:
    """Turns from lines ``User: …`` and ``Assistant: …``, as ``history_text`` writes them, or from messages.

    A message of a ``dspy.History`` has its question and answer under the names of signature fields. Messages of other
    roles than user and assistant, and those without text, are left out, as in the planner.
    """
    if history is None:
        return ()
    if isinstance(history, str):
        return _from_lines(history)
    messages = history.get("messages", ()) if isinstance(history, Mapping) else getattr(history, "messages", history)
    return tuple(turn for message in messages for turn in _from_message(message))


def _from_message(message: Mapping[str, Any] | Turn) -> Iterator[Turn]:
    if isinstance(message, Turn) or "role" in message:
        said = [said_in(message) or ("", "")]
    else:
        texts = [text for text in message.values() if isinstance(text, str)]
        said = list(zip(ROLES, (texts[0], texts[-1]) if len(texts) > 1 else texts, strict=False))
    for role, text in said:
        if (known := role.strip().lower()) in ROLES and text.strip():
            yield Turn(role=known, content=text)  # type: ignore[arg-type]


def _from_lines(text: str) -> tuple[Turn, ...]:
    parts = _SPEAKER.split(text)
    if len(parts) == 1:
        return (Turn(role="user", content=text.strip()),) if text.strip() else ()
    pairs = zip(parts[1::2], parts[2::2], strict=True)
    return tuple(Turn.model_validate({"role": role.lower(), "content": said.strip()}) for role, said in pairs)
