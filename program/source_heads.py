"""Heads for the kinds of information of a card, from the rows that say which are wanted."""

from __future__ import annotations

from collections.abc import Sequence

from ..data.card import DomainCard
from ..data.rows import LabelledRow
from .features import Features, Seen
from .fit_head import fit_head
from .heads import Head, with_cues
from .retrieval.kind_choice import COUNT, TOGETHER, count_label, set_label
from .retrieval.source_intents import CueReader, head_name
from .retrieval.source_planning import MIN_CONFIDENCE
from .wish_grams import PARTS, with_wishes

# Of the linear kernels on n-grams, frames, and sequences and links of frames of wishes.
WISH_SHARES = ((0.25, 0.05, 0.15, 0.25),)


def train_source_heads(
    rows: Sequence[LabelledRow], card: DomainCard, features: Features, seed: int = 0
) -> dict[str, Head | None]:
    """A yes-or-no head for each kind of information of a card, one for sets of kinds and one for their number.

    They see the standalone form, the card's cues in it, and its frame (``wish_grams.py``). A kind is wanted from the
    confidence on from which plans are made.
    """
    used = [(row, row.gold.source_intents) for row in rows if row.gold and row.gold.source_intents is not None]
    if not card.source_intents or not used:
        return {}
    reader = CueReader(card)
    seen = [_with_wishes(features, reader, row.labels.standalone_query) for row, _ in used]
    asked = [{i.type for i in intents if i.confidence >= MIN_CONFIDENCE} for _, intents in used]
    wanted = [[kind for kind in reader.types if kind in kinds] for kinds in asked]
    labels = {head_name(kind): ["true" if kind in kinds else "false" for kinds in wanted] for kind in reader.types}
    labels |= {TOGETHER: [set_label(kinds) for kinds in wanted], COUNT: [count_label(len(kinds)) for kinds in wanted]}
    groups = [row.conversation for row, _ in used]
    return {name: fit_head(name, seen, of_rows, groups, seed, WISH_SHARES, PARTS) for name, of_rows in labels.items()}


def _with_wishes(features: Features, reader: CueReader, query: str) -> Seen:
    seen = with_cues(features.of_query(query), reader.features(query))
    return seen._replace(grams=with_wishes(seen.grams, reader.frame(query), features.common or frozenset()))
