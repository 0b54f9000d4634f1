"""Signature: rewrite a follow-up so that it can be understood alone."""

from __future__ import annotations

import dspy


class RewriteQuery(dspy.Signature):
    """Rewrite the query so that it can be understood without the conversation.

    Replace each pronoun or omission by the name or thing from the earlier turns that it stands for.
    Add nothing else, answer nothing, keep the user's language, numbers and negations.
    """

    history: str = dspy.InputField(desc="the earlier turns, oldest first")
    query: str = dspy.InputField(desc="what the user typed now")
    active_entity: str = dspy.InputField(desc="what the application shows the user at the moment, or empty", default="")
    referenced_entities: list[str] = dspy.OutputField(
        desc="names from the earlier turns that the query points to, as written there"
    )
    standalone_query: str = dspy.OutputField(desc="the query, complete in itself")
