"""Signature: which questions have to be asked, in which order?"""

from __future__ import annotations

from typing import Annotated

import dspy
from pydantic import BaseModel, ConfigDict, Field

from .types import MAX_SUB_QUERIES, MIN_SUB_QUERIES


class WrittenSubQuery(BaseModel):
    """A sub-query as an LM writes it; ids are positions, counted from 1."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, description="a question that stands alone; {1} stands for the answer of question 1")
    depends_on: list[int] = Field(default_factory=list, description="questions whose answer must be known first")


class DecomposeQuery(dspy.Signature):
    """Split the question into the 2 to 4 searches that together answer it.

    Each search stands alone and asks for something the whole needs; none repeats another, and none
    repeats the question itself. Where a search needs the answer of an earlier one, write {1} for
    the answer of the first and say so in depends_on.
    """

    query: str = dspy.InputField(desc="the question, complete in itself")
    sub_queries: Annotated[list[WrittenSubQuery], Field(min_length=MIN_SUB_QUERIES, max_length=MAX_SUB_QUERIES)] = (
        dspy.OutputField(desc="the searches, in order")
    )
    entities: list[str] = dspy.OutputField(desc="names in the question, as written there")
    relationships_needed: list[str] = dspy.OutputField(desc="relations the answer turns on, as short verb phrases")
