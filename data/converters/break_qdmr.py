"""Break, high-level QDMR: questions of three sets, decomposed by people into phrases."""

from __future__ import annotations

from dataclasses import replace

from ..rows import LabelledRow
from .base import open_card, unsaid
from .rowset import LeftOut, RowConverter, RowReader
from .sources import Record
from .steps import Step, check_operations, steps_row

# Over answers that are there already. A boolean is one too when it compares two of them.
_OVER_ANSWERS = frozenset(
    "aggregate arithmetic comparison comparative discard group intersection none sort superlative union".split()
)


class BreakQdmr(RowConverter):
    """Decomposition, and questions that need none."""

    name = "break_qdmr"
    source = "https://github.com/allenai/Break (high-level dev)"
    licence = "MIT"
    says = {
        "needs_decomposition": "derived: two or more steps are retrievals; rows with one step are never decomposed",
        "sub_queries": "the steps that look something up, as phrases without their `return`; sums, comparisons, "
        "unions and other steps over earlier answers are left out",
    }
    cannot_say = unsaid(
        says, complexity="derived from the steps alone: simple undecomposed, complex with a chain, else moderate"
    )

    def reader(self, operations: str = "drop") -> RowReader:
        """``operations="keep"`` makes every published step a sub-query."""
        keep = check_operations(operations)
        card = open_card(self.name, "Break", ("questions over text, with one step or several",))
        return RowReader(card, lambda record: _row(record, keep))


def _row(record: Record, keep: bool) -> LabelledRow | LeftOut:
    if "question_id" in record.fields:
        record = _from_table(record)
    texts, operators = record.list("steps"), record.list("operators")
    if not texts or len(texts) != len(operators):
        raise record.error(f"steps: {len(texts)} steps, but operators has {len(operators)}")
    steps = [_step(text, operator) for text, operator in zip(texts, operators, strict=True)]
    source = record.text("source_dataset").casefold()
    return steps_row(record, record.text("question"), steps, keep, f"from:{source}")


def _from_table(record: Record) -> Record:
    """A line of the published CSV, where steps are joined by semicolons and operators are a list in Python."""
    row_id, question = record.text("question_id"), record.text("question_text")
    fields = {
        "id": row_id,
        "question": question,
        "steps": [step.strip() for step in record.text("decomposition").split(";")],
        "operators": [operator.strip(" '\"") for operator in record.text("operators").strip("[]").split(",")],
        "source_dataset": row_id.split("_")[0],
    }
    return replace(record, fields=fields)


def _step(text: str, operator: str) -> Step:
    phrase = " ".join(text.split()).removeprefix("return ")
    step = Step(phrase, False)
    compares = operator == "boolean" and len(step.needs) > 1
    return Step(phrase, bool(step.needs) and (compares or operator.casefold() in _OVER_ANSWERS))
