"""Heads from labelled rows: which rows and which label each head learns from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from ..data.card import DomainCard
from ..data.rows import LabelledRow
from .context import clean_row
from .encoder import Encoder
from .features import Features, Seen, learned_features
from .fit_head import MIN_ROWS, RIDGES, SHARES, Fitted, Rows, fit_and_leave_out, fit_rows
from .greetings import greetings_of
from .heads import TYPED, Head, Heads
from .joint import fit_joint
from .landmarks import TURNS, condensed
from .linker import Linker
from .looks import KERNELS, level, together
from .rewriting.fit import train_rewriter
from .source_heads import train_source_heads

Label = Callable[[LabelledRow], str | None]

RECIPE = "20"
"""Of how heads are trained; another number has heads that are kept on disk trained anew."""

FOLLOW_UP = "is_follow_up"
LATE = (0.5, 0.55, 0.6, 0.65)
MAY_COST = 0.02
"""Of the accuracy on left-out rows, to say a label late; a standard error of 200 rows is a little more."""
NO_GRAMS = (0.0, 0.0)
MADE = 1
"""So many turns are made up for each later turn, see ``made_turns``; two that weigh half as much were no better."""

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


def train_heads(rows: Sequence[LabelledRow], card: DomainCard, encoder: Encoder, seed: int = 0) -> Heads:
    """Every head that the rows can teach; seconds on a few hundred rows."""
    texts = [row.labels.standalone_query for row in rows]
    features = learned_features(texts, encoder, Linker(card.names))
    # The matrices are small: with more threads than idle cores they take twenty times as long.
    with threadpool_limits(1):
        learning = Learning(rows, card, features, seed)
        looks = train_looks(learning)
        alone = {name: _train_one(name, learning) for name in LABELS}
        learning.forget()
        fits = {**alone, **train_typed(learning, alone), **looks}
        heads = condensed_alike({name: fitted for name, fitted in fits.items() if fitted is not None})
        sources = train_source_heads(rows, card, features, seed)
        rewriter = train_rewriter(rows, card, features.linker, seed)
    every = {**heads, **{name: head for name, head in sources.items() if head is not None}}
    # Half of the size. Of 3,055 answers on the podcast's dev and calibrate two change, no probability by over 0.0021.
    halved = {name: replace(head, dual=head.dual.astype(np.float16)) for name, head in every.items()}
    return Heads(halved, features, fit_joint(rows), greetings_of(card.greetings), rewriter)


class Learning:
    """Rows with what their heads share: features are made once, and kernels once for heads that learn from the same.

    Attributes:
        rows, card, features, seed: as ``train_heads`` has them.
    """

    def __init__(self, rows: Sequence[LabelledRow], card: DomainCard, features: Features, seed: int = 0) -> None:
        self.rows, self.card, self.features, self.seed = rows, card, features, seed
        self._seen: dict[int, Seen] = {}
        self._last: tuple[tuple[int, ...], Rows] | None = None

    def fit(
        self,
        name: str,
        label: Label,
        shares: Sequence[Sequence[float]] = SHARES,
        ridges: Sequence[float] = RIDGES,
    ) -> Fitted | None:
        """A head that is shown the standalone forms of the rows that have this label."""
        labels = {place: value for place, row in enumerate(self.rows) if (value := label(row)) is not None}
        if not labels:
            return None
        places = tuple(labels)
        if self._last is None or self._last[0] != places:
            self.forget()
            groups = [self.rows[place].conversation for place in places]
            self._last = places, Rows([self._look(place) for place in places], groups, seed=self.seed)
        return fit_rows(name, self._last[1], list(labels.values()), shares, ridges)

    def forget(self) -> None:
        """Drop the kernels, which take several numbers for every pair of rows."""
        self._last = None

    def _look(self, place: int) -> Seen:
        if place not in self._seen:
            self._seen[place] = features_of("", self.rows[place], self.card, self.features)
        return self._seen[place]


def condensed_alike(fits: Mapping[str, Fitted]) -> dict[str, Head]:
    """Heads with few support vectors, see ``landmarks.py``: those that see a turn, and those that see a query."""
    turn = condensed([fitted for name, fitted in fits.items() if name == FOLLOW_UP], TURNS)
    query = condensed([fitted for name, fitted in fits.items() if name != FOLLOW_UP])
    few = {head.name: head for head in (*turn, *query)}
    return {name: few[name] for name in fits}


def train_typed(learning: Learning, alone: Mapping[str, Fitted | None]) -> dict[str, Fitted]:
    """The heads that read a follow-up as it was typed; none where the rows have hardly any.

    They learn from the same rows as the heads that read what stands alone, follow-ups as typed among them, with the
    kernels and the ridge of those. On the podcast's 2,879 rows, cross-validated in three parts, they have all labels
    of follow-ups as typed right for 0.647, the others for 0.583. From follow-ups alone they have 0.610, with the
    question before as further features 0.604; heads that learn from both forms lose 2.4 points of what stands alone.
    """
    rows, card = learning.rows, learning.card
    if sum(row.labels.is_follow_up for row in rows) < MIN_ROWS:
        return {}
    typed = Learning([as_typed(row, card) for row in rows], card, learning.features, learning.seed)
    found = {
        f"{TYPED}{name}": typed.fit(f"{TYPED}{name}", label, [shares], [one.ridge])
        for name, label in LABELS.items()
        if name != FOLLOW_UP and (one := alone[name]) is not None
        # Follow-ups are hardly ever rejected: for the reason n-grams are not worth their size.
        for shares in [one.shares if name != "rejection_kind" else NO_GRAMS]
    }
    return {name: fitted for name, fitted in found.items() if fitted is not None}


def as_typed(row: LabelledRow, card: DomainCard) -> LabelledRow:
    """A row whose standalone form is what the user typed."""
    typed = clean_row(row, card).query
    return row.model_copy(update={"labels": row.labels.model_copy(update={"standalone_query": typed})})


def train_looks(learning: Learning) -> dict[str, Fitted]:
    """The two looks that must agree to a rejection, see ``looks.py``; none where the rows cannot teach them."""
    fits = {name: learning.fit(name, LABELS["is_relevant"], shares) for name, shares in KERNELS.items()}
    known = [fitted for fitted in fits.values() if fitted is not None]
    if len(known) < len(fits):
        return {}
    # Every row has this label, so the rows of the fits are those given.
    ours = np.array([row.labels.is_relevant for row in learning.rows])
    said = [fitted.left_out[ours, fitted.head.labels.index("true")].tolist() for fitted in known]
    below = level([together(both) for both in zip(*said, strict=True)])
    return {fitted.head.name: fitted._replace(head=replace(fitted.head, below=below)) for fitted in known}


def _train_one(name: str, learning: Learning) -> Fitted | None:
    return learning.fit(name, LABELS[name]) if name != FOLLOW_UP else _train_follow_up(learning)


def _train_follow_up(learning: Learning) -> Fitted | None:
    label, rows, seed = LABELS[FOLLOW_UP], learning.rows, learning.seed
    true = [row for row in rows if label(row) is not None]
    made = made_turns(rows, seed)
    used, labels = [*true, *made], [label(row) or "" for row in (*true, *made)]
    seen = [features_of(FOLLOW_UP, row, learning.card, learning.features) for row in used]
    fitted = fit_and_leave_out(FOLLOW_UP, seen, labels, [row.conversation for row in used], seed, made=len(made))
    if fitted is None:
        return None
    return fitted._replace(head=reluctant(fitted, "true", labels[: len(true)]))


def made_turns(rows: Sequence[LabelledRow], seed: int = 0) -> list[LabelledRow]:
    """First questions of other conversations after the earlier turns of each row: they stand alone whatever was said.

    Few labelled turns change the subject, and most of those that were wrongly taken for a follow-up did.
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


def reluctant(fitted: Fitted, label: str, gold: Sequence[str]) -> Head:
    """The head, saying a label of its two as late as that costs hardly any accuracy on left-out rows.

    To say follow-up where there is none costs a rewrite, which may spoil the query. On the podcast's train and
    dev rows, cross-validated twice, the accuracy of later turns stayed at 0.80, and of 160 turns that stand alone and
    need no decomposition 43 were taken for follow-ups instead of 65.
    """
    said, right = fitted.left_out[:, fitted.head.labels.index(label)], np.array(gold) == label
    accuracy = {late: float(((said >= late) == right).mean()) for late in LATE}
    late = max(at for at, share in accuracy.items() if share >= accuracy[LATE[0]] - MAY_COST)
    if late == LATE[0]:
        return fitted.head
    shift = -math.log(late / (1 - late))
    start = fitted.head.bias or (0.0,) * len(fitted.head.labels)
    later = (b + shift if name == label else b for name, b in zip(fitted.head.labels, start, strict=True))
    return replace(fitted.head, bias=tuple(later))


def features_of(name: str, row: LabelledRow, card: DomainCard, features: Features) -> Seen:
    """What the head of that name is shown of a row: its turn, or its gold standalone form."""
    if name != FOLLOW_UP:
        return features.of_query(row.labels.standalone_query)
    clean = clean_row(row, card)
    return features.of_turn(clean.query, clean.turns)


def _truth(value: bool) -> str:
    return "true" if value else "false"
