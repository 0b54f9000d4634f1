"""Chooses whether model or head rewrites follow-ups and writes sub-queries: whichever is nearer to gold on ``dev``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import dspy
import numpy as np
from dspy.utils.exceptions import AdapterParseError

from ..data.card import DomainCard
from ..data.rows import LabelledRow
from ..program.context import clean_row
from ..program.heads.heads import Heads
from ..program.settle import Combination, head_alone
from ..program.stages import REWRITTEN, SPLIT, StageSpec, examples
from .base import Metric
from .scores import decompose_right, decompose_score, rewrite_score
from .trials import dev_sample

MODEL_ALONE = Combination(lm_weight=1.0, head_weight=0.0, bias={})


class Rival(NamedTuple):
    """A head that writes the same output as a stage's model.

    Attributes:
        output: the name under which the choice between them is kept.
        measure: the name, for the report, of the score by which both are compared; ``score`` computes it.
        of: gives the head of a program, or None.
        writes: gives the head's output for a row, in the form of a model's answer.
        bare: gives the output if neither writes anything; ``unwritten`` is its name.
        right: says whether the model's output is wholly right; only for heads that state their certainty, else None.
    """

    output: str
    measure: str
    score: Metric
    of: Callable[[Heads], Any]
    writes: Callable[[Heads, LabelledRow, DomainCard, dspy.Example], dspy.Prediction]
    bare: Callable[[dspy.Example], dspy.Prediction]
    unwritten: str
    right: Callable[[dspy.Example, dspy.Prediction], bool] | None = None


def _rewritten(heads: Heads, row: LabelledRow, card: DomainCard, example: dspy.Example) -> dspy.Prediction:
    clean = clean_row(row, card)
    assert heads.rewriter is not None, "asked only where there is one"
    found = heads.rewriter.rewrite(clean.query, clean.turns, clean.active_entity, heads.features.linker)
    return dspy.Prediction(standalone_query=found.text)


def _cut(heads: Heads, row: LabelledRow, card: DomainCard, example: dspy.Example) -> dspy.Prediction:
    found = heads.decomposed(example["query"])
    return dspy.Prediction(sub_queries=list(found.sub_queries) if found else [])


RIVALS: Mapping[str, Rival] = {
    "rewrite": Rival(
        REWRITTEN,
        "token F1",
        rewrite_score,
        lambda heads: heads.rewriter,
        _rewritten,
        lambda example: dspy.Prediction(standalone_query=example["query"]),
        "as typed",
    ),
    "decompose": Rival(
        SPLIT,
        "score",
        decompose_score,
        lambda heads: heads.decomposer,
        _cut,
        lambda example: dspy.Prediction(sub_queries=[]),
        "searched whole",
        decompose_right,
    ),
}
"""The stages for which a head can write, by name."""


@dataclass(frozen=True)
class FittedWriting:
    """The choice between model and head for one output, and the mean scores and number of rows that decided it.

    Attributes:
        right: how many of the model's outputs were wholly right; None if not needed.
    """

    combination: Combination
    model: float
    head: float
    bare: float
    rows: int
    output: str
    measure: str
    unwritten: str
    right: int | None = None

    @property
    def sentence(self) -> str:
        """The choice as a sentence for the report."""
        means = f"head {self.head:.3f}, model {self.model:.3f}, {self.unwritten} {self.bare:.3f}"
        shown = f"{self.measure} on dev: {means}; {self.rows} rows"
        if self.combination.surer is not None:
            surer = f"the head where it is surer than {self.combination.surer:.2f}, else the model"
            return f"{self.output}: {surer} ({self.right} of the model's right; {shown})"
        who = "the model" if self.combination.lm_weight else "the head alone, the model does not beat it"
        return f"{self.output}: {who} ({shown})"


def unmeasured(heads: Heads) -> dict[str, Combination]:
    """The choice for outputs that a job did not compile: the head, if there is one; the model only for sub-queries if
    the head finds none.

    An uncompiled model would have to be better than the head to be worth its seconds, which has not been measured.
    """
    split = MODEL_ALONE.model_copy(update={"surer": 0.0})
    chosen = {REWRITTEN: head_alone(()), SPLIT: split}
    return {rival.output: chosen[rival.output] for rival in RIVALS.values() if rival.of(heads) is not None}


def fit_writing(
    spec: StageSpec,
    predictor: dspy.Predict,
    heads: Heads,
    rows_dev: Sequence[LabelledRow],
    card: DomainCard,
    lm: Any,
    written_dev: int,
    seed: int = 0,
) -> FittedWriting | None:
    """Compare model and head on the rows that the compile scored; None without a head, or with fewer than two rows.

    The model rewrites follow-ups if it is better by a standard error of the paired differences, as with labels. The
    head writes sub-queries where its certainty is above the share of the model's that are wholly right, estimated as
    (right + 0.5) / (rows + 1). The requests are those of compiling, so a journal answers them.
    """
    made, rival = examples(spec, rows_dev, card), RIVALS[spec.name]
    if rival.of(heads) is None or len(made) < 2:
        return None
    shown = dev_sample(made, written_dev, seed)
    by_id = {row.id: row for row in rows_dev}
    with dspy.context(adapter=lm.adapter):
        answers = [_by_model(predictor, example, spec, lm) for example in shown]
    pairs = list(zip(shown, answers, strict=True))
    model = np.array([rival.score(e, answer) if answer is not None else 0.0 for e, answer in pairs])
    head = np.array([rival.score(e, rival.writes(heads, by_id[e.row_id], card, e)) for e in shown])
    bare = [rival.score(example, rival.bare(example)) for example in shown]
    right = None
    if rival.right is not None:
        right = sum(answer is not None and rival.right(e, answer) for e, answer in pairs)
        combination = MODEL_ALONE.model_copy(update={"surer": round((right + 0.5) / (len(shown) + 1), 3)})
    else:
        gain = model - head
        better = gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain))
        combination = MODEL_ALONE if better else head_alone(())
    return FittedWriting(
        combination=combination,
        model=float(model.mean()),
        head=float(head.mean()),
        bare=float(np.mean(bare)),
        rows=len(shown),
        output=rival.output,
        measure=rival.measure,
        unwritten=rival.unwritten,
        right=right,
    )


def _by_model(predictor: dspy.Predict, example: dspy.Example, spec: StageSpec, lm: Any) -> dspy.Prediction | None:
    """The model's answer; None if it cannot be parsed."""
    try:
        return predictor(lm=lm.writer, **{name: example[name] for name in spec.inputs})
    except AdapterParseError:
        return None
