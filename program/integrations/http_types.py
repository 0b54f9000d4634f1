"""Typed requests and answers of the HTTP interface, and the limits of both."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from ...data.card import DomainCard
from ...signatures.types import Frozen
from ..artifact.folder import Manifest
from ..bound import Mode
from ..plan import QueryPlan
from ..planner import QueryPlanner

MAX_HISTORY = 200
"""Messages that a request may have; the card's window decides how many of the last are read."""
MAX_BATCH = 64
MAX_DEPTH = 20

_COMPILED = ("optimizer", "stages", "seed", "sample", "code")
"""What may be shown of how a program was compiled: nothing that could be a path or an address."""


class Limits(Frozen):
    """The limits of a server.

    Attributes:
        body_bytes: size of the body of one request.
        read_s: seconds in which a request must have arrived.
        running: plans made at the same time.
        waiting: plans that may wait for that; requests beyond it get status 503.
        deadline_s: seconds for a plan, waiting included: the most a request may ask for, and the default.
    """

    body_bytes: int = Field(default=1_048_576, ge=1024)
    read_s: float = Field(default=10.0, gt=0, allow_inf_nan=False)
    running: int = Field(default=16, ge=1)
    waiting: int = Field(default=64, ge=0)
    deadline_s: float = Field(default=30.0, gt=0, allow_inf_nan=False)


class Message(Frozen):
    """A message as chat interfaces keep it; what else it has (``name``) is not read.

    What a system or a tool says tells nothing about what the user asks: it is left out, and so is what only calls a
    tool. Of any other message without text the plan says that it was left out.
    """

    model_config = ConfigDict(extra="ignore")

    role: Literal["user", "assistant", "system", "developer", "tool"]
    content: str | tuple[dict[str, Any], ...] | None
    tool_calls: Any = Field(default=None, description="Read is only whether there are some.")
    function_call: Any = Field(default=None, description="The same of older interfaces.")


class PlanRequest(Frozen):
    """One query in its conversation: the arguments of ``QueryPlanner.plan``."""

    query: str = Field(description="What the user typed, any text.", examples=["and meditation?"])
    history: tuple[Message, ...] = Field(
        default=(), max_length=MAX_HISTORY, description="The conversation before it, oldest message first."
    )
    session: dict[str, Any] = Field(
        default={}, description="What the application knows: active_entity, now, collection, paradigm."
    )
    deadline_s: float | None = Field(
        default=None,
        strict=True,
        allow_inf_nan=False,
        description="Seconds from the request's arrival after which the plan is made from what is known; 0 is at once.",
    )

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The history as a planner takes it."""
        return [message.model_dump(exclude_defaults=True) for message in self.history]

    @field_validator("history", "session", mode="before")
    @classmethod
    def _null_is_none(cls, value: Any, info: ValidationInfo) -> Any:
        return cls.model_fields[str(info.field_name)].default if value is None else value

    @field_validator("session")
    @classmethod
    def _flat_enough(cls, value: dict[str, Any]) -> dict[str, Any]:
        if _deeper_than(value, MAX_DEPTH):
            raise ValueError(f"a session may be nested {MAX_DEPTH} deep")
        return value


class BatchRequest(Frozen):
    """Several queries, planned side by side."""

    queries: tuple[PlanRequest, ...] = Field(min_length=1, max_length=MAX_BATCH)


class BatchAnswer(Frozen):
    """A plan for each query, in the order of the queries."""

    plans: tuple[QueryPlan, ...]


class Problem(Frozen):
    """Why there is no answer, in one sentence that says what to do next."""

    detail: str


class CacheFacts(Frozen):
    """How the plan cache does since the server started."""

    asked: int
    hits: int
    hit_rate: float


class Health(Frozen):
    """How the server is.

    Attributes:
        ready: whether it plans; before that it is opening its language model.
        lm: name of the language model that is open; "none" without one.
        degraded: what is missing that should be there; plans are made without it and say so.
        plans: made since the start, ``degraded_plans`` those among them that could not be made as they should.
        running, waiting: plans at this moment.
    """

    status: Literal["starting", "ready", "degraded"]
    ready: bool
    domain: str
    version: str
    lm: str
    lm_open: bool
    degraded: tuple[str, ...] = ()
    plans: int = 0
    degraded_plans: int = 0
    running: int = 0
    waiting: int = 0
    uptime_s: float = 0.0
    cache: CacheFacts | None = None


class ProgramFacts(Frozen):
    """What is served, without any path or address of the machine.

    Attributes:
        compiled: how it was compiled; empty where nothing was.
        lm: name of the language model it was compiled with.
        bound: what the bound on the heads' error promises, in words.
        metrics: what was measured when it was compiled.
        mode: whether heads answer in the model's place.
    """

    domain: str
    title: str
    version: str
    compiled: dict[str, Any] = {}
    lm: str = "none"
    mode: Mode = "off"
    bound: str = ""
    encoder: str = ""
    content_hash: str = ""
    fingerprints: dict[str, str] = {}
    metrics: dict[str, Any] = {}
    rejection_kinds: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    plan_graph: bool = False


def program_facts(planner: QueryPlanner) -> ProgramFacts:
    """The facts about a planner's program that may be shown."""
    card, gate = planner.card, planner.gate
    return ProgramFacts(
        **_of_card(card),
        **(_of_manifest(planner.manifest) if planner.manifest else {}),
        version=planner.program_version,
        mode=gate.mode,
        bound=gate.bound.sentence if gate.bound else "",
        plan_graph=planner.plan_graph,
    )


def _of_card(card: DomainCard) -> dict[str, Any]:
    sources = tuple(source.name for source in card.sources)
    return {"domain": card.name, "title": card.title, "rejection_kinds": card.kinds, "sources": sources}


def _of_manifest(manifest: Manifest) -> dict[str, Any]:
    plain = manifest.plain()
    kept = ("lm", "encoder", "content_hash", "fingerprints", "metrics")
    compiled = {name: plain["compiled"][name] for name in _COMPILED if name in plain["compiled"]}
    return {**{name: plain[name] for name in kept}, "compiled": compiled}


def _deeper_than(value: Any, depth: int) -> bool:
    """Whether lists or objects are nested more than ``depth`` deep."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return depth < 1 or any(_deeper_than(one, depth - 1) for one in inner)
