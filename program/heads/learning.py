"""Which rows and which label each head learns from, and what heads that learn from the same rows share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...data.card import DomainCard
from ...data.rows import LabelledRow
from ..context import clean_row
from .features import Features, Seen
from .fit_head import MIN_ROWS, Fitted, Rows, fit_and_leave_out, fit_rows
from .heads import TYPED, Head
from .joint import COMPLEXITY_OUTPUTS
from .landmarks import TURNS, condensed
from .lending import Lent, lends_relevance
from .looks import KERNELS, WORDS, level, together

Label = Callable[[LabelledRow], str | None]

FOLLOW_UP = "is_follow_up"
NO_GRAMS = (0.0, 0.0)
ENOUGH_OURS = 100
"""Number of a domain's own rows of ours from which the level that looks must agree on comes from these alone. Lent rows
are left out with all of their domain, so that they seem less likely ours than a domain's own."""
STRANGERS = 0.2
"""The share of strangers that is expected of what users ask, see ``_by_quota``."""
MADE = 1
"""Number of made-up turns for each later turn, see ``made_turns``; two with half the weight were no better."""

# A label of None leaves the row out: only turns after the first say something about follow-ups, and
# only relevant rows about complexity.
LABELS: dict[str, Label] = {
    FOLLOW_UP: lambda r: _truth(r.labels.is_follow_up) if r.history else None,
    "is_relevant": lambda r: _truth(r.labels.is_relevant),
    "rejection_kind": lambda r: r.labels.rejection_kind,
    "complexity": lambda r: r.labels.complexity if r.labels.is_relevant else None,
    "intent": lambda r: r.labels.intent if r.labels.is_relevant else None,
    "needs_decomposition": lambda r: _truth(r.labels.needs_decomposition) if r.labels.is_relevant else None,
}


ALIKE = (FOLLOW_UP, *COMPLEXITY_OUTPUTS)
"""Heads that also learn from other domains' rows, since what they decide shows in the same words everywhere. The heads
of the same outputs that read a follow-up as typed do so, too."""
OURS = ("is_relevant", *KERNELS)
"""Heads that also learn from other domains' rows where the domain has few (``lending.lends_relevance``), and whose
training rows are all judged, since their levels are read off the lowest of these (``looks.py``)."""


class Taught(NamedTuple):
    """A training row, with the card of its domain and the features that read it."""

    row: LabelledRow
    card: DomainCard
    features: Features


class Learning:
    """Training rows with what heads share: features and kernels are computed once.

    Attributes:
        rows, card, features, seed, lent: as in ``train_heads``.
        taught: all rows: the domain's own, and those that are lent.
        own: number of the first rows in ``taught`` that are the domain's own.
    """

    def __init__(
        self,
        rows: Sequence[LabelledRow],
        card: DomainCard,
        features: Features,
        seed: int = 0,
        lent: Sequence[Lent] = (),
    ) -> None:
        self.rows, self.card, self.features, self.seed, self.lent = rows, card, features, seed, lent
        self.own = len(rows)
        self.taught = [Taught(row, card, features) for row in rows]
        read = [(one, features.reading(one.linker)) for one in lent]
        self.taught += [Taught(row, one.card, seen) for one, seen in read for row in one.rows]
        self._last: tuple[tuple[int, ...], Rows] | None = None

    def fit(
        self,
        name: str,
        label: Label,
        shares: Sequence[Sequence[float]] | None = None,
        ridges: Sequence[float] | None = None,
    ) -> Fitted | None:
        """Train a head on the standalone forms of the rows that have this label; None if they teach none."""
        labels = self.labels(name, label)
        if not labels:
            return None
        places = tuple(labels)
        if self._last is None or self._last[0] != places:
            self._last = None
            self._last = places, self._every.some(places)
        every = name in OURS  # for the levels of ``looks.py``
        return fit_rows(name, self._last[1], list(labels.values()), shares, ridges, every=every)

    def labels(self, name: str, label: Label) -> dict[int, str]:
        """The labels, by row number, from which a head of that name learns.

        Labels that are alike everywhere are learned from all lent rows, too, even if the domain has none itself, and so
        is relevance in a domain with few rows.
        """
        found = {place: value for place, one in enumerate(self.taught) if (value := label(one.row)) is not None}
        if name.removeprefix(TYPED) in ALIKE or (name in OURS and self.relevance_is_lent):
            return found
        own = {place: value for place, value in found.items() if place < self.own}
        return own if name not in OURS or (len(own) >= MIN_ROWS and len(set(own.values())) > 1) else {}

    @property
    def relevance_is_lent(self) -> bool:
        """Whether relevance is learned from lent rows, too."""
        return lends_relevance(self.rows, self.lent)

    def group_of(self, taught: Taught) -> str:
        """What is left out together with a row: its conversation, or of a lent row all of its domain.

        So heads are judged on what they are for, the queries of a domain of which they know little.
        """
        return taught.row.conversation if taught.card.name == self.card.name else f"domain {taught.card.name}"

    def of_domain(self, name: str) -> list[Taught]:
        """The rows of the domain of that name."""
        return [one for one in self.taught if one.card.name == name]

    def forget(self) -> None:
        """Free the kernels, which hold several numbers for every pair of rows."""
        self._last = None
        self.__dict__.pop("_every", None)

    @cached_property
    def _every(self) -> Rows:
        seen = [features_of("", *one) for one in self.taught]
        groups = [self.group_of(one) for one in self.taught]
        return Rows(seen, groups, seed=self.seed, written_out=self.features.written_out)


def condensed_alike(fits: Mapping[str, Fitted]) -> dict[str, Head]:
    """Heads with few support vectors, see ``landmarks.py``: those that see a turn, and those that see a query."""
    turn = condensed([fitted for name, fitted in fits.items() if name == FOLLOW_UP], TURNS)
    query = condensed([fitted for name, fitted in fits.items() if name != FOLLOW_UP])
    few = {head.name: head for head in (*turn, *query)}
    return {name: few[name] for name in fits}


def train_typed(learning: Learning, alone: Mapping[str, Fitted | None]) -> dict[str, Fitted]:
    """Train the heads that read a follow-up as typed; none if the rows have hardly any.

    They learn from the same rows as the heads that read standalone forms, but with follow-ups as typed, and take over
    the kernels and the ridge of those. On the podcast's 2,879 rows, cross-validated in three parts, they have all
    labels of follow-ups as typed right for 0.647; the heads of standalone forms have 0.583. Learning from follow-ups
    alone gives 0.610, and 0.604 with the question before as further features. One set of heads that learns from both
    forms loses 2.4 points on queries that stand alone.
    """
    rows, card = learning.rows, learning.card
    if sum(one.row.labels.is_follow_up for one in learning.taught) < MIN_ROWS:
        return {}
    lent = [replace(one, rows=tuple(as_typed(row, one.card) for row in one.rows)) for one in learning.lent]
    typed = Learning([as_typed(row, card) for row in rows], card, learning.features, learning.seed, lent)
    found = {
        f"{TYPED}{name}": typed.fit(f"{TYPED}{name}", label, [shares], [one.ridge])
        for name, label in LABELS.items()
        if name != FOLLOW_UP and (one := alone[name]) is not None
        # Follow-ups are hardly ever rejected, so for the kind of rejection n-gram weights are not worth their size.
        for shares in [one.shares if name != "rejection_kind" else NO_GRAMS]
    }
    return {name: fitted for name, fitted in found.items() if fitted is not None}


def as_typed(row: LabelledRow, card: DomainCard) -> LabelledRow:
    """The row with what the user typed as its standalone form."""
    typed = clean_row(row, card).query
    return row.model_copy(update={"labels": row.labels.model_copy(update={"standalone_query": typed})})


def train_looks(learning: Learning, words: Fitted | None = None) -> dict[str, Fitted]:
    """Train the two looks that must agree to a rejection, see ``looks.py``; none if the rows cannot teach them.

    Args:
        words: the look at words, if it was trained on the same rows before.
    """
    fits = {
        name: words if name == WORDS and words else learning.fit(name, LABELS["is_relevant"], shares)
        for name, shares in KERNELS.items()
    }
    known = [fitted for fitted in fits.values() if fitted is not None]
    if len(known) < len(fits):
        return {}
    labels = learning.labels("is_relevant", LABELS["is_relevant"])
    ours = np.array([label == "true" for label in labels.values()])
    own = ours & (np.array(list(labels)) < learning.own)
    ours = own if own.sum() >= ENOUGH_OURS else ours
    said = [fitted.left_out[ours, fitted.head.labels.index("true")].tolist() for fitted in known]
    below = level([together(both) for both in zip(*said, strict=True)])
    return {fitted.head.name: fitted._replace(head=replace(fitted.head, below=below)) for fitted in known}


def train_one(name: str, learning: Learning) -> Fitted | None:
    if name == FOLLOW_UP:
        return train_follow_up(learning)
    fitted = learning.fit(name, LABELS[name])
    alone = name == "is_relevant" and not learning.relevance_is_lent
    return _by_quota(fitted, learning.rows) if alone and fitted is not None else fitted


def _by_quota(fitted: Fitted, rows: Sequence[LabelledRow]) -> Fitted:
    """The relevance head with its threshold at the level below which the quota of ours lies (``looks.level``).

    Whoever labels a domain writes few strangers, while users ask many: they are 54 of biomedical's 5,476 training rows,
    but a fifth of its ``dev`` and ``calibrate``. So the head, though it tells strangers well, hardly ever found "not
    ours" likelier: it rejected one of 25. With a bias that makes the odds even at the level, it rejects 13 of them, and
    none of 94 of ours, as before. Nothing changes where strangers are a fifth of the rows, or where the level lies
    below a half.
    """
    head = fitted.head
    ours = np.array([row.labels.is_relevant for row in rows])
    true = head.labels.index("true")
    even = level(fitted.left_out[ours, true].tolist()) if ours.mean() > 1 - STRANGERS else 0.5
    if even <= 0.5:
        return fitted
    start = head.bias or (0.0,) * len(head.labels)
    odds = math.log(even / (1 - even))
    bias = tuple(b - odds if place == true else b for place, b in enumerate(start))
    return fitted._replace(head=replace(head, bias=bias))


def train_follow_up(learning: Learning) -> Fitted | None:
    label = LABELS[FOLLOW_UP]
    known = learning.labels(FOLLOW_UP, label)
    if not known:
        return None
    domains = dict.fromkeys(learning.taught[place].card.name for place in known)
    true = [learning.taught[place] for place in known]
    made = [one for name in domains for one in _made_of(learning.of_domain(name), learning.seed)]
    labels = [*known.values(), *(label(one.row) or "" for one in made)]
    seen = [features_of(FOLLOW_UP, *one) for one in (*true, *made)]
    groups = [learning.group_of(one) for one in (*true, *made)]
    return fit_and_leave_out(FOLLOW_UP, seen, labels, groups, learning.seed, made=len(made))


def _made_of(taught: Sequence[Taught], seed: int) -> list[Taught]:
    """Made-up turns (``made_turns``) from the rows of one domain."""
    return [Taught(row, *taught[0][1:]) for row in made_turns([one.row for one in taught], seed)]


def made_turns(rows: Sequence[LabelledRow], seed: int = 0) -> list[LabelledRow]:
    """Made-up turns: after the earlier turns of each row, the first question of another conversation.

    Such a question stands alone, whatever was said before. Few labelled turns change the subject, and most of the turns
    that were wrongly taken for follow-ups are such changes.
    """
    later = [row for row in rows if row.history]
    first = [row for row in rows if not row.history]
    order = np.random.default_rng(seed).integers(max(len(first), 1), size=(len(later), MADE))
    asked = [(row, first[i]) for row, chosen in zip(later, order.tolist(), strict=True) for i in chosen if first]
    return [
        row.model_copy(update={"query": other.query, "labels": other.labels})
        for row, other in asked
        if other.conversation != row.conversation
    ]


def features_of(name: str, row: LabelledRow, card: DomainCard, features: Features) -> Seen:
    """The features of a row for the head of that name: of its turn for follow-ups, else of its gold standalone form."""
    if name != FOLLOW_UP:
        return features.of_query(row.labels.standalone_query)
    clean = clean_row(row, card)
    return features.of_turn(clean.query, clean.turns)


def _truth(value: bool) -> str:
    return "true" if value else "false"
