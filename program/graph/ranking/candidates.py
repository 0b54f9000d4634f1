"""Makes candidate paths from a hypothesis about the names: chains, their combinations, and what follows these.

One name gives every chain from it. Several names of one type share a chain; those of two or three types are combined
where the likeliest few chains of each meet in one type. A name said twice counts as one ("low sodium (hyponatremia)"),
and also as two whose different chains meet ("asthma genes that an asthma drug binds"). Where a question may combine two
paths from a name said once ("owned or run by", see ``twofold``), pairs of chains from it are candidates, too. Further
edges may be followed from what was combined. The scores are those of the ranking, which also prunes here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ....signatures.graph_steps import NodeRef
from ..names.linking import Reading
from ..question.twofold import TWOFOLD
from ..question.view import Hypothesis
from .paths import MAX_HOPS, Chains, PathTable
from .pool import COMBINES, Group, Pool, chains_pool, product_pool, taken, with_tail

Score = Callable[[Pool], np.ndarray]
"""Scores of the candidates of a pool, shape (n,)."""

PER_END = 4
TAILED = 24
MOST = 400
SEVERAL_HOPS = 2


def node_of(reading: Reading) -> NodeRef:
    """The node reference of a reading."""
    return NodeRef(name=reading.name, type=reading.type, field=reading.field)


Name = tuple[int, ...]
"""The places, among a hypothesis' mentions, that mean one node."""


def candidate_pools(hypothesis: Hypothesis, table: PathTable, score: Score, twofold: bool = False) -> list[Pool]:
    """The candidates of a hypothesis; empty where the schema lacks a type or has no edges.

    Args:
        score: scores candidates, to keep the best.
        twofold: whether pairs of paths from a single name are candidates, too.
    """
    names = _names(hypothesis)
    kinds = [table.place.get(hypothesis.readings[name[0]].type) for name in names]
    if None in kinds or not table.hops:
        return []
    by_kind: dict[int, list[Name]] = {}
    for name, kind in zip(names, kinds, strict=True):
        by_kind.setdefault(int(kind or 0), []).append(name)
    if len(names) == 1:
        [(kind, [name])] = by_kind.items()
        pools = [_single(hypothesis, kind, name, table)]
        if len(name) == 2:
            pools += [best_of(pool, score, MOST) for pool in _with_itself(hypothesis, kind, name, table, score)]
        elif twofold:
            pools += _two_ways(hypothesis, kind, name, table, score)
        return pools
    pools = list(_of_several(hypothesis, by_kind, table, score))
    return [best_of(pool, score, MOST) for pool in pools]


def _names(hypothesis: Hypothesis) -> list[Name]:
    """The named nodes, each once, in the order of their first mentions."""
    places: dict[NodeRef, list[int]] = {}
    for place, reading in enumerate(hypothesis.readings):
        places.setdefault(node_of(reading), []).append(place)
    return [tuple(found) for found in places.values()]


def _group(hypothesis: Hypothesis, kind: int, names: Sequence[Name], every: bool = False) -> Group:
    nodes = tuple(node_of(hypothesis.readings[name[0]]) for name in names)
    return Group(nodes, kind, tuple(place for name in names for place in name), every)


def _single(hypothesis: Hypothesis, kind: int, name: Name, table: PathTable) -> Pool:
    chains = table.chains(kind)
    group = _group(hypothesis, kind, [name])
    if hypothesis.readings[0].field not in ("name", "id"):
        return chains_pool(group, chains, key="all")  # nodes of a value may be counted or ordered without any hop
    return chains_pool(group, chains.take(np.flatnonzero(chains.length > 0)), key="some")


def _with_itself(hypothesis: Hypothesis, kind: int, name: Name, table: PathTable, score: Score) -> Iterator[Pool]:
    """Candidates in which two different chains from a name said twice meet."""
    groups = [_group(hypothesis, kind, [(place,)]) for place in name]
    for pool in _meet(groups, table, score):
        halves = pool.hops[:, :MAX_HOPS], pool.hops[:, MAX_HOPS : 2 * MAX_HOPS]
        yield taken(pool, np.flatnonzero((halves[0] != halves[1]).any(axis=1)))


def _two_ways(hypothesis: Hypothesis, kind: int, name: Name, table: PathTable, score: Score) -> list[Pool]:
    """Candidates in which two different chains from a name said once meet; no further edge is followed."""
    group = _group(hypothesis, kind, [name])
    likeliest = _likeliest(group, table, score)
    chains = likeliest.take(np.flatnonzero(~likeliest.back & (likeliest.length > 0)))
    pool = product_pool([group, group], [chains, chains], TWOFOLD)
    if pool is None:
        return []
    first, second = pool.hops[:, :MAX_HOPS], pool.hops[:, MAX_HOPS : 2 * MAX_HOPS]
    # In a difference the order matters: what is taken away comes second. Of other pairs one order is enough.
    before = _code(first) < _code(second)
    differ = (first != second).any(axis=1) & (before | (pool.combine == COMBINES.index("difference")))
    found = taken(pool, np.flatnonzero(differ))
    return [best_of(found, score, MOST)] if len(found) else []


def _code(hops: np.ndarray) -> np.ndarray:
    """A number for each chain, different for different chains, shape (n,)."""
    base = int(hops.max(initial=0)) + 2
    return np.asarray((hops.astype(np.int64) + 1) @ base ** np.arange(hops.shape[1], dtype=np.int64))


def _of_several(
    hypothesis: Hypothesis, by_kind: dict[int, list[Name]], table: PathTable, score: Score
) -> Iterator[Pool]:
    if len(by_kind) == 1:
        kind, names = next(iter(by_kind.items()))
        yield from _shared(hypothesis, kind, names, table, score)
        halves = [(names[:1], names[1:]), (names[:-1], names[-1:])]
        for first, second in halves[: 1 if len(names) == 2 else 2]:
            groups = [_group(hypothesis, kind, first), _group(hypothesis, kind, second)]
            yield from _meet(groups, table, score)
    elif len(by_kind) <= 3:
        groups = [_group(hypothesis, kind, names) for kind, names in by_kind.items()]
        yield from _meet(groups, table, score)
        every = [_group(hypothesis, kind, names, len(names) > 1) for kind, names in by_kind.items()]
        if every != groups:
            yield from _meet(every, table, score)


def _shared(hypothesis: Hypothesis, kind: int, names: Sequence[Name], table: PathTable, score: Score) -> Iterator[Pool]:
    """Candidates in which all names, of one type, share a chain."""
    chains = table.chains(kind)
    some = chains.take(np.flatnonzero((chains.length > 0) & (chains.length <= MAX_HOPS)))
    yield chains_pool(_group(hypothesis, kind, names), chains, key="all")
    combines = ["difference", "symmetric"] if len(names) == 2 else ["difference"]
    short = some.take(np.flatnonzero(some.length <= SEVERAL_HOPS))
    pools = [
        chains_pool(_group(hypothesis, kind, names, every=True), short, key="short"),
        chains_pool(_group(hypothesis, kind, names), short, combines, key="short"),
    ]
    for pool in pools:
        yield pool
        yield from _tails(pool, table, score)


def _meet(groups: Sequence[Group], table: PathTable, score: Score) -> Iterator[Pool]:
    """Candidates in which a chain from each group meets the others' in one type."""
    options = [_likeliest(group, table, score) for group in groups]
    for order, combines in _orders(groups, options):
        pool = product_pool([g for g, _ in order], [o for _, o in order], combines)
        if pool is not None:
            kept = best_of(pool, score, MOST)
            yield kept
            yield from _tails(kept, table, score)


def _orders(
    groups: Sequence[Group], options: Sequence[Chains]
) -> list[tuple[list[tuple[Group, Chains]], tuple[str, ...]]]:
    """The orders of groups that give different plans, with the ways of combining them in each.

    In a difference what is taken away comes second, so two groups have two orders.
    """
    pairs = list(zip(groups, options, strict=True))
    if len(pairs) == 2:
        return [(pairs, ("intersect", "union", "difference")), (pairs[::-1], ("difference",))]
    return [(pairs, ("intersect", "union"))]


def _likeliest(group: Group, table: PathTable, score: Score) -> Chains:
    """The likeliest few chains to each type, and the empty chain, which stands for the names themselves."""
    chains = table.chains(group.kind)
    short = chains.take(np.flatnonzero((chains.length > 0) & (chains.length <= SEVERAL_HOPS)))
    scores = score(chains_pool(group, short, key="short"))
    kept = [p for end in np.unique(short.end) for p in _best(np.flatnonzero(short.end == end), scores, PER_END)]
    # No node is two names at once, so where every name must hold there is no empty chain.
    none = chains.take(np.zeros(0 if group.every else 1, dtype=np.int64))
    best = short.take(np.array(sorted(kept), dtype=np.int64))
    return Chains(
        chains.start,
        *(
            np.concatenate([getattr(none, name), getattr(best, name)])
            for name in ("hops", "types", "length", "end", "back")
        ),
    )


def _best(places: np.ndarray, scores: np.ndarray, count: int) -> np.ndarray:
    return places[np.argsort(-scores[places], kind="stable")[:count]]


def _tails(pool: Pool, table: PathTable, score: Score) -> Iterator[Pool]:
    """The likeliest candidates with one and with two more hops after what they combine."""
    once = with_tail(best_of(pool, score, TAILED), table)
    if once is not None:
        once = best_of(once, score, MOST)
        yield once
        twice = with_tail(best_of(once, score, TAILED), table)
        if twice is not None:
            yield twice


def best_of(pool: Pool, score: Score, count: int) -> Pool:
    """The at most ``count`` likeliest candidates of a pool, in its order."""
    if len(pool) <= count:
        return pool
    return taken(pool, np.sort(_best(np.arange(len(pool)), score(pool), count)))
