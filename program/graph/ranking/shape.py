"""What the candidates of a layout look like whatever the question: which hops they have, and which elements.

Elements are names such as ``combine:union``, or that of an edge followed in a direction as the last hop; what a
question's n-grams say for each is learned from labels.

A candidate's numbers are sums, minima and maxima over its slots. So slots are the first axis of arrays here, along
which numpy needs a tenth of the time.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ....signatures.graph_steps import EdgeType
from .paths import NOTHING, PathTable
from .pool import COMBINES, TAIL, Pool

ROLES = ("any", "first", "mid", "last")
SHARED = (
    *(f"combine:{c}" for c in COMBINES),
    *(f"hops:{n}" for n in range(1, 6)),
    *("back", "no back", "bounce", "every", "zero", "tail", "same", "loop any", "loop out", "loop in", "several"),
)
"""Elements that every schema has; what is learned of them carries over to any schema."""


class Shape:
    """Properties of a pool's candidates that do not depend on the question, each of shape (n,) unless it says more.

    Attributes:
        hops, types: those of the pool, shape (slots, n), ``NOTHING`` where there is none.
        used: whether there is a hop, shape (slots, n).
        tail: whether a slot is of the tail, shape (slots,).
        total: the number of hops.
        fixed: what ``evidence.fixed_of`` makes of it; None until it is first needed.
    """

    def __init__(self, pool: Pool, table: PathTable) -> None:
        self.pool, self.table = pool, table
        self.hops, self.types = np.ascontiguousarray(pool.hops.T), np.ascontiguousarray(pool.types.T)
        self.used = self.hops != NOTHING
        self.tail = pool.branch == TAIL
        self.total = self.used.sum(axis=0)
        self.fixed: np.ndarray | None = None

    @cached_property
    def roles(self) -> dict[str, np.ndarray]:
        """Which slots have each role (first, last or middle hop), shape (slots, n) each."""
        used, branch = self.used, self.pool.branch
        first = used & ((np.arange(len(used)) % 3 == 0) & ~self.tail)[:, None]
        ends = used.copy()
        ends[:-1] &= ~(used[1:] & (branch[1:] == branch[:-1])[:, None])
        last = ends & (self.tail[:, None] | ~self.has_tail)
        # An only hop is both first and last, so what was learned of either role counts.
        return {"first": first, "last": last, "mid": used & ~first & ~last}

    @cached_property
    def has_tail(self) -> np.ndarray:
        """Whether an edge is followed after the branches were combined."""
        return self.used[self.tail].any(axis=0)

    @cached_property
    def goes(self) -> np.ndarray:
        """Whether a branch has any hop, shape (branches, n)."""
        return np.stack([self.used[self.pool.branch == i].any(axis=0) for i in range(len(self.pool.groups))])

    @cached_property
    def bounce(self) -> np.ndarray:
        """Whether an edge is followed, and the next hop follows the same edge type back."""
        edges, before = self.edges, self.table.hop_sources[self.hops]  # the types that hops start at
        again = self.both & (edges[:-1] == edges[1:]) & (before[:-1] == self.types[1:])
        return (again & (self.pool.branch[:-1] == self.pool.branch[1:])[:, None]).any(axis=0)

    @cached_property
    def could_go_back(self) -> np.ndarray:
        """Whether the second hop of a branch reaches the type that the branch began with."""
        found = np.zeros(len(self.pool), dtype=bool)
        for i, group in enumerate(self.pool.groups):
            found |= self.used[3 * i + 1] & (self.types[3 * i + 1] == group.kind)
        return found

    @cached_property
    def loops(self) -> dict[str, np.ndarray]:
        """For each direction, whether an edge that joins a type to itself is followed so; shape (n,) each."""
        return {way: np.asarray(loops[self.hops].any(axis=0)) for way, loops in self.table.loops.items()}

    @cached_property
    def edges(self) -> np.ndarray:
        """The numbers of the edge types followed, shape (slots, n)."""
        return self.table.edge_places[self.hops]

    @cached_property
    def repeats(self) -> np.ndarray:
        """The number of hops that follow an edge type which another hop follows already."""
        ordered = np.sort(self.edges, axis=0)
        again = (ordered[1:] == ordered[:-1]) & (ordered[1:] != NOTHING)
        return np.asarray(again.sum(axis=0))

    @cached_property
    def ends_out(self) -> np.ndarray:
        """Whether the last hop goes from its edge's source to its target."""
        return np.asarray((self.roles["last"] & self.table.hop_out[self.hops]).any(axis=0))

    @cached_property
    def both(self) -> np.ndarray:
        """Whether a slot and the next one both have a hop, shape (slots - 1, n)."""
        return self.used[:-1] & self.used[1:]

    @cached_property
    def between(self) -> np.ndarray:
        """Which slots have a hop that is not the last one, shape (slots, n)."""
        return self.used & ~self.roles["last"]

    @cached_property
    def root(self) -> np.ndarray:
        """The square root of the number of hops, at least 1."""
        return np.sqrt(np.maximum(self.total, 1))


class Parts:
    """Finds the elements of candidates over one schema.

    Args:
        rows: the row of each element in the learned weights, by name.
    """

    def __init__(self, table: PathTable, rows: dict[str, int]) -> None:
        self._hops = {
            role: np.array(
                [*(rows.get(element_name(h.edge, h.direction, role), NOTHING) for h in table.hops), NOTHING],
                dtype=np.int32,
            )
            for role in ROLES
        }
        self._ends = np.array([rows.get(f"end:{kind}", NOTHING) for kind in table.types], dtype=np.int32)
        self._shared = {name: rows.get(name, NOTHING) for name in SHARED}
        self._combines = self._named([f"combine:{c}" for c in COMBINES])
        self._lengths = self._named([f"hops:{n}" for n in range(1, 6)])

    def of(self, shape: Shape) -> np.ndarray:
        """The rows of every candidate's elements, shape (n, m); ``NOTHING`` where it has fewer or one is unlearned."""
        pool = shape.pool
        found = [self._hops["any"][shape.hops]]
        found += [np.where(where, self._hops[role][shape.hops], NOTHING) for role, where in shape.roles.items()]
        alone = [self._ends[pool.end], self._combines[pool.combine], self._lengths[np.clip(shape.total, 1, 5) - 1]]
        flags = {
            "back": pool.back,
            "no back": shape.could_go_back & ~pool.back,
            "bounce": shape.bounce,
            "every": any(group.every for group in pool.groups),
            "zero": ~shape.goes.all(axis=0),
            "tail": shape.has_tail,
            "same": pool.separate and len(pool.groups[0].nodes) > 1,
            "several": sum(len(group.nodes) for group in pool.groups) > 1,
            **{f"loop {way}": shape.loops[way] for way in ("any", "out", "in")},
        }
        flagged = np.empty((len(flags), len(pool)), dtype=np.int32)
        for row, (name, flag) in zip(flagged, flags.items(), strict=True):
            row[:] = np.where(flag, self._shared[name], NOTHING)
        return np.concatenate([*found, np.stack(alone), flagged], dtype=np.int32, casting="same_kind").T

    def _named(self, names: list[str]) -> np.ndarray:
        return np.array([self._shared[name] for name in names], dtype=np.int32)


def element_name(edge: EdgeType, direction: str, role: str) -> str:
    """The name of a hop in a role. An edge of the same name between other types is another edge."""
    return f"hop:{edge.source}-{edge.name}-{edge.target}:{direction}@{role}"
