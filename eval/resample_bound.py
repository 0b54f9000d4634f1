"""Does the bound hold? Many draws of calibration and evaluation halves, counting how often it is broken.

Heads are trained once, on ``train``. The conversations of other rows are split in two at random: one half
fits the bound, the other measures it, one row of each conversation. A draw breaks the bound when the share of wrong
queries among the measured half is above it. Draws share rows, so the count is indicative; and a measured half
scatters around the true share, so it is broken somewhat more often than the bound itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import binom

from ..data.domain import load_domain
from ..program.encoder import default_encoder
from ..program.train_heads import train_heads
from ..signatures.types import Frozen
from .head_answers import RowAnswers, head_answers, one_of_each
from .learn_then_test import lowest_safe

DRAWS = 200
ERROR = 0.05
CONFIDENCE = 0.9


class Resampled(Frozen):
    """How often a bound was broken, and what it allowed.

    Attributes:
        allowed: so many broken draws are still likely (2.5 % tail) where the bound holds.
        abstained: draws in which no head could answer.
        coverage: median share of queries that needed no model to decide.
    """

    name: str
    draws: int
    broken: int
    allowed: int
    abstained: int
    conversations: int
    coverage: float

    @property
    def holds(self) -> bool:
        """Whether it was broken no more often than chance allows."""
        return self.broken <= self.allowed


def resample_podcast(draws: int = DRAWS, seed: int = 0) -> Resampled:
    """On the podcast: heads from ``train``, halves of ``dev`` and ``calibrate``; ``test`` is not read."""
    read = load_domain("podcast", splits=("train", "dev", "calibrate"))
    heads = train_heads(read.rows("train"), read.card, default_encoder())
    pooled = head_answers(heads, [*read.rows("dev"), *read.rows("calibrate")], read.card)
    return resample("podcast", pooled, draws, seed)


def resample(
    name: str,
    answers: Sequence[RowAnswers],
    draws: int = DRAWS,
    seed: int = 0,
    error: float = ERROR,
    confidence: float = CONFIDENCE,
) -> Resampled:
    """Split the conversations of these answers ``draws`` times."""
    rng = np.random.default_rng(seed)
    broken, abstained, coverages = 0, 0, list[float]()
    for draw in range(draws):
        drawn = one_of_each(answers, seed + draw)
        order = rng.permutation(len(drawn))
        half = len(drawn) // 2
        fit, held = [drawn[i] for i in order[:half]], [drawn[i] for i in order[half:]]
        certainty = lowest_safe(lambda at, rows=fit: _wrong(rows, at), len(fit), error, confidence)
        if certainty is None:
            abstained += 1
            continue
        broken += _wrong(held, certainty) / len(held) > error
        coverages.append(sum(row.whole(certainty) for row in held) / len(held))
    return Resampled(
        name=name,
        draws=draws,
        broken=broken,
        allowed=int(binom.ppf(0.975, draws, 1 - confidence)),
        abstained=abstained,
        conversations=len({answer.conversation for answer in answers}),
        coverage=float(np.median(coverages)) if coverages else 0.0,
    )


def _wrong(rows: Sequence[RowAnswers], certainty: float) -> int:
    return sum(row.wrong(certainty) for row in rows)
