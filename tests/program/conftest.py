"""A language model that answers by a script, and a small domain of its own, for every test of planning."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy import lm15
from dspy.utils import DummyLM
from queryplan.data.card import DomainCard, domain_folder, load_card
from queryplan.data.rows import LabelledRow
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.heads.features import Features
from queryplan.program.heads.heads import Head, HeadAnswer, Heads
from queryplan.program.lm.meter import active_meters
from queryplan.program.planner import QueryPlanner
from queryplan.program.settle import Combination
from queryplan.program.text.linker import Linker

Answers = Mapping[str, Any]


def _count() -> None:
    for one in active_meters():
        one.add(milliseconds=1.0, prompt_tokens=10, completion_tokens=1, cached=False)


class Decider:
    """Answers decision requests from a dict: a probability of yes, or the label of a choice.

    ``requests`` are the states and questions that came. ``delay`` makes each wait, until ``released``.
    ``error`` is raised instead of an answer.
    """

    supports_decision_requests = True
    model = "scripted"
    cache = False

    def __init__(self, answers: Answers, delay: float = 0.0, error: Exception | None = None) -> None:
        self.answers, self.delay, self.error = dict(answers), delay, error
        self.requests: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []
        self.released = threading.Event()
        self.cancelled = 0
        self.callbacks: list[Any] = []
        self.kwargs: dict[str, Any] = {}
        self.history: list[Any] = []

    def __call__(self, state: Mapping[str, Any], questions: Mapping[str, Any]) -> dict[str, Any]:
        if self.delay:
            self.released.wait(self.delay)
        return self._answers(state, questions)

    async def acall(self, state: Mapping[str, Any], questions: Mapping[str, Any]) -> dict[str, Any]:
        try:
            await asyncio.sleep(self.delay)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self._answers(state, questions)

    def _answers(self, state: Mapping[str, Any], questions: Mapping[str, Any]) -> dict[str, Any]:
        self.requests.append((state, questions))
        if self.error is not None:
            raise self.error
        return {name: self._answer(name, question) for name, question in questions.items()}

    def _answer(self, name: str, question: Mapping[str, Any]) -> dict[str, Any]:
        _count()
        if question["type"] == "noul":
            return {"noul": float(self.answers.get(name, 0.0))}
        labels = list(question["criteria"])
        chosen = self.answers.get(name, labels[0])
        given = (
            chosen if isinstance(chosen, dict) else {n: 0.9 if n == chosen else 0.1 / (len(labels) - 1) for n in labels}
        )
        best = max(given, key=lambda label: given[label])
        return {"choice": best, "confidence": given[best], "probabilities": given}

    def asked(self) -> list[str]:
        """The names of all questions, in order."""
        return [name for _, questions in self.requests for name in questions]


class Writer(DummyLM):
    """Writes what the script has for the first of its keys that the prompt contains; a list is used up one by one."""

    def __init__(self, script: Answers, delay: float = 0.0, error: Exception | None = None) -> None:
        super().__init__([], adapter=dspy.JSONAdapter())
        self.script = {key: list(said) if isinstance(said, list) else said for key, said in script.items()}
        self.delay, self.error = delay, error
        self.prompts: list[str] = []
        self.released = threading.Event()
        self._engine_spec = _Engine(self)
        self._async_engine_spec = _AsyncEngine(_Engine(self))

    def write(self, messages: list[dict[str, Any]]) -> str:
        """The answer to these messages."""
        if self.error is not None:
            raise self.error
        said = messages[-1]["content"]
        self.prompts.append("\n".join(str(m["content"]) for m in messages))
        _count()
        found: Any = next((self.script[key] for key in self.script if key in said), "no idea")
        answer = found.pop(0) if isinstance(found, list) else found
        return answer if isinstance(answer, str) else self._format_answer_fields(answer)


class _Engine:
    def __init__(self, owner: Writer) -> None:
        self.owner = owner

    def complete(self, request: lm15.Request) -> lm15.Response:
        if self.owner.delay:
            self.owner.released.wait(self.owner.delay)
        return self.respond(request)

    def respond(self, request: lm15.Request) -> lm15.Response:
        messages = [{"role": "system", "content": request.system or ""}]
        messages += [{"role": m.role, "content": m.text or ""} for m in request.messages]
        message = lm15.Message.assistant([lm15.TextPart(self.owner.write(messages))])
        usage = lm15.Usage(input_tokens=0, output_tokens=0, total_tokens=0)
        return lm15.Response(id=None, model="scripted", message=message, finish_reason="stop", usage=usage)

    def close(self) -> None:
        """Nothing is open."""


class _AsyncEngine:
    def __init__(self, sync: _Engine) -> None:
        self.sync = sync

    async def complete(self, request: lm15.Request) -> lm15.Response:
        await asyncio.sleep(self.sync.owner.delay)
        return self.sync.respond(request)

    async def aclose(self) -> None:
        """Nothing is open."""


class Scripted:
    """An opened model in the shape of ``LMHandle``."""

    def __init__(self, decider: Decider, writer: Writer) -> None:
        self.name = self.fingerprint = "scripted"
        self.decider, self.writer = decider, writer
        self.adapter = dspy.JSONAdapter(use_native_function_calling=False)
        self.warmed: list[dspy.Predict] = []

    def warm(self, predictors: Iterable[dspy.Predict]) -> None:
        """Note whose prefixes would be read."""
        self.warmed += predictors

    def close(self) -> None:
        """Let go whoever waits."""
        self.decider.released.set()
        self.writer.released.set()


class FixedHeads(Heads):
    """Heads that say what they are told, whatever the query."""

    def __init__(self, answers: Mapping[str, Mapping[str, float]]) -> None:
        self.answers = answers
        self.features = Features(default_encoder(), Linker(()))
        self.heads: dict[str, Head] = dict.fromkeys(answers)  # type: ignore[assignment]
        self.joint = {}
        self.closely: list[bool] = []

    def of_query(self, query: str, typed: str | None = None, closely: bool = False) -> dict[str, HeadAnswer]:
        self.closely.append(closely)
        return {name: self._said(name) for name in self.answers if name != "is_follow_up"}

    def cannot_read(self, query: str) -> bool:
        return False

    def of_turn(self, query: str, turns: Any, closely: bool = False) -> HeadAnswer | None:
        self.closely.append(closely)
        return self._said("is_follow_up") if "is_follow_up" in self.answers else None

    def _said(self, name: str) -> HeadAnswer:
        given = self.answers[name]
        return HeadAnswer(max(given, key=lambda label: given[label]), given)

    def every(self) -> dict[str, Head]:
        return {}


REWRITTEN = {"referenced_entities": ["Rosalind"], "standalone_query": "What did Rosalind say about sleep debt?"}
SPLIT = {
    "sub_queries": [{"text": "What is flow?", "depends_on": []}, {"text": "Who distrusts {1}?", "depends_on": [1]}],
    "entities": ["flow"],
    "relationships_needed": ["distrusts"],
}
STEPS = {
    "steps": [
        {"do": "find", "name": "Yusuf", "type": "Guest"},
        {"do": "follow", "start": 1, "edge": "WROTE", "direction": "out", "without": []},
    ]
}
SCRIPT = {"standalone_query": REWRITTEN, "sub_queries": SPLIT, "steps": STEPS}


class Bench:
    """Makes planners on a scripted model, and lets go of it at the end."""

    def __init__(self, card: DomainCard) -> None:
        self.card = card
        self.opened: list[Scripted] = []
        self.planners: list[QueryPlanner] = []

    def lm(self, answers: Answers | None = None, script: Answers | None = None, **trouble: Any) -> Scripted:
        """A scripted model; ``trouble`` is ``delay`` or ``error`` of both of its halves."""
        opened = Scripted(Decider(answers or {}, **trouble), Writer(SCRIPT if script is None else script, **trouble))
        self.opened.append(opened)
        return opened

    def planner(
        self,
        lm: Any = None,
        heads: Mapping[str, Mapping[str, float]] | Heads | None = None,
        card: DomainCard | None = None,
        weigh: Mapping[str, Combination] | None = None,
        **options: Any,
    ) -> QueryPlanner:
        """A planner on that model and these heads."""
        fixed = heads if heads is None or isinstance(heads, Heads) else FixedHeads(heads)
        made = QueryPlanner(card or self.card, heads=fixed, lm=lm, **options)
        made.combinations.update(weigh or {})
        self.planners.append(made)
        return made

    def close(self) -> None:
        """No thread outlives its test."""
        for opened in self.opened:
            opened.close()
        for planner in self.planners:
            planner.close()


@pytest.fixture(scope="session")
def card() -> DomainCard:
    """The card of the shipped podcast domain."""
    return load_card(domain_folder("podcast"))


@pytest.fixture
def bench(card: DomainCard) -> Iterator[Bench]:
    made = Bench(card)
    yield made
    made.close()


@pytest.fixture(scope="session")
def rows() -> Callable[[str], tuple[LabelledRow, ...]]:
    """Rows of a split of the podcast; of those to train on the first, as time grows with the cube of their number."""
    from queryplan.data.domain import load_domain

    read = load_domain("podcast", splits=("train", "dev"))
    return {"train": read.rows("train")[:400], "dev": read.rows("dev")}.__getitem__


@pytest.fixture(scope="session")
def trained(card: DomainCard, rows: Callable[[str], tuple[LabelledRow, ...]]) -> Heads:
    """Heads trained on the podcast's training rows."""
    from queryplan.program.heads.training import train_heads

    return train_heads(rows("train"), card, default_encoder())


@pytest.fixture(scope="session")
def old_program() -> Path:
    """A program folder that an earlier version of queryplan wrote; it must load for ever."""
    return Path(__file__).parent / "resources" / "program-v1"
