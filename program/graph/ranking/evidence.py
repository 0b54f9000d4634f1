"""Features of a candidate path: numbers that mean the same in every schema, and the elements it is made of.

The numbers ("dense") say how well the path's edges and types cover the question's words, whether the words stand in
the order of the hops, and how long the path is. The elements are names such as ``combine:union``, or that of an edge
followed in a direction as the last hop; what a question's n-grams say for each is learned from labels.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ....data.element_words import DONE
from ....signatures.graph_steps import EdgeType
from ..names.roles import roles_told
from ..question.view import View
from .paths import NOTHING, PathTable
from .phrase_evidence import Ways, combines_told, ways_told
from .pool import COMBINES, TAIL, Pool

ROLES = ("any", "first", "mid", "last")
SHARED = (
    *(f"combine:{c}" for c in COMBINES),
    *(f"hops:{n}" for n in range(1, 6)),
    *("back", "no back", "bounce", "every", "zero", "tail", "same", "loop any", "loop out", "loop in", "several"),
)
"""Elements that every schema has; what is learned of them carries over to any schema."""

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
    "ways told": MORE,
    "weakest way told": MORE,
    "other way told": LESS,
    "way left out": LESS,
    "combine said": MORE,
    "combine left out": LESS,
}
"""The numbers by name, with the bounds of their weights, so that more evidence never makes a plan less likely."""
DENSE = tuple(MEASURES)
PLACES = {name: place for place, name in enumerate(DENSE)}
ORDINARY = 0.5
"""The weight up to which a word counts as saying nothing of edges and types: "which", "the", "of"."""


class Parts:
    """Finds the elements of candidates over one schema.

    Args:
        rows: the row of each element in the learned weights, by name.
    """

    def __init__(self, table: PathTable, rows: dict[str, int]) -> None:
        self.rows = rows
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

    def of(self, pool: Pool, shape: Shape) -> np.ndarray:
        """The rows of every candidate's elements, shape (n, m); ``NOTHING`` where it has fewer or one is unlearned."""
        columns = [self._hops["any"][pool.hops]]
        for role, where in shape.roles.items():
            columns.append(np.where(where, self._hops[role][pool.hops], NOTHING))
        lengths = self._lengths[np.clip(shape.total, 1, 5) - 1]
        alone = [self._ends[pool.end], self._combines[pool.combine], lengths]
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


def ending_in(values: np.ndarray, last: float) -> np.ndarray:
    """The values with ``last`` appended, which is what the index ``NOTHING`` (-1) then takes."""
    return np.append(values, np.asarray(last, dtype=values.dtype))


class Shape:
    """Properties of a pool's candidates that do not depend on the question, each of shape (n,) unless it says more."""

    def __init__(self, pool: Pool, table: PathTable) -> None:
        self.pool, self.table = pool, table
        self.used = pool.hops != NOTHING
        self.tail = pool.branch == TAIL
        self.total = self.used.sum(axis=1)
        self.starts = np.array([group.kind for group in pool.groups])

    @cached_property
    def roles(self) -> dict[str, np.ndarray]:
        """Which slots have each role (first, last or middle hop), shape (n, slots) each."""
        pool, used = self.pool, self.used
        first = used & (np.arange(pool.slots) % 3 == 0)[None] & ~self.tail[None]
        follows = np.concatenate(
            [used[:, 1:] & (pool.branch[1:] == pool.branch[:-1])[None], used[:, :1] & False], axis=1
        )
        ends = used & ~follows
        last = ends & (self.tail[None] | ~self.has_tail[:, None])
        # An only hop is both first and last, so what was learned of either role counts.
        return {"first": first, "last": last, "mid": used & ~first & ~last}

    @cached_property
    def has_tail(self) -> np.ndarray:
        """Whether an edge is followed after the branches were combined."""
        return self.used[:, self.tail].any(axis=1)

    @cached_property
    def has_zero(self) -> np.ndarray:
        """Whether a branch has no hop."""
        branches = [self.used[:, self.pool.branch == i].any(axis=1) for i in range(len(self.pool.groups))]
        return np.logical_not(np.stack(branches, axis=1).all(axis=1))

    @cached_property
    def bounce(self) -> np.ndarray:
        """Whether an edge is followed, and the next hop follows the same edge type back."""
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
        """Whether the second hop of a branch reaches the type that the branch began with."""
        found = np.zeros(len(self.pool), dtype=bool)
        for i, group in enumerate(self.pool.groups):
            slot = 3 * i + 1
            found |= self.used[:, slot] & (self.pool.types[:, slot] == group.kind)
        return found

    @cached_property
    def loops(self) -> dict[str, np.ndarray]:
        """For each direction, whether an edge that joins a type to itself is followed so; shape (n,) each."""
        hops = self.pool.hops
        return {way: np.asarray(loops[hops].any(axis=1)) for way, loops in self.table.loops.items()}

    @cached_property
    def edges(self) -> np.ndarray:
        """The numbers of the edge types followed, shape (n, slots)."""
        return self.table.edge_places[self.pool.hops]

    @cached_property
    def repeats(self) -> np.ndarray:
        """The number of hops that follow an edge type which another hop follows already."""
        return self.total - _distinct(self.edges)

    @cached_property
    def ends_out(self) -> np.ndarray:
        """Whether the last hop goes from its edge's source to its target."""
        return np.asarray((self.roles["last"] & self.table.hop_out[self.pool.hops]).any(axis=1))

    @cached_property
    def both(self) -> np.ndarray:
        """Whether a slot and the next one both have a hop, shape (n, slots - 1)."""
        return self.used[:, :-1] & self.used[:, 1:]

    @cached_property
    def between(self) -> np.ndarray:
        """Which slots have a hop that is not the last one, shape (n, slots)."""
        return self.used & ~self.roles["last"]

    @cached_property
    def root(self) -> np.ndarray:
        """The square root of the number of hops, at least 1."""
        return np.sqrt(np.maximum(self.total, 1))

    @cached_property
    def fixed(self) -> np.ndarray:
        """The numbers that are the same whatever the question; the others are zero. Shape (n, len(DENSE))."""
        pool = self.pool
        columns = {
            **{f"hops {k}": (self.total == k) if k < 5 else (self.total >= 5) for k in range(6)},
            "bounce": self.bounce,
            "back": pool.back,
            "bounce without back": self.bounce & ~pool.back,
            "repeats": self.repeats,
            "several": float(bool(pool.groups[1:]) and not pool.twofold),
            "end is start": pool.end == pool.groups[0].kind,
        }
        dense = np.zeros((len(pool), len(DENSE)))
        for name, column in columns.items():
            dense[:, PLACES[name]] = column
        return dense

    def _before(self, slot: int) -> np.ndarray:
        """The number of the type that the hop in a slot starts at."""
        return self.table.hop_sources[self.pool.hops[:, slot]]


class Sight:
    """What the words of a view say for each edge and type, whatever the plan.

    Arrays that are indexed by hops or types have a last place of zeros, for ``NOTHING``.

    Args:
        told: the log-probability of each role for each name, shape (mentions, roles).
    """

    def __init__(self, view: View, told: np.ndarray) -> None:
        near = view.near
        self.view, self.told = view, told
        self.weight = np.clip((view.weight - ORDINARY) / (1 - ORDINARY), 0.0, 1.0)
        self.total = float(self.weight.sum())
        by_text = np.maximum(near.edge_names, 0.8 * near.edge_texts)
        kinds = np.maximum(near.type_names, 0.8 * near.type_texts)
        said = self.weight[:, None]
        self.edges, self.kinds = by_text * said, kinds * said
        self.by_text, self.by_kind = _with_nothing(by_text), _with_nothing(kinds)
        self.by_name, self.by_kind_name = _with_nothing(near.edge_names), _with_nothing(near.type_names)
        self.edge_name = ending_in(_best(near.edge_names * said), 0.0)
        self.edge_text = ending_in(_best(self.edges), 0.0)
        self.kind_name, self.kind_text = _best(near.type_names * said), ending_in(_best(self.kinds), 0.0)
        self.kind_early = _best(self.kinds * np.exp(-view.place / 4.0)[:, None])
        self.meaning = ending_in(view.meaning, 0.0)
        self.combines = np.array([view.done[DONE.index(name)] if name in DONE else 0.0 for name in COMBINES])
        self.ways = None if near.told is None else Ways(near.told.ways)
        self._far: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}

    def far(self, mentions: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The mean distance, in words, of the words for each edge and for each type from the nearest of some names.

        Args:
            mentions: the places of the names in the hypothesis.

        Returns:
            Shapes (edges,) and (types,).
        """
        if mentions not in self._far:
            distance = self.view.distances[:, list(mentions)].min(axis=1)
            self._far[mentions] = centre(self.edges, distance), centre(self.kinds, distance)
        return self._far[mentions]


def dense_of(pool: Pool, shape: Shape, sight: Sight, log_prior: float) -> np.ndarray:
    """The numbers of every candidate, shape (n, len(DENSE))."""
    n, used, end = len(pool), shape.used, pool.end
    edges, kinds = sight.edge_text[shape.edges], sight.kind_text[pool.types]
    explained = np.maximum(edges, kinds)
    covered = np.maximum(_cover(sight.by_text, shape.edges), _cover(sight.by_kind, pool.types))
    named = np.maximum(_cover(sight.by_name, shape.edges), _cover(sight.by_kind_name, pool.types))
    sums = sight.weight @ covered
    missed = (sight.weight[:, None] * (1 - covered)).max(axis=0) if len(sight.weight) else np.zeros(n)
    columns = {
        "hops and words": shape.total * sight.total / 5.0,
        "covered": sums,
        "covered share": sums / max(sight.total, 0.5),
        "covered by names": sight.weight @ named,
        "missed": missed,
        "hops told": explained.sum(axis=1),
        "weakest hop told": np.where(used, explained, 1.0).min(axis=1),
        "edges told": edges.sum(axis=1),
        "weakest edge told": np.where(used, edges, 1.0).min(axis=1),
        "edges named": sight.edge_name[shape.edges].sum(axis=1),
        "end named": sight.kind_name[end],
        "end told": sight.kind_text[end],
        "end early": sight.kind_early[end],
        "between told": np.where(shape.between, kinds, 0.0).sum(axis=1),
        "meaning": sight.meaning[shape.edges].sum(axis=1) / shape.root,
        **_orders(pool, shape, sight),
        "prior": log_prior,
        **_bare(pool, shape, sight),
        **ways_told(pool, shape, sight),
        **combines_told(pool, sight),
    }
    dense = shape.fixed.copy()
    for name, column in columns.items():
        dense[:, PLACES[name]] = column
    return dense


def _bare(pool: Pool, shape: Shape, sight: Sight) -> dict[str, np.ndarray]:
    """Numbers on the order of names that are not followed anywhere and of names that are taken away, and on roles."""
    view, told = sight.view, sight.told
    if len(pool.groups) < 2 and len(view.names) > 1:
        return {"roles told": roles_told(pool, told, ~shape.used.any(axis=1, keepdims=True))}
    if len(pool.groups) < 2 or len(view.names) < 2:
        return {}  # a single name has no role beside others, even where two paths start from it
    places = np.array([min(view.names[p] for p in group.places) for group in pool.groups])
    bare = np.stack([~shape.used[:, pool.branch == i].any(axis=1) for i in range(len(pool.groups))], axis=1)
    others = np.where(bare, np.inf, places[None]).min(axis=1)
    later = np.where(bare, np.sign(places[None] - others[:, None]), 0.0).sum(axis=1)
    many = np.array([len(group.nodes) > 1 for group in pool.groups])
    taken = (pool.combine == COMBINES.index("difference")) * np.sign(places[1:].min() - places[0])
    several = np.asarray((bare & many[None]).any(axis=1))
    # In "does A treat B" the edges followed are A's, and lead from A to B.
    out = bare.any(axis=1) & shape.ends_out
    return {
        "bare later": later,
        "bare several": several,
        "bare out": out,
        "taken later": taken,
        "roles told": roles_told(pool, told, bare),
    }


def _best(values: np.ndarray) -> np.ndarray:
    """The largest value of each column, which is that of its best word; 0 without words."""
    return values.max(axis=0) if len(values) else np.zeros(values.shape[1])


def _with_nothing(near: np.ndarray) -> np.ndarray:
    """The similarities turned to shape (places + 1, words); the last row, for ``NOTHING``, is zero."""
    return np.concatenate([near.T, np.zeros((1, len(near)))])


def _cover(near: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The similarity of each word to the most similar of each candidate's parts, shape (words, n)."""
    # Slot by slot, since a maximum along one axis of a three-dimensional array takes numpy ten times as long.
    covered = near.take(places[:, 0], axis=0)
    for slot in range(1, places.shape[1]):
        np.maximum(covered, near.take(places[:, slot], axis=0), out=covered)
    return covered.T


def _orders(pool: Pool, shape: Shape, sight: Sight) -> dict[str, np.ndarray]:
    """Numbers that grow if words for later hops stand farther from the name than words for earlier hops."""
    view = sight.view
    if not len(view.words):
        return {}
    far = np.zeros((2, len(pool), pool.slots))
    for group in range(len(pool.groups)):
        edges, kinds = sight.far(pool.groups[group].places)
        slots = np.flatnonzero(np.maximum(pool.branch, 0) == group)
        far[0][:, slots] = edges[shape.edges[:, slots]]
        far[1][:, slots] = kinds[pool.types[:, slots]]
    steps = np.where(shape.both[None], np.tanh(np.diff(far, axis=2) / 2), 0.0).sum(axis=2)
    last = shape.roles["last"]
    far_last = np.where(last, far[0], 0.0).max(axis=1) / 10.0
    return {"edges in order": steps[0], "types in order": steps[1], "last edge far": far_last}


def centre(near: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """For each column of ``near``, the mean distance of the words that are similar to it, shape (columns,)."""
    sharp = np.exp(8.0 * near)
    return (sharp * distance[:, None]).sum(axis=0) / sharp.sum(axis=0)


def _distinct(edges: np.ndarray) -> np.ndarray:
    ordered = np.sort(edges, axis=1)
    first = ordered[:, :1] != NOTHING
    later = (ordered[:, 1:] != ordered[:, :-1]) & (ordered[:, 1:] != NOTHING)
    return np.concatenate([first, later], axis=1).sum(axis=1)
