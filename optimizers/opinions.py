"""Gathers the label probabilities of model and heads on ``dev``, to which their combination is fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dspy
import numpy as np

from ..data.card import DomainCard
from ..data.rows import LabelledRow
from ..program.context import clean_row
from ..program.heads.heads import HeadAnswer, Heads
from ..program.lm.decider import UnansweredError
from ..program.settle import label_probabilities
from ..program.stages import DECIDING, StageSpec, examples
from .combining import FittedCombination, Opinions, fit_combination

# Not ``rejection_kind``: only rejected queries have one, and these few dev rows are not enough to fit nine numbers.
POOLED = ("is_follow_up", "is_relevant", "complexity", "intent", "needs_decomposition")


def fit_combinations(
    specs: Mapping[str, StageSpec],
    predictors: Mapping[str, dspy.Predict],
    heads: Heads,
    rows_dev: Sequence[LabelledRow],
    card: DomainCard,
    lm: Any,
    seed: int = 0,
) -> list[FittedCombination]:
    """Fit how model and head are combined, for every output with a head.

    The requests to the model are those of compiling, so a journal answers them.
    """
    fitted = []
    by_id = {row.id: row for row in rows_dev}
    for stage in (name for name in DECIDING if name in specs):
        spec = specs[stage]
        outputs = [o for o in spec.signature.output_fields if o in POOLED and o in heads.heads]
        made = examples(spec, rows_dev, card)
        if not outputs or not made:
            continue
        answers = _answers(spec, predictors[stage], made, outputs, lm)
        answered = [(example, answer) for example, answer in zip(made, answers, strict=True) if answer is not None]
        for output in outputs if answered else ():
            opinions = _opinions(output, heads, answered, by_id, card)
            if opinions is not None and (found := fit_combination(opinions, seed)) is not None:
                fitted.append(found)
    return fitted


def _answers(
    spec: StageSpec, predictor: dspy.Predict, made: Sequence[dspy.Example], outputs: Sequence[str], lm: Any
) -> list[dspy.Prediction | None]:
    """The predictor's answers, asked for as in compiling: only the outputs that are combined.

    An answer is None if the model gave none of the legal answers; a head decides such a row alone, so it is not used.
    """
    signature: Any = predictor.signature
    for name in tuple(signature.output_fields):
        if name not in outputs and name not in predictor.fields:
            signature = signature.delete(name)
    with dspy.context(adapter=lm.adapter):
        return [_answer(predictor, signature, lm, {k: e[k] for k in spec.inputs}) for e in made]


def _answer(predictor: dspy.Predict, signature: Any, lm: Any, inputs: Mapping[str, Any]) -> dspy.Prediction | None:
    try:
        return predictor(lm=lm.decider, signature=signature, **inputs)
    except UnansweredError:
        return None


def _opinions(
    output: str,
    heads: Heads,
    answered: Sequence[tuple[dspy.Example, dspy.Prediction]],
    by_id: Mapping[str, LabelledRow],
    card: DomainCard,
) -> Opinions | None:
    """Both opinions of the rows on which heads have one; None if there are no such rows."""
    pairs = [(e, said, _head_answer(output, by_id[e.row_id], heads, card)) for e, said in answered]
    known = [(e, label_probabilities(getattr(said, output)), head) for e, said, head in pairs if head is not None]
    if not known:
        return None
    labels = tuple(known[0][1])
    gold = [str(e[output]).lower() if isinstance(e[output], bool) else str(e[output]) for e, _, _ in known]
    return Opinions(
        output,
        labels,
        np.array([[said.get(label, 0.0) for label in labels] for _, said, _ in known]),
        np.array([[float(head.probabilities.get(label, 0.0)) for label in labels] for _, _, head in known]),
        np.array([labels.index(label) for label in gold]),
        tuple(e.conversation for e, _, _ in known),
    )


def _head_answer(output: str, row: LabelledRow, heads: Heads, card: DomainCard) -> HeadAnswer | None:
    """What a plan has from the heads, closer look and withheld rejections included; None if they cannot say."""
    clean = clean_row(row, card)
    if output == "is_follow_up":
        return heads.of_turn(clean.query, clean.turns)
    typed = clean.query if row.labels.is_follow_up else None
    return heads.of_query(row.labels.standalone_query, typed).get(output)
