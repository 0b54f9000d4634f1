"""Pools of candidate plans, as arrays of candidates of one layout, and how they are generated.

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
        kind: the number of their type in the schema.
        places: the places of the names among the hypothesis' mentions.
        every: whether what is reached must be reached from every one of them; otherwise from any.
    """

    nodes: tuple[NodeRef, ...]
    kind: int
    places: tuple[int, ...]
    every: bool = False


@dataclass(frozen=True)
class Pool:
    """Candidates of one layout.

    Attributes:
        groups: one for each branch; with ``separate`` a single group, whose names are branches of their own that share
            the chain.
        hops: the hop in each slot, shape (n, slots); there are three slots for each branch, then those of the tail.
        types: the types that these hops reach, likewise.
        branch: the branch of each slot, shape (slots,); ``TAIL`` for the tail.
        combine, back, end: for each candidate, how its branches are combined, whether it leaves out the nodes that it
            started from, and its last type, shape (n,).
        key: identifies candidates that depend on the schema alone, so that what is computed of them can be cached.
        part_of: the pool that these candidates were selected from, and their places there.
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
        """Whether the candidates are pairs of paths from one name that is said once."""
        return len(self.groups) > 1 and self.groups[0].places == self.groups[1].places

    @property
    def slots(self) -> int:
        """The most hops that a candidate of this layout can have."""
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
        """Whether a branch leaves out the nodes it started from, which takes a second hop that reaches their type."""
        types = self.types[place, self.branch == group]
        return bool(self.back[place]) and len(types) > 1 and int(types[1]) == self.groups[group].kind


def _hops(row: np.ndarray, table: PathTable, back: bool) -> tuple[Hop, ...]:
    places = [int(h) for h in row if h != NOTHING]
    return tuple(table.hop(h, back and i == 1) for i, h in enumerate(places))


def chains_pool(group: Group, chains: Chains, combines: Sequence[str] = ("alone",), key: object = None) -> Pool:
    """Candidates of one group: each chain with each way of combining its names; ``key`` names this set of chains."""
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
    """Candidates of several groups: every combination of chains that end in the same type; None if there is none.

    Args:
        options: the chains of each group.
        combines: the ways of combining the sets that the chains reach.
    """
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
    """All choices of one chain from each list that end in the same type and are not all empty; shape (n, lists)."""
    found = [np.zeros((0, len(options)), dtype=np.int64)]
    for kind in sorted(set.intersection(*(set(chains.end.tolist()) for chains in options))):
        ending = [np.flatnonzero(chains.end == kind) for chains in options]
        found.append(np.stack([grid.ravel() for grid in np.meshgrid(*ending, indexing="ij")], axis=1))
    places = np.concatenate(found)
    followed = [chains.length[places[:, i]] > 0 for i, chains in enumerate(options)]
    return places[np.any(followed, axis=0)]


def with_tail(pool: Pool, table: PathTable) -> Pool | None:
    """Every candidate with each possible further hop after its branches are combined; None if there is none."""
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
