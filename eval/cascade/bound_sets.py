"""The labelled sets on which the bound is resampled: the podcast's own rows, and two public sets where they are found.

- ``podcast``: heads from ``train``; the conversations of ``dev`` and ``calibrate`` fit and measure, half each.
- ``clinc150``: one of the set's domains counts as ours, with half of the rows. Heads learn from 400 rows, 200 others
  fit the bound, and the rest measure it; ten times with other rows. Only relevance and the kind of a rejection are
  labelled.
- ``trec_cast``: whether a turn is a follow-up. Its 78 conversations are too few to learn from and to calibrate on, so
  the head learns from 120 conversations of CANARD, and two thirds of CAsT's, 52, fit the bound. With fewer than 45 no
  bound of 5 % could be shown, even without any error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ...data.card import DomainCard
from ...data.converters import CONVERTERS
from ...data.converters.sources import VARIABLE
from ...data.domain import load_domain
from ...data.rows import LabelledRow
from ...program.heads.encoder import default_encoder
from ...program.heads.training import train_heads
from .head_answers import RowAnswers, head_answers
from .learn_then_test import ERROR
from .resample_bound import DRAWS, Progress, Resampled, only, resample

TRAININGS = 10
TO_LEARN = 400
TO_FIT = 200
TO_MEASURE = 1000
CANARD_CONVERSATIONS = 120
CAST_FIT = 2 / 3


def resample_sets(
    draws: int = DRAWS, error: float = ERROR, seed: int = 0, progress: Progress | None = None
) -> Iterator[Resampled]:
    """Resample the bound on each set in turn; on public ones only if they are found in ``QUERYPLAN_BENCHMARKS``."""
    told = progress or (lambda done, total: None)
    yield resample("podcast", podcast_answers(seed), draws, seed, error, progress=told)
    if skipped():
        return
    yield resample("clinc150, relevance", clinc_answers(seed=seed), draws, seed, error, fit=TO_FIT, progress=told)
    yield resample("trec_cast, follow-up", cast_answers(seed), draws, seed, error, fit=CAST_FIT, progress=told)


def skipped() -> tuple[str, ...]:
    """The sets that are not found, each with what to do about it."""
    if os.environ.get(VARIABLE):
        return ()
    return tuple(f"{name}: set {VARIABLE} to the folder that has it" for name in ("clinc150", "trec_cast"))


def podcast_answers(seed: int = 0) -> list[RowAnswers]:
    """Answers of heads from ``train`` on the conversations of ``dev`` and ``calibrate``."""
    read = load_domain("podcast", splits=("train", "dev", "calibrate"))
    heads = train_heads(read.rows("train"), read.card, default_encoder(), seed)
    return head_answers(heads, [*read.rows("dev"), *read.rows("calibrate")], read.card)


def clinc_answers(
    domain: str = "banking", trainings: int = TRAININGS, inside: float = 0.5, seed: int = 0
) -> list[list[RowAnswers]]:
    """For each training, the answers about relevance on rows that the heads did not learn from.

    Args:
        domain: the domain of the set that counts as ours.
        inside: the share of rows in this domain; in the whole set it is about a tenth.
    """
    card, rows = converted("clinc150", domain=domain)
    found = []
    for number in range(trainings):
        drawn = mixed(rows, TO_LEARN + TO_FIT + TO_MEASURE, inside, np.random.default_rng((seed, number)))
        heads = train_heads(drawn[:TO_LEARN], card, default_encoder(), seed)
        found.append(only(head_answers(heads, drawn[TO_LEARN:], card), ("relevance", "kind")))
    return found


def cast_answers(seed: int = 0) -> list[RowAnswers]:
    """Follow-up answers on CAsT of heads that learned from CANARD."""
    card, taught = converted("canard")
    _, rows = converted("trec_cast")
    names = sorted({row.conversation for row in taught})
    chosen = {names[i] for i in np.random.default_rng(seed).permutation(len(names))[:CANARD_CONVERSATIONS]}
    later = [row for row in taught if row.history and row.conversation in chosen]
    heads = train_heads(later, card, default_encoder(), seed)
    return only(head_answers(heads, [row for row in rows if row.history], card), ("follow_up",))


def converted(name: str, **options: str) -> tuple[DomainCard, list[LabelledRow]]:
    """Card and rows of a public set, all splits together.

    Raises:
        DataError: the set is not where ``QUERYPLAN_BENCHMARKS`` says.
    """
    with TemporaryDirectory() as scratch:
        CONVERTERS[name].convert(None, Path(scratch) / name, **options)
        read = load_domain(Path(scratch) / name)
    return read.card, [row for rows in read.splits.values() for row in rows]


def mixed(rows: Sequence[LabelledRow], count: int, inside: float, rng: np.random.Generator) -> list[LabelledRow]:
    """``count`` rows in random order, the share ``inside`` of them in the domain, or as many as there are."""
    ours = [row for row in rows if row.labels.is_relevant]
    others = [row for row in rows if not row.labels.is_relevant]
    many = min(round(count * inside), len(ours))
    chosen = [ours[i] for i in rng.choice(len(ours), many, replace=False)]
    chosen += [others[i] for i in rng.choice(len(others), count - many, replace=False)]
    return [chosen[i] for i in rng.permutation(len(chosen))]
