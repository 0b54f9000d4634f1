"""The rate of false alarms of a comparison, by permutation.

Of two evaluations of the same rows, the outcomes of each conversation are swapped at random. Then neither is better,
and every difference still reported is a false alarm. Run it on two evaluations of your own: ``python -m
queryplan.eval.false_alarms FOLDER FOLDER [TIMES]``.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np

from ..signatures.types import Frozen
from .compare import compared_rows
from .evaluation import Evaluation
from .significance import SAME


class FalseAlarms(Frozen):
    """The result of a simulation.

    Attributes:
        cried: number of comparisons in which at least one difference was reported as shown.
        by_question: how often each difference was, as "measure" or "measure of slice".
    """

    times: int
    cried: int
    by_question: dict[str, int]


def false_alarms(a: Evaluation, b: Evaluation, times: int = 1000, seed: int = 0) -> FalseAlarms:
    """Compare ``a`` and ``b`` repeatedly, with sides swapped at random each time."""
    rng = np.random.default_rng(seed)
    cried, questions = 0, Counter[str]()
    for _ in range(times):
        shown = [d for d in compared_rows(*sides_changed(a, b, rng)) if d.verdict != SAME]
        cried += bool(shown)
        questions.update(f"{d.measure} of {d.slice}" if d.slice else d.measure for d in shown)
    return FalseAlarms(times=times, cried=cried, by_question=dict(questions.most_common()))


def sides_changed(a: Evaluation, b: Evaluation, rng: np.random.Generator) -> tuple[Evaluation, Evaluation]:
    """Both evaluations with the outcomes of about half of the conversations swapped."""
    names = sorted({case.conversation for case in a.cases})
    turned = {name for name, flip in zip(names, rng.random(len(names)) < 0.5, strict=True) if flip}
    theirs = {case.row_id: case for case in b.cases}
    pairs = [(case, theirs[case.row_id]) for case in a.cases]
    pairs = [(y, x) if x.conversation in turned else (x, y) for x, y in pairs]
    left, right = zip(*pairs, strict=True)
    return a.model_copy(update={"cases": left}), b.model_copy(update={"cases": right})


if __name__ == "__main__":
    first, second, *rest = sys.argv[1:]
    found = false_alarms(Evaluation.load(Path(first)), Evaluation.load(Path(second)), int(rest[0]) if rest else 1000)
    sys.stdout.write(found.model_dump_json(indent=1) + "\n")
