"""Features of a candidate path: numbers that mean the same in every schema.

The numbers ("dense") say how well the path's edges and types cover the question's words, whether the words stand in
the order of the hops, and how long the path is.
"""

from __future__ import annotations

import numpy as np

from ....data.element_words import DONE
from ..names.roles import roles_told
from ..question.view import View
from .phrase_evidence import Ways, combines_told, ways_told
from .pool import COMBINES, Pool
from .shape import Shape

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


def ending_in(values: np.ndarray, last: float) -> np.ndarray:
    """The values with ``last`` appended, which is what the index ``NOTHING`` (-1) then takes."""
    return np.append(values, np.asarray(last, dtype=values.dtype))


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


def fixed_of(shape: Shape) -> np.ndarray:
    """The numbers that are the same whatever the question; the others are zero. Shape (len(DENSE), n)."""
    pool, total = shape.pool, shape.total
    columns = {
        **{f"hops {k}": (total == k) if k < 5 else (total >= 5) for k in range(6)},
        "bounce": shape.bounce,
        "back": pool.back,
        "bounce without back": shape.bounce & ~pool.back,
        "repeats": shape.repeats,
        "several": float(bool(pool.groups[1:]) and not pool.twofold),
        "end is start": pool.end == pool.groups[0].kind,
    }
    dense = np.zeros((len(DENSE), len(pool)))
    for name, column in columns.items():
        dense[PLACES[name]] = column
    return dense


def dense_of(pool: Pool, shape: Shape, sight: Sight, log_prior: float) -> np.ndarray:
    """The numbers of every candidate, shape (n, len(DENSE))."""
    used, end = shape.used, pool.end
    edges, kinds = sight.edge_text[shape.edges], sight.kind_text[shape.types]
    explained = np.maximum(edges, kinds)
    covered = np.maximum(_cover(sight.by_text, shape.edges), _cover(sight.by_kind, shape.types))
    named = np.maximum(_cover(sight.by_name, shape.edges), _cover(sight.by_kind_name, shape.types))
    sums = sight.weight @ covered
    columns = {
        "hops and words": shape.total * (sight.total / 5.0),
        "covered": sums,
        "covered share": sums / max(sight.total, 0.5),
        "covered by names": sight.weight @ named,
        "missed": (sight.weight[:, None] * (1 - covered)).max(axis=0, initial=0.0),
        "hops told": explained.sum(axis=0),
        "weakest hop told": np.where(used, explained, 1.0).min(axis=0),
        "edges told": edges.sum(axis=0),
        "weakest edge told": np.where(used, edges, 1.0).min(axis=0),
        "edges named": sight.edge_name[shape.edges].sum(axis=0),
        "end named": sight.kind_name[end],
        "end told": sight.kind_text[end],
        "end early": sight.kind_early[end],
        "between told": (kinds * shape.between).sum(axis=0),
        "meaning": sight.meaning[shape.edges].sum(axis=0) / shape.root,
        **_orders(pool, shape, sight),
        "prior": log_prior,
        **_bare(pool, shape, sight),
        **ways_told(shape, sight),
        **combines_told(pool, sight),
    }
    if shape.fixed is None:
        shape.fixed = fixed_of(shape)
    dense = shape.fixed.copy()
    for name, column in columns.items():
        dense[PLACES[name]] = column
    return dense.T


def _bare(pool: Pool, shape: Shape, sight: Sight) -> dict[str, np.ndarray]:
    """Numbers on the order of names that are not followed anywhere and of names that are taken away, and on roles."""
    view, told = sight.view, sight.told
    if len(pool.groups) < 2 and len(view.names) > 1:
        return {"roles told": roles_told(pool, told, ~shape.used.any(axis=0, keepdims=True))}
    if len(pool.groups) < 2 or len(view.names) < 2:
        return {}  # a single name has no role beside others, even where two paths start from it
    places = np.array([min(view.names[p] for p in group.places) for group in pool.groups])
    bare, stands = ~shape.goes, places[:, None]
    others = np.where(bare, np.inf, stands).min(axis=0)
    many = np.array([len(group.nodes) > 1 for group in pool.groups])
    return {
        "bare later": np.where(bare, np.sign(stands - others), 0.0).sum(axis=0),
        "bare several": np.asarray(bare[many].any(axis=0)),
        # In "does A treat B" the edges followed are A's, and lead from A to B.
        "bare out": bare.any(axis=0) & shape.ends_out,
        "taken later": (pool.combine == COMBINES.index("difference")) * np.sign(places[1:].min() - places[0]),
        "roles told": roles_told(pool, told, bare),
    }


def _best(values: np.ndarray) -> np.ndarray:
    """The largest value of each column, which is that of its best word; 0 without words."""
    return values.max(axis=0) if len(values) else np.zeros(values.shape[1])


def _with_nothing(near: np.ndarray) -> np.ndarray:
    """The similarities with a last column, for ``NOTHING``, of zeros; shape (words, places + 1)."""
    return np.concatenate([near, np.zeros((len(near), 1))], axis=1)


def _cover(near: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The similarity of each word to the most similar of each candidate's parts, shape (words, n).

    Args:
        near: what ``_with_nothing`` gives.
        places: a part's column of that in each slot, shape (slots, n).
    """
    # Slot by slot, since a maximum along one axis of a three-dimensional array takes numpy ten times as long.
    covered = near.take(places[0], axis=1)
    for slot in places[1:]:
        np.maximum(covered, near.take(slot, axis=1), out=covered)
    return covered


def _orders(pool: Pool, shape: Shape, sight: Sight) -> dict[str, np.ndarray]:
    """Numbers that grow if words for later hops stand farther from the name than words for earlier hops."""
    view = sight.view
    if not len(view.words):
        return {}
    far = np.empty((2, *shape.edges.shape))
    for group in range(len(pool.groups)):
        edges, kinds = sight.far(pool.groups[group].places)
        own = np.flatnonzero(np.maximum(pool.branch, 0) == group)
        far[0, own], far[1, own] = edges[shape.edges[own]], kinds[shape.types[own]]
    steps = (np.tanh(np.diff(far, axis=1) / 2) * shape.both).sum(axis=1)
    last = (far[0] * shape.roles["last"]).max(axis=0) / 10.0
    return {"edges in order": steps[0], "types in order": steps[1], "last edge far": last}


def centre(near: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """For each column of ``near``, the mean distance of the words that are similar to it, shape (columns,)."""
    sharp = np.exp(8.0 * near)
    return (sharp * distance[:, None]).sum(axis=0) / sharp.sum(axis=0)
