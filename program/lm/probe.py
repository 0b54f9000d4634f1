"""Probes once, when an endpoint is opened, what it can do."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dspy import lm15
from dspy.utils import exceptions as dspy_errors

from ...errors import ConfigError, LMError, RefusedError
from .engine import JournaledLM, Route, unjournaled
from .faults import EndpointError
from .prompt import ChatPrompt

if TYPE_CHECKING:
    from .journal import CallJournal


def writer_for(route: Route, journal: CallJournal | None, max_tokens: int) -> JournaledLM:
    """The LM for writing stages: temperature 0, with whole JSON schemas.

    Raises:
        LMError: DSPy would silently drop the schema, as it does on some routes.
    """
    try:
        writer = JournaledLM(route, journal, temperature=0.0, max_tokens=max_tokens)
    except dspy_errors.LMConfigurationError:
        # Reasoning models take neither a temperature nor a small budget.
        writer = JournaledLM(route, journal, temperature=None, max_tokens=None)
    if writer.supports_response_schema != (route.response_format == "schema"):
        raise LMError(f"DSPy would not send the JSON schema to {route.name}; pin dspy to the version tested.")
    return writer


def lists_token_probabilities(lm: JournaledLM, top: int) -> bool:
    """Ask for one token with its probabilities; False when the endpoint has none to give.

    Raises:
        ConfigError: there is no key, or DSPy does not know the name; RefusedError if the endpoint refuses them.
        LMError: the endpoint does not answer: one sentence with the remedy.
    """
    try:
        response = _ask(lm, lm15.Config(max_tokens=1, temperature=0.0, logprobs=top))
    except EndpointError as error:
        if error.fault != "request":
            raise
        # It is there but does not take the question for probabilities.
        _ask(lm, lm15.Config(max_tokens=None))
        return False
    return bool(response.logprobs and response.logprobs[0].top)


def _ask(lm: JournaledLM, config: lm15.Config) -> lm15.Response:
    from .decider import chat_request

    prompt = ChatPrompt("Answer with one word.", (), "Say Yes.")
    try:
        with unjournaled():
            return lm.copy(num_retries=0)(chat_request(lm.model, prompt, config))
    except EndpointError as error:
        if error.fault == "settings":
            raise ConfigError(str(error)) from None
        if error.fault == "refused":
            raise RefusedError(str(error)) from None
        raise


def remote_tokenizer(base: str, key: str, model: str) -> Callable[[str], list[int]] | None:
    """The tokenizer of a llama.cpp or vLLM server, beside its OpenAI root; None where there is none.

    Args:
        base: the OpenAI root, ending in ``/v1``.
        key: the server's key.
        model: the model's name at the server.
    """
    root = base.rstrip("/").removesuffix("/v1")

    def tokenize(text: str) -> list[int]:
        # llama.cpp reads "content", vLLM "model" and "prompt"; both ignore the other's.
        body = {"content": text, "model": model, "prompt": text, "add_special_tokens": False}
        return [int(t) for t in post_json(f"{root}/tokenize", body, key)["tokens"]]

    try:
        tokenize("Yes")
    except (OSError, ValueError, LookupError, TypeError):
        # Most hosted endpoints have none; answer words are then matched by how they begin.
        return None
    return tokenize


def post_json(url: str, body: dict[str, Any], key: str) -> Any:
    """The JSON answer to a JSON request; ``OSError`` when there is none."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)
