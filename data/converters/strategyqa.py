"""StrategyQA: yes/no questions whose steps are not in their words, decomposed by people."""

from __future__ import annotations

from ..rows import LabelledRow
from .base import open_card, unsaid
from .rowset import LeftOut, RowConverter, RowReader
from .sources import Record
from .steps import Step, check_operations, steps_row


class StrategyQa(RowConverter):
    """Decomposition; one of many that would do."""

    name = "strategyqa"
    source = "https://github.com/eladsegal/strategyqa (train)"
    licence = "MIT"
    says = {
        "needs_decomposition": "derived: two or more of the people's steps are retrievals",
        "sub_queries": "the people's steps that look something up; one they marked as operation and that refers to an "
        "earlier step is left out; many others are valid, score softly",
    }
    cannot_say = unsaid(
        says, complexity="derived from the steps alone: simple undecomposed, complex with a chain, else moderate"
    )

    def reader(self, operations: str = "drop") -> RowReader:
        """``operations="keep"`` makes every published step a sub-query."""
        keep = check_operations(operations)
        card = open_card(self.name, "StrategyQA", ("yes/no questions of any subject",))
        return RowReader(card, lambda record: _row(record, keep))


def _row(record: Record, keep: bool) -> LabelledRow | LeftOut:
    texts, marks = record.list("decomposition"), record.list("step_is_operation", bool)
    if not texts or len(texts) != len(marks):
        raise record.error(f"decomposition: {len(texts)} steps, but step_is_operation has {len(marks)}")
    # The mark alone says that people found no article for the step, not that it looks nothing up.
    steps = [Step(text.strip(), mark and "#" in text) for text, mark in zip(texts, marks, strict=True)]
    return steps_row(record, record.text("question"), steps, keep)
