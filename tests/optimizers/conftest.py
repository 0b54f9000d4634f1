"""A decision client whose answers depend on the query and on the demonstrations, and rows to compile on."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import dspy
import pytest
from queryplan.data.card import DomainCard, domain_folder, load_card
from queryplan.data.rows import LabelledRow
from queryplan.optimizers.base import Progress, StageTask
from queryplan.optimizers.scores import stage_metric
from queryplan.program.lm.meter import active_meters
from queryplan.program.stages import StageSpec, examples, stage_specs

INTENTS = ("factual", "comparison", "multi_part", "definition", "causal", "cross_episode")
LEVELS = ("simple", "moderate", "complex")


@dataclass
class FakeDecider:
    """Answers from the words of the query: the label's name stands in it, most of the time.

    Attributes:
        bias: added to the log odds of "true", and to the log weight of the first choice.
        trust: how loudly the right word speaks; each demonstration that says "helpful" adds to it.
        requests: every question asked, as text, in order.
        fail_after: raise after so many requests.
    """

    bias: float = 0.0
    trust: float = 1.0
    fail_after: int | None = None
    metered: bool = True
    requests: list[str] = field(default_factory=list)

    supports_decision_requests = True
    cache = False
    model = "fake"

    def __post_init__(self) -> None:
        self.callbacks: list[Any] = []
        self.kwargs: dict[str, Any] = {}
        self.history: list[Any] = []

    def __call__(self, state: dict[str, Any], questions: dict[str, Any]) -> dict[str, Any]:
        return {name: self._answer(state, name, question) for name, question in questions.items()}

    def _answer(self, state: dict[str, Any], name: str, question: dict[str, Any]) -> dict[str, Any]:
        if self.fail_after is not None and len(self.requests) >= self.fail_after:
            raise ConnectionError("the fake server is gone")
        self.requests.append(json.dumps([state, name, question], sort_keys=True))
        for meter in active_meters() if self.metered else ():
            meter.add(milliseconds=1.0, prompt_tokens=10, completion_tokens=1, cached=False)
        query = state["inputs"]["query"]
        loud = self.trust + sum("helpful" in demo["query"] for demo in state.get("demos", ()))
        if question["type"] == "noul":
            odds = self.bias + loud * (2 * (f"{name}=true" in query) - 1) + _noise(query, name)
            return {"noul": 1 / (1 + math.exp(-odds))}
        labels = list(question["criteria"])
        logs = [loud * (f"{name}={label} " in query) + 0.5 * _noise(query, name + label) for label in labels]
        logs[0] += self.bias
        weights = [math.exp(log) for log in logs]
        chances = {label: w / sum(weights) for label, w in zip(labels, weights, strict=True)}
        return {"probabilities": chances, "confidence": max(chances.values())}

    def copy(self, **settings: Any) -> FakeDecider:
        return self

    def dump_state(self) -> dict[str, Any]:
        return {"model": self.model}

    def __deepcopy__(self, memo: dict[int, Any]) -> FakeDecider:
        return self


def _noise(*parts: str) -> float:
    """Between -1 and 1, always the same for the same text."""
    digest = hashlib.sha256("|".join(parts).encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**31 - 1


@dataclass
class FakeLM:
    """What ``compile_stages`` needs of an opened language model."""

    decider: FakeDecider
    writer: Any = None
    adapter: Any = field(default_factory=dspy.ChatAdapter)


class Watcher:
    """A progress that remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def start(self, stage: str, total: int | None) -> None:
        self.told.append(("start", stage, total))

    def step(self, calls: int = 1, tokens: int = 0) -> None:
        self.told.append(("step", calls, tokens))

    def finish(self, stage: str, text: str) -> None:
        self.told.append(("finish", stage, text))


def _row(i: int, helpful: bool) -> LabelledRow:
    """Row ``i``: two rows a conversation, every second a later turn, every fifth out of domain."""
    later, follow_up, relevant = bool(i % 2), i % 4 == 1, i % 5 != 4
    level = LEVELS[i % 3] if relevant else "simple"
    intent = INTENTS[i % len(INTENTS)] if relevant else "out_of_scope"
    split = relevant and level == "complex"
    kind = None if relevant else ("weather", "sports")[i // 5 % 2]
    words = [
        f"row {i} asks",
        f"is_follow_up={str(follow_up).lower()} is_relevant={str(relevant).lower()}",
        f"rejection_kind={kind} complexity={level} intent={intent} needs_decomposition={str(split).lower()} ",
        "helpful" if helpful else "",
    ]
    query = " ".join(words).strip()
    labels: dict[str, Any] = {
        "is_follow_up": follow_up,
        "standalone_query": f"{query} about Ida Mercer" if follow_up else query,
        "referenced_entities": ["Ida Mercer"] if follow_up else [],
        "is_relevant": relevant,
        "rejection_kind": kind,
        "complexity": level,
        "intent": intent,
        "needs_decomposition": split,
    }
    if split:
        second = {"id": 2, "text": "What follows from {1}?", "depends_on": [1]}
        labels["sub_queries"] = [{"id": 1, "text": f"What is row {LEVELS[i % 3]} about?"}, second]
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ida Mercer?"}] if later else []
    return LabelledRow.model_validate(
        {"id": f"r{i}", "conversation": f"c{i // 2}", "turn": 1 + later, "query": query, "history": history,
         "labels": labels}
    )  # fmt: skip


MakeRows = Callable[..., list[LabelledRow]]
MakeTask = Callable[..., StageTask]


@pytest.fixture
def make_rows() -> MakeRows:
    """``make_rows(n, start=0, helpful=())``: labelled rows; those numbered in ``helpful`` say so."""

    def make(n: int, start: int = 0, helpful: tuple[int, ...] = ()) -> list[LabelledRow]:
        return [_row(i, i in helpful) for i in range(start, start + n)]

    return make


@pytest.fixture(scope="session")
def card() -> DomainCard:
    return load_card(domain_folder("podcast"))


@pytest.fixture(scope="session")
def specs(card: DomainCard) -> dict[str, StageSpec]:
    return stage_specs(card)


@pytest.fixture
def make_task(specs: dict[str, StageSpec], card: DomainCard, make_rows: MakeRows) -> MakeTask:
    """``make_task(stage, train=40, dev=40, helpful=(), **more)``: a stage on synthetic rows."""

    def make(stage: str, train: int = 40, dev: int = 40, helpful: tuple[int, ...] = (), **more: Any) -> StageTask:
        spec = specs[stage]
        left = examples(spec, make_rows(train, 0, helpful), card)
        right = examples(spec, make_rows(dev, 1000), card)
        return StageTask(stage, dspy.Predict(spec.signature), left, right, stage_metric(spec), **more)

    return make


@pytest.fixture
def make_decider() -> type[FakeDecider]:
    return FakeDecider


@pytest.fixture
def make_lm() -> type[FakeLM]:
    return FakeLM


@pytest.fixture
def watcher() -> Watcher:
    return Watcher()


@pytest.fixture
def compile_with(watcher: Progress) -> Callable[..., Any]:
    """``compile_with(optimizer, task, client)``: compile one stage with the client bound."""

    def run(optimizer: Any, task: StageTask, client: Any) -> Any:
        with dspy.context(lm=client, adapter=dspy.ChatAdapter()):
            return optimizer.compile(task, watcher)

    return run
