"""Explains one query's plan: who decided each stage, how surely, against which threshold, and what resembles it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..data.rows import LabelledRow
from ..signatures.types import DecidedBy, Frozen, Labels, Turn
from .bound import OUTSIDE, complexity_certainty, needed_alone, relevance_certainty
from .context import CleanInput, clean_input
from .heads.encoder import Encoder
from .heads.heads import HeadAnswer
from .heads.joint import COMPLEXITY_OUTPUTS
from .heads.looks import WITHHELD
from .plan import Decision, QueryPlan
from .planner import QueryPlanner
from .text.greetings import greetings_of

NEIGHBOURS = 3
OUTPUTS = {"follow_up": ("is_follow_up",), "relevance": ("is_relevant",), "complexity": COMPLEXITY_OUTPUTS}


class Neighbour(Frozen):
    """A training row that resembles the query, with its label for the stage."""

    row: str
    query: str
    label: str
    similarity: float


class StageRoute(Frozen):
    """How one stage reached its value.

    Attributes:
        confidence: the probability of the value, according to whoever decided.
        heads: the heads' probabilities for each output, whoever decided; empty if there are none.
        certainty: how certain the heads are of their answer to this stage; None if none has one.
        needed: the certainty from which they answer within the bound; None without a bound.
        change: what would have changed the value, or who decides it.
    """

    stage: str
    value: Any
    decided_by: DecidedBy
    reason: str
    confidence: float
    heads: dict[str, dict[str, float]] = {}
    certainty: float | None = None
    needed: float | None = None
    nearest: tuple[Neighbour, ...] = ()
    change: str = ""


class Explanation(Frozen):
    """A plan and the route of each decided stage."""

    plan: QueryPlan
    mode: str
    bound: str
    routes: tuple[StageRoute, ...]


def explain(
    planner: QueryPlanner,
    query: str,
    history: Sequence[Mapping[str, Any] | Turn] | None = None,
    session: Mapping[str, Any] | None = None,
    deadline_s: float | None = None,
    rows: Sequence[LabelledRow] = (),
) -> Explanation:
    """Plan a query and say why the plan is as it is.

    Args:
        rows: labelled rows in which to find neighbours, best those that the heads learned from.
    """
    return explained(planner, planner.plan(query, history, session, deadline_s), query, history, session, rows)


def explained(
    planner: QueryPlanner,
    plan: QueryPlan,
    query: str,
    history: Sequence[Mapping[str, Any] | Turn] | None = None,
    session: Mapping[str, Any] | None = None,
    rows: Sequence[LabelledRow] = (),
) -> Explanation:
    """Say why a plan is as it is; the other arguments are those it was made from."""
    clean = clean_input(query, history, session, planner.card.history, greetings_of(planner.card.greetings))
    said = _head_answers(planner, clean, plan)
    routes = (
        _route(planner, decision, said, clean, plan.standalone_query, rows)
        for decision in plan.trace.decisions
        if decision.stage in OUTPUTS
    )
    bound = planner.gate.bound.sentence if planner.gate.bound else "no bound was fitted"
    return Explanation(plan=plan, mode=planner.gate.mode, bound=bound, routes=tuple(routes))


def _head_answers(planner: QueryPlanner, clean: CleanInput, plan: QueryPlan) -> dict[str, HeadAnswer]:
    if planner.heads is None:
        return {}
    closely = planner.gate.closely
    turn = planner.heads.of_turn(clean.query, clean.turns, closely) if clean.turns else None
    typed = clean.query if plan.is_follow_up else None
    said = planner.heads.of_query(_read(plan.standalone_query, typed), typed, closely)
    return {**said, **({"is_follow_up": turn} if turn else {})}


def _read(standalone: str, typed: str | None) -> str:
    """What heads read of a standalone form: one that got a heading ("sleep debt: why?") without its colon."""
    if typed is None or not standalone.endswith(typed):
        return standalone
    heading = standalone.removesuffix(typed).rstrip()
    return f"{heading[:-1]} {typed}" if heading.endswith((":", "：")) else standalone


def _route(
    planner: QueryPlanner,
    decision: Decision,
    said: Mapping[str, HeadAnswer],
    clean: CleanInput,
    standalone: str,
    rows: Sequence[LabelledRow],
) -> StageRoute:
    certainty, needed = _compared(planner, decision.stage, said)
    text = clean.query if decision.stage == "follow_up" else standalone
    heads = {
        name: {label: round(p, 4) for label, p in sorted(said[name].probabilities.items(), key=lambda item: -item[1])}
        for name in OUTPUTS[decision.stage]
        if name in said
    }
    return StageRoute(
        stage=decision.stage,
        value=decision.value,
        decided_by=decision.decided_by,
        reason=decision.reason,
        confidence=decision.confidence,
        heads=heads,
        certainty=certainty,
        needed=needed,
        nearest=nearest(decision.stage, text, rows, planner.heads.features.encoder) if rows and planner.heads else (),
        change=_change(decision, heads, certainty, planner.gate.mode, needed),
    )


def _compared(planner: QueryPlanner, stage: str, said: Mapping[str, HeadAnswer]) -> tuple[float | None, float | None]:
    """How certain the heads are of a stage, and how certain they must be, with the stages asked in the same round."""
    needed = planner.gate.bound.certainty if planner.gate.bound else None
    if stage == "follow_up":
        return (said["is_follow_up"].confidence if "is_follow_up" in said else None), needed
    relevance = relevance_certainty(said)
    complexity = complexity_certainty(said, planner.heads.joint if planner.heads else {})
    if relevance is None or complexity is None or said["is_relevant"].label == "false":
        return (relevance if stage == "relevance" else complexity), needed
    together = relevance * complexity
    if stage == "complexity" or needed is None or together >= needed:
        return together, needed
    return relevance, needed_alone(needed)


def _change(
    decision: Decision,
    heads: Mapping[str, Mapping[str, float]],
    certainty: float | None,
    mode: str,
    needed: float | None,
) -> str:
    """What would have changed it, in words."""
    if decision.decided_by == "rule":
        return "another form: a rule looks at nothing else"
    if certainty is None:
        return "a head that can say something: more labelled rows of this kind, in this script"
    parts = []
    if mode == "bounded" and needed is not None and certainty >= needed and decision.reason.startswith(OUTSIDE):
        parts.append("a rewrite of the follow-up: heads were calibrated on standalone forms")
    elif mode == "bounded" and needed is not None:
        far = "less" if certainty >= needed else "more"
        who = "the language model would be asked" if certainty >= needed else "the head would answer"
        parts.append(f"{abs(certainty - needed):.3f} {far} certainty than {certainty:.3f} and {who}")
    if decision.reason.endswith(WITHHELD):
        parts.append("were both looks at it to agree, it would have been rejected")
    margins = {
        name: _runner_up(given, _decided(decision.value, name)) for name, given in heads.items() if len(given) > 1
    }
    if margins:
        name = min(margins, key=lambda n: margins[n][1])
        label, margin = margins[name]
        way = f"{margin:.3f} behind" if margin >= 0 else f"{-margin:.3f} ahead by itself, and something else decided"
        parts.append(f"closest to another label: {name}, where {label} is {way}")
    return "; ".join(parts)


def _decided(value: Any, output: str) -> str:
    """The label of one output in the value of its stage."""
    found = value.get(output) if isinstance(value, Mapping) else value
    return str(found).lower() if isinstance(found, bool) else str(found)


def _runner_up(given: Mapping[str, float], decided: str) -> tuple[str, float]:
    """The likeliest label that was not chosen, and how far it is behind the chosen one."""
    label = max((name for name in given if name != decided), key=lambda name: given[name])
    return label, given.get(decided, 0.0) - given[label]


LABELS: dict[str, Callable[[LabelledRow], str | None]] = {
    "follow_up": lambda r: ("follow-up" if r.labels.is_follow_up else "stands alone") if r.history else None,
    "relevance": lambda r: "ours" if r.labels.is_relevant else f"not ours, {r.labels.rejection_kind}",
    "complexity": lambda r: _complexity(r.labels) if r.labels.is_relevant else None,
}


def nearest(
    stage: str, text: str, rows: Sequence[LabelledRow], encoder: Encoder, count: int = NEIGHBOURS
) -> tuple[Neighbour, ...]:
    """The most similar rows by the cosine of their vectors; none for a text without a vector."""
    used = [(row, label) for row in rows if (label := LABELS[stage](row)) is not None]
    if not used:
        return ()
    texts = [row.query if stage == "follow_up" else row.labels.standalone_query for row, _ in used]
    vectors = encoder.encode([text, *texts])
    if not vectors[0].any():
        return ()
    similar = vectors[1:] @ vectors[0]
    return tuple(
        Neighbour(row=used[i][0].id, query=texts[i], label=used[i][1], similarity=round(float(similar[i]), 4))
        for i in np.argsort(-similar, kind="stable")[:count]
    )


def _complexity(labels: Labels) -> str:
    return f"{labels.complexity}, {labels.intent}, {'in parts' if labels.needs_decomposition else 'whole'}"
