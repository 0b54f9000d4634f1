"""Lets the embedded server read constant prompt prefixes before the first query needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import dspy
from dspy.utils.exceptions import AdapterParseError

from ...signatures.seam import Choice, Noul
from .decider import UnansweredError
from .engine import unjournaled

if TYPE_CHECKING:
    from .endpoint import LMHandle


def warm_predictor(predictor: dspy.Predict, handle: LMHandle) -> None:
    """One call of ``predictor`` on an empty query: a whole decision, or one token of a written answer."""
    inputs = dict.fromkeys(fields_of(predictor, "input_fields"), "-")
    lm = handle.decider if decides(predictor) else handle.writer.copy(max_tokens=1)
    with unjournaled(), dspy.context(lm=lm, adapter=handle.adapter, disable_history=True):
        try:
            predictor(lm=lm, **inputs)
        except (AdapterParseError, UnansweredError):
            # One token of JSON cannot be parsed, and no query was asked; the prefix has been read, as it should.
            return


def decides(predictor: dspy.Predict) -> bool:
    """Whether all outputs of the predictor are decisions, so that a decision client answers it."""
    decisions = cast(tuple[type, ...], (Noul, Choice))
    types = [field.annotation for field in fields_of(predictor, "output_fields").values()]
    return all(isinstance(t, type) and issubclass(t, decisions) for t in types)


def fields_of(predictor: dspy.Predict, which: Literal["input_fields", "output_fields"]) -> dict[str, Any]:
    """The fields of the predictor's signature, whose type DSPy does not declare."""
    return getattr(predictor.signature, which)
