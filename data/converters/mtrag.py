"""MTRAG: conversations of people with a retrieval system, labelled turn by turn by people."""

from __future__ import annotations

from ..rows import LabelledRow
from .base import open_card, unsaid
from .dialogue import dialogue_row
from .rowset import RowConverter, RowReader
from .sources import Record

_FOLLOWS = {"N/A": False, "Follow-up": True, "Clarification": True}


class MtRag(RowConverter):
    """Follow-up as people called it; the kind of question is a tag."""

    name = "mtrag"
    source = "https://github.com/IBM/mt-rag-benchmark (human evaluation subset)"
    licence = "Apache-2.0"
    says = {
        "is_follow_up": "people's label: Follow-up and Clarification are true, N/A (first turn) false; a later turn "
        "that stands alone is called Follow-up there too, unlike in the annotation guide"
    }
    cannot_say = unsaid(
        says,
        standalone_query="always the query as typed, of follow-ups too; the subset has no rewrites",
        intent="always factual; the set's question types are tags and have other borders",
        is_relevant="always true; that the documents hold no answer (a tag) does not put a query outside",
    )

    def reader(self) -> RowReader:
        """Conversations are drawn."""
        covers = ("questions about public services, cloud products, finance and general articles",)
        return RowReader(open_card(self.name, "MTRAG", covers), _row)


def _row(record: Record) -> LabelledRow:
    label = record.text("multi_turn_label")
    if label not in _FOLLOWS:
        raise record.error(f"multi_turn_label: {label!r} is none of {', '.join(_FOLLOWS)}")
    kinds = [f"question:{kind.casefold()}" for kind in record.list("question_type")]
    tags = (*kinds, f"multi_turn:{label.casefold()}", f"answer:{record.text('answerability').casefold()}")
    return dialogue_row(record, _FOLLOWS[label], record.text("utterance"), *tags)
