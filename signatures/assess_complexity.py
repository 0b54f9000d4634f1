"""Signature: how hard is the query, what kind is it, and does it take more than one retrieval?"""

from __future__ import annotations

from typing import Any

import dspy

from .seam import choice_of, yes_no

ComplexityLabel: Any = choice_of(
    [
        ("simple", "simple", "a greeting or thanks; a definition of, or a fact about, one thing; a yes/no question"),
        ("moderate", "medium", "a comparison; the same thing asked of several; a cause or effect of one step"),
        (
            "complex",
            "complex",
            "several different questions in one; a chain where one answer is needed to ask the next; "
            "causes of several steps; something across episodes or over time",
        ),
    ]
)

IntentLabel: Any = choice_of(
    [
        ("greeting", "hello", "a greeting, thanks, goodbye, or 'what can you do?'"),
        ("definition", "meaning", "what one thing is or means, or who someone is"),
        ("factual", "fact", "a fact about one thing, person or episode; what someone said or did"),
        ("comparison", "compare", "how two or more differ or agree, which of them is more"),
        ("causal", "cause", "why something happens, what it causes or prevents"),
        ("multi_entity", "each", "the same thing asked of several people or things"),
        ("cross_episode", "timeline", "something followed across episodes or over time"),
        ("multi_part", "parts", "several different questions in one, or one answer needed to ask the next"),
    ]
)

NeedsDecomposition: Any = yes_no(
    yes="more than one search is needed: several questions, things to compare, or a chain",
    no="one search, or none, finds the whole answer",
)


class AssessComplexity(dspy.Signature):
    """Judge a question put to a search assistant, before anything is searched."""

    query: str = dspy.InputField(desc="the question, complete in itself")
    complexity: ComplexityLabel = dspy.OutputField(desc="How hard is the question?")  # type: ignore[valid-type]
    intent: IntentLabel = dspy.OutputField(  # type: ignore[valid-type]
        desc="What kind of question is it? If several fit, the one that decides how to search: timeline, "
        "then parts, compare, cause, each, fact, meaning."
    )
    needs_decomposition: NeedsDecomposition = dspy.OutputField(  # type: ignore[valid-type]
        desc="Does it take more than one search to answer?"
    )
