"""Signature: can the query be understood without the earlier turns?"""

from __future__ import annotations

from typing import Any

import dspy

from .seam import yes_no

IsFollowUp: Any = yes_no(
    yes=(
        "the query points back with a pronoun or 'that', 'the second one'; or it is an incomplete "
        "question ('and meditation?', 'why?'); or it asks to go on or to change the last answer "
        "('tell me more', 'shorter please')"
    ),
    no=(
        "the query is a complete question that names what it asks about, even on the same topic; "
        "or it is a greeting, thanks or goodbye; or it changes the subject"
    ),
)


class DetectFollowUp(dspy.Signature):
    """Decide whether a query in a conversation can only be understood with the earlier turns."""

    history: str = dspy.InputField(desc="the earlier turns, oldest first")
    query: str = dspy.InputField(desc="what the user typed now")
    is_follow_up: IsFollowUp = dspy.OutputField(  # type: ignore[valid-type]
        desc="Does the query need the earlier turns to be understood?"
    )
