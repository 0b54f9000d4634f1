"""Reading constant prefixes before the first query needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dspy
from dspy.utils.exceptions import AdapterParseError

from ...signatures.seam import Choice, Noul
from .engine import unjournaled

if TYPE_CHECKING:
    from .endpoint import LMHandle


def warm_predictor(predictor: dspy.Predict, handle: LMHandle) -> None:
    """One call of ``predictor`` on an empty query: a whole decision, or one token of a written answer."""
    inputs = {name: "-" for name in predictor.signature.input_fields}
    lm = handle.decider if decides(predictor) else handle.writer.copy(max_tokens=1)
    with unjournaled(), dspy.context(lm=lm, adapter=handle.adapter, disable_history=True):
        try:
            predictor(lm=lm, **inputs)
        except AdapterParseError:
            # One token of JSON cannot be parsed; the prefix has been read, which was the purpose.
            return


def decides(predictor: dspy.Predict) -> bool:
    """Whether all outputs of the predictor are decisions, so that a decision client answers it."""
    types = [field.annotation for field in predictor.signature.output_fields.values()]
    return all(isinstance(t, type) and issubclass(t, (Noul, Choice)) for t in types)
