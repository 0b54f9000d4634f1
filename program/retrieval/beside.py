"""What runs in parallel with the search: the graph's answers and the records of structured sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...data.card import KnownName
from ...data.sources import SourceContract
from ...signatures.types import SourceQuery
from ..plan import QueryPlan
from .calls import Call, Deadline, Limits, Outcome, run_calls, words_of
from .graph_facts import Fact, Known, facts_about, lacking
from .reading_results import ReadAnswer, read_answer
from .results import Gap, RankedList, SearchResult
from .sources.filters import RESOLVED
from .sources.planning import query_ids
from .sources.records import SourceAnswer
from .stores import Stores

PLAN, NAMES = "the plan's graph steps", "the names in the question"
URGENT = 10
"""The highest priority of a source plan; its results weigh as much as a candidate of weight 1."""


@dataclass
class Beside:
    """The results of the graph and the sources, their gaps, and how long they took in milliseconds."""

    graph_asked: bool = False
    graph_answers: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    source_answers: list[SourceAnswer] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    graph_ms: float = 0.0
    sources_ms: float = 0.0


def gather(plan: QueryPlan, stores: Stores, limits: Limits, deadline: Deadline) -> Beside:
    """Ask the graph and the sources in parallel; a failure of one of them is a gap."""
    graph = _graph_calls(plan, stores, limits)
    beside = Beside(graph_asked=bool(graph), gaps=_without_graph(plan, stores))
    there = [query for query in plan.source_queries if query.source in stores.sources]
    sources = [(query, call) for query in there if (call := _source_call(query, plan, stores, beside))]
    outcomes = run_calls([*graph.values(), *(call for _, call in sources)], deadline)
    for name, outcome in zip(graph, outcomes, strict=False):
        _take_graph(beside, name, outcome)
    took = [(q, _took(beside, q, outcome)) for (q, _), outcome in zip(sources, outcomes[len(graph) :], strict=True)]
    failed = [(query, _NO_STORE) for query in plan.source_queries if query not in there]
    failed += [(query, why) for query, why in took if why]
    _fall_back(failed, plan, stores, beside, deadline)
    return beside


def facts_of(surfaces: Sequence[str], stores: Stores, limits: Limits, deadline: Deadline) -> tuple[Fact, ...]:
    """The edges of names in the graph, within its limits; none if it fails."""
    graph, schema = stores.graph, stores.card.graph
    if graph is None or schema is None:
        return ()
    names = known_names(surfaces, stores)
    outcome = run_calls([Call(graph, limits, lambda: facts_about(names, graph, schema))], deadline)[0]
    return outcome.value.facts if outcome.value else ()


def known_names(surfaces: Sequence[str], stores: Stores) -> list[KnownName]:
    """The card's names for the given surface forms, each once."""
    links = (link for surface in surfaces for link in stores.linker.links(surface))
    return list({link.name.name: link.name for link in links}.values())


def source_lists(answers: Sequence[SourceAnswer], plan: QueryPlan) -> list[RankedList]:
    """One ranked list for each source query, weighed by the priority of its plan."""
    priority = {query_id: each.priority for each in plan.source_plans for query_id in query_ids(each.id, each.sources)}
    lists = []
    for answer in answers:
        query, variant = answer.query, f"source:{answer.query.source}"
        found = tuple(
            SearchResult(h.passage, h.score, query.source, query.id, query.query_string, variant) for h in answer.hits
        )
        weight = priority.get(query.id, URGENT) / URGENT
        lists.append(RankedList(query.source, query.id, query.query_string, variant, found, weight))
    return lists


def _graph_calls(plan: QueryPlan, stores: Stores, limits: Limits) -> dict[str, Call[Any]]:
    graph, schema, steps = stores.graph, stores.card.graph, plan.graph_plan
    if graph is None or schema is None or not plan.retrieval_strategy.use_kg:
        return {}
    names = known_names(plan.entities, stores)
    calls: dict[str, Call[Any]] = {}
    if names:
        calls[NAMES] = Call(graph, limits, lambda: facts_about(names, graph, schema))
    if steps is not None:
        calls[PLAN] = Call(graph, limits, lambda: graph.run(steps))
    return calls


def _without_graph(plan: QueryPlan, stores: Stores) -> list[Gap]:
    """The gap of a plan with graph steps if there is no graph."""
    if plan.graph_plan is None or (stores.graph is not None and stores.card.graph is not None):
        return []
    why = f"the domain {stores.card.name} has no graph"
    return [Gap(kind="graph", what=PLAN, why=why, instead="they were not run")]


def _take_graph(beside: Beside, name: str, outcome: Outcome[Any]) -> None:
    beside.graph_ms = max(beside.graph_ms, outcome.milliseconds)
    found = outcome.value
    names = getattr(found, "names", None)
    if isinstance(found, Known):
        beside.facts = found.facts
    elif isinstance(names, Sequence) and not isinstance(names, str):
        beside.graph_answers = tuple(map(str, names))
        unknown = ", ".join(ref.name for ref in getattr(found, "unknown", ()))
        if unknown:
            beside.gaps.append(Gap(kind="graph", what=unknown, why="the graph has no such node", instead="left out"))
    else:
        why = outcome.error or "it gave no answer that can be read"
        beside.gaps.append(Gap(kind="graph", what=name, why=why, instead="it was done without"))
    beside.gaps += [Gap(kind="graph", what=name, why=why, instead="what it gave is used") for why in lacking(found)]


def _source_call(query: SourceQuery, plan: QueryPlan, stores: Stores, beside: Beside) -> Call[ReadAnswer] | None:
    """How a source query is run; one whose source has nothing that can be asked is a gap."""
    try:
        source = stores.sources[query.source]
        limits = source.contract.limits
    except Exception as error:  # it may be a property of anybody's
        beside.gaps.append(_lost(query, words_of(error), "it was not asked"))
        return None
    return Call(
        source,
        Limits(timeout_s=limits.milliseconds / 1000, results=limits.records),
        lambda: source.answer(query, plan.standalone_query),
        lambda value: read_answer(value, query, limits.records),
    )


def _took(beside: Beside, query: SourceQuery, outcome: Outcome[Any]) -> str:
    """Take a source's answer and give why there is none; empty where there is one."""
    beside.sources_ms = max(beside.sources_ms, outcome.milliseconds)
    read = outcome.value
    if not isinstance(read, ReadAnswer):
        return outcome.error or "its answer could not be read"
    beside.source_answers.append(read.answer)
    beside.gaps += [_lost(query, read.why, "the others are used")] if read.why else []
    beside.gaps += _gaps_of(read.answer)
    return ""


def _gaps_of(answer: SourceAnswer) -> list[Gap]:
    if not answer.matching:
        why = "no record passes its filters" if answer.query.filters else "no record has a word of the question"
        instead = "nothing of it is given"
    elif answer.cut:
        why = f"{answer.matching} records match, more than the source gives at once"
        instead = f"the first {len(answer.hits)} are given"
    else:
        return []
    return [_lost(answer.query, why, instead)]


def _lost(query: SourceQuery, why: str, instead: str) -> Gap:
    return Gap(kind="source", what=query.query_string, why=why, instead=instead)


def _fall_back(
    failed: Sequence[tuple[SourceQuery, str]], plan: QueryPlan, stores: Stores, beside: Beside, deadline: Deadline
) -> None:
    """Ask the sources that the card names as stand-ins, with the filters that they have."""
    calls: list[tuple[SourceQuery, Call[ReadAnswer]]] = []
    for query, why in failed:
        moved = _moved(query, stores)
        call = _source_call(moved, plan, stores, beside) if moved is not None else None
        beside.gaps.append(_lost(query, why, _instead(query, moved if call is not None else None)))
        calls += [(moved, call)] if moved is not None and call is not None else []
    for (query, _), outcome in zip(calls, run_calls([call for _, call in calls], deadline), strict=True):
        if why := _took(beside, query, outcome):
            beside.gaps.append(_lost(query, f"its stand-in {query.source} gives nothing either: {why}", _NO_OTHER))


_NO_OTHER = "the other sources are used"
_NO_STORE = "this source has no store here"


def _instead(query: SourceQuery, moved: SourceQuery | None) -> str:
    """In words: which source is asked instead of one that failed, and which filters are left out for it."""
    if moved is None:
        return _NO_OTHER
    left = {key: values for key, values in query.filters.items() if key not in moved.filters}
    stated = [f"{key}:{','.join(values)}" for key, values in left.items() if not key.startswith(RESOLVED)]
    return f"{moved.source} is asked" + (f" without {' and '.join(stated)}, which it does not know" if stated else "")


def _moved(query: SourceQuery, stores: Stores) -> SourceQuery | None:
    """The same query for the stand-in of its source, or None if there is none."""
    contracts = {contract.name: contract for contract in stores.card.sources}
    own = contracts.get(query.source) if query.source not in stores.sources else stores.sources[query.source].contract
    contract = contracts.get((own and own.fallback) or "")
    if contract is None or contract.name not in stores.sources:
        return None
    kept = {key: values for key, values in query.filters.items() if _understands(contract, key, values)}
    return query.model_copy(update={"source": contract.name, "filters": kept})


def _understands(contract: SourceContract, key: str, values: Sequence[str]) -> bool:
    field = contract.field(key.removeprefix(RESOLVED))
    return field is not None and (not field.values or set(values) <= set(field.values))
