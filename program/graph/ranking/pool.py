"""The pool of plans that are ranked: arrays of candidates of one layout, and how they are generated.

A layout says how many branches there are and which slots hold whose hops. All candidates of a layout are scored by a
few array operations; only the best become sketches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from ....signatures.graph_steps import NodeRef
from ..sketch import Branch, Combine, Hop, Sketch
from .paths import MAX_HOPS, NOTHING, Chains, PathTable

COMBINES: tuple[Combine, ...] = ("alone", "union", "intersect", "difference", "symmetric")
TAIL = -1
MAX_TAIL = 2


@dataclass(frozen=True)
class Group:
    """Names of one type that share a chain.

    Attributes:
        places: which of the hypothesis' mentions they are.
        every: what is reached must be reached from every one of them.
    """

    nodes: tuple[NodeRef, ...]
    kind: int
    places: tuple[int, ...]
    every: bool = False


@dataclass(frozen=True)
class Pool:
    """Candidates of one layout.

    Attributes:
        key: what the candidates are made of, if they depend on the schema alone: then what they look like is kept.
        groups: one a branch; with ``separate``, the one group's names are branches of their own with one chain.
        hops: shape (n, slots); slots are three a branch, then the tail.
        types: types reached, likewise.
        branch: of each slot, ``TAIL`` for the tail.
        combine, back, end: of each candidate, shape (n,).
        part_of: the pool that these are some of, and their places there.
    """

    groups: tuple[Group, ...]
    hops: np.ndarray
    types: np.ndarray
    branch: np.ndarray
    combine: np.ndarray
    back: np.ndarray
    end: np.ndarray
    separate: bool = False
    key: tuple[object, ...] | None = None
    part_of: tuple[Pool, np.ndarray] | None = None

    def __len__(self) -> int:
        return len(self.end)

    @property
    def twofold(self) -> bool:
        """Whether they are pairs of ways from one name that is said once."""
        return len(self.groups) > 1 and self.groups[0].places == self.groups[1].places

    @property
    def slots(self) -> int:
        """How many hops a candidate may have."""
        return self.hops.shape[1]

    def sketch(self, place: int, table: PathTable) -> Sketch:
        """One candidate as a sketch."""
        row = self.hops[place]
        combine = COMBINES[int(self.combine[place])]
        branches = [
            Branch(group.nodes, _hops(row[self.branch == i], table, self._goes_back(place, i)), group.every)
            for i, group in enumerate(self.groups)
        ]
        if self.separate and combine != "alone":
            only = branches[0]
            branches = [Branch((node,), only.hops) for node in only.anchors]
        return Sketch(tuple(branches), combine, _hops(row[self.branch == TAIL], table, False))

    def _goes_back(self, place: int, group: int) -> bool:
        """Whether a branch leaves out what it started from: only where its second hop reaches nodes of that type."""
        types = self.types[place, self.branch == group]
        return bool(self.back[place]) and len(types) > 1 and int(types[1]) == self.groups[group].kind


def _hops(row: np.ndarray, table: PathTable, back: bool) -> tuple[Hop, ...]:
    places = [int(h) for h in row if h != NOTHING]
    return tuple(table.hop(h, back and i == 1) for i, h in enumerate(places))


def chains_pool(group: Group, chains: Chains, combines: Sequence[str] = ("alone",), key: object = None) -> Pool:
    """One group, each chain with each way of combining its names; ``key`` says which chains these are."""
    n = len(chains)
    codes = np.repeat([COMBINES.index(cast(Combine, c)) for c in combines], n)
    places = np.tile(np.arange(n), len(combines))
    taken = chains.take(places)
    return Pool(
        groups=(group,),
        hops=taken.hops,
        types=taken.types,
        branch=np.zeros(MAX_HOPS, dtype=np.int32),
        combine=codes,
        back=taken.back,
        end=taken.end,
        separate=True,
        key=None if key is None else (key, group.kind, len(group.nodes) > 1, group.every, tuple(combines)),
    )


def product_pool(groups: Sequence[Group], options: Sequence[Chains], combines: Sequence[str]) -> Pool | None:
    """Several groups, every combination of their chains that ends in one type; None if there is none."""
    places = _meeting(options)
    if not len(places):
        return None
    chosen = [chains.take(places[:, i]) for i, chains in enumerate(options)]
    hops = np.concatenate([c.hops for c in chosen], axis=1)
    types = np.concatenate([c.types for c in chosen], axis=1)
    back = np.any([c.back for c in chosen], axis=0)
    n, m = len(places), len(combines)
    return Pool(
        groups=tuple(groups),
        hops=np.tile(hops, (m, 1)),
        types=np.tile(types, (m, 1)),
        branch=np.repeat(np.arange(len(groups), dtype=np.int32), MAX_HOPS),
        combine=np.repeat([COMBINES.index(cast(Combine, c)) for c in combines], n),
        back=np.tile(back, m),
        end=np.tile(chosen[0].end, m),
    )


def _meeting(options: Sequence[Chains]) -> np.ndarray:
    """Places of chains, one of each list, that end in one type and are not all without hops; shape (n, lists)."""
    found = [np.zeros((0, len(options)), dtype=np.int64)]
    for kind in sorted(set.intersection(*(set(chains.end.tolist()) for chains in options))):
        ending = [np.flatnonzero(chains.end == kind) for chains in options]
        found.append(np.stack([grid.ravel() for grid in np.meshgrid(*ending, indexing="ij")], axis=1))
    places = np.concatenate(found)
    followed = [chains.length[places[:, i]] > 0 for i, chains in enumerate(options)]
    return places[np.any(followed, axis=0)]


def with_tail(pool: Pool, table: PathTable) -> Pool | None:
    """Every candidate followed by one more hop after its branches were combined; None if nothing follows."""
    if (pool.branch == TAIL).sum() >= MAX_TAIL:
        return None
    following = [table.following(int(end)) for end in pool.end]
    places = np.repeat(np.arange(len(pool)), [len(f) for f in following])
    if not len(places):
        return None
    hop = np.concatenate(following).astype(np.int32)
    reached = table.targets[hop]
    return Pool(
        groups=pool.groups,
        hops=np.concatenate([pool.hops[places], hop[:, None]], axis=1),
        types=np.concatenate([pool.types[places], reached[:, None]], axis=1),
        branch=np.append(pool.branch, TAIL).astype(np.int32),
        combine=pool.combine[places],
        back=pool.back[places],
        end=reached,
        separate=pool.separate,
    )


def taken(pool: Pool, places: np.ndarray) -> Pool:
    """The candidates at these places."""
    return Pool(
        pool.groups,
        pool.hops[places],
        pool.types[places],
        pool.branch,
        pool.combine[places],
        pool.back[places],
        pool.end[places],
        pool.separate,
        part_of=(pool, places),
    )
