"""The settings of a compile job, and its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..data.rows import LabelledRow
from ..eval.cascade.tables import CascadeTables
from ..eval.evaluation import Evaluation
from ..eval.prices import Prices
from ..eval.report import Report
from ..program.artifact.folder import Manifest
from ..program.heads.encoders import AUTO
from ..program.lm.endpoint import LMSettings
from .base import Optimizer, StageResult
from .combining import FittedCombination
from .writing import FittedWriting

Weighed = FittedCombination | FittedWriting
STAGES = ("follow_up", "relevance", "complexity", "rewrite", "decompose")


@dataclass(frozen=True)
class JobSettings:
    """What to compile and how much of it.

    Attributes:
        optimizer: a name of ``optimizers/registry.py``, or an optimizer of your own (``optimizers/base.py``).
        arguments: settings of an optimizer that is given by name.
        sizes: sample sizes of ``train``, ``dev`` and ``test``; a split that is not named is used whole.
        max_calls: LM requests that compiling may spend, without those for measuring.
        programs: folder of compiled programs, with one folder for each domain.
        out: folder for this program, instead of one in ``programs``.
        work: folder of the files from which a stopped job continues.
        encoder: what embeds texts for the heads, see ``program/heads/encoders.py``.
        lending: whether other domains lend rows to this one, see ``program/heads/lending.py``.
    """

    optimizer: str | Optimizer = "bootstrap"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    lm: LMSettings = field(default_factory=LMSettings)
    encoder: str = AUTO
    lending: bool = True
    stages: tuple[str, ...] = STAGES
    sizes: Mapping[str, int] = field(default_factory=dict)
    seed: int = 0
    max_calls: int | None = None
    programs: Path = Path(".queryplan/programs")
    out: Path | None = None
    work: Path = Path(".queryplan/runs")
    journal: Path = Path(".queryplan/journal.sqlite")
    why: str = "compile"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a job: the program folder, what was measured, and how it was compiled.

    ``tables`` are those of a cascade, on ``test``; None for other optimizers. ``rows`` counts those drawn of each
    split, and ``read`` has those of each but ``test`` that something was learned from, chosen on or bounded on.
    """

    folder: Path
    manifest: Manifest
    report: Report
    evaluations: tuple[Evaluation, ...]
    results: Mapping[str, StageResult]
    combinations: tuple[Weighed, ...]
    optimizer: Optimizer
    sample: str | None
    tables: CascadeTables | None = None
    rows: Mapping[str, int] = field(default_factory=dict)
    read: Mapping[str, Sequence[LabelledRow]] = field(default_factory=dict)

    @property
    def compiled(self) -> Evaluation:
        """The evaluation of the compiled program."""
        return self.evaluations[-1]

    def priced(self, prices: Prices) -> Outcome:
        """The same outcome with the price of its language model, if that is known."""
        return replace(self, evaluations=tuple(e.priced(prices.of(e.lm)) for e in self.evaluations))
