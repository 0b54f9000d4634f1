"""Signature: in which other words can the same be asked?"""

from __future__ import annotations

from typing import Annotated

import dspy
from pydantic import Field

MOST = 4


class VaryQuery(dspy.Signature):
    """Ask for the same in other words, for a search engine that compares words.

    Keep every name, number and negation. Add nothing that is not asked for, and do not answer.
    """

    query: str = dspy.InputField(desc="the question, complete in itself")
    paradigm: str = dspy.InputField(desc="the way of looking that the words should lean to")
    language: str = dspy.InputField(desc="language of the question; write in it")
    variations: Annotated[list[str], Field(max_length=MOST)] = dspy.OutputField(
        desc=f"at most {MOST} other wordings, each on its own"
    )
