"""Time of the retrieval part of planning by itself: candidates, source plans, reading everything.

No language model is asked. Times are of one thread; read them on an idle machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np

from ...data.domain import Domain, load_domain
from ...data.rows import LabelledRow
from ...program.heads.encoder import default_encoder
from ...program.heads.training import train_heads
from ...program.retrieval.candidates.candidates import CandidatePlanner
from ...program.retrieval.collection.collection import choose_method, open_items, read_everything
from ...program.retrieval.sources.intents import IntentReader
from ...program.retrieval.sources.planning import SourcePlanner
from ...program.strategy import choose_strategy
from ...program.text.linker import Linker
from ...signatures.types import Frozen

ROUNDS = 5


class Time(Frozen):
    """Milliseconds of one thing over rows and rounds, and what it must stay under (None if nothing is promised)."""

    name: str
    p50: float
    p99: float
    under: float | None = None


def bench_retrieval(rounds: int = ROUNDS) -> list[Time]:
    """Time each part on the ``dev`` rows of a domain that has it."""
    return [*bench_candidates("podcast", rounds), *bench_sources("engineering", rounds), *bench_collection(rounds)]


def bench_candidates(domain: str = "podcast", rounds: int = ROUNDS) -> list[Time]:
    """Time making the candidates of every labelled query, with expansion if its strategy has it."""
    read = load_domain(domain, splits=("dev",))
    planner = CandidatePlanner(read.card, Linker(read.card.names))

    def once(row: LabelledRow) -> None:
        labels = row.labels
        strategy = choose_strategy(labels.is_relevant, labels.intent, labels.complexity, len(labels.entities))
        seed = planner.seed(labels.standalone_query, labels.entities, labels.sub_queries, labels.relationships_needed)
        planner.plan(seed, strategy.rag_expansion)

    return [_timed("candidates, no language model", once, _relevant(read), rounds, under=2.0)]


def bench_sources(domain: str = "engineering", rounds: int = ROUNDS) -> list[Time]:
    """Time reading intents from the text, and making source plans from intents."""
    read = load_domain(domain, splits=("train", "dev"))
    heads = train_heads(read.rows("train"), read.card, default_encoder())
    reader, planner = IntentReader(read.card), SourcePlanner(read.card)
    rows = _relevant(read)
    intents = {row.id: reader.read(row.labels.standalone_query, heads) for row in rows}
    now = {row.id: datetime.fromisoformat(row.session["now"]) for row in rows}
    return [
        _timed("source plans from intents", lambda r: planner.plan(intents[r.id], now[r.id]), rows, rounds, under=1.0),
        _timed("source intents from text", lambda r: reader.read(r.labels.standalone_query, heads), rows, rounds),
    ]


def bench_collection(rounds: int = ROUNDS) -> list[Time]:
    """Time choosing between reading everything and searching, and reading fifteen posts."""
    read = load_domain("journal", splits=("dev",))
    rules = read.card.collection
    assert rules is not None, "the journal has rules for its collection"
    items = open_items(read.folder / (rules.store or ""))
    newest = items.items[: rules.direct_max_items]
    stats = {"composition_count": len(newest)}

    def choose(row: LabelledRow) -> None:
        now = datetime.fromisoformat(row.session["now"])
        choose_method(row.session.get("collection"), now, rules, items.tokens)

    def everything(row: LabelledRow) -> None:
        read_everything(row.query, newest, stats, datetime.fromisoformat(row.session["now"]), rules)

    rows = _relevant(read)
    return [
        _timed("read everything or search", choose, rows, rounds),
        _timed("fifteen posts formatted", everything, rows, rounds),
    ]


def _relevant(read: Domain) -> list[LabelledRow]:
    return [row for row in read.rows("dev") if row.labels.is_relevant and row.labels.intent != "greeting"]


def _timed(
    name: str,
    once: Callable[[LabelledRow], object],
    rows: Sequence[LabelledRow],
    rounds: int,
    under: float | None = None,
) -> Time:
    """One round to warm up, then every row once a round."""
    taken: list[float] = []
    for number in range(rounds + 1):
        for row in rows:
            began = time.perf_counter()
            once(row)
            if number:
                taken.append((time.perf_counter() - began) * 1000)
    return Time(name=name, p50=float(np.median(taken)), p99=float(np.quantile(taken, 0.99)), under=under)
