"""The oracle ladder: how many whole plans each stage costs, found by replacing stages with gold one by one.

On each rung of the ladder one more stage gets its answer from the labels, and everything after it is planned again on
that. The rise in whole plans right from rung to rung is what the errors of that stage cost, given that nothing before
it was wrong. On the last rung every plan is right by construction. Where graph steps were run, a plan counts as right
only with the right answers, and the last rung gives gold's steps.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..data.domain import rows_hash
from ..data.rows import Gold, LabelledRow
from ..program.asking import Ask, Reply
from ..program.flow import Flow
from ..program.planner import QueryPlanner
from ..signatures.types import Frozen, Labels
from .evaluation import Evaluation, Progress, arguments_of, planned
from .metrics import Judge
from .resume import Journal
from .row_table import STAGE_NAMES, RowResult
from .significance import PairedDifference, corrected, paired_difference
from .statistics import Estimate, clustered_interval

RUNGS = ("follow_up", "rewrite", "relevance", "complexity", "decompose")
"""The stages in the order in which they are given; complexity, intent and decomposition are one stage."""

GRAPH = "graph"
"""The last stage, given only where graph steps are scored."""

GIVEN = "gold was given instead"

Round = Generator[list[Ask], Mapping[Any, Reply], Any]


class Rung(Frozen):
    """Whole plans with the stages up to ``stage`` given by gold.

    Attributes:
        stage: the stage that was added; None for the planner as it is.
        gain: the rise in whole plans right (with the graph's answers, if there are some) over the rung before; None for
            the planner as it is.
        all_right: plans right whose graph answers are right too; None if no graph answer was scored.
    """

    stage: str | None
    labels_right: Estimate
    plan_right: Estimate
    gain: PairedDifference | None = None
    all_right: Estimate | None = None

    @property
    def right(self) -> Estimate:
        """The figure whose rise ``gain`` is: `all_right` if there is a graph, else `plan_right`."""
        return self.all_right or self.plan_right


class OracleLadder(Frozen):
    """The oracle ladder of one program: what each stage costs."""

    name: str
    program_version: str
    data_fingerprint: str
    rungs: tuple[Rung, ...]

    @property
    def costs(self) -> dict[str, PairedDifference]:
        """Whole plans that each stage costs, as a share of all rows."""
        return {rung.stage: rung.gain for rung in self.rungs if rung.stage is not None and rung.gain is not None}


class Blame(Frozen):
    """The plans of which this stage is the earliest wrong one, as a share of all rows.

    The graph is blamed for plans that are right but whose steps return other answers than gold's.
    """

    stage: str
    share: Estimate
    rows: int


def blame(cases: Sequence[RowResult]) -> tuple[Blame, ...]:
    """Attribute every wrong plan to its earliest wrong stage; all stages in order, also those without blame.

    The graph is among the stages only where its answers were scored.
    """
    clusters = [case.conversation for case in cases]
    lost = [case.lost_at for case in cases]
    return tuple(
        Blame(stage=s, share=clustered_interval([at == s for at in lost], clusters), rows=lost.count(s))
        for s in STAGE_NAMES
        if s != GRAPH or graph_scored(cases)
    )


def graph_scored(cases: Sequence[RowResult]) -> bool:
    """Whether graph steps were run for any row."""
    return any(case.score.graph_right is not None for case in cases)


def oracle_ladder(
    planner: QueryPlanner,
    rows: Sequence[LabelledRow],
    evaluation: Evaluation,
    *,
    folder: Path | None = None,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
    judge: Judge | None = None,
) -> OracleLadder:
    """Plan the rows once more for each stage, each time with one more stage given by gold.

    Args:
        evaluation: the evaluation of the same planner on the same rows; the lowest rung.
        folder: the folder from which a stopped ladder continues.
        progress: called with (stage, rows done, rows in all).
        judge: what ``evaluation`` was scored with, with its graph if it had one.

    Raises:
        UserError: ``folder`` holds the plans of another program or other rows.
    """
    passes: list[Sequence[RowResult]] = [evaluation.cases]
    stages = (*RUNGS, GRAPH) if graph_scored(evaluation.cases) else RUNGS
    for place, stage in enumerate(stages, 1):
        given, told = stages[:place], partial(progress, stage)
        passes.append(_given_pass(planner, rows, given, folder, told, judge))
    pairs = zip(passes[1:], passes, strict=False)
    gains = corrected([_gain(after, before) for after, before in pairs])
    return OracleLadder(
        name=evaluation.name,
        program_version=evaluation.program_version,
        data_fingerprint=evaluation.data_fingerprint,
        rungs=tuple(_rung(*line) for line in zip((None, *stages), passes, (None, *gains), strict=True)),
    )


def _given_pass(
    planner: QueryPlanner,
    rows: Sequence[LabelledRow],
    given: Sequence[str],
    folder: Path | None,
    progress: Progress,
    judge: Judge | None,
) -> list[RowResult]:
    last = given[-1]
    path = folder / f"oracle-{last}.jsonl" if folder else None
    with Journal(path, f"{planner.program_version}, gold up to {last}", rows_hash(rows)) as journal:
        return planned(partial(plan_given, planner, given=frozenset(given)), rows, journal, progress, judge)


def plan_given(planner: QueryPlanner, row: LabelledRow, given: frozenset[str]) -> Any:
    """The plan of a row with some stages of `RUNGS`, or `GRAPH`, answered by gold; they are not asked of the model."""
    informed = copy(planner)
    informed.cache = None
    informed.make_flow = partial(GoldFlow, gold=row.labels, expected=row.gold, given=given)
    return informed.plan(**arguments_of(row))


def _gain(after: Sequence[RowResult], before: Sequence[RowResult]) -> PairedDifference:
    return paired_difference(
        [case.all_right for case in after],
        [case.all_right for case in before],
        [case.conversation for case in after],
    )


def _rung(stage: str | None, cases: Sequence[RowResult], gain: PairedDifference | None) -> Rung:
    clusters = [case.conversation for case in cases]
    return Rung(
        stage=stage,
        labels_right=clustered_interval([case.score.labels_right for case in cases], clusters),
        plan_right=clustered_interval([case.score.plan_right for case in cases], clusters),
        gain=gain,
        all_right=clustered_interval([case.all_right for case in cases], clusters) if graph_scored(cases) else None,
    )


@dataclass
class GoldFlow(Flow):
    """A flow in which the labels of a row answer some stages when their turn comes."""

    gold: Labels | None = None
    expected: Gold | None = None
    given: frozenset[str] = frozenset()

    def round(self, asks: list[Ask]) -> Round:
        """Ask only what is not given."""
        spared = {ask.stage: Reply(None, GIVEN) for ask in asks if ask.stage in self.given}
        replies = yield from super().round([ask for ask in asks if ask.stage not in self.given])
        return {**replies, **spared}

    def _decided_by_form(self) -> bool:
        decided = super()._decided_by_form()
        for stage in (*RUNGS, GRAPH) if decided else ():
            self._give(stage)
        return decided

    def _follow_up(self) -> Round:
        yield from super()._follow_up()
        self._give("follow_up")
        self._give("rewrite")

    def _settle_follow_up(self, reply: Any, head: Any) -> None:
        super()._settle_follow_up(reply, head)
        self._give("follow_up")

    def _settle_relevance(self, reply: Any, heads: Any) -> None:
        super()._settle_relevance(reply, heads)
        self._give("relevance")

    def _settle_complexity(self, reply: Any, heads: Any) -> None:
        super()._settle_complexity(reply, heads)
        self._give("complexity")

    def _standalone_labels(self) -> Round:
        yield from super()._standalone_labels()
        self._give("decompose")
        self._give(GRAPH)

    def _give(self, stage: str) -> None:
        if stage in self.given and self.gold is not None:
            _GIVE[stage](self, self.gold)
            self.degraded = [one for one in self.degraded if one.what != stage]

    def give_follow_up(self, gold: Labels) -> None:
        """Gold's answer, before the rewrite is asked for."""
        self.labels.is_follow_up = gold.is_follow_up

    def give_rewrite(self, gold: Labels) -> None:
        """Gold's standalone form; nothing of a further round was spent on it."""
        if self.labels.is_follow_up:
            self.labels.standalone_query = gold.standalone_query
            self.labels.referenced_entities = gold.referenced_entities
            self.further_round_spent, self.understood = False, True

    def give_relevance(self, gold: Labels) -> None:
        """Gold's judgement; what followed from the old one is dropped and decided again."""
        labels = self.labels
        labels.is_relevant, labels.rejection_kind = gold.is_relevant, gold.rejection_kind
        outside = ("simple", "out_of_scope")
        if not gold.is_relevant:
            labels.complexity, labels.intent = outside
            labels.needs_decomposition, labels.sub_queries = False, ()
        elif labels.intent == "out_of_scope":
            labels.complexity, labels.intent = "simple", "factual"

    def give_complexity(self, gold: Labels) -> None:
        """Gold's three labels, for a query that both judge as in scope."""
        if self.labels.is_relevant and gold.is_relevant:
            self.labels.complexity, self.labels.intent = gold.complexity, gold.intent
            self.labels.needs_decomposition = gold.needs_decomposition

    def give_decompose(self, gold: Labels) -> None:
        """Gold's sub-queries, if both want some."""
        if self.labels.needs_decomposition and gold.sub_queries:
            self.labels.sub_queries, self.labels.entities = gold.sub_queries, gold.entities
            self.labels.relationships_needed = gold.relationships_needed

    def give_graph(self, gold: Labels) -> None:
        """Gold's steps, or none if the graph cannot express the question; other rows are not scored on it."""
        expected = self.expected
        if expected is not None and (expected.answers is not None or not expected.expressible):
            self.labels.graph_plan = expected.graph_plan if gold.is_relevant else None


_GIVE: dict[str, Callable[[GoldFlow, Labels], None]] = {s: getattr(GoldFlow, f"give_{s}") for s in (*RUNGS, GRAPH)}
