"""The answers of a program's heads on labelled rows, stage by stage, and whether they are right.

Each stage is given what it would be given if the other stages were right: the turn with its history, then the gold
standalone form. A bound is fitted on this table, and curves of risk against coverage are drawn from it. So heads look
closer at every row, as they do within a bound (``program/bound.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...data.card import DomainCard
from ...data.rows import LabelledRow
from ...program.bound import complexity_certainty, kind_certainty, label_stages, relevance_certainty
from ...program.context import clean_row
from ...program.flow import decided_by_form
from ...program.heads.heads import HeadAnswer, Heads
from ...program.heads.joint import COMPLEXITY_OUTPUTS, likeliest_together
from ...program.text.greetings import greetings_of
from ...signatures.types import Labels

HEAD_STAGES = ("follow_up", "relevance", "complexity")


@dataclass(frozen=True)
class Answer:
    """The answer of one head stage for one row: its certainty, and whether the label is gold's."""

    certainty: float
    right: bool


@dataclass(frozen=True)
class RowAnswers:
    """Every head answer that a plan of this row could use.

    Attributes:
        answers: by stage, with ``kind`` for the kind of a rejection; a stage is missing if its head gives no answer.
        arises: the stages that a head or a model has to decide in a right plan, without those that rules decide.
        rejects: whether the relevance head says that the query is out of the domain.
    """

    row_id: str
    conversation: str
    answers: dict[str, Answer] = field(default_factory=dict)
    arises: tuple[str, ...] = ()
    rejects: bool = False

    def used(self, certainty: float) -> set[str]:
        """The stages that heads answer if they need this certainty; the others are assumed to be decided rightly."""
        sure = {name for name in ("follow_up", "kind") if (said := self._said(name)) is not None and said >= certainty}
        labels = label_stages(self._said("relevance"), self.rejects, self._said("complexity"), certainty)
        rejected = "relevance" in labels and self.rejects
        unused = {"complexity"} if "complexity" not in self.arises else set[str]()
        return (sure | labels) - unused - (set() if rejected else {"kind"})

    def _said(self, stage: str) -> float | None:
        """How certain the head of a stage is; None if it gives no answer."""
        answer = self.answers.get(stage)
        return answer.certainty if answer is not None else None

    def wrong(self, certainty: float) -> bool:
        """The joint loss: whether some head that answered was wrong."""
        return any(not self.answers[name].right for name in self.used(certainty))

    def whole(self, certainty: float) -> bool:
        """Whether heads, at this certainty, and rules decide every stage, so that no model has to."""
        used = self.used(certainty)
        rejected = "relevance" in used and self.rejects
        return all(name in used or (rejected and name == "complexity") for name in self.arises)


def head_answers(heads: Heads, rows: Sequence[LabelledRow], card: DomainCard) -> list[RowAnswers]:
    """The answers of these heads for each row."""
    return [_of_row(heads, row, card) for row in rows]


def _of_row(heads: Heads, row: LabelledRow, card: DomainCard) -> RowAnswers:
    clean = clean_row(row, card)
    if decided_by_form(clean.query, greetings_of(card.greetings)):
        return RowAnswers(row.id, row.conversation)
    labels, found = row.labels, dict[str, Answer]()
    turn = heads.of_turn(clean.query, clean.turns, closely=True) if clean.turns else None
    if turn is not None:
        found["follow_up"] = Answer(turn.confidence, (turn.label == "true") == labels.is_follow_up)
    said = heads.of_query(labels.standalone_query, clean.query if labels.is_follow_up else None, closely=True)
    found.update(_label_answers(heads, said, labels))
    arises = (
        *(("follow_up",) if clean.turns else ()),
        "relevance",
        *(("complexity",) if labels.is_relevant else ()),
    )
    rejects = "is_relevant" in said and said["is_relevant"].label == "false"
    return RowAnswers(row.id, row.conversation, found, arises, rejects)


def _label_answers(heads: Heads, said: dict[str, HeadAnswer], labels: Labels) -> dict[str, Answer]:
    found = {}
    if (certainty := relevance_certainty(said)) is not None:
        found["relevance"] = Answer(certainty, (said["is_relevant"].label == "true") == labels.is_relevant)
    if (certainty := kind_certainty(said)) is not None:
        found["kind"] = Answer(certainty, said["rejection_kind"].label == labels.rejection_kind)
    if (certainty := complexity_certainty(said, heads.joint)) is not None:
        gold = (labels.complexity, labels.intent, "true" if labels.needs_decomposition else "false")
        chosen, _ = likeliest_together(heads.joint, [said[name].probabilities for name in COMPLEXITY_OUTPUTS])
        found["complexity"] = Answer(certainty, chosen == gold)
    return found


def one_of_each(answers: Sequence[RowAnswers], seed: int) -> list[RowAnswers]:
    """One row of each conversation, drawn at random, so that the rows are independent."""
    by_conversation: dict[str, list[RowAnswers]] = {}
    for answer in answers:
        by_conversation.setdefault(answer.conversation, []).append(answer)
    rng = np.random.default_rng(seed)
    return [rows[int(rng.integers(len(rows)))] for _, rows in sorted(by_conversation.items())]
