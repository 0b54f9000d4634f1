"""Which of several plans over a graph finds what the question asks for? Each is put into words and has a letter.

The plans differ from question to question, so they are an input, and the legal answers are letters. Small models are
poor at letters (see ``seam.yes_no``); the 1.5B model still tells more by them than by the probability of the plan's
words after the question, and in a third of the time that a yes or no for each plan takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from .seam import choice_of

LETTERS = "ABCDEF"
"""One for each plan that is shown, the last of them for none."""
NONE = "None of these: the graph does not hold what is asked"

ChosenLetter: Any = choice_of([(letter, letter, "") for letter in LETTERS])


class ChooseGraphPlan(dspy.Signature):
    """A question is put to a graph of facts. Each option says in words what one query of the graph finds; read it
    from right to left: "X (relation) of Y" are all X that stand in this relation to Y."""

    query: str = dspy.InputField(desc="the question, complete in itself")
    options: str = dspy.InputField(desc="what each query finds, one a line after its letter")
    chosen: ChosenLetter = dspy.OutputField(  # type: ignore[valid-type]
        desc="Which option finds exactly what the question asks for: all of it and nothing else?"
    )


def options_text(options: Sequence[str]) -> str:
    """The options as a model is shown them, ``NONE`` after them."""
    lines = (f"{letter}. {text}" for letter, text in zip(LETTERS, (*options, NONE), strict=False))
    return "\n".join(lines)
