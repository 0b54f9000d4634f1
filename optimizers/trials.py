"""Tries one candidate of a stage on ``dev``: what it answers, what it costs, and how good it is."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any, cast

import dspy
from dspy.utils.exceptions import AdapterParseError

from ..program.lm.decider import UnansweredError
from ..program.lm.meter import CallMeter, meter
from .base import Metric, Progress, StageTask, signature_of
from .demonstrations import Answers, arranged, grouping

logger = logging.getLogger(__name__)

# The name of the input of an example that lists the outputs to ask for.
ASKED = "asked"
# A written answer takes about four seconds on two cores, a decision half of one.
WRITTEN_DEV = 12


class Ledger:
    """The requests that a stage has spent and may still spend.

    If the client reports its requests to the meters (``program.lm``), these are counted; if not, every question counts
    as one request. Requests that a journal answered count too, so that a compile that was stopped and continued makes
    the same choices.
    """

    def __init__(self, spent: CallMeter, limit: int | None, progress: Progress) -> None:
        self.calls = 0
        self.tokens = 0
        self.unreadable = 0
        self.failure: Exception | None = None
        self._spent, self._limit, self._progress = spent, limit, progress

    def fits(self, calls: int) -> bool:
        """Whether this many more requests stay within the limit."""
        return self._limit is None or self.calls + calls <= self._limit

    @contextmanager
    def charge(self, foreseen: int) -> Iterator[None]:
        """Count one evaluation: the requests that the meter saw, or the expected number if it saw none."""
        calls, tokens = self._spent.calls, _tokens(self._spent)
        yield
        calls, tokens = self._spent.calls - calls or foreseen, _tokens(self._spent) - tokens
        self.calls += calls
        self.tokens += tokens
        self._progress.step(calls, tokens)

    def __deepcopy__(self, memo: dict[int, Any]) -> Ledger:
        """The same ledger, since DSPy copies programs for every candidate, and all share one budget."""
        return self


def _tokens(spent: CallMeter) -> int:
    return spent.prompt_tokens + spent.completion_tokens


class StageProgram(dspy.Module):
    """A predictor as the optimizers run it.

    It asks only for the outputs that an example has labels for (most relevance rows have no
    ``rejection_kind``, and each question is a request), and shows demonstrations exactly as the
    compiled predictor will hold them.
    """

    def __init__(self, predictor: dspy.Predict, answers: Answers, ledger: Ledger) -> None:
        super().__init__()
        self.predict = predictor
        self.answers = answers
        self.ledger = ledger

    def forward(self, asked: tuple[str, ...], **inputs: Any) -> dspy.Prediction:
        """The prediction; an empty one if the answer could not be read.

        Raises:
            LMError: the language model is unreachable; also kept in the ledger, since DSPy's own
                loops replace it by another error.
        """
        signature = self._signature(asked)
        with self.ledger.charge(len(asked) or 1):
            try:
                return self.predict(signature=signature, demos=self.demos(), **inputs)
            except (AdapterParseError, UnansweredError) as error:
                logger.debug("an answer could not be read: %s", error)
                self.ledger.unreadable += 1
                return dspy.Prediction()
            except Exception as error:
                self.ledger.failure = error
                raise

    def demos(self) -> list[dict[str, Any]]:
        """The demonstrations as plain data, in the order they are shown."""
        plain = [self.answers.demo(demo) for demo in self.predict.demos]
        return arranged(plain, grouping(signature_of(self.predict)))

    def _signature(self, asked: tuple[str, ...]) -> type[dspy.Signature]:
        signature = signature_of(self.predict)
        # A configured output must be asked for: DSPy refuses a configuration of an output that the signature lacks.
        keep = {*asked, *self.predict.fields}
        return _narrowed(cast(Any, signature), tuple(sorted(keep))) if asked else signature


@lru_cache(maxsize=256)
def _narrowed(signature: Any, asked: tuple[str, ...]) -> Any:
    """The signature with these outputs alone."""
    for name in tuple(signature.output_fields):
        if name not in asked:
            signature = signature.delete(name)
    return signature


@dataclass(frozen=True)
class Trial:
    """A candidate that was run over ``dev``: its program, mean metric, requests and predictions."""

    name: str
    program: StageProgram
    score: float
    calls: int
    pairs: tuple[tuple[dspy.Example, dspy.Prediction], ...]


@dataclass
class Bench:
    """The state of one stage while it is compiled: prepared examples, the ledger, and the trials so far.

    Attributes:
        train: examples that may be demonstrations, with the outputs to ask for.
        dev: examples to score on; for a stage that writes, a sample.
        refused: names of candidates that did not fit into the budget.
    """

    task: StageTask
    ledger: Ledger
    train: list[dspy.Example]
    dev: list[dspy.Example]
    answers: Answers
    trials: list[Trial] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def program(self) -> StageProgram:
        """The student without demonstrations, ready to run."""
        student = self.task.student.reset_copy()
        student.fields = dict(self.task.student.fields)
        return StageProgram(student, self.answers, self.ledger)

    def cost(self, examples: Sequence[dspy.Example]) -> int:
        """Requests that one pass over ``examples`` takes."""
        return sum(len(example[ASKED]) or 1 for example in examples)

    def run(self, name: str, program: StageProgram) -> bool:
        """Run a candidate over ``dev``, in order; False if it does not fit into the budget."""
        if not self.fits(name, self.cost(self.dev)):
            return False
        recorder = Recorder(self.task.metric, self.ledger)
        before = self.ledger.calls
        for example in self.dev:
            recorder(example, program(**example.inputs()))
        self.add(name, program, recorder, before)
        return True

    def fits(self, name: str, calls: int) -> bool:
        """Whether a candidate with this many requests may be tried; if not, its name is kept for the notes."""
        if self.ledger.fits(calls):
            return True
        self.refused.append(name)
        return False

    def add(self, name: str, program: StageProgram, recorder: Recorder, before: int) -> None:
        """Keep a candidate that was run; ``before`` is what had been spent before it."""
        score = sum(recorder.scores) / max(1, len(recorder.scores))
        self.trials.append(Trial(name, program, score, self.ledger.calls - before, tuple(recorder.pairs)))


class Recorder:
    """A metric that records what it scored, so that fitting thresholds repeats no request."""

    def __init__(self, metric: Metric, ledger: Ledger) -> None:
        self.pairs: list[tuple[dspy.Example, dspy.Prediction]] = []
        self.scores: list[float] = []
        self._metric, self._ledger = metric, ledger

    def __call__(self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
        """The metric; nothing is recorded if there is a trace (DSPy asks whether to demonstrate the example)."""
        try:
            score = self._metric(example, prediction, trace)
        except Exception as error:
            self._ledger.failure = error
            raise
        if trace is None:
            self.pairs.append((example, prediction))
            self.scores.append(score)
        return score


@contextmanager
def bench(task: StageTask, progress: Progress, foreseen: Callable[[int], int], written_dev: int) -> Iterator[Bench]:
    """Prepare a stage and tell ``progress`` that it begins.

    Args:
        foreseen: gives the expected number of evaluations from the number of ``dev`` examples used.
        written_dev: number of ``dev`` examples that a stage that writes is scored on.
    """
    dev = dev_sample(task.dev, written_dev, task.seed) if task.writes else list(task.dev)
    answers = Answers(task.signature, task.train)
    with meter() as spent:
        ledger = Ledger(spent, task.max_calls, progress)
        made = Bench(task, ledger, _ready(task, task.train), _ready(task, dev), answers)
        if len(dev) < len(task.dev):
            made.notes.append(f"scored on {len(dev)} of {len(task.dev)} dev examples, because each is a written answer")
        progress.start(task.stage, foreseen(len(dev)))
        yield made


def dev_sample(examples: Sequence[dspy.Example], most: int, seed: int) -> list[dspy.Example]:
    """A random sample of at most ``most`` examples to score written answers on, in their order."""
    if len(examples) <= most:
        return list(examples)
    chosen = Random(seed).sample(range(len(examples)), most)
    return [examples[i] for i in sorted(chosen)]


def _ready(task: StageTask, examples: Sequence[dspy.Example]) -> list[dspy.Example]:
    """Examples that also say which outputs to ask for: the labelled decisions; for a stage that writes an empty tuple,
    which means all.
    """
    decisions, inputs = task.decisions, tuple(task.signature.input_fields)
    asked = [tuple(name for name in decisions if name in example) for example in examples]
    return [
        example.copy(**{ASKED: names}).with_inputs(*inputs, ASKED)
        for example, names in zip(examples, asked, strict=True)
    ]


@contextmanager
def quiet() -> Iterator[None]:
    """Redirect what DSPy prints while it searches to the log, at level debug."""
    caught = io.StringIO()
    try:
        with redirect_stdout(caught), redirect_stderr(caught):
            yield
    finally:
        logger.debug("%s", caught.getvalue())
