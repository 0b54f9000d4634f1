"""CLINC150: does a query belong to one of ten domains, or to none?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import DataError
from ..card import DomainCard, ExcludedTopic
from ..rows import LabelledRow
from .base import labels, unsaid
from .rowset import RowConverter, RowReader, draw
from .sources import Record

OUTSIDE = "oos"

# domain: (the word a model answers with, what belongs to it)
TOPICS: Mapping[str, tuple[str, str]] = {
    "auto_and_commute": ("car", "cars and their upkeep, fuel, traffic, directions, rides"),
    "banking": ("bank", "bank accounts, balances, transfers, bills, PINs, fraud"),
    "credit_cards": ("card", "credit cards, limits, rewards, credit scores, lost or declined cards"),
    "home": ("home", "lists, reminders, calendar, music, orders, smart home devices"),
    "kitchen_and_dining": ("food", "recipes, ingredients, nutrition, restaurants and reservations"),
    "meta": ("settings", "the assistant's own settings, and plain yes, no, maybe, cancel, repeat"),
    "small_talk": ("chat", "chatting with the assistant: greetings, jokes, who it is"),
    "travel": ("travel", "flights, hotels, luggage, visas, vaccines, exchange rates, translations"),
    "utility": ("tools", "alarms, timers, weather, sums, spelling, definitions, calls, messages"),
    "work": ("work", "pay, taxes, leave, benefits, meetings"),
    OUTSIDE: ("other", "anything else"),
}

# The guide counts these as in domain everywhere; the set does not.
_KEEP_TALKING = frozenset({"greeting", "goodbye", "thank_you", "what_can_i_ask_you"})

_UPSTREAM = {"train": (("train", 100),), "val": (("dev", 50), ("calibrate", 50)), "test": (("test", 100),)}


class Clinc150(RowConverter):
    """Relevance, with the kind of what is outside."""

    name = "clinc150"
    source = "https://github.com/clinc/oos-eval (data_full.json)"
    licence = "CC BY 3.0"
    says = {
        "is_relevant": "the set's domain is one of the chosen ones",
        "rejection_kind": "the set's domain, or oos where it has none",
    }
    cannot_say = unsaid(
        says,
        complexity="always simple",
        intent="out_of_scope for what is outside, else factual; the set's own intent is a tag",
    )

    def reader(self, domain: str | Sequence[str] = "banking") -> RowReader:
        """Take one or two of the set's domains as the domain; the others and oos are outside.

        The set keeps its splits: train, val (half dev, half calibrate) and test. Greetings, goodbyes,
        thanks and "what can you do" of the set, which the annotation guide would count as in domain,
        have the tag ``guide_differs``.
        """
        inside = (domain,) if isinstance(domain, str) else tuple(dict.fromkeys(domain))
        unknown = sorted(set(inside) - set(TOPICS) | set(inside) & {OUTSIDE})
        if unknown or not 1 <= len(inside) <= 2:
            known = ", ".join(name for name in TOPICS if name != OUTSIDE)
            raise DataError(f"domain: give one or two of {known}, not {', '.join(inside) or 'none'}")
        return RowReader(_card(inside), lambda record: _row(record, inside), _split)


def _row(record: Record, inside: Sequence[str]) -> LabelledRow:
    query, kind = record.text("text"), _kind(record)
    relevant = kind in inside
    outside = {} if relevant else {"is_relevant": False, "rejection_kind": kind, "intent": "out_of_scope"}
    intent = record.text("intent")
    differs = not relevant and kind == "small_talk" and intent in _KEEP_TALKING
    tags = (f"domain:{kind}", f"intent:{intent}", *(["guide_differs"] if differs else []))
    row_id = record.text("id")
    return LabelledRow(id=row_id, conversation=row_id, turn=1, query=query, labels=labels(query, **outside), tags=tags)


def _kind(record: Record) -> str:
    kind = OUTSIDE if record.value("domain") is None else record.text("domain")
    if kind not in TOPICS:
        raise record.error(f"domain: {kind!r} is none of {', '.join(TOPICS)}")
    return kind


def _split(record: Record, row: LabelledRow) -> str:
    split = record.text("split")
    if split not in _UPSTREAM:
        raise record.error(f"split: {split!r} is none of {', '.join(_UPSTREAM)}")
    return draw(row.id, _UPSTREAM[split])


def _card(inside: Sequence[str]) -> DomainCard:
    covers = tuple(TOPICS[name][1] for name in inside)
    excluded = tuple(_topic(name) for name in TOPICS if name not in inside)
    title = " and ".join(name.replace("_", " ") for name in inside)
    return DomainCard(
        name="clinc150-" + "-".join(inside),
        title=f"CLINC150 {title}",
        description=f"An assistant for {title}.",
        covers=covers,
        excluded=excluded,
    )


def _topic(name: str) -> ExcludedTopic:
    answer, description = TOPICS[name]
    reason = f"This is about something else: {description}."
    return ExcludedTopic(kind=name, answer=answer, description=description, reason=reason)
