"""Which kinds of query candidates are worth their searches: recall with and without each, on labelled evidence.

Kinds are added one after the other, each time the one whose gain in recall on the questions is largest, as long as
the gain is at least ``MIN_GAIN``. Decide on train and dev; the choice is written on the card.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ...program.plan import QueryCandidate, RetrievalStrategy
from ...program.retrieval.candidates.candidates import ALWAYS, CandidateConfig, CandidatePlanner, kind_of
from ...program.retrieval.results import ids
from ...program.retrieval.search import SearchSettings, search_with_plan
from ...program.retrieval.stores import Stores
from ...program.strategy import choose_strategy
from ...signatures.types import Frozen
from ..significance import PairedDifference, paired_difference
from ..statistics import Estimate, clustered_interval
from .recall import K, Question

MIN_GAIN = 0.005
EVERY = CandidateConfig(per_stage_caps={"rule_based": 40, "paradigm": 40, "llm": 40, "agentic": 40}, max_candidates=100)


class Step(Frozen):
    """A kind of candidates that was tried together with those taken before it.

    Attributes:
        gain: how much it adds to mean recall at k, paired by question.
        searches: mean number of searches per question with it.
        taken: whether it was kept.
    """

    kind: str
    gain: PairedDifference
    searches: float
    taken: bool


class CandidateValue(Frozen):
    """The recall at ``k`` of the plain query and of the chosen kinds, and every kind that was tried."""

    k: int
    plain: Estimate
    chosen: Estimate
    kinds: tuple[str, ...]
    steps: tuple[Step, ...]

    def lines(self) -> list[str]:
        """The report as a Markdown table."""
        head = ["| kind | recall gained | interval | searches | |", "|---|---|---|---|---|"]
        return head + [_line(step) for step in self.steps]


class Dropping(Frozen):
    """The recall at k of the kinds that a card keeps, and of every kind.

    Attributes:
        difference: kept minus every, paired by question.
        searches_kept, searches_every: mean number of searches per question.
    """

    kept: Estimate
    every: Estimate
    difference: PairedDifference
    searches_kept: float
    searches_every: float


class _Measured:
    """Recall of sets of kinds on some questions; each set is searched once."""

    def __init__(self, questions: Sequence[Question], stores: Stores, paradigm: str | None, k: int) -> None:
        self.questions, self._stores, self._k = questions, stores, k
        self.clusters = [question.row.conversation for question in questions]
        self._candidates = [candidates_of(question, stores, paradigm) for question in questions]
        self.recall = lru_cache(maxsize=None)(self._recall)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Every kind that was proposed for some question."""
        found = {kind_of(c) for candidates in self._candidates for c in candidates} - {ALWAYS}
        return tuple(sorted(found))

    def searches(self, kinds: frozenset[str]) -> float:
        """The mean number of candidates per question."""
        return sum(len(_of(c, kinds)) for c in self._candidates) / len(self._candidates)

    def _recall(self, kinds: frozenset[str]) -> tuple[float, ...]:
        settings = SearchSettings(limit=self._k)
        found = []
        for question, candidates in zip(self.questions, self._candidates, strict=True):
            query = question.row.labels.standalone_query
            run = search_with_plan(query, self._stores.providers, _of(candidates, kinds), settings=settings)
            found.append(len(question.gold & set(ids(run.evidence))) / len(question.gold))
        return tuple(found)


def candidate_value(
    questions: Sequence[Question], stores: Stores, paradigm: str | None = None, k: int = K
) -> CandidateValue:
    """Choose kinds of candidates for a domain.

    Args:
        questions: questions with gold evidence, from splits that may be used for choosing.
        paradigm: a paradigm of the card, as if every caller had chosen it; if None, only the default's kinds are tried.
    """
    measured = _Measured(questions, stores, paradigm, k)
    kept, steps = frozenset({ALWAYS}), list[Step]()
    left = set(measured.kinds)
    while left:
        tried = {kind: _tried(measured, kept, kind) for kind in sorted(left)}
        best = max(sorted(tried), key=lambda kind: tried[kind].gain.difference.value)
        if tried[best].gain.difference.value < MIN_GAIN:
            steps += tried.values()
            break
        steps.append(tried[best].model_copy(update={"taken": True}))
        kept, left = kept | {best}, left - {best}
    return CandidateValue(
        k=k,
        plain=clustered_interval(measured.recall(frozenset({ALWAYS})), measured.clusters),
        chosen=clustered_interval(measured.recall(kept), measured.clusters),
        kinds=tuple(sorted(kept - {ALWAYS})),
        steps=tuple(steps),
    )


def effect_of_dropping(questions: Sequence[Question], stores: Stores, k: int = K) -> Dropping:
    """Compare the card's choice of kinds to every kind, on questions other than those the choice was made on."""
    measured = _Measured(questions, stores, None, k)
    every = frozenset({ALWAYS, *measured.kinds})
    chosen = stores.card.candidates.kinds
    kept = every if chosen is None else every & {ALWAYS, *chosen}
    return Dropping(
        kept=clustered_interval(measured.recall(kept), measured.clusters),
        every=clustered_interval(measured.recall(every), measured.clusters),
        difference=paired_difference(measured.recall(kept), measured.recall(every), measured.clusters),
        searches_kept=measured.searches(kept),
        searches_every=measured.searches(every),
    )


def candidates_of(question: Question, stores: Stores, paradigm: str | None = None) -> tuple[QueryCandidate, ...]:
    """Every candidate made from a question's labels, whatever kinds the card keeps and without its limits on number."""
    labels = question.row.labels
    unlimited = stores.card.model_copy(update={"candidates": stores.card.candidates.model_copy(update={"kinds": None})})
    planner = CandidatePlanner(unlimited, stores.linker, EVERY)
    strategy: RetrievalStrategy = choose_strategy(
        labels.is_relevant, labels.intent, labels.complexity, len(labels.entities)
    )
    seed = planner.seed(
        labels.standalone_query, labels.entities, labels.sub_queries, labels.relationships_needed, paradigm
    )
    return planner.plan(seed, expand=strategy.rag_expansion or paradigm is not None).candidates


def _tried(measured: _Measured, kept: frozenset[str], kind: str) -> Step:
    more = kept | {kind}
    gain = paired_difference(measured.recall(more), measured.recall(kept), measured.clusters)
    return Step(kind=kind, gain=gain, searches=measured.searches(more), taken=False)


def _of(candidates: Sequence[QueryCandidate], kinds: frozenset[str]) -> list[QueryCandidate]:
    return [candidate for candidate in candidates if kind_of(candidate) in kinds]


def _line(step: Step) -> str:
    gain = step.gain.difference
    interval = f"[{gain.low:+.3f}, {gain.high:+.3f}]"
    return f"| {step.kind} | {gain.value:+.3f} | {interval} | {step.searches:.1f} | {'kept' if step.taken else ''} |"
