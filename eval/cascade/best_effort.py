"""Checks the promises of heads in the model's place: fewer requests, no worse labels, no good query rejected.

Each is read off evaluations of the same rows; one sentence about each goes into the report of a cascade.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...errors import DataError
from ...signatures.types import Frozen
from ..evaluation import Case, Evaluation
from ..statistics import Estimate, clustered_interval
from .tables import joint_coverage

UNASKED = 0.8
"""Of the plans that need no written text, at least this share should need no request."""
WORSE = 0.05
"""All labels right may be lower by so much, at the lower end of the paired interval."""
REJECTED = 0.02
"""Of the queries of ours that look otherwise by one word, heads may reject this share."""
TRAP = "trap_word"
"""The tag of such queries: a market, the weather, in a question that is ours."""


class TrapWords(Frozen):
    """Queries of ours with a word that elsewhere means "not ours", and how many were rejected, by whom.

    Attributes:
        rejected: share of these queries rejected by anyone.
        strangers: share rejected of the queries that are not ours, which is what it costs to be careful; None if
            there are none.
    """

    name: str
    rows: int
    by_rule: int
    by_head: int
    by_model: int
    rejected: Estimate
    strangers: Estimate | None = None

    @property
    def holds(self) -> bool:
        """Whether no rule rejected one and heads hardly any."""
        return not self.by_rule and self.by_head <= REJECTED * self.rows

    @property
    def sentence(self) -> str:
        """For the report."""
        held = "held" if self.holds else "not held"
        others = f"; of {self.strangers.n} not ours {_share(self.strangers)} were rejected" if self.strangers else ""
        return (
            f"{self.name}: of {self.rows} queries of ours with a trap word, rules rejected {self.by_rule}, heads "
            f"{self.by_head} ({REJECTED:.0%} at most: {held}), the model {self.by_model}, in all "
            f"{_share(self.rejected)}{others}"
        )


class BestEffort(Frozen):
    """Heads that answer all they can, beside the same program that asks the model wherever it has a say.

    Attributes:
        unasked: share of plans without any request, among those whose gold labels need no written text.
        labels_right: share with all labels right.
        beside: the same of the other program.
        difference: paired, by conversation; positive where best effort is better.
    """

    unasked: Estimate
    labels_right: Estimate
    beside: Estimate
    difference: Estimate

    @property
    def holds(self) -> bool:
        """Whether enough is planned without a request, and the labels are hardly worse."""
        return self.unasked.value >= UNASKED and self.difference.low >= -WORSE

    @property
    def sentence(self) -> str:
        """For the report."""
        return (
            f"best effort: {_share(self.unasked)} of the {self.unasked.n} plans that need no written text made no "
            f"request (wanted: {UNASKED:.0%}); all labels right {_share(self.labels_right)} of {self.beside.n} beside "
            f"{_share(self.beside)} where the model is asked, "
            f"{100 * self.difference.value:+.1f} points [{100 * self.difference.low:+.1f}, "
            f"{100 * self.difference.high:+.1f}] (wanted: at least {-100 * WORSE:.0f} at the lower end)"
        )


def trap_words(evaluation: Evaluation) -> TrapWords | None:
    """Of the cases with the tag that are ours; None if there is none."""
    cases = [case for case in evaluation.cases if TRAP in case.tags and case.gold.is_relevant]
    if not cases:
        return None
    by = [_rejected_by(case) for case in cases]
    strangers = [case for case in evaluation.cases if not case.gold.is_relevant]
    return TrapWords(
        name=evaluation.name,
        rows=len(cases),
        by_rule=by.count("rule"),
        by_head=by.count("head"),
        by_model=by.count("lm"),
        rejected=_over(cases, [not case.plan.is_relevant for case in cases]),
        strangers=_over(strangers, [not case.plan.is_relevant for case in strangers]) if strangers else None,
    )


def best_effort(effort: Evaluation, asking: Evaluation) -> BestEffort:
    """The comparison of two evaluations of the same rows.

    Raises:
        DataError: they are of other rows, or every plan needs written text.
    """
    beside = {case.row_id: case for case in asking.cases}
    if beside.keys() != {case.row_id for case in effort.cases}:
        raise DataError("the two evaluations are of different rows; evaluate both on the same")
    unwritten = [case for case in effort.cases if _needs_no_text(case)]
    if not unwritten:
        raise DataError("every row needs written text; add rows that stand alone and need no decomposition")
    pairs = [(float(c.score.labels_right), float(beside[c.row_id].score.labels_right)) for c in effort.cases]
    return BestEffort(
        unasked=_over(unwritten, [c.plan.trace.requests == 0 for c in unwritten]),
        labels_right=_over(effort.cases, [bool(one) for one, _ in pairs]),
        beside=_over(effort.cases, [bool(other) for _, other in pairs]),
        difference=_over(effort.cases, [one - other for one, other in pairs]),
    )


def cascade_notes(evaluations: Mapping[str, Evaluation]) -> tuple[str, ...]:
    """Sentences on what ``best effort`` (beside ``model decides``), ``heads alone`` and ``compiled`` show."""
    notes = []
    effort, asking = evaluations.get("best effort"), evaluations.get("model decides")
    if effort is not None and asking is not None and any(map(_needs_no_text, effort.cases)):
        notes.append(best_effort(effort, asking).sentence)
    notes += [joint_coverage(evaluations[name]).sentence for name in ("best effort", "compiled") if name in evaluations]
    for name in ("heads alone", "best effort", "compiled"):
        if name in evaluations and (found := trap_words(evaluations[name])) is not None:
            notes.append(found.sentence)
    return tuple(notes)


def _needs_no_text(case: Case) -> bool:
    return not (case.gold.is_follow_up or case.gold.needs_decomposition)


def _rejected_by(case: Case) -> str:
    """Who rejected it; empty if nobody did."""
    decision = case.plan.trace.decision("relevance")
    return decision.decided_by if decision is not None and not case.plan.is_relevant else ""


def _over(cases: Sequence[Case], values: Sequence[bool] | Sequence[float]) -> Estimate:
    return clustered_interval(np.array(values), [case.conversation for case in cases])


def _share(estimate: Estimate) -> str:
    return f"{estimate.value:.1%} [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]"
