"""The embedded language model: llama.cpp in this process, speaking the OpenAI protocol on loopback.

The same client code talks to it as to a production endpoint.
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

from ...errors import ConfigError, LMError, WeightsError

SLOTS = 11
"""One for each prompt prefix of the planner, which has ten, and one for anything else."""

SLOT_TOKENS = 3072
"""Tokens a slot holds: eight demonstrations with history, the query, and 400 tokens to write."""

CACHE_RAM_MIB = 2048
"""RAM for prefixes that lost their slot; a 0.5B prefix of 1,000 tokens takes 12 MiB, a 1.5B one 28."""


class EmbeddedServer:
    """A llama.cpp server on 127.0.0.1 with a random port and a key of its own.

    Two of them at once collapse both (measured on two cores), so open one per process.

    Attributes:
        base_url: the OpenAI-compatible base URL, which ends in ``/v1``.
        model_name: the model with the first 12 hex digits of its weights' hash; caches key on it.
    """

    def __init__(
        self,
        weights: Path,
        name: str,
        sha256: str,
        *,
        slots: int = SLOTS,
        slot_tokens: int = SLOT_TOKENS,
        threads: int | None = None,
    ) -> None:
        """Start the server, which takes seconds.

        Args:
            weights: the verified GGUF file.
            name: what the model is called; never an address or a path.
            sha256: hex digest of the weights.
            slots: requests in flight together, each with a kept prefix; at least one for each predictor.
            slot_tokens: context of each slot, in tokens.
            threads: CPU threads; by default all cores, but at most 8.

        Raises:
            ConfigError: the optional package that runs the model is not installed.
            WeightsError: llama.cpp cannot load the file.
        """
        self.model_name = f"{name}@{sha256[:12]}"
        self.slots = slots
        self._key = secrets.token_urlsafe(24)
        self._server: Any = _start(_parameters(weights, self, slot_tokens, threads))
        self.root_url = str(self._server.listening_address).rstrip("/")
        self.base_url = f"{self.root_url}/v1"
        atexit.register(self.close)
        self._await_readiness()

    def _await_readiness(self) -> None:
        """Request the list of models until it is there: the socket answers before the model is loaded.

        Raises:
            LMError: the server did not come up within a minute.
        """
        import httpx
        from openai import OpenAI, OpenAIError

        # Proxies of the environment are for other hosts.
        direct = httpx.Client(trust_env=False, timeout=10)
        try:
            with OpenAI(base_url=self.base_url, api_key=self._key, max_retries=6, http_client=direct) as client:
                client.models.list()
        except OpenAIError as error:
            self.close()
            raise LMError(
                "The embedded language model did not start; see that memory is free and try again."
            ) from error

    @property
    def api_key(self) -> str:
        """The key that this server demands; it is valid in this process only and never printed."""
        return self._key

    def tokenize(self, text: str) -> list[int]:
        """Token ids of ``text`` as the model reads it inside a message, without special tokens.

        Raises:
            LMError: the server has been closed.
        """
        if self._server is None:
            raise LMError("The embedded language model has been closed; open it again.")
        return self._post("/tokenize", {"content": text})["tokens"]

    def close(self) -> None:
        """Stop the server and free the model's memory; closing twice is harmless."""
        if self._server is not None:
            self._server = None
            atexit.unregister(self.close)

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.root_url + path, json.dumps(body).encode(), headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=60) as answer:
            return json.load(answer)

    def __repr__(self) -> str:
        return f"EmbeddedServer({self.model_name!r}, slots={self.slots})"

    def __enter__(self) -> EmbeddedServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _start(parameters: Any) -> Any:
    try:
        return _llama_cpp().Server(parameters)
    except (RuntimeError, ValueError) as error:
        raise WeightsError(
            "llama.cpp could not load the model; run `queryplan models pull` again, and see that memory is free."
        ) from error


def _parameters(weights: Path, server: EmbeddedServer, slot_tokens: int, threads: int | None) -> Any:
    p = _llama_cpp().CommonParams()
    p.model.path = str(weights)
    p.model_alias = {server.model_name}
    p.api_keys = [server.api_key]
    p.hostnames = ["127.0.0.1"]
    p.port = 0
    p.ui = False
    p.verbosity = 0
    _set_slots(p, server.slots, slot_tokens)
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = threads or min(_cores(), 8)
    return p


def _cores() -> int:
    """Cores that this process may use: with more threads than that, generation is thirty times slower."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2


def _llama_cpp() -> Any:
    """The package, untyped: it is one compiled module without stubs."""
    try:
        import xllamacpp
    except ImportError:
        raise ConfigError('`--lm local` needs llama.cpp: run `pip install "queryplan[local]"`.') from None
    return xllamacpp


def _set_slots(p: Any, slots: int, slot_tokens: int) -> None:
    """Keep one prefix in each slot and the others in RAM: a repeated prefix costs 0.3 s instead of 8."""
    p.n_parallel = slots
    p.n_ctx = slots * slot_tokens
    p.fit_params = False
    p.cont_batching = True
    p.cache_prompt = True
    p.cache_ram_mib = CACHE_RAM_MIB
    p.slot_prompt_similarity = 0.5
