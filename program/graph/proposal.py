"""A graph planner's proposal for one question: a plan, how its names were read, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...signatures.graph_steps import GraphPlan
from .ranking.answering import Found


@dataclass(frozen=True)
class LinkedEntity:
    """A name in the question and what it was taken to mean.

    Attributes:
        text: the words of the question.
        name, type, how, score: of the node it was taken for, as in ``linking.Reading``.
        alternatives: other nodes that it may mean.
        near: for a name that the graph does not have, similar names that it has.
    """

    text: str
    name: str
    type: str
    how: str
    score: float
    alternatives: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


@dataclass(frozen=True)
class GraphProposal:
    """What was made of a question.

    Attributes:
        plan: well-typed in the graph's schema; None where nothing can be asked of the graph, see ``reason``.
        answer_type: node type of the answers, or ``number``.
        decided_by: ``head`` (learned ranking), ``lm`` or ``fallback`` (nothing could).
        confidence: probability that the plan is right, as fitted on labelled questions.
        degraded: what could not be done, and what was done instead, one sentence each.
        reason: in one sentence, why this plan or why none.
        others: the ranking's next best plans.
        likeliest: the ranking's first plans, with the names that they start from.
    """

    plan: GraphPlan | None
    entities: tuple[LinkedEntity, ...] = ()
    answer_type: str | None = None
    decided_by: str = "head"
    confidence: float = 0.0
    degraded: tuple[str, ...] = ()
    reason: str = ""
    milliseconds: float = 0.0
    others: tuple[GraphPlan, ...] = field(default=(), repr=False)
    likeliest: tuple[Found, ...] = field(default=(), repr=False, compare=False)
