"""What speaks for a candidate plan: numbers that mean the same in every schema, and the parts it is made of.

The numbers ("dense") say how well the plan's edges and types cover the question's words, whether the words stand
in the order of the hops, and how long the plan is. The parts ("elements") are names such as
``hop:TREATS_CtD:in@last`` or ``combine:union``; what a question's n-grams say for each is learned
from labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...signatures.graph_steps import EdgeType
from .paths import NOTHING, PathTable
from .pool import COMBINES, TAIL, Pool
from .view import View

ROLES = ("any", "first", "mid", "last", "only")
SHARED = (
    *(f"combine:{c}" for c in COMBINES),
    *(f"hops:{n}" for n in range(1, 6)),
    *("back", "no back", "bounce", "every", "zero", "tail", "same", "loop any", "loop out", "loop in", "several"),
)
"""Elements that every schema has; what is learned of them carries over."""

DENSE = (
    *(f"hops {n}" for n in range(1, 6)),
    *(f"hops {n} per word" for n in range(1, 6)),
    *("covered", "covered by names", "missed", "edge names", "weakest edge name", "edge texts", "weakest edge text"),
    *("end name", "end text", "end early", "between", "weakest between"),
    *("edges in order", "types in order", "last edge far", "bounce", "back", "bounce without back", "repeats"),
    *("prior", "several", "end is start", "edge and type", "all named"),
)


@dataclass(frozen=True)
class Evidence:
    """Of the candidates of a pool: numbers, shape (n, len(DENSE)), and elements, shape (n, m), -1 for none."""

    dense: np.ndarray
    elements: np.ndarray


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
        only = first & last
        return {"first": first & ~last, "last": last & ~first, "only": only, "mid": used & ~first & ~last}

    @cached_property
    def has_tail(self) -> np.ndarray:
        """Whether something follows after branches were combined."""
        return self.used[:, self.tail].any(axis=1)

    @cached_property
    def has_zero(self) -> np.ndarray:
        """Whether a branch has no hop."""
        branches = [self.used[:, self.pool.branch == i].any(axis=1) for i in range(len(self.pool.groups))]
        return ~np.stack(branches, axis=1).all(axis=1)

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

    def _before(self, slot: int) -> np.ndarray:
        """The type that the hop of a slot starts at."""
        return _gather(self.table.sources, self.pool.hops)[:, slot]


def dense_of(pool: Pool, shape: Shape, view: View, log_prior: float) -> np.ndarray:
    """The numbers of every candidate, shape (n, len(DENSE))."""
    used, n = shape.used, len(pool)
    near, weight = view.near, view.weight
    total = max(float(weight.sum()), 1e-9)
    names, texts = (near.edge_names * weight[:, None]), (near.edge_texts * weight[:, None])
    best_name, best_text = _best(names), _best(texts)
    kind_names, kind_texts = near.type_names * weight[:, None], near.type_texts * weight[:, None]
    by_slot_name = np.where(used, best_name[shape.edges], 0.0)
    by_slot_text = np.where(used, np.maximum(best_text, best_name)[shape.edges], 0.0)
    counted = np.maximum(shape.total, 1)
    both = np.maximum(near.edge_names, 0.8 * near.edge_texts)
    cover_edges = _cover(both, shape.edges, used)
    cover_types = np.maximum(_cover(near.type_names, pool.types, used), 0.8 * _cover(near.type_texts, pool.types, used))
    at_start = near.type_names[:, shape.starts].max(axis=1) if len(view.words) else np.zeros(0)
    covered = np.maximum(np.maximum(cover_edges, cover_types), 0.7 * at_start[:, None])
    by_names = np.maximum(_cover(near.edge_names, shape.edges, used), _cover(near.type_names, pool.types, used))
    missed = (weight[:, None] * (1 - covered)).max(axis=0) if len(view.words) else np.zeros(n)
    end = pool.end
    early = np.exp(-view.place / 4.0)[:, None]
    between = used & ~shape.roles["last"] & ~shape.roles["only"]
    kinds = np.maximum(_best(kind_names), 0.8 * _best(kind_texts))
    kind_slots = np.where(between, kinds[pool.types], 0.0)
    hops = [(shape.total == k) if k < 5 else (shape.total >= 5) for k in range(1, 6)]
    bounce_alone = shape.bounce & ~pool.back
    columns = [
        *hops,
        *[h * (view.length / 10.0) for h in hops],
        (weight[:, None] * covered).sum(axis=0) / total,
        (weight[:, None] * by_names).sum(axis=0) / total,
        missed,
        by_slot_name.sum(axis=1) / counted,
        np.where(used, by_slot_name, 1.0).min(axis=1),
        by_slot_text.sum(axis=1) / counted,
        np.where(used, by_slot_text, 1.0).min(axis=1),
        _best(kind_names)[end],
        _best(kind_texts)[end],
        _best(kind_names * early)[end],
        kind_slots.sum(axis=1) / np.maximum(between.sum(axis=1), 1),
        np.where(between, kind_slots, 1.0).min(axis=1),
        *_orders(pool, shape, view, both, np.maximum(near.type_names, 0.8 * near.type_texts)),
        shape.bounce,
        pool.back,
        bounce_alone,
        shape.repeats,
        np.full(n, log_prior),
        np.full(n, float(len(pool.groups) > 1)),
        end == pool.groups[0].kind,
        (by_slot_name.sum(axis=1) / counted) * _best(kind_names)[end],
        np.where(used, by_slot_name, 1.0).prod(axis=1),
    ]
    return np.stack([np.asarray(c, dtype=np.float64) for c in columns], axis=1)


def _best(values: np.ndarray) -> np.ndarray:
    """The best word for each column."""
    return values.max(axis=0) if len(values) else np.zeros(values.shape[1])


def _cover(near: np.ndarray, places: np.ndarray, used: np.ndarray) -> np.ndarray:
    """How near each word is to the nearest of each candidate's parts, shape (words, n)."""
    if not len(near):
        return np.zeros((0, len(places)))
    padded = np.concatenate([near, np.zeros((len(near), 1))], axis=1)
    return padded[:, np.where(used, places, near.shape[1])].max(axis=2)


def _orders(pool: Pool, shape: Shape, view: View, edges: np.ndarray, types: np.ndarray) -> list[np.ndarray]:
    """Whether words for later hops stand farther from the name than words for earlier ones."""
    if not len(view.words):
        return [np.zeros(len(pool))] * 3
    far = np.zeros((pool.slots, 2, len(pool)))
    for slot in range(pool.slots):
        group = pool.groups[max(int(pool.branch[slot]), 0)]
        distance = view.distances[:, list(group.places)].min(axis=1)
        far[slot, 0] = _centre(edges * view.weight[:, None], distance)[shape.edges[:, slot]]
        far[slot, 1] = _centre(types * view.weight[:, None], distance)[pool.types[:, slot]]
    orders = []
    for which in (0, 1):
        steps = [
            np.where(shape.used[:, i] & shape.used[:, i + 1], np.tanh((far[i + 1, which] - far[i, which]) / 2), 0.0)
            for i in range(pool.slots - 1)
        ]
        orders.append(np.sum(steps, axis=0))
    last = shape.roles["last"] | shape.roles["only"]
    return [*orders, (np.where(last, far[:, 0].T, 0.0)).max(axis=1) / 10.0]


def _centre(near: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """For each column, the mean distance of the words that are near it, shape (columns,)."""
    sharp = np.exp(8.0 * near)
    return (sharp * distance[:, None]).sum(axis=0) / sharp.sum(axis=0)


def _distinct(edges: np.ndarray) -> np.ndarray:
    ordered = np.sort(edges, axis=1)
    first = ordered[:, :1] != NOTHING
    later = (ordered[:, 1:] != ordered[:, :-1]) & (ordered[:, 1:] != NOTHING)
    return np.concatenate([first, later], axis=1).sum(axis=1)
