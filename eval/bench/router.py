"""The heads beside ``semantic-router``: the same encoder, the same queries, the same run.

Both learn whether a query is in scope from the same training rows, and both choose their settings by cross-validation
on these, grouped by conversation: the heads as always; the router its number of neighbours and how it aggregates their
scores, by balanced accuracy. Then both are asked the same queries in turn. The router answers this one question; in
the time shown the heads answer all of theirs.

``semantic-router`` brings the client libraries of four hosted services, so it is measured only where it is installed,
and otherwise named as skipped.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...data.converters.sources import VARIABLE
from ...data.domain import load_domain
from ...data.rows import LabelledRow
from ...program.heads.encoder import default_encoder
from ...program.heads.fit_head import folds_of
from ...program.heads.heads import Heads
from ...program.heads.training import train_heads
from ...signatures.types import Frozen
from ..cascade.bound_sets import converted, mixed
from .plans import ROUNDS, Timing, compare, timed

NEIGHBOURS = (1, 5, 15, 40)
SUMS = ("mean", "max", "sum")
LEARN, ASK = 400, 400


class Routed(Frozen):
    """Time per query and balanced accuracy of heads and router on one set.

    Attributes:
        settings: the settings that the router chose.
        time_ratio: median time of the heads divided by the router's; the aim is at most a half.
    """

    name: str
    queries: int
    ours_ms: float
    router_ms: float
    time_ratio: float
    ours_balanced: float
    router_balanced: float
    settings: str


def missing() -> str:
    """Why the router is not measured; empty if it is."""
    if find_spec("semantic_router") is None:
        return "semantic-router is not installed: pip install semantic-router"
    try:
        import_module("semantic_router.routers")
    except ImportError as error:
        return f"semantic-router is not whole ({error}): pip install semantic-router"
    return ""


def bench_router(rounds: int = ROUNDS, seed: int = 0) -> list[Routed]:
    """Compare them on the podcast's ``dev``, and on CLINC150 if it is found; empty if the router is not installed."""
    if missing():
        return []
    read = load_domain("podcast", splits=("train", "dev"))
    heads = train_heads(read.rows("train"), read.card, default_encoder(), seed)
    found = [_beside("podcast", heads, read.rows("train"), read.rows("dev"), rounds, seed)]
    if os.environ.get(VARIABLE):
        card, rows = converted("clinc150", domain="banking")
        drawn = mixed(rows, LEARN + ASK, 0.5, np.random.default_rng(seed))
        heads = train_heads(drawn[:LEARN], card, default_encoder(), seed)
        found.append(_beside("clinc150", heads, drawn[:LEARN], drawn[LEARN:], rounds, seed))
    return found


def _beside(
    name: str, heads: Heads, train: Sequence[LabelledRow], asked: Sequence[LabelledRow], rounds: int, seed: int
) -> Routed:
    router, settings = _tuned(train, seed)
    texts = [row.labels.standalone_query for row in asked]
    gold = [_gold(row) for row in asked]
    # The likelier label, as the router gives it; heads may hold back a rejection because of costs, a router cannot.
    ours = [heads.of_query(text)["is_relevant"].likeliest for text in texts]
    theirs = [router(text).name for text in texts]

    def ask_heads() -> list[float]:
        heads.features.forget()
        return [timed(lambda t=text: heads.of_query(t)) for text in texts]

    times: list[Timing] = compare(
        {"router": lambda: [timed(lambda t=text: router(t)) for text in texts], "ours": ask_heads}, rounds
    )
    return Routed(
        name=name,
        queries=len(texts),
        ours_ms=times[1].p50,
        router_ms=times[0].p50,
        time_ratio=times[1].ratio,
        ours_balanced=balanced_accuracy(ours, gold),
        router_balanced=balanced_accuracy(theirs, gold),
        settings=settings,
    )


def balanced_accuracy(said: Sequence[str | None], gold: Sequence[str]) -> float:
    """The mean over the labels of the share of each label's rows that are right."""
    rights = {label: [s == g for s, g in zip(said, gold, strict=True) if g == label] for label in set(gold)}
    return float(np.mean([np.mean(right) for right in rights.values()]))


def _tuned(train: Sequence[LabelledRow], seed: int) -> tuple[Any, str]:
    """A router, with its settings chosen by cross-validation on its training rows, and those settings in words."""
    folds = folds_of([row.conversation for row in train], seed)
    scores: dict[tuple[int, str], float] = {}
    for neighbours in NEIGHBOURS:
        for how in SUMS:
            said: list[str | None] = [None] * len(train)
            for fold in np.unique(folds):
                router = _router([r for r, f in zip(train, folds, strict=True) if f != fold], neighbours, how)
                for i in np.flatnonzero(folds == fold).tolist():
                    said[i] = router(train[i].labels.standalone_query).name
            scores[neighbours, how] = balanced_accuracy(said, [_gold(row) for row in train])
    neighbours, how = max(scores, key=lambda key: scores[key])
    return _router(train, neighbours, how), f"{neighbours} neighbours, {how}"


def _router(rows: Sequence[LabelledRow], neighbours: int, how: str) -> Any:
    from semantic_router import Route  # type: ignore[import-not-found]
    from semantic_router.encoders import DenseEncoder  # type: ignore[import-not-found]
    from semantic_router.routers import IndexedRouter  # type: ignore[import-not-found]

    class Same(DenseEncoder):
        name: str = default_encoder().name
        type: str = "static"

        def __call__(self, docs: list[Any]) -> list[list[float]]:
            return default_encoder().encode(docs).tolist()

    routes = [
        Route(name=label, utterances=[r.labels.standalone_query for r in rows if _gold(r) == label])
        for label in ("true", "false")
    ]
    return IndexedRouter(Same(), routes, top_k=neighbours, aggregation=how)


def _gold(row: LabelledRow) -> str:
    return "true" if row.labels.is_relevant else "false"
