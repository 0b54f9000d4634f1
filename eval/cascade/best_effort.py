"""Checks what heads promise that decide instead of a model: fewer requests, no worse labels, no good query rejected.

Each is computed from evaluations of the same rows; one sentence about each goes into the report of a cascade.
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
"""The promise: at least this share of the plans that need no rewriting or decomposition make no request."""
WORSE = 0.05
"""The promise: the share of plans with all labels right is lower by at most this, at the lower end of the interval."""
REJECTED = 0.02
"""The promise: heads reject at most this share of the queries with a trap word that are in the domain."""
TRAP = "trap_word"
"""The tag of queries in the domain with a word that suggests otherwise, such as "market" or "weather"."""


class TrapWords(Frozen):
    """How many queries in the domain were rejected that have a word that suggests otherwise, and by what.

    Attributes:
        rejected: share of these queries rejected by anything.
        strangers: share rejected of the queries out of the domain, to show what caution costs; None if there are none.
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
        """Whether rules rejected none and heads at most the share ``REJECTED``."""
        return not self.by_rule and self.by_head <= REJECTED * self.rows

    @property
    def sentence(self) -> str:
        """The finding in one sentence, for the report."""
        held = "held" if self.holds else "not held"
        others = f"; of {self.strangers.n} not ours {self.strangers.in_percent} were rejected" if self.strangers else ""
        return (
            f"{self.name}: of {self.rows} queries of ours with a trap word, rules rejected {self.by_rule}, heads "
            f"{self.by_head} ({REJECTED:.0%} at most: {held}), the model {self.by_model}, in all "
            f"{self.rejected.in_percent}{others}"
        )


class BestEffort(Frozen):
    """Heads that answer all they can ("best effort"), beside the same program that asks the model wherever it may.

    Attributes:
        unasked: share of plans without any request, among those whose gold labels need no written text.
        labels_right: share of plans with all labels right.
        beside: the same share for the program that asks the model.
        difference: ``labels_right`` minus ``beside``, paired by row, its interval over conversations.
    """

    unasked: Estimate
    labels_right: Estimate
    beside: Estimate
    difference: Estimate

    @property
    def holds(self) -> bool:
        """Whether both promises hold: ``UNASKED`` and ``WORSE``."""
        return self.unasked.value >= UNASKED and self.difference.low >= -WORSE

    @property
    def sentence(self) -> str:
        """The finding in one sentence, for the report."""
        return (
            f"best effort: {self.unasked.in_percent} of the {self.unasked.n} plans that need no written text made no "
            f"request (wanted: {UNASKED:.0%}); all labels right {self.labels_right.in_percent} of {self.beside.n} "
            f"beside {self.beside.in_percent} where the model is asked, "
            f"{100 * self.difference.value:+.1f} points [{100 * self.difference.low:+.1f}, "
            f"{100 * self.difference.high:+.1f}] (wanted: at least {-100 * WORSE:.0f} at the lower end)"
        )


def trap_words(evaluation: Evaluation) -> TrapWords | None:
    """The rejections among the cases in the domain with the tag ``TRAP``; None if there is no such case."""
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
    """Compare two evaluations of the same rows: of best effort, and of the program that asks the model.

    Raises:
        DataError: their rows differ, or every row needs written text.
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
    """Sentences for the report about the evaluations with these names, where they are given.

    ``best effort`` is compared to ``model decides``; joint coverage is told of ``best effort`` and ``compiled``, and
    rejected trap words of these two and ``heads alone``.
    """
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
    """What rejected the query: "rule", "head" or "lm"; empty if it was not rejected."""
    decision = case.plan.trace.decision("relevance")
    return decision.decided_by if decision is not None and not case.plan.is_relevant else ""


def _over(cases: Sequence[Case], values: Sequence[bool] | Sequence[float]) -> Estimate:
    return clustered_interval(np.array(values), [case.conversation for case in cases])
