"""Opens a planner's language model when a query first needs it, without any plan waiting longer than its deadline."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import partial
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakSet, ref

import dspy

from ..errors import ConfigError, QueryPlanError
from .lm.endpoint import LMHandle, LMSettings, open_lm
from .lm.forked import renewed_in_child

if TYPE_CHECKING:
    from .artifact.folder import Manifest

Opener = Callable[[], LMHandle | None]
Given = LMHandle | Opener | LMSettings | str | None
"""A language model as a planner takes it: opened, a function that opens it, its settings or name, or None."""

STILL_OPENING = "the deadline passed while the language model was being opened"
ADDRESS_VARIABLE = "QUERYPLAN_API_BASE"
OWN_ADDRESS = "own_address"
"""The key of a manifest's ``compiled`` that says that the model was not where its name is usually found."""
CLOSED = "the language model was closed; give the planner another one"


class Model:
    """A planner's language model. Safe to share between threads.

    A copy has the same model, which is opened once for all of them. Who it was copied from closes it; once that one is
    gone, any copy does.
    """

    def __init__(self, given: Given, copied: Model | None = None) -> None:
        self._shared = copied._shared if copied else _Shared(given)
        self._closed = False
        if copied is None:
            self._shared.owner = ref(self)
        self._shared.holders.add(self)

    @property
    def lm(self) -> LMHandle | None:
        """The open model; None if none is open."""
        return None if self._left else self._shared.lm

    @property
    def given(self) -> bool:
        """Whether there is a model, open or not."""
        return not self._left and self._shared.given

    @property
    def _left(self) -> bool:
        return self._closed and self._shared.owned

    @property
    def opening(self) -> bool:
        """Whether it is being opened."""
        return self._shared.opening

    @property
    def problem(self) -> str:
        """Why the model is unavailable; empty if nothing is wrong."""
        return self._shared.problem

    @property
    def failure(self) -> BaseException | None:
        """Why it could not be opened, as it was raised; None if nothing went wrong."""
        return self._shared.failure

    def now(self) -> tuple[LMHandle | None, str]:
        """The model, or why there is none at the moment; empty if none was given."""
        return (None, CLOSED) if self._left and self._shared.given else self._shared.now()

    def wait(self, seconds: float | None) -> None:
        """Wait for the model to open, for at most so long; after a failure only ``open`` tries again."""
        if (opening := self._begin()) is not None:
            wait([opening], timeout=seconds)

    async def await_(self, seconds: float | None) -> None:
        """As ``wait``, for asyncio."""
        if (opening := self._begin()) is not None:
            waiting = asyncio.wrap_future(opening)
            try:
                await asyncio.wait({waiting}, timeout=seconds)
            finally:
                waiting.cancel()

    def open(self) -> LMHandle | None:
        """Open the model, also after an earlier failure.

        Raises:
            QueryPlanError: it cannot be opened; plans are made without it from then on.
        """
        if (opening := self._begin(again=True)) is not None and (error := opening.result()) is not None:
            raise error
        return self.lm

    def _begin(self, again: bool = False) -> Future[BaseException | None] | None:
        return None if self._closed else self._shared.begin(again)

    def close(self) -> None:
        """Close a model that was opened here, now or once it is open; one that was given stays open."""
        self._closed = True
        if self._shared.owner() in (self, None):
            self._shared.close()

    def leave(self) -> None:
        """Use it no more; it is closed if no copy uses it either."""
        self._shared.holders.discard(self)
        others = [one for one in self._shared.holders if not one._closed]
        if not others:
            self.close()
        elif self._shared.owner() is self:
            self._shared.owner = ref(others[0])

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return Model(None, self)


class _Shared:
    """A model and its opening, which copies of a planner share."""

    def __init__(self, given: Given) -> None:
        known = opener_of(given)
        self.lm = None if callable(known) else known
        self._opener = known if callable(known) else None
        self.problem = ""
        self.failure: BaseException | None = None
        self.owner: Callable[[], Model | None] = lambda: None
        self.holders = WeakSet[Model]()
        self.owned = self._opener is not None
        self._opening: Future[BaseException | None] | None = None
        self._closed = False
        self._lock = Lock()
        renewed_in_child(self)

    def renew(self) -> None:
        """After a fork: the thread that was opening it is in another process, so it is opened again here."""
        self._opening, self._lock = None, Lock()

    @property
    def given(self) -> bool:
        return self.lm is not None or self._opener is not None

    @property
    def opening(self) -> bool:
        return self._opening is not None

    def now(self) -> tuple[LMHandle | None, str]:
        with self._lock:
            return self.lm, self.problem or (STILL_OPENING if self._opener else "")

    def begin(self, again: bool) -> Future[BaseException | None] | None:
        """Begin to open it and return what to wait for; None if there is nothing to open."""
        with self._lock:
            if self._opener is None or (self.problem and not again):
                return None
            if self._opening is None:
                self._opening = future = Future()
                future.set_running_or_notify_cancel()  # who waits may stop waiting, which stops nobody else
                work = partial(self._open, self._opener, future)
                Thread(target=copy_context().run, args=(work,), name="queryplan-model", daemon=True).start()
            return self._opening

    def _open(self, opener: Opener, future: Future[BaseException | None]) -> None:
        lm, error = None, None
        try:
            lm = opener()
        except BaseException as failure:  # whatever it is, plans go on without a model and say so
            error = failure
        with self._lock:
            self._opening, unwanted = None, self._closed
            if not unwanted:
                self.lm, self.failure, self.problem = lm, error, _why_closed(error) if error else ""
                self._opener = opener if error else None
        if unwanted and lm is not None:
            lm.close()
        future.set_result(error)

    def close(self) -> None:
        with self._lock:
            mine = self.lm if self.owned else None
            if self.owned and self.given:
                self.lm, self._opener, self.problem = None, None, CLOSED
            self._closed = True
        if mine is not None:
            mine.close()


class HasModel:
    """What a planner says of its language model, and how it gets another."""

    _model: Model

    def with_lm(self, lm: Given) -> Self:
        """Use another model from now on; returns self.

        One that this planner opened is closed, unless a copy of the planner uses it; a plan being made may miss it.
        """
        before, self._model = self._model, Model(lm)
        before.leave()
        return self

    def set_lm(self, lm: Given) -> None:
        """DSPy's name for ``with_lm``."""
        self.with_lm(lm)

    @property
    def lm_name(self) -> str:
        """The opened language model's name with its weights' hash; "none" if none is open. Opens nothing."""
        return self._model.lm.fingerprint if self._model.lm is not None else "none"

    def open_lm(self) -> None:
        """Open the model, if there is one, also after an earlier failure.

        Raises:
            QueryPlanError: it cannot be opened; plans are made without it from then on.
        """
        self._model.open()

    @property
    def has_lm(self) -> bool:
        """Whether it has a language model, open or not."""
        return self._model.given

    @property
    def lm_problem(self) -> str:
        """Why the language model cannot be used: it could not be opened, or is still being opened; else empty."""
        return self._model.problem or (STILL_OPENING if self._model.opening else "")

    @property
    def lm_failure(self) -> BaseException | None:
        """What was raised when the language model was last opened; None if nothing was."""
        return self._model.failure


def as_compiled(manifest: Manifest) -> Given:
    """The model that a program was compiled with.

    No manifest has an address. If the model had one of its own, that is taken from the environment, or the model fails
    to open: by its name alone it would be asked for at a provider, which would then read what users typed.
    """
    if not manifest.compiled.get(OWN_ADDRESS):
        return manifest.lm
    if address := os.environ.get(ADDRESS_VARIABLE):
        return LMSettings(model=manifest.lm, api_base=address)

    def unknown() -> LMHandle:
        raise ConfigError(
            f"the program was compiled with {manifest.lm} at an address of its own: give it again ({ADDRESS_VARIABLE}, "
            f"--api-base, or lm=LMSettings(model={manifest.lm!r}, api_base=…)), or another model"
        )

    return unknown


def opener_of(given: Given) -> LMHandle | Opener | None:
    """A function that opens the model when it is first needed; an open one is returned as it is.

    Raises:
        ConfigError: it is one of DSPy's own language models, which give no label probabilities.
    """
    if isinstance(given, dspy.BaseLM):
        raise ConfigError(f"a planner opens its language model itself: give its name, {given.model!r}, or LMSettings")
    if given is None or given == "none":
        return None
    if isinstance(given, str):
        return lambda: open_lm(LMSettings(model=given))
    return (lambda: open_lm(given)) if isinstance(given, LMSettings) else given


def _why_closed(error: BaseException) -> str:
    """The message of an error of ours, else the error's type: a foreign message may contain a key or an address."""
    if isinstance(error, QueryPlanError):
        return str(error)
    return f"the language model could not be opened ({type(error).__name__})"
