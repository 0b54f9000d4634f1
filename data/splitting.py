"""Splits labelled rows by conversation, so that each split has its share of every label.

Conversations are dealt out one after the other, each to the split that is then nearest to its shares of rows and of
every label value; rare values weigh as much as frequent ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..errors import DataError
from .domain import ENDINGS
from .replacing import replace_all
from .rows import SPLITS, LabelledRow, write_rows
from .statistics import ASKED, label_of

SHARES: Mapping[str, float] = {"train": 0.45, "dev": 0.15, "calibrate": 0.25, "test": 0.15}
_ROWS = "rows"

Parts = dict[str, tuple[LabelledRow, ...]]


def parse_shares(text: str) -> dict[str, float]:
    """``train=0.6,dev=0.2,test=0.2`` as shares.

    Raises:
        DataError: a name is not a split, a share is not a number, or they do not sum to 1.
    """
    example = "give shares such as train=0.6,dev=0.2,test=0.2"
    try:
        pairs = [part.split("=") for part in text.split(",")]
        shares = {name.strip(): float(number) for name, number in pairs}
    except ValueError:
        raise DataError(f"{text!r} are no shares; {example}") from None
    if unknown := sorted(set(shares) - set(SPLITS)):
        raise DataError(f"there is no split {', '.join(unknown)}: the splits are {', '.join(SPLITS)}")
    wrong = any(not 0 < share <= 1 for share in shares.values())  # also what is no number
    if len(shares) < len(pairs) or wrong or abs(sum(shares.values()) - 1) > 1e-6:
        raise DataError(f"shares must be over 0, one a split, and sum to 1, unlike {text!r}; {example}")
    return shares


def split_rows(rows: Sequence[LabelledRow], shares: Mapping[str, float] = SHARES, seed: int = 0) -> Parts:
    """Deal conversations out to splits; rows keep their order within a split.

    Args:
        shares: share of the rows for each split; they sum to 1.
        seed: the same rows, shares and seed give the same splits.

    Raises:
        DataError: there are no rows, or fewer conversations than splits.
    """
    if not rows:
        raise DataError("there are no rows to split; label some queries first")
    strata = _strata(rows)
    if len(strata) < len(shares):
        all_of = "all rows are of 1 conversation, which" if len(strata) == 1 else f"{len(strata)} conversations"
        raise DataError(f"{all_of} cannot make {len(shares)} splits; label more conversations, or give fewer --shares")
    home = _deal(strata, shares, seed)
    return {name: tuple(row for row in rows if home[row.conversation] == name) for name in shares}


def write_splits(parts: Parts, out: Path, replace: bool = False) -> list[Path]:
    """Write each split as ``NAME.jsonl``; in the end all files are written, or none, also if the process is killed.

    Args:
        replace: overwrite existing files.

    Raises:
        DataError: a file exists and ``replace`` is not set; or one exists that would remain beside the new ones,
            perhaps with some of their rows; or another process splits into this folder.
    """
    names = {f"{name}.jsonl": name for name in parts}

    def check() -> None:
        splits = [f"{split}{ending}" for split in SPLITS for ending in ENDINGS]
        there = [name for name in splits if (out / name).exists()]
        if beside := [name for name in there if name not in names]:
            raise DataError(
                f"{out} has {', '.join(beside)}, which this split does not write: its rows would stay beside the new"
                " ones; give all splits a share, move it away, or give another --out"
            )
        if there and not replace:
            raise DataError(
                f"{out} has {', '.join(there)} already; give another --out, or --replace to write over them"
            )

    def writer(rows: Sequence[LabelledRow]) -> Callable[[Path], None]:
        return lambda path: write_rows(path, rows)

    replace_all(out, {file: writer(parts[name]) for file, name in names.items()}, check)
    return [out / name for name in names]


def _strata(rows: Sequence[LabelledRow]) -> dict[str, Counter[str]]:
    """The number of rows of each kind in a conversation."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        values = ((label, label_of(row, label)) for label in ASKED)
        kinds = [f"{label} {value}" for label, value in values if value is not None]
        found.setdefault(row.conversation, Counter()).update([_ROWS, *kinds])
    return found


def _deal(strata: Mapping[str, Counter[str]], shares: Mapping[str, float], seed: int) -> dict[str, str]:
    """The split of each conversation, long ones first, so that the short ones even out what those left."""
    kinds = sorted({kind for counts in strata.values() for kind in counts})
    place = {kind: n for n, kind in enumerate(kinds)}
    names = sorted(strata)
    counts = np.zeros((len(names), len(kinds)))
    for n, name in enumerate(names):
        for kind, count in strata[name].items():
            counts[n, place[kind]] = count
    drawn = np.random.default_rng(seed).permutation(len(names))
    order = drawn[np.argsort(-counts[drawn, place[_ROWS]], kind="stable")]
    splits = list(shares)
    homes = _nearest(counts[order], np.array([shares[s] for s in splits]))
    return {names[n]: splits[home] for n, home in zip(order.tolist(), homes, strict=True)}


def _nearest(counts: np.ndarray, shares: np.ndarray) -> list[int]:
    """For each conversation, in order, the split that brings all kinds nearest to their shares.

    The distance is the sum of squares of (rows there - rows wanted), over rows wanted and over all
    rows of that kind, so that a rare label weighs as much as a frequent one.
    """
    totals = counts.sum(axis=0)
    wanted = shares[:, None] * totals
    needed = wanted.copy()
    homes: list[int] = []
    filled = np.zeros(len(shares), dtype=bool)
    for n, row in enumerate(counts):
        score = ((needed - row / 2) / wanted) @ (row / totals)
        if len(counts) - n <= (~filled).sum():
            score[filled] = -np.inf
        home = int(score.argmax())
        needed[home] -= row
        filled[home] = True
        homes.append(home)
    return homes
