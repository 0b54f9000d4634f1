"""Heads for the kinds of information that a card declares, fitted to the rows that say which are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...data.card import DomainCard
from ...data.rows import LabelledRow
from ..retrieval.sources.intents import CueReader, head_name
from ..retrieval.sources.kind_choice import COUNT, TOGETHER, count_label, set_labels
from ..retrieval.sources.planning import MIN_CONFIDENCE
from .features import Features, Seen
from .fit_head import Rows, fit_rows
from .heads import Head, with_cues
from .landmarks import condensed
from .wish_grams import PARTS, with_wishes

# The shares of the linear kernels on the parts of a row: n-grams, frames, and the sequences and links of
# ``wish_grams.py``. The RBF kernel has the rest. With 0.05 for frames, 805 and not 803 of 1,219 left-out queries are
# exactly right, and a program is 0.05 MB larger.
WISH_SHARES = ((0.3, 0.0, 0.1, 0.2),)
WIDTH = 0.5
"""Gamma of the RBF kernel. With 0.5 the kinds were exactly right for 0.668 of 1,354 rows, cross-validated four times;
with 1 for 0.663, with 2 for 0.652, and with a linear kernel in its place for 0.654."""
LANDMARKS = 400
"""The most support vectors. Kinds are exactly right for 0.674 and 0.673 of 1,892 rows with 400 of them, cross-validated
twice, for 0.669 and 0.670 with 600, and for 0.680 and 0.678 with all."""


def train_source_heads(
    rows: Sequence[LabelledRow], card: DomainCard, features: Features, seed: int = 0
) -> dict[str, Head | None]:
    """A yes-or-no head for each kind of information of a card, one for sets of kinds and one for their number.

    They see the standalone form, the card's cues in it, and its frame (``wish_grams.py``). A labelled kind counts as
    wanted if its confidence is high enough for a plan (``MIN_CONFIDENCE``). A head is None if the rows cannot teach it;
    there is none at all if the card declares no kind or no row is labelled for them.
    """
    used = [(row, row.gold.source_intents) for row in rows if row.gold and row.gold.source_intents is not None]
    if not card.source_intents or not used:
        return {}
    reader = CueReader(card)
    seen = [_nearer(_with_wishes(features, reader, row.labels.standalone_query)) for row, _ in used]
    asked = [{i.type for i in intents if i.confidence >= MIN_CONFIDENCE} for _, intents in used]
    wanted = [[kind for kind in reader.types if kind in kinds] for kinds in asked]
    labels = {head_name(kind): ["true" if kind in kinds else "false" for kinds in wanted] for kind in reader.types}
    labels |= {TOGETHER: set_labels(wanted), COUNT: [count_label(len(kinds)) for kinds in wanted]}
    groups = [row.conversation for row, _ in used]
    same = Rows(seen, groups, parts=PARTS, seed=seed)
    fits = {name: fit_rows(name, same, of_rows, WISH_SHARES) for name, of_rows in labels.items()}
    few = {head.name: _as_far(head) for head in condensed([fitted for fitted in fits.values() if fitted], LANDMARKS)}
    return {name: few.get(name) for name in fits}


def _nearer(seen: Seen) -> Seen:
    """The features with the dense ones scaled, so that ``fit_rows``, whose gamma is 1, fits with this module's."""
    return seen._replace(dense=seen.dense * np.float32(WIDTH**0.5))


def _as_far(head: Head) -> Head:
    """The head for unscaled features, from one that was fitted with ``_nearer``."""
    support = head.support.astype(np.float32) / np.float32(WIDTH**0.5)
    return replace(head, support=support.astype(np.float16), width=WIDTH * head.width)


def _with_wishes(features: Features, reader: CueReader, query: str) -> Seen:
    seen = with_cues(features.of_wishes(query), reader.features(query))
    return seen._replace(grams=with_wishes(seen.grams, reader.frame(query), features.common or frozenset()))
