"""What is kept of a compile and of an evaluation, as plain data."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...data.domain import rows_hash
from ...data.rows import LabelledRow
from ...signatures.types import Frozen
from ..evaluation import Evaluation
from ..report import Report
from .prompt_registry import PromptText
from .public import public_params


class CandidateRecord(Frozen):
    """One predictor that an optimizer tried for a stage."""

    stage: str
    name: str
    score: float
    demos: int = 0
    chosen: bool = False
    details: dict[str, Any] = {}


class RowsPrint(Frozen):
    """Which rows of a split a compile read: how many, and a hash of what they hold.

    The hash is the same in any order, in any format and in any folder, and says nothing of what is in the rows.
    """

    rows: int
    digest: str


def print_of(rows: Sequence[LabelledRow]) -> RowsPrint:
    """How many rows there are, and their hash."""
    return RowsPrint(rows=len(rows), digest=rows_hash(rows))


class CompileRecord(Frozen):
    """Everything that is kept of one compile.

    Attributes:
        program: the folder of the compiled program, already on the disk.
        arguments: the optimizer's settings; what looks like a key is left out.
        data_fingerprint: of all rows of the domain.
        sample: a sentence about how the rows were drawn, if they are not all.
        rows: how many rows of each split were drawn.
        read: the rows of each split that something was learned from, chosen on or bounded on, and those that other
            domains ``lent``; records of an earlier version have none.
        heads: how the heads were trained: their encoders, and whether other domains lent rows. The program's version
            tells these apart, so they are no part of ``key``; records of an earlier version have none.
        spent: language model calls and tokens that compiling took, by stage, as ``STAGE/calls`` and ``STAGE/tokens``.
        prompts: the prompt of each compiled predictor.
        evaluation: the evaluation of the compiled program, on rows that it was not compiled on.
        report: the comparison of that evaluation to rivals; made from ``evaluation`` alone if not given.
    """

    domain: str
    program: Path
    program_version: str
    optimizer: str
    arguments: dict[str, Any] = {}
    lm: str
    data_fingerprint: str
    card_fingerprint: str
    seed: int
    code_version: str
    stages: tuple[str, ...]
    sample: str | None = None
    rows: dict[str, int] = {}
    read: dict[str, RowsPrint] = {}
    heads: dict[str, Any] = {}
    spent: dict[str, float] = {}
    candidates: tuple[CandidateRecord, ...] = ()
    prompts: tuple[PromptText, ...] = ()
    evaluation: Evaluation | None = None
    report: Report | None = None

    def public(self) -> CompileRecord:
        """A copy without API keys and paths of this machine, except for ``program``, which is not sent."""
        tried = tuple(c.model_copy(update={"details": public_params(c.details)}) for c in self.candidates)
        return self.model_copy(update={"arguments": public_params(self.arguments), "candidates": tried})

    @property
    def model(self) -> str:
        """The name that the program is registered under in MLflow."""
        return f"queryplan-{self.domain}"

    @property
    def key(self) -> str:
        """A hash of what was compiled and measured, whatever the folder and the time, so that it is sent only once."""
        plain = self.model_dump_json(exclude={"program", "report", "evaluation", "heads"})
        return _hash(plain, _evaluation_key(self.evaluation))

    @property
    def best_scores(self) -> dict[str, float]:
        """The score on ``dev`` of the chosen candidate (not of the last one tried) of each stage."""
        return {f"best_on_dev/{c.stage}": c.score for c in self.candidates if c.chosen}


class EvaluationRecord(Frozen):
    """Everything that is kept of an evaluation by itself.

    Attributes:
        dataset: what the rows are called, such as ``podcast test``.
        tags: further tags of the run.
    """

    evaluation: Evaluation
    report: Report | None = None
    dataset: str
    tags: dict[str, str] = {}

    @property
    def key(self) -> str:
        """A hash of what was measured, whatever the time, so that an evaluation is sent only once."""
        return _hash(
            self.dataset, self.evaluation.name, _evaluation_key(self.evaluation), repr(sorted(self.tags.items()))
        )


def _evaluation_key(evaluation: Evaluation | None) -> str:
    """An evaluation as JSON without its time and load, since one resumed from a journal is the same; empty if None."""
    return evaluation.model_dump_json(exclude={"finished", "load_average", "resumed"}) if evaluation else ""


def _hash(*parts: str) -> str:
    return hashlib.sha256("\x00".join(parts).encode(errors="surrogatepass")).hexdigest()
