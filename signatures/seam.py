"""The one import of ``dspy.experimental``: decision types and the decision-request seam.

DSPy 3.4.1 carries decisions (`Noul`, `Choice`) to any object with ``supports_decision_requests = True``. It is
experimental there, so everything of ours that touches it imports from here, and ``tests/signatures/test_seam.py``
holds the behaviour we rely on.

The description of each legal answer is a small JSON object, ``{"answer": …, "when": …}``: the word that a language
model is asked to say, and the definition of the label. Both travel with the predictor's state, so an optimizer can
change them and a compiled program keeps them.
"""

from __future__ import annotations

import os

# Without it, importing DSPy's optional LiteLLM engine tries the network for seconds.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dspy.adapters.decision_state import DecisionState

if TYPE_CHECKING:
    # DSPy's classes are subscripted at run time to make types, which a type checker cannot follow.
    Choice: Any
    Noul: Any
else:
    from dspy.experimental import Choice, Noul

__all__ = ["Choice", "DecisionState", "Noul", "answer", "choice_of", "yes_no"]


def answer(word: str, when: str) -> dict[str, str]:
    """The description of one legal answer: the word to say, and when it is right."""
    return {"answer": word, "when": when}


def yes_no(yes: str, no: str) -> Any:
    """A boolean decision type asked as "Yes" or "No" with these definitions.

    Words, not letters: the 0.5B model ranks letters at chance (AUROC 0.45).
    """
    return Noul[(True, answer("Yes", yes)), (False, answer("No", no))]


def choice_of(options: Sequence[tuple[str, str, str]]) -> Any:
    """A choice type from (label, answer word, definition) triples.

    Raises:
        ValueError: a label or an answer word twice.
    """
    words = [word for _, word, _ in options]
    if len(set(words)) != len(words):
        raise ValueError(f"answer words must differ: {words}")
    return Choice[tuple((label, answer(word, when)) for label, word, when in options)]
