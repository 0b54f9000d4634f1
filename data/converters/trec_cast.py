"""TREC CAsT 2019 and 2021: conversational search, each turn rewritten by hand."""

from __future__ import annotations

from ..rows import LabelledRow
from .base import open_card, unsaid
from .dialogue import dialogue_row, same_words
from .rowset import RowConverter, RowReader
from .sources import Record


class TrecCast(RowConverter):
    """Follow-up and rewriting."""

    name = "trec_cast"
    source = "https://github.com/daltonj/treccastweb (2019 and 2021)"
    licence = "MIT"
    says = {
        "is_follow_up": "derived: not the first turn, and the manual rewrite differs by more than case and punctuation",
        "standalone_query": "the manual rewrite of a follow-up; any other query as typed",
    }
    cannot_say = unsaid(says)

    def reader(self) -> RowReader:
        """The turns have no split of their own worth keeping; conversations are drawn."""
        return RowReader(open_card(self.name, "TREC CAsT", ("questions of any subject, asked to search",)), _row)


def _row(record: Record) -> LabelledRow:
    rewrite = record.text("resolved_utterance")
    first = record.number("turn") == 1
    return dialogue_row(record, not first and not same_words(record.text("utterance"), rewrite), rewrite)
