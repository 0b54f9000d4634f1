"""The stages of the planner: the signature that each one asks, and how a labelled row becomes an example of it.

Deciding stages put one-word questions and get label probabilities; writing stages generate text. Each stage is one
DSPy predictor, compiled against its own labels with gold input from the stages before it, so that an error of one
stage is never charged to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import dspy

from ..data.card import DomainCard
from ..data.rows import LabelledRow
from ..signatures.assess_complexity import AssessComplexity
from ..signatures.decompose_query import DecomposeQuery
from ..signatures.detect_follow_up import DetectFollowUp
from ..signatures.judge_relevance import judge_relevance
from ..signatures.plan_graph_steps import plan_graph_steps, written
from ..signatures.rewrite_query import RewriteQuery
from ..signatures.types import Stage
from .context import clean_row, history_text

Kind = Literal["decide", "write"]
DECIDING: tuple[Stage, ...] = ("follow_up", "relevance", "complexity")


@dataclass(frozen=True)
class StageSpec:
    """One stage: its name, whether it decides or writes, its signature and its gold examples.

    ``max_tokens`` limits a written answer; None for a stage that decides.
    """

    name: str
    kind: Kind
    signature: type[dspy.Signature]
    inputs: tuple[str, ...]
    max_tokens: int | None
    example: Callable[[LabelledRow, DomainCard], dict[str, Any] | None]


# A small model that loses the thread repeats itself up to the limit: keep it near the longest gold answer.
MAX_TOKENS = {"rewrite": 160, "decompose": 320, "graph": 400}
# If only these outputs of a stage are left to ask, no request is sent for them.
NOT_ALONE = {"rejection_kind", "referenced_entities", "entities", "relationships_needed"}
REWRITTEN, SPLIT = "standalone_query", "sub_queries"
"""The written outputs that heads can write too; their combinations are kept under these names."""


def stage_specs(card: DomainCard) -> dict[str, StageSpec]:
    """Every stage of a domain, by name. ``graph`` is there only if the card has a graph."""
    relevance = judge_relevance(card.domain_text(), card.topics())
    specs = [
        _spec("follow_up", "decide", DetectFollowUp, _follow_up_example),
        _spec("relevance", "decide", relevance, _relevance_example),
        _spec("complexity", "decide", AssessComplexity, _complexity_example),
        _spec("rewrite", "write", RewriteQuery, _rewrite_example),
        _spec("decompose", "write", DecomposeQuery, _decompose_example),
    ]
    if card.graph is not None and card.graph.edges:
        specs.append(_spec("graph", "write", plan_graph_steps(card.graph), _graph_example))
    return {spec.name: spec for spec in specs}


def _spec(name: str, kind: Kind, signature: type[dspy.Signature], example: Callable[..., Any]) -> StageSpec:
    return StageSpec(name, kind, signature, tuple(signature.input_fields), MAX_TOKENS.get(name), example)


def new_predictor(spec: StageSpec) -> dspy.Predict:
    """The uncompiled predictor of a stage."""
    limit: dict[str, Any] = {} if spec.max_tokens is None else {"max_tokens": spec.max_tokens}
    return dspy.Predict(spec.signature, **limit)


def examples(spec: StageSpec, rows: Sequence[LabelledRow], card: DomainCard) -> list[dspy.Example]:
    """The rows that are labelled for this stage, as DSPy examples with gold outputs.

    Each carries ``row_id`` and ``conversation`` beside the signature's fields, for grouping.
    """
    made = []
    for row in rows:
        fields = spec.example(row, card)
        if fields is not None:
            example = dspy.Example(**fields, row_id=row.id, conversation=row.conversation)
            made.append(example.with_inputs(*spec.inputs))
    return made


def conversation_inputs(row: LabelledRow, card: DomainCard) -> dict[str, str]:
    """``history`` and ``query`` as the planner would show them."""
    clean = clean_row(row, card)
    return {"history": history_text(clean.turns), "query": clean.query}


def _follow_up_example(row: LabelledRow, card: DomainCard) -> dict[str, Any] | None:
    if not row.history:
        return None
    return {**conversation_inputs(row, card), "is_follow_up": row.labels.is_follow_up}


def _relevance_example(row: LabelledRow, card: DomainCard) -> dict[str, Any]:
    fields: dict[str, Any] = {"query": row.labels.standalone_query, "is_relevant": row.labels.is_relevant}
    if row.labels.rejection_kind is not None:
        fields["rejection_kind"] = row.labels.rejection_kind
    return fields


def _complexity_example(row: LabelledRow, card: DomainCard) -> dict[str, Any] | None:
    labels = row.labels
    if not labels.is_relevant:
        return None
    return {
        "query": labels.standalone_query,
        "complexity": labels.complexity,
        "intent": labels.intent,
        "needs_decomposition": labels.needs_decomposition,
    }


def _rewrite_example(row: LabelledRow, card: DomainCard) -> dict[str, Any] | None:
    if not row.labels.is_follow_up:
        return None
    active = row.session.get("active_entity", "")
    return {
        **conversation_inputs(row, card),
        "active_entity": active if isinstance(active, str) else "",
        "referenced_entities": list(row.labels.referenced_entities),
        "standalone_query": row.labels.standalone_query,
    }


def _decompose_example(row: LabelledRow, card: DomainCard) -> dict[str, Any] | None:
    labels = row.labels
    if not labels.needs_decomposition:
        return None
    return {
        "query": labels.standalone_query,
        "sub_queries": [{"text": s.text, "depends_on": list(s.depends_on)} for s in labels.sub_queries],
        "entities": list(labels.entities),
        "relationships_needed": list(labels.relationships_needed),
    }


def _graph_example(row: LabelledRow, card: DomainCard) -> dict[str, Any] | None:
    """An example with steps as a model writes them; ``answers`` is what running them must give."""
    plan = row.gold.graph_plan if row.gold is not None else None
    steps = written(plan) if plan is not None else None
    if row.gold is None or steps is None:
        return None
    return {"query": row.labels.standalone_query, "steps": steps, "answers": row.gold.answers}


def outputs_of(predictor: dspy.Predict) -> set[str]:
    """Names of a predictor's outputs."""
    signature: Any = predictor.signature
    return set(signature.output_fields)


def narrowed(predictor: dspy.Predict, outputs: Collection[str]) -> dspy.Predict:
    """A predictor that is asked for only some of its outputs; the same one if these are all."""
    signature: Any = predictor.signature
    unasked = [name for name in signature.output_fields if name not in outputs]
    if not unasked:
        return predictor
    for name in unasked:
        signature = signature.delete(name)
    copy = dspy.Predict(signature, **predictor.config)
    copy.demos = predictor.demos
    copy.fields = {name: config for name, config in predictor.fields.items() if name not in unasked}
    return copy
