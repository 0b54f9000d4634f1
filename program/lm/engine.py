"""The one way by which requests to a language model leave this process: journal, meter, then DSPy's native engine.

DSPy's own caches are not used: its disk cache unpickles, and its key ignores which server answered.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import dspy
from dspy import lm15
from dspy._vendor.lm15.serde import request_to_dict, response_from_dict, response_to_dict
from dspy._vendor.lm15.transports import StdlibAsyncTransport
from dspy.clients.engines.lm15_engine import AsyncLM15Engine, LM15Engine
from dspy.utils import exceptions as dspy_errors

from ...errors import LMError
from .faults import EndpointError, sentence_of
from .forked import renewed_in_child
from .journal import CallJournal, call_key
from .meter import active_meters
from .timely import OUT_OF_TIME, TimelyTransport, seconds_left

_rollout: ContextVar[Any] = ContextVar("queryplan_rollout", default=None)
_unjournaled: ContextVar[bool] = ContextVar("queryplan_unjournaled", default=False)
_asked_anew: ContextVar[bool] = ContextVar("queryplan_asked_anew", default=False)

_PARAMETERS = frozenset({"temperature", "max_tokens", "top_p", "stop", "seed", "logprobs", "top_logprobs"})
_PAGE = re.compile(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_QUOTES = " '\""
_NOT_PORTABLE = ("minLength", "maxLength", "default")


@dataclass(frozen=True)
class Route:
    """Where the requests to one model go.

    Attributes:
        name: the model's name in reports and as ``dspy.LM.model``; it contains no address.
        wire_model: what DSPy's native engine routes by, ``provider/model``.
        config: lm15's configuration: declared providers, addresses, keys, timeouts.
        response_format: to what the endpoint constrains decoding: a JSON schema, any JSON object, or nothing.
        full_schema: whether it accepts every JSON schema keyword, as llama.cpp does.
        direct: whether the server is on this machine, so that the environment's proxies are not used.
        address: the address, if the user gave one; only its hash enters journal keys.
        embedded: whether the server is in this process, so that nobody can restart it.
    """

    name: str
    wire_model: str
    config: lm15.RouterConfig = field(repr=False)
    response_format: Literal["schema", "object", "none"] = "schema"
    full_schema: bool = False
    direct: bool = False
    address: str = field(default="", repr=False)
    embedded: bool = False

    def scrubbed(self, text: str) -> str:
        """``text`` on one line, shortened, without this route's keys, its address, or a gateway's web page."""
        keys = [str(k) for k in (self.config.api_keys or {}).values()]
        for secret in (*keys, self.address.removesuffix("/v1"), self.address):
            text = text.replace(secret, "…") if len(secret) > 4 else text
        text = " ".join(text.split())
        if (page := _PAGE.search(text)) is not None:
            text = f"{text[: page.start()].rstrip(_QUOTES)} a web page, as of a gateway".lstrip()
        return text[:300]

    def config_with(self, transport: Callable[..., Any]) -> lm15.RouterConfig:
        """The configuration, with a transport of the given class, which ignores proxies if ``direct``."""
        own = transport(trust_env=not self.direct, **self.config.transport_kwargs())
        return replace(self.config, transport=own, timeouts=None)

    @property
    def identity(self) -> str:
        """The model's part of journal keys: its name, and the hash of an address that the user gave."""
        return f"{self.name}#{hashlib.sha256(self.address.encode()).hexdigest()[:8]}" if self.address else self.name


@contextmanager
def unjournaled() -> Iterator[None]:
    """Send the requests in this block to the server even if the journal has their answer."""
    token = _unjournaled.set(True)
    try:
        yield
    finally:
        _unjournaled.reset(token)


@contextmanager
def asked_anew() -> Iterator[None]:
    """Send the requests in this block to the server, so that their time can be measured, and still record them."""
    token = _asked_anew.set(True)
    try:
        yield
    finally:
        _asked_anew.reset(token)


class _Engine:
    """The base of the sync and the async engine: journal and meter of one request."""

    supports_function_calling = False
    supports_reasoning = False

    def __init__(self, route: Route, journal: CallJournal | None = None) -> None:
        self.route = route
        self.journal = journal
        self.supports_response_schema = route.response_format == "schema"
        self.supported_params = _PARAMETERS | ({"response_format"} if route.response_format != "none" else set())
        self._lock = threading.Lock()
        renewed_in_child(self)

    def renew(self) -> None:
        """After a fork: another thread may have had the lock, and is in another process."""
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> _Engine:
        """The same engine: optimizers copy programs, and connections are not copied with them."""
        return self

    def dump_state(self) -> dict[str, Any]:
        """The model's name; addresses and keys are bound in code, never saved."""
        return {"name": self.route.name}

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> _Engine:
        """Refused: a saved program must not say where requests go.

        Raises:
            LMError: always.
        """
        raise LMError("A language model is never loaded from a saved program; open it with open_lm().")

    def _key(self, request: lm15.Request) -> str:
        data = {**request_to_dict(request), "rollout": _rollout.get()}
        return call_key(self.route.identity, data)

    def _known(self, request: lm15.Request) -> lm15.Response | None:
        """The journal's answer, without usage, as nothing is billed for it now."""
        if self.journal is None or _unjournaled.get() or _asked_anew.get():
            return None
        entry = self.journal.get(self._key(request))
        if entry is None:
            return None
        response = response_from_dict(entry.response)
        _count(response, entry.milliseconds, cached=True)
        return replace(response, usage=lm15.Usage())

    def _keep(self, request: lm15.Request, response: lm15.Response, started: float) -> lm15.Response:
        elapsed = (time.perf_counter() - started) * 1000
        if request.config.max_tokens == 1:
            # A decision is one token by design; DSPy would warn of truncation at every one.
            response = replace(response, finish_reason="stop")
        _count(response, elapsed, cached=False)
        if self.journal is not None and not _unjournaled.get():
            self.journal.put(self._key(request), response_to_dict(response), elapsed)
        return response

    def _check_pause(self, error: Exception) -> None:
        """Refuse a pause (``Retry-After``) that is longer than an answer may take or than it would be of use.

        DSPy would sleep as long as the server says, even an hour, and block the thread.
        """
        asked, timeouts = getattr(error, "retry_after", None), self.route.config.timeouts
        bounds = [b for b in (timeouts.read if timeouts else None, seconds_left()) if b is not None]
        if asked is not None and bounds and asked > min(bounds):
            sentence = f"{self.route.name} is over its limits and asks for {asked:.0f} s; wait, or use fewer threads."
            raise EndpointError(sentence, "server") from None

    def _routed(self, request: lm15.Request) -> lm15.Request:
        config = request.config
        if config.response_format and not self.route.full_schema:
            config = replace(config, response_format=portable(config.response_format))
        return replace(request, model=self.route.wire_model, config=config)


class JournaledEngine(_Engine):
    """DSPy engine: one synchronous attempt, from the journal or from the endpoint."""

    def __init__(self, route: Route, journal: CallJournal | None = None) -> None:
        super().__init__(route, journal)
        self._inner = LM15Engine(route.config_with(TimelyTransport))

    def complete(self, request: lm15.Request) -> lm15.Response:
        """The response to ``request``; lm15's errors pass through."""
        known = self._known(request)
        if known is not None:
            return known
        _check_time()
        started = time.perf_counter()
        try:
            response = self._inner.complete(self._routed(request))
        except Exception as error:
            _count_failure()
            _check_time()
            self._check_pause(error)
            raise
        return self._keep(request, response, started)

    def close(self) -> None:
        """Close pooled connections."""
        self._inner.close()
        # A transport of ours is not closed by lm15.
        transport: Any = self._inner.config.transport
        if transport is not None:
            transport.close()


class AsyncJournaledEngine(_Engine):
    """The same for asyncio; connections belong to the event loop that opened them."""

    def __init__(self, route: Route, journal: CallJournal | None = None) -> None:
        super().__init__(route, journal)
        self._inner: dict[asyncio.AbstractEventLoop, AsyncLM15Engine] = {}

    async def complete(self, request: lm15.Request) -> lm15.Response:
        """The response to ``request``; lm15's errors pass through."""
        known = self._known(request)
        if known is not None:
            return known
        started = time.perf_counter()
        try:
            response = await self._of_this_loop().complete(self._routed(request))
        except Exception as error:
            _count_failure()
            self._check_pause(error)
            raise
        return self._keep(request, response, started)

    def _of_this_loop(self) -> AsyncLM15Engine:
        loop = asyncio.get_running_loop()
        with self._lock:
            # Coroutines of a closed loop cannot run, so its pool is dropped, not closed.
            for closed in [k for k in self._inner if k.is_closed()]:
                del self._inner[closed]
            if loop not in self._inner:
                self._inner[loop] = AsyncLM15Engine(self.route.config_with(StdlibAsyncTransport))
            return self._inner[loop]

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        with self._lock:
            inner = self._inner.pop(asyncio.get_running_loop(), None)
        if inner is not None:
            await inner.aclose()
            transport: Any = inner.config.transport
            if transport is not None:
                await transport.aclose()


class JournaledLM(dspy.LM):
    """A ``dspy.LM`` whose every request goes through the journal and the meters.

    Raises our ``EndpointError``, in one sentence and without the endpoint's address, where DSPy raises its
    own.
    """

    def __init__(self, route: Route, journal: CallJournal | None = None, **kwargs: Any) -> None:
        engine, async_engine = JournaledEngine(route, journal), AsyncJournaledEngine(route, journal)
        # Entries of DSPy's cache are pickles, and its key ignores which server answered. Others' calls go on using it.
        kwargs = {"cache": False, "num_retries": 2, **kwargs}
        super().__init__(route.name, engine=engine, async_engine=async_engine, **kwargs)
        self.route = route

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As ``dspy.LM``; a ``rollout_id`` also distinguishes calls in the journal."""
        with self._request(kwargs):
            return super().__call__(*args, **kwargs)

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        """As ``dspy.LM``; a ``rollout_id`` also distinguishes calls in the journal."""
        with self._request(kwargs):
            return await super().acall(*args, **kwargs)

    def close(self) -> None:
        """Close the connections of the synchronous engine; those of an event loop end with it."""
        super().close()
        engine: Any = self.engine
        engine.close()

    @contextmanager
    def _request(self, kwargs: dict[str, Any]) -> Iterator[None]:
        token = _rollout.set(kwargs.get("rollout_id", self.kwargs.get("rollout_id")))
        try:
            yield
        except dspy_errors.LMError as error:
            # Providers repeat parts of keys in their messages, so their error is not chained.
            raise self._in_one_sentence(error) from None
        finally:
            _rollout.reset(token)

    def _in_one_sentence(self, error: dspy_errors.LMError) -> EndpointError:
        if isinstance(error.__cause__, EndpointError):  # ours already
            return error.__cause__
        if self.route.embedded and isinstance(error, dspy_errors.LMTransportError):
            said = "got too little of this machine to answer; stop what else runs here, and run the same again to go on"
            return EndpointError(f"{self.model} {said}.", "server")
        return sentence_of(error, self.model, self.route.scrubbed(error.message))


def portable(schema: Any) -> Any:
    """The schema without the keywords that OpenAI's strict mode and some servers refuse.

    What these keywords demand is still checked: every answer is validated by its pydantic type.
    """
    if isinstance(schema, list):
        return [portable(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    named = {"properties", "$defs"}
    return {
        k: {n: portable(s) for n, s in v.items()} if k in named and isinstance(v, dict) else portable(v)
        for k, v in schema.items()
        if k not in _NOT_PORTABLE
    }


def _check_time() -> None:
    """Refuse a request, or a retry, whose answer would come too late."""
    if (left := seconds_left()) is not None and left <= 0:
        raise EndpointError(OUT_OF_TIME, "server") from None


def _count(response: lm15.Response, milliseconds: float, *, cached: bool) -> None:
    usage = response.usage
    for m in active_meters():
        m.add(
            milliseconds=milliseconds,
            prompt_tokens=usage.input_tokens or 0,
            completion_tokens=usage.output_tokens or 0,
            cached=cached,
        )


def _count_failure() -> None:
    for m in active_meters():
        m.add_failure()
