"""What speaks for a candidate plan: numbers that mean the same in every schema, and the parts it is made of.

The numbers ("dense") say how well the plan's edges and types cover the question's words, whether the words stand
in the order of the hops, and how long the plan is. The parts ("elements") are names such as
``hop:TREATS_CtD:in@last`` or ``combine:union``; what a question's n-grams say for each is learned
from labels.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...signatures.graph_steps import EdgeType
from .paths import NOTHING, PathTable
from .pool import COMBINES, TAIL, Pool
from .roles import roles_told
from .view import View

ROLES = ("any", "first", "mid", "last")
SHARED = (
    *(f"combine:{c}" for c in COMBINES),
    *(f"hops:{n}" for n in range(1, 6)),
    *("back", "no back", "bounce", "every", "zero", "tail", "same", "loop any", "loop out", "loop in", "several"),
)
"""Elements that every schema has; what is learned of them carries over."""

FREE, MORE, LESS = (None, None), (0.0, None), (None, 0.0)
MEASURES: dict[str, tuple[float | None, float | None]] = {
    **{f"hops {n}": FREE for n in range(6)},
    "hops and words": FREE,
    "covered": MORE,
    "covered share": MORE,
    "covered by names": MORE,
    "missed": LESS,
    "hops told": MORE,
    "weakest hop told": MORE,
    "edges told": MORE,
    "weakest edge told": MORE,
    "edges named": MORE,
    "end named": MORE,
    "end told": MORE,
    "end early": MORE,
    "between told": MORE,
    "meaning": MORE,
    "edges in order": MORE,
    "types in order": MORE,
    "last edge far": FREE,
    "bounce": FREE,
    "back": FREE,
    "bounce without back": LESS,
    "repeats": FREE,
    "prior": MORE,
    "several": FREE,
    "end is start": FREE,
    "bare later": FREE,
    "bare several": FREE,
    "bare out": FREE,
    "taken later": FREE,
    "roles told": MORE,
}
"""The numbers, and between what their weights may lie: more evidence never makes a plan less likely."""
DENSE = tuple(MEASURES)
ORDINARY = 0.5
"""Words that say less than this say nothing of edges and types: "which", "the", "of"."""


class Parts:
    """Places of elements for one schema.

    Args:
        rows: row of each element in the learned weights, by name.
    """

    def __init__(self, table: PathTable, rows: dict[str, int]) -> None:
        self.rows = rows
        self._hops = np.array(
            [[rows.get(element_name(h.edge, h.direction, role), NOTHING) for h in table.hops] for role in ROLES],
            dtype=np.int32,
        ).reshape(len(ROLES), -1)
        self._ends = np.array([rows.get(f"end:{kind}", NOTHING) for kind in table.types], dtype=np.int32)
        self._shared = {name: rows.get(name, NOTHING) for name in SHARED}

    def of(self, pool: Pool, shape: Shape) -> np.ndarray:
        """The elements of every candidate."""
        columns = [_gather(self._hops[0], pool.hops)]
        for role, where in shape.roles.items():
            columns.append(np.where(where, _gather(self._hops[ROLES.index(role)], pool.hops), NOTHING))
        alone = [self._ends[pool.end], self._named([f"combine:{c}" for c in COMBINES])[pool.combine]]
        alone.append(self._named([f"hops:{n}" for n in range(1, 6)])[np.clip(shape.total, 1, 5) - 1])
        flags = {
            "back": pool.back,
            "no back": shape.could_go_back & ~pool.back,
            "bounce": shape.bounce,
            "every": np.full(len(pool), any(group.every for group in pool.groups)),
            "zero": shape.has_zero,
            "tail": shape.has_tail,
            "same": np.full(len(pool), pool.separate and len(pool.groups[0].nodes) > 1),
            "several": np.full(len(pool), sum(len(group.nodes) for group in pool.groups) > 1),
            **{f"loop {way}": shape.loops[way] for way in ("any", "out", "in")},
        }
        alone += [np.where(flag, self._shared[name], NOTHING) for name, flag in flags.items()]
        return np.concatenate([*columns, np.stack(alone, axis=1)], axis=1).astype(np.int32)

    def _named(self, names: list[str]) -> np.ndarray:
        return np.array([self._shared[name] for name in names], dtype=np.int32)


def element_name(edge: EdgeType, direction: str, role: str) -> str:
    """The name of a hop in a role. An edge of the same name between other types is another edge."""
    return f"hop:{edge.source}-{edge.name}-{edge.target}:{direction}@{role}"


def _gather(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.where(places == NOTHING, NOTHING, values[places]) if len(values) else np.full_like(places, NOTHING)


class Shape:
    """What the candidates of a pool look like, whatever the question."""

    def __init__(self, pool: Pool, table: PathTable) -> None:
        self.pool, self.table = pool, table
        self.used = pool.hops != NOTHING
        self.tail = pool.branch == TAIL
        self.total = self.used.sum(axis=1)
        self.starts = np.array([group.kind for group in pool.groups])

    @cached_property
    def roles(self) -> dict[str, np.ndarray]:
        """Where each role is: shape (n, slots) each."""
        pool, used = self.pool, self.used
        first = used & (np.arange(pool.slots) % 3 == 0)[None] & ~self.tail[None]
        follows = np.concatenate(
            [used[:, 1:] & (pool.branch[1:] == pool.branch[:-1])[None], used[:, :1] & False], axis=1
        )
        ends = used & ~follows
        last = ends & (self.tail[None] | ~self.has_tail[:, None])
        # The only hop is first and last: what was learned of either speaks for it.
        return {"first": first, "last": last, "mid": used & ~first & ~last}

    @cached_property
    def has_tail(self) -> np.ndarray:
        """Whether something follows after branches were combined."""
        return self.used[:, self.tail].any(axis=1)

    @cached_property
    def has_zero(self) -> np.ndarray:
        """Whether a branch has no hop."""
        branches = [self.used[:, self.pool.branch == i].any(axis=1) for i in range(len(self.pool.groups))]
        return np.logical_not(np.stack(branches, axis=1).all(axis=1))

    @cached_property
    def bounce(self) -> np.ndarray:
        """Whether an edge is followed and at once followed back to other nodes."""
        hops, types = self.pool.hops, self.pool.types
        edges = self.edges
        again = np.zeros(len(self.pool), dtype=bool)
        for i in range(hops.shape[1] - 1):
            if self.pool.branch[i] == self.pool.branch[i + 1]:
                both = self.used[:, i] & self.used[:, i + 1]
                again |= both & (edges[:, i] == edges[:, i + 1]) & (self._before(i) == types[:, i + 1])
        return again

    @cached_property
    def could_go_back(self) -> np.ndarray:
        """Whether a branch reaches at its second hop the type that it began with."""
        found = np.zeros(len(self.pool), dtype=bool)
        for i, group in enumerate(self.pool.groups):
            slot = 3 * i + 1
            found |= self.used[:, slot] & (self.pool.types[:, slot] == group.kind)
        return found

    @cached_property
    def loops(self) -> dict[str, np.ndarray]:
        """Whether an edge that joins a type to itself is followed, by direction."""
        ways = np.array([h.direction if h.source == h.target else "" for h in self.table.hops])
        hops = self.pool.hops
        return {way: (self.used & (ways[hops] == way)).any(axis=1) for way in ("any", "out", "in")}

    @cached_property
    def edges(self) -> np.ndarray:
        """Places of edge types, shape (n, slots)."""
        names = {edge.name: i for i, edge in enumerate(self.table.schema.edges)}
        places = np.array([names[h.edge.name] for h in self.table.hops], dtype=np.int32)
        return _gather(places, self.pool.hops)

    @cached_property
    def repeats(self) -> np.ndarray:
        """How many hops follow an edge type that another hop follows already."""
        return self.total - _distinct(self.edges)

    @cached_property
    def ends_out(self) -> np.ndarray:
        """Whether the last hop that is followed goes from an edge's source to its target."""
        out = np.array([hop.direction == "out" for hop in self.table.hops])
        last = self.roles["last"]
        return np.asarray((last & out[self.pool.hops]).any(axis=1))

    def _before(self, slot: int) -> np.ndarray:
        """The type that the hop of a slot starts at."""
        return _gather(self.table.sources, self.pool.hops)[:, slot]


def dense_of(pool: Pool, shape: Shape, view: View, log_prior: float, told: np.ndarray) -> np.ndarray:
    """The numbers of every candidate, shape (n, len(DENSE)); ``told`` has the log-probabilities of the names' roles."""
    n, used, near = len(pool), shape.used, view.near
    weight = np.clip((view.weight - ORDINARY) / (1 - ORDINARY), 0.0, 1.0)
    by_name, by_text = near.edge_names, np.maximum(near.edge_names, 0.8 * near.edge_texts)
    kinds = np.maximum(near.type_names, 0.8 * near.type_texts)
    edge_name, edge_text = _best(by_name * weight[:, None]), _best(by_text * weight[:, None])
    kind_name, kind_text = _best(near.type_names * weight[:, None]), _best(kinds * weight[:, None])
    edges = np.where(used, edge_text[shape.edges], 0.0)
    explained = np.where(used, np.maximum(edges, kind_text[pool.types]), 0.0)
    covered = np.maximum(_cover(by_text, shape.edges, used), _cover(kinds, pool.types, used))
    named = np.maximum(_cover(by_name, shape.edges, used), _cover(near.type_names, pool.types, used))
    sums = weight @ covered
    early = np.exp(-view.place / 4.0)[:, None]
    end = pool.end
    between = used & ~shape.roles["last"]
    missed = (weight[:, None] * (1 - covered)).max(axis=0) if len(view.words) else np.zeros(n)
    columns = {
        **{f"hops {k}": (shape.total == k) if k < 5 else (shape.total >= 5) for k in range(6)},
        "hops and words": shape.total * float(weight.sum()) / 5.0,
        "covered": sums,
        "covered share": sums / max(float(weight.sum()), 0.5),
        "covered by names": weight @ named,
        "missed": missed,
        "hops told": explained.sum(axis=1),
        "weakest hop told": np.where(used, explained, 1.0).min(axis=1),
        "edges told": edges.sum(axis=1),
        "weakest edge told": np.where(used, edges, 1.0).min(axis=1),
        "edges named": np.where(used, edge_name[shape.edges], 0.0).sum(axis=1),
        "end named": kind_name[end],
        "end told": kind_text[end],
        "end early": _best(kinds * weight[:, None] * early)[end],
        "between told": np.where(between, kind_text[pool.types], 0.0).sum(axis=1),
        "meaning": np.where(used, view.meaning[shape.edges], 0.0).sum(axis=1) / np.sqrt(np.maximum(shape.total, 1)),
        **_orders(pool, shape, view, by_text * weight[:, None], kinds * weight[:, None]),
        "bounce": shape.bounce,
        "back": pool.back,
        "bounce without back": shape.bounce & ~pool.back,
        "repeats": shape.repeats,
        "prior": np.full(n, log_prior),
        "several": np.full(n, float(len(pool.groups) > 1)),
        "end is start": end == pool.groups[0].kind,
        **_bare(pool, shape, view, told),
    }
    return np.stack([np.asarray(columns[name], dtype=np.float64) for name in DENSE], axis=1)


def _bare(pool: Pool, shape: Shape, view: View, told: np.ndarray) -> dict[str, np.ndarray]:
    """Where the names stand that are not followed anywhere, and the ones that are taken away."""
    n = len(pool)
    if len(pool.groups) < 2 and len(view.names) > 1:
        bare = ~shape.used.any(axis=1, keepdims=True)
        alone = dict.fromkeys(("bare later", "bare several", "bare out", "taken later"), np.zeros(n))
        return {**alone, "roles told": roles_told(pool, told, bare)}
    if len(pool.groups) < 2:
        return dict.fromkeys(("bare later", "bare several", "bare out", "taken later", "roles told"), np.zeros(n))
    places = np.array([min(view.names[p] for p in group.places) for group in pool.groups])
    bare = np.stack([~shape.used[:, pool.branch == i].any(axis=1) for i in range(len(pool.groups))], axis=1)
    others = np.where(bare, np.inf, places[None]).min(axis=1)
    later = np.where(bare, np.sign(places[None] - others[:, None]), 0.0).sum(axis=1)
    many = np.array([len(group.nodes) > 1 for group in pool.groups])
    taken = (pool.combine == COMBINES.index("difference")) * np.sign(places[1:].min() - places[0])
    several = np.asarray((bare & many[None]).any(axis=1))
    # "Does A treat B" is asked of A's edges where the edge is read from A to B.
    out = bare.any(axis=1) & shape.ends_out
    return {
        "bare later": later,
        "bare several": several,
        "bare out": out,
        "taken later": taken,
        "roles told": roles_told(pool, told, bare),
    }


def _best(values: np.ndarray) -> np.ndarray:
    """The best word for each column."""
    return values.max(axis=0) if len(values) else np.zeros(values.shape[1])


def _cover(near: np.ndarray, places: np.ndarray, used: np.ndarray) -> np.ndarray:
    """How near each word is to the nearest of each candidate's parts, shape (words, n)."""
    if not len(near):
        return np.zeros((0, len(places)))
    padded = np.concatenate([near, np.zeros((len(near), 1))], axis=1)
    return padded[:, np.where(used, places, near.shape[1])].max(axis=2)


def _orders(pool: Pool, shape: Shape, view: View, edges: np.ndarray, types: np.ndarray) -> dict[str, np.ndarray]:
    """Whether words for later hops stand farther from the name than words for earlier ones."""
    names = ("edges in order", "types in order", "last edge far")
    if not len(view.words):
        return dict.fromkeys(names, np.zeros(len(pool)))
    far = np.zeros((2, len(pool), pool.slots))
    for group in range(len(pool.groups)):
        distance = view.distances[:, list(pool.groups[group].places)].min(axis=1)
        slots = np.flatnonzero(np.maximum(pool.branch, 0) == group)
        far[0][:, slots] = _centre(edges, distance)[shape.edges[:, slots]]
        far[1][:, slots] = _centre(types, distance)[pool.types[:, slots]]
    both = shape.used[:, :-1] & shape.used[:, 1:]
    steps = np.where(both[None], np.tanh(np.diff(far, axis=2) / 2), 0.0).sum(axis=2)
    last = shape.roles["last"]
    return dict(zip(names, (steps[0], steps[1], np.where(last, far[0], 0.0).max(axis=1) / 10.0), strict=True))


def _centre(near: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """For each column, the mean distance of the words that are near it, shape (columns,)."""
    sharp = np.exp(8.0 * near)
    return (sharp * distance[:, None]).sum(axis=0) / sharp.sum(axis=0)


def _distinct(edges: np.ndarray) -> np.ndarray:
    ordered = np.sort(edges, axis=1)
    first = ordered[:, :1] != NOTHING
    later = (ordered[:, 1:] != ordered[:, :-1]) & (ordered[:, 1:] != NOTHING)
    return np.concatenate([first, later], axis=1).sum(axis=1)
