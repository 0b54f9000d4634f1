"""``search_with_plan``: searches for the planned candidates exactly as they are, or without a plan as before."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from ...errors import ConfigError
from ...signatures.types import Frozen
from ..plan import QueryCandidate, QueryPlan
from .calls import Call, Deadline, Outcome, at_least, awaited, run_calls, words_of
from .fusion import NEAR_DUPLICATE, RANK_CONSTANT, Ranked, Relevance, rank
from .placeholders import open_references
from .providers import SearchProvider, Variation
from .reading_results import Read, read_results, read_variations, unfit
from .results import Asked, Evidence, Gap, RankedList, SearchResult, variant_of

LOG = logging.getLogger("queryplan.retrieval")
LEGACY = "legacy"

Plan = QueryPlan | Sequence[QueryCandidate]


class SearchTrace(Frozen):
    """What a search did, logged once for each run.

    Attributes:
        planned: whether there was a plan with candidates.
        candidates: number of candidates asked, by stage.
        queries: searches sent, over all providers.
        results: number of results before fusion, by stage.
        duplicates: passages left out as near-duplicates.
        irrelevant: passages left out by the relevance filter.
        chosen: number of evidence passages to which each ``stage:label`` contributed most.
    """

    planned: bool
    candidates: dict[str, int] = {}
    queries: int = 0
    results: dict[str, int] = {}
    duplicates: int = 0
    irrelevant: int = 0
    chosen: dict[str, int] = {}


@dataclass(frozen=True)
class SearchSettings:
    """How to search, and how results are combined.

    Attributes:
        limit: passages in the evidence.
        depth: results requested of each channel.
        compress: shortens the query of a search *without* a plan; a planned query is never changed.
        relevance: a filter that keeps passages about the question; None keeps all.

    Raises:
        ConfigError: a number is below what means anything.
    """

    limit: int = 10
    depth: int = 50
    rank_constant: int = RANK_CONSTANT
    near_duplicate: float = NEAR_DUPLICATE
    compress: Callable[[str], str] | None = None
    relevance: Relevance | None = None

    def __post_init__(self) -> None:
        at_least(self, limit=1, depth=1, rank_constant=0)
        if not self.near_duplicate > 0:
            raise ConfigError("near_duplicate must be above zero: it is a share of words, and above 1 removes nothing")


@dataclass
class SearchRun:
    """The queries and results of one run; lists can be added and the evidence ranked again."""

    settings: SearchSettings = field(default_factory=SearchSettings)
    planned: bool = True
    asked: list[Asked] = field(default_factory=list)
    lists: list[RankedList] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    ranked: Ranked = field(default_factory=lambda: Ranked(()))

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The best passages, best first."""
        return self.ranked.evidence

    @property
    def queries(self) -> int:
        """Number of searches sent."""
        return len(self.asked)

    def rank(self) -> SearchRun:
        """Fuse all lists; returns self."""
        s = self.settings
        relevance = self._relevant if s.relevance is not None else None
        self.ranked = rank(self.lists, s.limit, relevance, s.rank_constant, s.near_duplicate)
        return self

    def _relevant(self, evidence: Sequence[Evidence]) -> Sequence[Evidence]:
        """What the relevance filter keeps; everything if it fails, since it may be the user's."""
        assert self.settings.relevance is not None
        try:
            return list(self.settings.relevance(evidence))
        except Exception as error:
            gap = Gap(kind="plan", what="the relevance filter", why=words_of(error), instead="every passage was kept")
            self.gaps += [gap] if gap not in self.gaps else []
            return evidence

    def trace(self) -> SearchTrace:
        """The counts of this run."""
        results: Counter[str] = Counter()
        for ranking in self.lists:
            results[ranking.variant.partition(":")[0]] += len(ranking.results)
        distinct = {(a.candidate.stage, a.candidate.label, a.candidate.query) for a in self.asked}
        return SearchTrace(
            planned=self.planned,
            candidates=dict(Counter(stage for stage, _, _ in distinct)),
            queries=self.queries,
            results=dict(results),
            duplicates=self.ranked.duplicates,
            irrelevant=self.ranked.irrelevant,
            chosen=dict(Counter(item.query_variant for item in self.evidence)),
        )


def search_with_plan(
    query: str,
    providers: SearchProvider | Iterable[SearchProvider],
    plan: Plan | None = None,
    *,
    settings: SearchSettings | None = None,
    deadline_s: float | None = None,
) -> SearchRun:
    """Search providers with a plan's candidates, or without a plan with each provider's own variations.

    With a plan, its candidates are searched for exactly as they are, by the providers that their ``source_filter``
    names (all, if it names none), in parallel within each provider's limits. A provider's own generator is not called,
    and each result carries ``stage:label``. Without a plan, the query is compressed if the settings say so, every
    provider makes its own variations, and repeated ones are asked once.

    Removal of near-duplicates, relevance filter and ranking are the same in both cases. A provider's failure is a gap
    and never raises.
    """
    asked = list(providers) if isinstance(providers, Iterable) else [providers]
    run = SearchRun(settings or SearchSettings(), planned=plan is not None)
    deadline = Deadline(deadline_s)
    if plan is None:
        _search_as_before(run, query, asked, deadline)
    else:
        ask(run, planned_candidates(plan), asked, deadline)
    run.rank()
    log_trace(run.trace())
    return run


async def asearch_with_plan(
    query: str,
    providers: SearchProvider | Iterable[SearchProvider],
    plan: Plan | None = None,
    *,
    settings: SearchSettings | None = None,
    deadline_s: float | None = None,
) -> SearchRun:
    """As `search_with_plan`, for asyncio; providers' coroutines run on the caller's event loop."""
    return await awaited(lambda: search_with_plan(query, providers, plan, settings=settings, deadline_s=deadline_s))


def planned_candidates(plan: Plan) -> tuple[QueryCandidate, ...]:
    """The candidates of a plan that can be asked now, without those that wait for an answer (``{1}``).

    For a plan without candidates these are its standalone query and its sub-queries. ``{1}`` in what a user typed
    waits for nothing where the plan has no such sub-query.
    """
    if not isinstance(plan, QueryPlan):
        return tuple(c for c in plan if c.query.strip() and not open_references(c.query))
    if not plan.retrieval_strategy.use_rag:
        return ()
    given = plan.candidates or (
        QueryCandidate(query=plan.standalone_query, stage="rule_based", label="standalone"),
        *(
            QueryCandidate(query=s.text, stage="rule_based", label=f"sub_query_{s.id}")
            for s in plan.sub_queries
            if not open_references(s.text)
        ),
    )
    ids = {sub.id for sub in plan.sub_queries}
    return tuple(c for c in given if c.query.strip() and ids.isdisjoint(open_references(c.query)))


def ask(
    run: SearchRun, candidates: Sequence[QueryCandidate], providers: Sequence[SearchProvider], deadline: Deadline
) -> None:
    """Search for candidates with the providers that they name; results and gaps are added to the run."""
    fit = _fit(run, providers)
    _ask(run, [(c, provider) for c in candidates for provider in _meant(run, c, fit)], deadline)


def _fit(run: SearchRun, providers: Sequence[SearchProvider]) -> list[SearchProvider]:
    """The providers that can be searched; any other is a gap, once in a run."""
    wrong = {number: why for number, provider in enumerate(providers) if (why := unfit(provider))}
    for number, why in wrong.items():
        what = f"the provider {number + 1}, a {type(providers[number]).__name__}"
        gap = Gap(kind="provider", what=what, why=why, instead="it was not asked")
        run.gaps += [gap] if gap not in run.gaps else []
    return [provider for number, provider in enumerate(providers) if number not in wrong]


def _ask(run: SearchRun, pairs: Sequence[tuple[QueryCandidate, SearchProvider]], deadline: Deadline) -> None:
    calls = [_call(candidate.query, provider, run.settings.depth) for candidate, provider in pairs]
    for (candidate, provider), outcome in zip(pairs, run_calls(calls, deadline), strict=True):
        _take(run, candidate, provider, outcome)


def _call(query: str, provider: SearchProvider, depth: int) -> Call[Read]:
    most = min(depth, provider.limits.results)
    return Call(provider, provider.limits, lambda: provider.search(query, most), partial(read_results, most=most))


def log_trace(trace: SearchTrace) -> None:
    """Log the trace of a run, once, as JSON."""
    LOG.info("search %s", json.dumps(trace.model_dump(), ensure_ascii=False))


def _meant(run: SearchRun, candidate: QueryCandidate, providers: Sequence[SearchProvider]) -> Sequence[SearchProvider]:
    """The providers that a candidate names; a filter that names none of them is a gap."""
    if not candidate.source_filter:
        return providers
    meant = [provider for provider in providers if provider.name in candidate.source_filter]
    if not meant:
        wanted = ", ".join(candidate.source_filter)
        why = f"no provider is called {wanted}"
        run.gaps.append(Gap(kind="provider", what=variant_of(candidate), why=why, instead="it was not asked"))
    return meant


def _search_as_before(run: SearchRun, query: str, providers: Sequence[SearchProvider], deadline: Deadline) -> None:
    """Search without a plan: compress, let each provider make its variations, ask each distinct one once."""
    text = _compressed(run, query)
    fit = _fit(run, providers)
    calls = [Call(p, p.limits, partial(p.variations, text), read_variations) for p in fit]
    pairs = []
    for provider, outcome in zip(fit, run_calls(calls, deadline), strict=True):
        made = outcome.value or Read(())
        if why := outcome.error or made.why:
            instead = "its others were asked" if made.good else "it was asked the query as it is"
            run.gaps.append(Gap(kind="provider", what=f"{provider.name}: its variations", why=why, instead=instead))
        variations = made.good or (Variation(text, "as typed"),)
        legacy = (QueryCandidate(query=v.query, stage=LEGACY, label=v.label) for v in variations)
        pairs += [(candidate, provider) for candidate in legacy]
    _ask(run, pairs, deadline)


def _compressed(run: SearchRun, query: str) -> str:
    """The query as the settings shorten it; as it is if that fails or gives no text."""
    if run.settings.compress is None:
        return query
    try:
        text = run.settings.compress(query)
        why = "" if isinstance(text, str) and text.strip() else "it gave no text"
    except Exception as error:  # it may be the user's
        text, why = query, words_of(error)
    if why:
        instead = "the query was asked as it is"
        run.gaps.append(Gap(kind="plan", what="shortening the query", why=why, instead=instead))
    return query if why else text


def _take(run: SearchRun, candidate: QueryCandidate, provider: SearchProvider, outcome: Outcome[Read]) -> None:
    """Add one answer to the run: its lists by channel, and a gap for what cannot be used."""
    answer = outcome.value or Read(())
    label = candidate.label if candidate.stage == LEGACY else variant_of(candidate)
    channels: dict[str, list[SearchResult]] = {}
    for result in answer.good:
        channels.setdefault(result.channel, []).append(result.asked(candidate.query, label))
    for channel, found in channels.items():
        run.lists.append(RankedList(provider.name, channel, candidate.query, label, tuple(found), candidate.weight))
    error = outcome.error or answer.why
    run.asked.append(Asked(candidate, provider.name, len(answer.good), outcome.milliseconds, error))
    if error:
        instead = "its other results were used" if answer.good else "the other searches were used"
        run.gaps.append(Gap(kind="provider", what=f"{provider.name}: {label}", why=error, instead=instead))
