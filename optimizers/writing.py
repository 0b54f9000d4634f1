"""Chooses who writes follow-ups and sub-queries, model or head: whichever is nearer to the annotators on ``dev``.

Both are judged by what a plan would have. A head is not shown the greetings and rejections that a plan leaves out; an
answer of the model that no plan would use is replaced by the head's; and where a query lists its questions nobody is
asked for sub-queries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import dspy
import numpy as np
from dspy.utils.exceptions import AdapterParseError

from ..data.card import DomainCard
from ..data.rows import LabelledRow
from ..eval.significance import standard_error
from ..program.checks import check_sub_queries
from ..program.context import clean_row
from ..program.heads.heads import Heads
from ..program.settle import Combination, head_alone
from ..program.stages import REWRITTEN, SPLIT, StageSpec, examples
from ..program.written import written_by_head, written_by_model
from .base import Metric
from .scores import decompose_right, decompose_score, rewrite_score
from .trials import dev_sample

MODEL_ALONE = Combination(lm_weight=1.0, head_weight=0.0, bias={})


class Rival(NamedTuple):
    """A head that writes the same output as a stage's model.

    Attributes:
        output: the name under which the choice between them is kept.
        measure: the name, for the report, of the score by which both are compared; ``score`` computes it.
        of: gives the head among those of a program, or None.
        writes: gives what a plan has by the head for a row, in the form of a model's answer.
        usable: gives what a plan has of a model's answer; None where it would not use it.
        asked: says whether a plan asks anybody for this output.
        bare: gives what is left if nobody writes anything; ``unwritten`` is its name.
        right: says whether the model's text is wholly right, if the head states its certainty; None otherwise.
    """

    output: str
    measure: str
    score: Metric
    of: Callable[[Heads], Any]
    writes: Callable[[Heads, LabelledRow, DomainCard, dspy.Example], dspy.Prediction]
    usable: Callable[[dspy.Example, dspy.Prediction], dspy.Prediction | None]
    asked: Callable[[LabelledRow, DomainCard], bool]
    bare: Callable[[dspy.Example], dspy.Prediction]
    unwritten: str
    right: Callable[[dspy.Example, dspy.Prediction], bool] | None = None


def _rewritten(heads: Heads, row: LabelledRow, card: DomainCard, example: dspy.Example) -> dspy.Prediction:
    assert heads.rewriter is not None, "asked only where there is one"
    found = written_by_head(heads.rewriter, clean_row(row, card), card, heads.features.linker)
    return dspy.Prediction(standalone_query=example["query"] if found is None else found.text)


def _usable_rewrite(example: dspy.Example, answer: dspy.Prediction) -> dspy.Prediction | None:
    text, problems = written_by_model(example["query"], answer.get("standalone_query"))
    return None if problems else dspy.Prediction(standalone_query=text)


def _cut(heads: Heads, row: LabelledRow, card: DomainCard, example: dspy.Example) -> dspy.Prediction:
    found = heads.decomposed(example["query"])
    return dspy.Prediction(sub_queries=list(found.sub_queries) if found else [])


def _usable_cut(example: dspy.Example, answer: dspy.Prediction) -> dspy.Prediction | None:
    _, problems = check_sub_queries(example["query"], answer.get("sub_queries") or ())
    return None if problems else answer


def _not_listed(row: LabelledRow, card: DomainCard) -> bool:
    return row.labels.is_follow_up or not clean_row(row, card).lists


RIVALS: Mapping[str, Rival] = {
    "rewrite": Rival(
        REWRITTEN,
        "token F1",
        rewrite_score,
        lambda heads: heads.rewriter,
        _rewritten,
        _usable_rewrite,
        lambda row, card: True,
        lambda example: dspy.Prediction(standalone_query=example["query"]),
        "as typed",
    ),
    "decompose": Rival(
        SPLIT,
        "score",
        decompose_score,
        lambda heads: heads.decomposer,
        _cut,
        _usable_cut,
        _not_listed,
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
        model: of what a plan has that asks the model.
        unused: number of the model's texts that no plan would use, so that the head's count.
        right: number of the model's texts that were wholly right; None if not needed.
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
    unused: int = 0

    @property
    def sentence(self) -> str:
        """The choice as a sentence for the report."""
        means = f"head {self.head:.3f}, model {self.model:.3f}, {self.unwritten} {self.bare:.3f}"
        shown = f"{self.measure} on dev: {means}; {self.rows} rows"
        if self.unused:
            shown += f", in {self.unused} of them the model wrote nothing that can be used, and the head's counts"
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
    """Compare both on the rows that the compile scored and a plan would ask for; None if no head writes, or there are
    fewer than two such rows.

    The model rewrites follow-ups if it is better by a standard error of the paired differences, over conversations, as
    with labels. The
    head writes sub-queries where its certainty is above the share of the model's that are wholly right, estimated as
    (right + 0.5) / (rows + 1). The requests are those of compiling, so a journal answers them.
    """
    made, rival = examples(spec, rows_dev, card), RIVALS[spec.name]
    if rival.of(heads) is None:
        return None
    by_id = {row.id: row for row in rows_dev}
    shown = [e for e in dev_sample(made, written_dev, seed) if rival.asked(by_id[e.row_id], card)]
    if len(shown) < 2:
        return None
    with dspy.context(adapter=lm.adapter):
        answers = [_by_model(predictor, example, spec, lm, rival) for example in shown]
    written = [rival.writes(heads, by_id[example.row_id], card, example) for example in shown]
    pairs = list(zip(shown, answers, strict=True))
    head = np.array([rival.score(e, by_head) for e, by_head in zip(shown, written, strict=True)])
    model = np.array(
        [own if answer is None else rival.score(e, answer) for (e, answer), own in zip(pairs, head, strict=True)]
    )
    bare = [rival.score(example, rival.bare(example)) for example in shown]
    right = None
    if rival.right is not None:
        right = sum(answer is not None and rival.right(e, answer) for e, answer in pairs)
        combination = MODEL_ALONE.model_copy(update={"surer": round((right + 0.5) / (len(shown) + 1), 3)})
    else:
        gain = model - head
        better = gain.mean() > standard_error(gain, [by_id[example.row_id].conversation for example in shown])
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
        unused=sum(answer is None for answer in answers),
    )


def _by_model(
    predictor: dspy.Predict, example: dspy.Example, spec: StageSpec, lm: Any, rival: Rival
) -> dspy.Prediction | None:
    """What a plan has of the model's text; None if it cannot be read or used."""
    try:
        answer = predictor(lm=lm.writer, **{name: example[name] for name in spec.inputs})
    except AdapterParseError:
        return None
    return rival.usable(example, answer)
