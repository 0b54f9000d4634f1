"""CANARD: questions about a Wikipedia article, rewritten so that they stand alone."""

from __future__ import annotations

from dataclasses import replace

from ..rows import LabelledRow
from .base import open_card, unsaid
from .dialogue import dialogue_row, same_words
from .rowset import LeftOut, RowConverter, RowReader
from .sources import Record

NEEDS_TITLE = "first turn whose rewrite needs the article's title"


class Canard(RowConverter):
    """Rewriting, and follow-up where the set can tell."""

    name = "canard"
    source = "https://github.com/aagohary/canard"
    licence = "CC BY-SA 4.0"
    says = {
        "is_follow_up": "derived: not the first turn, and the rewrite differs; a first turn whose rewrite differs is "
        "left out, since what it points to is the title, not an earlier turn",
        "standalone_query": "the rewrite of a follow-up, which may name the article's title; any other query as typed",
    }
    cannot_say = unsaid(says)

    def reader(self) -> RowReader:
        """Conversations are drawn: the copy at hand has one upstream split only."""
        card = open_card(self.name, "CANARD", ("questions about a person, group or thing with an article",))
        return RowReader(card, _row)


def _row(record: Record) -> LabelledRow | LeftOut:
    if "QuAC_dialog_id" in record.fields:
        record = _from_list(record)
    follow_up = record.flag("is_follow_up")
    if follow_up is None:
        return LeftOut(NEEDS_TITLE)
    return dialogue_row(record, follow_up, record.text("resolved_utterance"))


def _from_list(record: Record) -> Record:
    """A record of the published list, whose history begins with the titles of article and section."""
    said, turn = record.list("History")[2:], record.number("Question_no")
    question, rewrite = record.text("Question"), record.text("Rewrite")
    conversation, differs = record.text("QuAC_dialog_id"), not same_words(question, rewrite)
    fields = {
        "id": f"canard-{conversation}-{turn}",
        "conversation_id": conversation,
        "turn": turn,
        "history": [{"role": ("user", "system")[place % 2], "text": text} for place, text in enumerate(said)],
        "utterance": question,
        "resolved_utterance": rewrite,
        "is_follow_up": None if turn == 1 and differs else differs,
    }
    return replace(record, fields=fields)
