"""What went wrong at an endpoint, in one sentence that says what to do, without its address or a key."""

from __future__ import annotations

from typing import Literal

from dspy.utils import exceptions as dspy_errors

from ...errors import LMError

Fault = Literal["settings", "refused", "request", "server"]


class EndpointError(LMError):
    """A request failed; to blame are the settings (``refused`` where the server says so), the request or the server."""

    def __init__(self, sentence: str, fault: Fault) -> None:
        super().__init__(sentence)
        self.fault: Fault = fault


_REQUEST_ERRORS = (dspy_errors.LMInvalidRequestError, dspy_errors.LMUnsupportedFeatureError)

_SENTENCES: tuple[tuple[type[Exception], Fault, str], ...] = (
    (
        dspy_errors.LMNotConfiguredError,
        "settings",
        "{model} needs a key; set QUERYPLAN_API_KEY or the provider's own variable.",
    ),
    (dspy_errors.LMAuthError, "refused", "The key for {model} was refused; set QUERYPLAN_API_KEY to a valid one."),
    (
        dspy_errors.LMBillingError,
        "refused",
        "The account for {model} has no credit left; top it up or choose another --lm.",
    ),
    (
        dspy_errors.LMUnsupportedModelError,
        "refused",
        "The endpoint does not know the model {model}; check the name after --lm.",
    ),
    (
        dspy_errors.LMConfigurationError,
        "settings",
        "{model} is not a model name DSPy can route; check the name after --lm.",
    ),
    (
        dspy_errors.ContextWindowExceededError,
        "server",
        "The prompt is longer than {model} can read; use fewer demonstrations or a larger context.",
    ),
    (dspy_errors.LMRateLimitError, "server", "{model} is over its rate limit; wait, or use fewer threads."),
    (
        dspy_errors.LMTimeoutError,
        "server",
        "{model} did not answer in time; raise the timeout or choose another --lm.",
    ),
    (dspy_errors.LMServerError, "server", "The server of {model} failed; look at its log and try again."),
    (
        dspy_errors.LMTransportError,
        "server",
        "The server of {model} cannot be reached; start it, or check --api-base.",
    ),
)


def sentence_of(error: dspy_errors.LMError, model: str, said: str) -> EndpointError:
    """The error to raise in place of one of DSPy's.

    Args:
        said: its message, without what must not be shown.
    """
    for kind, fault, sentence in _SENTENCES:
        if isinstance(error, kind):
            return EndpointError(sentence.format(model=model), fault)
    blamed: Fault = "request" if isinstance(error, _REQUEST_ERRORS) else "server"
    return EndpointError(f"{model} refused the request: {said or type(error).__name__}", blamed)
