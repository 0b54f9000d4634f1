"""Enumerates the well-typed chains of up to three hops from each node type, as arrays of numbers.

Chains depend on the schema alone, so they are made once for each type and scored all at once. A chain whose second hop
returns to the type that it began with is there twice: once with the nodes that it began with, and once without them
(``back``), which is what "other films of this director" means.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ....signatures.graph_steps import EdgeType, GraphSchema
from ..sketch import Hop

MAX_HOPS = 3
NOTHING = -1
MAX_CHAINS = 20_000
"""If a type has more chains of three hops than this, none of them is made: some schemas join all types with all."""


@dataclass(frozen=True)
class HopType:
    """One way to follow an edge type: from ``source`` to ``target``, which are numbers of node types in the schema."""

    edge: EdgeType
    direction: str
    source: int
    target: int


@dataclass(frozen=True)
class Chains:
    """Chains from one type.

    Attributes:
        hops: places in ``PathTable.hops``, shape (n, 3), with ``NOTHING`` after the chain's end.
        types: the node type that each hop reaches, shape (n, 3), likewise.
        length, end, back: each chain's number of hops, its last type, and whether it leaves out the nodes that it began
            with; shape (n,).
    """

    start: int
    hops: np.ndarray
    types: np.ndarray
    length: np.ndarray
    end: np.ndarray
    back: np.ndarray

    def __len__(self) -> int:
        return len(self.length)

    def take(self, places: np.ndarray) -> Chains:
        """The chains at these places."""
        return Chains(
            self.start, self.hops[places], self.types[places], self.length[places], self.end[places], self.back[places]
        )


class PathTable:
    """The hops that a schema allows, and the chains of them."""

    def __init__(self, schema: GraphSchema) -> None:
        self.schema = schema
        self.types = [node.name for node in schema.nodes]
        self.place = {name: i for i, name in enumerate(self.types)}
        self.hops = [hop for edge in schema.edges for hop in _directions(edge, self.place)]
        self.sources = np.array([hop.source for hop in self.hops], dtype=np.int32)
        self.targets = np.array([hop.target for hop in self.hops], dtype=np.int32)
        # The last value of each array is for the index NOTHING, which is -1.
        edges = {edge.name: place for place, edge in enumerate(schema.edges)}
        self.edge_places = np.array([*(edges[hop.edge.name] for hop in self.hops), NOTHING], dtype=np.int32)
        self.hop_sources = np.append(self.sources, np.int32(NOTHING))
        self.hop_out = np.array([*(hop.direction == "out" for hop in self.hops), False])
        self.loops = {
            way: np.array([*(hop.source == hop.target and hop.direction == way for hop in self.hops), False])
            for way in ("any", "out", "in")
        }
        self._from = [np.flatnonzero(self.sources == i) for i in range(len(self.types))]
        self.chains = lru_cache(maxsize=None)(self._chains)

    def following(self, kind: int) -> np.ndarray:
        """The places of the hops that start at a type."""
        return self._from[kind]

    def hop(self, place: int, back: bool = False) -> Hop:
        """The hop at a place, as a sketch has it."""
        found = self.hops[place]
        return Hop(found.edge.name, found.direction, back)  # type: ignore[arg-type]

    def _chains(self, start: int) -> Chains:
        """Every chain from a type, the empty one first."""
        levels: list[list[tuple[int, ...]]] = [[()]]
        for _ in range(MAX_HOPS):
            longer = [(*chain, int(hop)) for chain in levels[-1] for hop in self._from[self._end(start, chain)]]
            if len(longer) > MAX_CHAINS:
                break
            levels.append(longer)
        plain = [chain for level in levels for chain in level]
        again = [chain for chain in plain if len(chain) > 1 and self._end(start, chain[:2]) == start]
        return self._as_arrays(start, [*plain, *again], len(again))

    def _end(self, start: int, chain: tuple[int, ...]) -> int:
        return int(self.targets[chain[-1]]) if chain else start

    def _as_arrays(self, start: int, chains: list[tuple[int, ...]], back: int) -> Chains:
        hops = np.full((len(chains), MAX_HOPS), NOTHING, dtype=np.int32)
        for i, chain in enumerate(chains):
            hops[i, : len(chain)] = chain
        types = np.where(hops == NOTHING, NOTHING, self.targets[hops] if len(self.hops) else NOTHING).astype(np.int32)
        length = (hops != NOTHING).sum(axis=1)
        end = np.where(length > 0, types[np.arange(len(chains)), np.maximum(length, 1) - 1], start)
        comes_back = np.arange(len(chains)) >= len(chains) - back
        return Chains(start, hops, types, length, end, comes_back)


def _directions(edge: EdgeType, place: dict[str, int]) -> list[HopType]:
    source, target = place[edge.source], place[edge.target]
    ways = [HopType(edge, "out", source, target), HopType(edge, "in", target, source)]
    return [*ways, HopType(edge, "any", source, target)] if source == target else ways
