"""Runs a plan on stores: asks at once what can be asked, then what waited for an answer, then looks for the gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..plan import QueryCandidate, QueryPlan
from ..threads import in_thread
from .answers import Answerer, NamesInEvidence
from .beside import Beside, facts_of, gather, source_lists
from .calls import Deadline, Limits, at_least, awaited
from .collection.reading import read_collection
from .gaps import COVERED, Coverage, cover
from .results import Gap
from .run_result import EMPTY, Kind, RunResult, Timings
from .search import SearchRun, SearchSettings, ask, log_trace, planned_candidates
from .speaking import Speakers, Spoken, answered, rejected, spoken
from .stores import Stores
from .waves import Waves


@dataclass(frozen=True)
class Budget:
    """Limits on following up gaps after the first evidence.

    Attributes:
        rounds: further batches after the first evidence.
        queries: follow-up candidates in all of these batches together.
        least: a need that is covered by less than this share is a gap.
        threshold: nothing is followed up if at least this share of the needs is met.
        weight: weight of a follow-up's results beside those of the plan's own candidates. At 1 they displaced good
            passages: recall@10 on the podcast's training evidence fell from 0.593 to 0.585 with the heads' plans,
            and rose to 0.604 at 0.35 (with plans of the labels: 0.695, 0.694 and 0.697).

    Raises:
        ConfigError: a number is below zero.
    """

    rounds: int = 2
    queries: int = 6
    least: float = COVERED
    threshold: float = 1.0
    weight: float = 0.35

    def __post_init__(self) -> None:
        at_least(self, rounds=0, queries=0, weight=0)


@dataclass(frozen=True)
class RunSettings:
    """How plans are run.

    Attributes:
        answerer: answers a sub-query that another one waits for; by default with names in its evidence.
        side: limits for the graph, and for a source that declares none.
        complex_times: factor on the number of passages for a complex question, whose answer is in several places; 1
            gives all plans the same number.

    Raises:
        ConfigError: ``complex_times`` is below 1.
    """

    search: SearchSettings = field(default_factory=SearchSettings)
    budget: Budget = field(default_factory=Budget)
    speakers: Speakers = field(default_factory=Speakers)
    answerer: Answerer | None = None
    side: Limits = field(default_factory=lambda: Limits(concurrency=4, timeout_s=5.0))
    complex_times: int = 2

    def __post_init__(self) -> None:
        at_least(self, complex_times=1)

    def search_for(self, plan: QueryPlan) -> SearchSettings:
        """The search settings for this plan."""
        if not plan.retrieval_strategy.iterative:
            return self.search
        return replace(self.search, limit=self.search.limit * self.complex_times)


def execute(
    plan: QueryPlan,
    stores: Stores,
    *,
    session: Mapping[str, Any] | None = None,
    deadline_s: float | None = None,
    settings: RunSettings | None = None,
) -> RunResult:
    """Run a plan on stores.

    Searches that do not depend on each other run in parallel, as do the graph and the source queries. A sub-query
    with ``{1}`` is asked when that answer is known. What the first evidence does not cover is asked again, within the
    budget, as long as that gains anything. A store that hangs, fails or returns rubbish costs its own part of the
    result, which is then a named gap.

    Args:
        session: what the application knows; ``collection`` and ``now`` decide what is read as a whole.
        deadline_s: seconds after which the result is made from what has been found.
    """
    return _Execution(plan, stores, settings or RunSettings(), session or EMPTY, Deadline(deadline_s)).result()


async def aexecute(
    plan: QueryPlan,
    stores: Stores,
    *,
    session: Mapping[str, Any] | None = None,
    deadline_s: float | None = None,
    settings: RunSettings | None = None,
) -> RunResult:
    """As `execute`, for asyncio; stores' coroutines run on the caller's event loop."""
    return await awaited(lambda: execute(plan, stores, session=session, deadline_s=deadline_s, settings=settings))


@dataclass
class _Execution:
    plan: QueryPlan
    stores: Stores
    settings: RunSettings
    session: Mapping[str, Any]
    deadline: Deadline
    rounds: int = 0
    has_records: bool = False

    def result(self) -> RunResult:
        plan, speakers, card = self.plan, self.settings.speakers, self.stores.card
        if not plan.is_relevant:
            return self._unsearched("rejected", rejected(speakers, card, plan))
        if plan.retrieval_strategy.direct_answer:
            return self._unsearched("direct_answer", answered(speakers, card, plan))
        whole, gaps = self._whole()
        if whole is not None:
            return self._spoken(whole)
        found = self._searched()
        return self._spoken(replace(found, gaps=(*gaps, *found.gaps)))

    def _whole(self) -> tuple[RunResult | None, tuple[Gap, ...]]:
        """The whole collection, if the plan says to read it and it is what its statistics said."""
        if self.plan.retrieval_strategy.retrieval_method != "direct":
            return None, ()
        if self.stores.collection:
            return read_collection(self.plan, self.stores, self.session)
        why = f"the domain {self.stores.card.name} has no collection to read"
        return None, (Gap(kind="plan", what="reading everything", why=why, instead="it was searched"),)

    def _searched(self) -> RunResult:
        run = SearchRun(self.settings.search_for(self.plan))
        beside = in_thread(lambda: gather(self.plan, self.stores, self.settings.side, self.deadline))
        waves = self._search(run)
        searched = self.deadline.elapsed_ms()
        side = beside.result()
        run.lists += source_lists(side.source_answers, self.plan)
        self.has_records = any(answer.hits for answer in side.source_answers)
        gathered = self.deadline.elapsed_ms()
        coverage = self._follow_up(run.rank(), waves)
        log_trace(run.trace())
        return RunResult(
            self.plan,
            "searched",
            evidence=run.evidence,
            sub_answers=waves.answered(),
            graph_answers=side.graph_answers,
            facts=side.facts,
            source_answers=tuple(side.source_answers),
            coverage=coverage,
            gaps=(*self._nobody(side), *run.gaps, *waves.gaps, *side.gaps, *coverage.gaps(), *self._late()),
            trace=run.trace(),
            rounds=self.rounds,
            timings=Timings(
                search=searched,
                graph=side.graph_ms,
                sources=side.sources_ms,
                follow_ups=self.deadline.elapsed_ms() - gathered,
            ),
        )

    # -- search -----------------------------------------------------------------------------------

    def _search(self, run: SearchRun) -> Waves:
        """Ask what can be asked, then what depends on it, until nothing waits."""
        waves = Waves(self.plan, self._answerer(), self.deadline)
        batch = waves.first(planned_candidates(self.plan))
        while batch:
            self._ask(run, batch)
            batch = () if self.deadline.over() else waves.next(run.lists, self.settings.search.rank_constant)
        waves.end()
        return waves

    def _ask(self, run: SearchRun, candidates: Sequence[QueryCandidate]) -> None:
        providers = self._providers()
        self.rounds += bool(providers)
        ask(run, candidates, providers, self.deadline)

    def _providers(self) -> list[Any]:
        """The providers to search; sources that the plan asks with filters are not also searched without them."""
        left_out = self.stores.sources if self.plan.source_queries else {}
        return [provider for provider in self.stores.providers if getattr(provider, "name", None) not in left_out]

    def _answerer(self) -> Answerer:
        if self.settings.answerer is not None:
            return self.settings.answerer
        return NamesInEvidence(self.stores.linker, self.stores.weight or (lambda term: 1.0), self._near)

    def _near(self, surfaces: Sequence[str]) -> frozenset[str]:
        """Names that one edge of the graph joins to the given ones."""
        facts = facts_of(surfaces, self.stores, self.settings.side, self.deadline)
        return frozenset(name for fact in facts for name in (fact.subject, fact.object))

    def _follow_up(self, run: SearchRun, waves: Waves) -> Coverage:
        """Search for what is missing, as long as that is allowed and gains anything."""
        budget, left = self.settings.budget, self.settings.budget.queries
        coverage = self._cover(run, waves)
        for _ in range(budget.rounds if self._may_look_again(run) else 0):
            if coverage.share >= budget.threshold or not left or self.deadline.over():
                break
            wanted = self._proposed(run, coverage)[:left]
            if not wanted:
                break
            self._ask(run, wanted)
            left -= len(wanted)
            again = self._cover(run.rank(), waves)
            gained, coverage = _gained(coverage, again), again
            if not gained:
                break
        return coverage

    def _may_look_again(self, run: SearchRun) -> bool:
        """Whether to follow up: the plan is iterative or nothing was found, and there is a provider to ask."""
        return bool(self._providers()) and (self.plan.retrieval_strategy.iterative or not run.evidence)

    def _cover(self, run: SearchRun, waves: Waves) -> Coverage:
        """How far the evidence covers the plan; records that passed the filters answer by fields, not by words."""
        if self.has_records and not self.plan.sub_queries:
            return Coverage(needs=())
        weight, linker, least = self.stores.weight, self.stores.linker, self.settings.budget.least
        return cover(self.plan, run.evidence, weight, linker, waves.questions(), least)

    def _proposed(self, run: SearchRun, coverage: Coverage) -> tuple[QueryCandidate, ...]:
        planner, plan = self.stores.candidates, self.plan
        seed = planner.seed(plan.standalone_query, plan.entities, gaps=[need.again for need in coverage.missing])
        found = planner.follow_ups(seed, [asked.candidate for asked in run.asked]).candidates
        share = self.settings.budget.weight
        return tuple(c.model_copy(update={"weight": c.weight * share}) for c in found)

    # -- the ends ---------------------------------------------------------------------------------

    def _nobody(self, side: Beside) -> list[Gap]:
        """The gap of a plan that wants texts of a domain without any."""
        if not self.plan.retrieval_strategy.use_rag or self.stores.providers or self.stores.sources:
            return []
        why = f"the domain {self.stores.card.name} has no texts (transcripts/*.md, posts.jsonl)"
        instead = "the graph alone was asked" if side.graph_asked else "nothing was asked"
        return [Gap(kind="plan", what=self.plan.standalone_query, why=why, instead=instead)]

    def _late(self) -> list[Gap]:
        if not self.deadline.over():
            return []
        why = f"the deadline came after {self.deadline.elapsed_ms():.0f} ms"
        return [Gap(kind="deadline", what="the run", why=why, instead="the result is made from what was there")]

    def _unsearched(self, kind: Kind, said: Spoken) -> RunResult:
        """The result of a plan that searches nothing."""
        return self._timed(RunResult(self.plan, kind, text=said[0], gaps=said[1]))

    def _spoken(self, result: RunResult) -> RunResult:
        """The result with the text that the user's callable writes; if that fails, with the quoted evidence."""
        text, gap = spoken(self.settings.speakers, result)
        return self._timed(replace(result, text=text, gaps=(*result.gaps, *gap)))

    def _timed(self, result: RunResult) -> RunResult:
        return replace(result, timings=result.timings.model_copy(update={"total": self.deadline.elapsed_ms()}))


def _gained(before: Coverage, after: Coverage) -> bool:
    """Whether a further batch covered some need better."""
    return any(new.share > old.share + 1e-9 for old, new in zip(before.needs, after.needs, strict=True))
