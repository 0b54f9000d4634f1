"""A feature flag for bringing the planner in: off, for a fraction of queries, or in the shadow of the old path."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from pydantic import Field

from ...signatures.types import Frozen
from ..plan import QueryPlan
from ..threads import in_thread

LOG = logging.getLogger("queryplan.shadow")
Mode = Literal["off", "shadow", "on"]
T = TypeVar("T")

Report = Callable[[QueryPlan, str], None]
"""A function that is called with a shadow plan and its key."""


class PlannerFlag(Frozen):
    """For whom the planner is used.

    Attributes:
        mode: ``off`` never plans; ``shadow`` plans and logs while the old path answers; ``on`` acts on plans.
        fraction: share of keys, between 0 and 1, that ``mode`` holds for; the others are ``off``.
        salt: a different salt selects different keys.
    """

    mode: Mode = "off"
    fraction: float = Field(default=1.0, ge=0, le=1)
    salt: str = "queryplan"

    def mode_for(self, key: str) -> Mode:
        """The mode for one key, such as a user's or a conversation's id.

        The same key always gets the same answer, and a key that is in at some fraction stays in at a larger one.
        """
        return self.mode if self.mode != "off" and share_of(key, self.salt) < self.fraction else "off"


def share_of(key: str, salt: str = "") -> float:
    """A number between 0 and 1 that depends on the key alone, evenly spread over keys."""
    digest = hashlib.blake2b(f"{salt}\n{key}".encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


@dataclass(frozen=True)
class Flagged(Generic[T]):
    """Two ways of answering behind one flag.

    Attributes:
        flag: decides between them.
        old: answers without a plan. If the flag is off, nothing else is called.
        plan: makes the plan of a query.
        new: answers with a plan.
        report: gets every shadow plan; by default it is logged on ``queryplan.shadow`` without what users typed.
    """

    flag: PlannerFlag
    old: Callable[[str], T]
    plan: Callable[[str], QueryPlan]
    new: Callable[[str, QueryPlan], T]
    report: Report | None = None

    def answer(self, query: str, key: str) -> T:
        """The old path's answer, or the new one's if the flag is on for ``key``.

        A shadow plan is made in another thread: it does not delay the answer, nor spoil it if planning fails. If the
        flag is on and planning fails, the old path answers and the failure is logged.
        """
        mode = self.flag.mode_for(key)
        if mode == "on":
            plan = self._planned(query)
            return self.old(query) if plan is None else self.new(query, plan)
        if mode == "shadow":
            shadow(lambda: self.plan(query), key, self.report or log_shadow)
        return self.old(query)

    def _planned(self, query: str) -> QueryPlan | None:
        try:
            return self.plan(query)
        except Exception as error:  # whatever planning meets, users get the answer that they had before
            LOG.warning("planning failed (%s); the old path answers", type(error).__name__)
            return None


def shadow(plan: Callable[[], QueryPlan], key: str, report: Report) -> Future[None]:
    """Plan and report in another thread; a failure there is logged and has no effect here."""

    def work() -> None:
        try:
            report(plan(), key)
        except Exception as error:  # of the planner, or of the user's report
            LOG.warning("a shadow plan failed (%s)", type(error).__name__)

    return in_thread(work)


def log_shadow(plan: QueryPlan, key: str, text: bool = False) -> None:
    """Log the decisions of a shadow plan as JSON, without a word of a user's.

    The key may be the query itself, so only its hash is logged: the same for the same key.

    Args:
        text: also log the query and the key as they are; ``functools.partial(log_shadow, text=True)`` is a report.
    """
    typed = {"key": key, "query": plan.query} if text else {"key": _hash_of(key)}
    said = {
        **typed,
        "is_follow_up": plan.is_follow_up,
        "is_relevant": plan.is_relevant,
        "complexity": plan.complexity,
        "intent": plan.intent,
        "candidates": len(plan.candidates),
        "strategy": plan.retrieval_strategy.model_dump(mode="json"),
        "milliseconds": plan.trace.milliseconds,
        "program": plan.program_version,
    }
    LOG.info("shadow %s", json.dumps(said, ensure_ascii=False))


def _hash_of(key: str) -> str:
    return hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=8).hexdigest()
