"""Features of a candidate path from phrases: the directions in which edges are followed, and how sets are combined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .paths import PathTable
from .phrases import SIDES
from .pool import COMBINES, Pool

if TYPE_CHECKING:
    from .evidence import Shape, Sight


@dataclass
class Ways:
    """How well each edge type is told on its two sides, shape (edges, 2), in one view of a question.

    Attributes:
        by_hop: the same for each hop of the schema, once some pool was looked at.
    """

    sides: np.ndarray
    by_hop: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None


def ways_told(pool: Pool, shape: Shape, sight: Sight) -> dict[str, np.ndarray]:
    """How well the phrases of the edges that are followed are told, of those the other way, and of those left out.

    Nothing where the schema has no phrases.
    """
    if sight.ways is None:
        return {}
    if sight.ways.by_hop is None:
        sight.ways.by_hop = _by_hop(sight.ways.sides, shape.table)
    hop, other, edge = sight.ways.by_hop
    told = hop[pool.hops]
    return {
        "ways told": told.sum(axis=1),
        "weakest way told": np.where(shape.used, told, 1.0).min(axis=1),
        "other way told": other[pool.hops].sum(axis=1),
        "way left out": edge.max() - edge[shape.edges].max(axis=1),
    }


def _by_hop(sides: np.ndarray, table: PathTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How well each hop is told, how much better the same edge is the other way, and each edge; nothing last."""
    hops = list(zip(table.edge_places[:-1].tolist(), table.hops, strict=True))
    hop = np.array([*(_way(sides[place], one.direction) for place, one in hops), 0.0])
    other = np.array([*(_way(sides[place][::-1], one.direction) for place, one in hops), 0.0])
    return hop, np.maximum(other - hop, 0.0), np.append(sides.max(axis=1), 0.0)


def _way(sides: np.ndarray, direction: str) -> float:
    """How well an edge is told in a direction; ``sides`` are out and in."""
    return float(sides.max() if direction == "any" else sides[SIDES.index(direction)])


def combines_told(pool: Pool, sight: Sight) -> dict[str, np.ndarray]:
    """How well the phrases for putting sets together so are told, and how much better those of another way."""
    own = sight.combines[pool.combine]
    if any(group.every for group in pool.groups):  # what all names of a group lead to is an intersection
        own = np.maximum(own, sight.combines[COMBINES.index("intersect")])
    return {"combine said": own, "combine left out": sight.combines.max() - own}
