"""Features of a candidate path from phrases: for edges followed in a direction, and for combining sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .paths import PathTable
from .phrases import SIDES
from .pool import COMBINES, Pool

if TYPE_CHECKING:
    from .evidence import Sight
    from .shape import Shape


@dataclass
class Ways:
    """The match of a question with the phrases of each edge type, under one view.

    Attributes:
        sides: for the two sides of each edge, out and in, shape (edges, 2), 0 to 1.
        by_hop: what ``_by_hop`` makes of that; None until it is first needed.
    """

    sides: np.ndarray
    by_hop: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None


def ways_told(shape: Shape, sight: Sight) -> dict[str, np.ndarray]:
    """Numbers, shape (n,) each, on the match with phrases: of the edges followed, of their other side, of others.

    Empty where the schema has no phrases.
    """
    if sight.ways is None:
        return {}
    if sight.ways.by_hop is None:
        sight.ways.by_hop = _by_hop(sight.ways.sides, shape.table)
    hop, other, edge = sight.ways.by_hop
    told = hop[shape.hops]
    return {
        "ways told": told.sum(axis=0),
        "weakest way told": np.where(shape.used, told, 1.0).min(axis=0),
        "other way told": other[shape.hops].sum(axis=0),
        "way left out": edge.max() - edge[shape.edges].max(axis=0),
    }


def _by_hop(sides: np.ndarray, table: PathTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The match of each hop, by how much its edge's other direction matches better, and the match of each edge.

    The last value of each array, 0, is for ``NOTHING``.
    """
    hops = list(zip(table.edge_places[:-1].tolist(), table.hops, strict=True))
    hop = np.array([*(_way(sides[place], one.direction) for place, one in hops), 0.0])
    other = np.array([*(_way(sides[place][::-1], one.direction) for place, one in hops), 0.0])
    return hop, np.maximum(other - hop, 0.0), np.append(sides.max(axis=1), 0.0)


def _way(sides: np.ndarray, direction: str) -> float:
    """The match of an edge in a direction; ``sides`` has those of out and in."""
    return float(sides.max() if direction == "any" else sides[SIDES.index(direction)])


def combines_told(pool: Pool, sight: Sight) -> dict[str, np.ndarray]:
    """Numbers, shape (n,): the match with phrases for how each candidate combines sets, and the lead of another way."""
    own = sight.combines[pool.combine]
    if any(group.every for group in pool.groups):  # what all names of a group lead to is an intersection
        own = np.maximum(own, sight.combines[COMBINES.index("intersect")])
    return {"combine said": own, "combine left out": sight.combines.max() - own}
