"""Draws a stratified part of a labelled set, for a demonstration or a small budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from random import Random

from ..data.rows import LabelledRow

Trait = tuple[str, Hashable]


@dataclass(frozen=True)
class Sample:
    """Sampled rows in the order of the file, with a description."""

    rows: tuple[LabelledRow, ...]
    name: str


def sample_rows(rows: Sequence[LabelledRow], n: int, seed: int = 0, name: str = "") -> Sample:
    """``n`` rows stratified by follow-up, later turn, relevance, complexity and intent.

    Conversations are added whole, each time the one that brings the shares nearest to those of
    the whole set (sum of squared deviations over expectations, of each trait and of their
    combination). Only where none fits any more, single rows fill the rest.

    Args:
        n: number of rows; all of them if there are no more.
        seed: decides between equally good conversations.
        name: the split's name, for the description.
    """
    split = f"{name} rows".strip()
    if n >= len(rows):
        return Sample(tuple(rows), f"all {len(rows)} {split}")
    chosen = _Chooser(rows, n).choose(_shuffled_conversations(rows, seed))
    kept = tuple(row for i, row in enumerate(rows) if i in chosen)
    return Sample(kept, f"{len(kept)} of {len(rows)} {split}, stratified, seed {seed}")


def _shuffled_conversations(rows: Sequence[LabelledRow], seed: int) -> list[list[int]]:
    members: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        members.setdefault(row.conversation, []).append(i)
    units = [members[name] for name in sorted(members)]
    Random(seed).shuffle(units)
    return units


def _traits(row: LabelledRow) -> tuple[Trait, ...]:
    labels = row.labels
    parts: dict[str, Hashable] = {
        "is_follow_up": labels.is_follow_up,
        "later turn": bool(row.history),
        "is_relevant": labels.is_relevant,
        "complexity": labels.complexity,
        "intent": labels.intent,
    }
    return (*parts.items(), ("all", tuple(parts.values())))


class _Chooser:
    """Greedy choice of row numbers whose traits come near to their expected counts."""

    def __init__(self, rows: Sequence[LabelledRow], n: int) -> None:
        self._n = n
        self._traits = [_traits(row) for row in rows]
        whole = Counter(trait for traits in self._traits for trait in traits)
        self._expected = {trait: count * n / len(rows) for trait, count in whole.items()}
        self._have: Counter[Trait] = Counter()
        self._chosen: set[int] = set()

    def choose(self, units: list[list[int]]) -> set[int]:
        """Whole units while one fits, then single rows of those that are left."""
        singles = [[i] for unit in units for i in unit]
        self._fill(units)
        self._fill(singles)
        return self._chosen

    def _fill(self, units: list[list[int]]) -> None:
        while len(self._chosen) < self._n:
            room = self._n - len(self._chosen)
            fitting = [u for u in units if len(u) <= room and not self._chosen.intersection(u)]
            if not fitting:
                return
            best = min(fitting, key=self._harm)
            self._chosen.update(best)
            self._have.update(trait for i in best for trait in self._traits[i])

    def _harm(self, unit: list[int]) -> float:
        """Change of the sum of ``(have - expected)² / expected`` by adding the unit, per row."""
        added = Counter(trait for i in unit for trait in self._traits[i])
        change = 0.0
        for trait, more in added.items():
            have, expected = self._have[trait], self._expected[trait]
            change += ((have + more - expected) ** 2 - (have - expected) ** 2) / expected
        return change / len(unit)
