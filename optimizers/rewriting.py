"""Who rewrites follow-ups, the model or the head: whoever is nearer to the annotators' forms of ``dev``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dspy
import numpy as np
from dspy.utils.exceptions import AdapterParseError

from ..data.card import DomainCard
from ..data.rows import LabelledRow
from ..program.context import clean_row
from ..program.heads import Heads
from ..program.settle import Combination, head_alone
from ..program.stages import REWRITTEN, StageSpec, examples
from .scores import rewrite_score
from .trials import dev_sample

MODEL_ALONE = Combination(lm_weight=1.0, head_weight=0.0, bias={})


@dataclass(frozen=True)
class FittedRewriting:
    """Who rewrites, and by which mean token F1 of how many rows that was decided."""

    combination: Combination
    model: float
    head: float
    typed: float
    rows: int
    output: str = REWRITTEN

    @property
    def sentence(self) -> str:
        """What was decided, for the report."""
        who = "the model" if self.combination.lm_weight else "the head alone, the model does not beat it"
        shown = f"token F1 on dev: head {self.head:.3f}, model {self.model:.3f}, as typed {self.typed:.3f}"
        return f"{self.output}: {who} ({shown}; {self.rows} rows)"


def fit_rewriting(
    spec: StageSpec,
    predictor: dspy.Predict,
    heads: Heads,
    rows_dev: Sequence[LabelledRow],
    card: DomainCard,
    lm: Any,
    written_dev: int,
    seed: int = 0,
) -> FittedRewriting | None:
    """Compare both on the rows that the compile scored; None where no head rewrites or no row follows up.

    The model rewrites where it is better by a standard error of the paired differences, as with labels. Requests are
    the ones that compiling made, so a journal answers them.
    """
    made = examples(spec, rows_dev, card)
    if heads.rewriter is None or len(made) < 2:
        return None
    shown = dev_sample(made, written_dev, seed)
    by_id = {row.id: row for row in rows_dev}
    with dspy.context(adapter=lm.adapter):
        model = np.array([_by_model(predictor, example, spec, lm) for example in shown])
    head = np.array([_by_head(heads, by_id[example.row_id], card, example) for example in shown])
    typed = [rewrite_score(e, dspy.Prediction(standalone_query=e["query"])) for e in shown]
    gain = model - head
    better = gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain))
    combination = MODEL_ALONE if better else head_alone(())
    return FittedRewriting(combination, float(model.mean()), float(head.mean()), float(np.mean(typed)), len(shown))


def _by_model(predictor: dspy.Predict, example: dspy.Example, spec: StageSpec, lm: Any) -> float:
    try:
        return rewrite_score(example, predictor(lm=lm.writer, **{name: example[name] for name in spec.inputs}))
    except AdapterParseError:  # nothing that can be read is nothing written
        return 0.0


def _by_head(heads: Heads, row: LabelledRow, card: DomainCard, example: dspy.Example) -> float:
    clean = clean_row(row, card)
    assert heads.rewriter is not None, "asked only where there is one"
    found = heads.rewriter.rewrite(clean.query, clean.turns, clean.active_entity, heads.features.linker)
    return rewrite_score(example, dspy.Prediction(standalone_query=found.text))
