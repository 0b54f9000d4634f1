"""The planning of one query in progress, driven by threads, by asyncio, or with no language model at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .asking import Ask, Reply, Sent
from .flow import Flow
from .lm.endpoint import LMHandle
from .plan import QueryPlan


class Planning:
    """The planning of one query: the round to send next, and the plan once there is none.

    Attributes:
        asks: the requests to send together; empty when the plan is done.
        kept: whether the plan came out of the cache.
    """

    def __init__(self, flow: Flow, key: str, lm: LMHandle | None, kept: QueryPlan | None) -> None:
        """Advance to the first round, or use a cached plan."""
        self.key, self.lm, self.clock = key, lm, flow.clock
        self.asks: list[Ask] = []
        self.kept, self._plan = kept is not None, kept
        self._rounds = flow.run()
        if not self.kept:
            self._go(lambda: next(self._rounds))

    @property
    def done(self) -> QueryPlan:
        """The plan, once nothing is left to ask."""
        assert self._plan is not None, "there is a round to send"
        return self._plan

    def send(self, replies: Mapping[Sent, Reply]) -> None:
        """Take the replies to ``asks`` and go on to the next round."""
        self._go(lambda: self._rounds.send(replies))

    def _go(self, step: Callable[[], list[Ask]]) -> None:
        try:
            self.asks = step()
        except StopIteration as done:
            self.asks, self._plan = [], done.value
