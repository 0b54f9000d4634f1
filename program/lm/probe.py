"""What an endpoint can do, asked once when it is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dspy import lm15
from dspy.utils import exceptions as dspy_errors

from ...errors import LMError
from .engine import JournaledLM, Route, sentence_for, unjournaled
from .prompt import ChatPrompt

if TYPE_CHECKING:
    from .journal import CallJournal


def writer_for(route: Route, journal: CallJournal | None, max_tokens: int) -> JournaledLM:
    """The LM that writes: temperature 0, and JSON schemas sent whole.

    Raises:
        LMError: DSPy would drop the schema without a word, as it does on some routes.
    """
    try:
        writer = JournaledLM(route, journal, temperature=0.0, max_tokens=max_tokens)
    except dspy_errors.LMConfigurationError:
        # Reasoning models take neither a temperature nor a small budget.
        writer = JournaledLM(route, journal, temperature=None, max_tokens=None)
    if writer.supports_response_schema != route.response_schema:
        raise LMError(f"DSPy would not send the JSON schema to {route.name}; pin dspy to the version tested.")
    return writer


def lists_token_probabilities(lm: JournaledLM, top: int) -> bool:
    """Ask for one token with its probabilities; False when the endpoint has none to give.

    Raises:
        LMError: the endpoint does not answer at all: one sentence with the remedy.
    """
    from .decider import chat_request

    prompt = ChatPrompt("Answer with one word.", (), "Say Yes.")
    asked = lm15.Config(max_tokens=1, temperature=0.0, logprobs=top)
    with unjournaled():
        try:
            response = lm.copy(num_retries=0)(chat_request(lm.model, prompt, asked))
        except LMError as error:
            if not _refused_as_asked(error):
                raise
        else:
            return bool(response.logprobs and response.logprobs[0].top)
        lm.copy(num_retries=0)(chat_request(lm.model, prompt, lm15.Config(max_tokens=16)))
    return False


def _refused_as_asked(error: LMError) -> bool:
    """Whether the endpoint is there but would not take the request for probabilities."""
    refusals = (dspy_errors.LMInvalidRequestError, dspy_errors.LMUnsupportedFeatureError)
    return isinstance(error.__cause__, refusals) and not isinstance(
        error.__cause__, dspy_errors.LMUnsupportedModelError
    )


__all__ = ["lists_token_probabilities", "sentence_for", "writer_for"]
