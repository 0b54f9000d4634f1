"""Has a language model restate a question in plain English, and ranks plans by both wordings.

The ranking knows the words that labels taught it, which are mostly English; a small model that writes poor plans
translates well enough. The restated question is ranked like the original, and the probabilities of both are combined,
so that neither a name that the model lost nor a word that the ranking does not know decides alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ....data.card import SHIPPED
from ....signatures.graph_steps import GraphSchema
from ....signatures.restate_question import restate_question
from ...asking import Ask, Clock, Reply, own_threads, send_round
from ...heads.heads import softmax
from ...lm.endpoint import LMHandle
from ..question.words import words_of
from ..ranking.answering import Found
from .shown import Shown, read_demonstrations, showing

DEMONSTRATIONS = SHIPPED / "graph-restated.toml"
MAX_TOKENS = 70
"""The most tokens of an answer; the longest of 255 had 34."""
MOST_NAMES = 4
NAMED = 0.3
"""The share of the likeliest plans' probability from which the model is shown a name that they start from."""
SELDOM = 0.78
"""The mean weight (rarity) of the words that name nothing from which a question is restated.

It is reached by 0.9 of 145 held-out questions in other languages than English, and by one in six both of 366 in
English and of 440 on schemas that were left out of learning.
"""
OWN, AGAIN = 1.07, 0.73
"""Weights of the ranking's log-probabilities by the question's own words and by the model's.

They were fitted on 149 held-out questions, four in five of them not in English. For a ranking that had learned from
hardly any language but English they were 0.38 and 0.99.
"""
SLIGHT = 0.01
"""The least probability that a plan is assumed to have by either wording."""
COMPARED = 60


@dataclass(frozen=True)
class Restating:
    """The result of asking for a restatement.

    Attributes:
        text: the restated question; empty without an answer.
        problem: why there is no answer.
    """

    text: str = ""
    problem: str = ""
    calls: int = 0


def ask_restated(
    query: str,
    schema: GraphSchema,
    found: Sequence[Found],
    lm: LMHandle,
    predictor: Any = None,
    deadline_s: float | None = None,
) -> Restating:
    """Ask for a question to be restated; ``found`` are its likeliest plans, whose names the model is shown."""
    ask = restate_ask(query, schema, found, predictor)
    with own_threads() as pool:
        return read_restated(send_round([ask], lm, Clock(deadline_s), pool)["graph"])


def restate_ask(query: str, schema: GraphSchema, found: Sequence[Found], predictor: Any = None) -> Ask:
    """The request to restate a question."""
    predictor = predictor if predictor is not None else new_restate_predictor(schema)
    return Ask("graph", predictor, {"query": with_spellings(query, found)}, False)


def read_restated(reply: Reply) -> Restating:
    """The model's answer to ``restate_ask``."""
    said = " ".join(str(getattr(reply.prediction, "restated", "") or "").split())
    return Restating(said, "" if said else reply.error or "it said nothing", reply.calls)


def with_spellings(query: str, found: Sequence[Found]) -> str:
    """A question with the names that its likeliest plans start from, as they are spelled in it and in the graph."""
    spelled: dict[str, str] = {}
    shares: dict[str, float] = {}
    for one in found:
        for mention, reading in zip(one.hypothesis.mentions, one.hypothesis.readings, strict=True):
            shares[mention.text] = shares.get(mention.text, 0.0) + one.chance
            if reading.how != "unknown":
                spelled.setdefault(mention.text, f"{mention.text} = {reading.name} ({reading.type})")
    enough = NAMED * sum(one.chance for one in found)
    listed = [said for text, said in spelled.items() if shares[text] >= enough][:MOST_NAMES]
    return f"{query}\nNames: {'; '.join(listed)}" if listed else query


def rarity(query: str, found: Sequence[Found], common: Mapping[str, float]) -> float:
    """The mean weight of a question's words that the likeliest plan does not take for names; 0 where there are none.

    It is near 1 if labelled questions seldom have these words. ``common`` has the weights of frequent words.
    """
    mentions = found[0].hypothesis.mentions if found else ()
    named = {place for mention in mentions for place in range(mention.first, mention.last)}
    weights = [common.get(word.text, 1.0) for place, word in enumerate(words_of(query)) if place not in named]
    return float(np.mean(weights)) if weights else 0.0


def pooled(own: Sequence[Found], again: Sequence[Found]) -> list[Found]:
    """The plans that either wording of a question leads to, the likeliest by both wordings first.

    Their ``chance`` and ``sure`` combine both wordings, and are calibrated to how often such plans are right.
    """
    if not own and not again:
        return []
    first, second = ({_key(one): one for one in found} for found in (own, again))
    kept = {**second, **first}  # of equal plans, the one with the names as in the original question
    chances = np.array([[_chance(found, key) for found in (first, second)] for key in kept]).reshape(-1, 2)
    weighed = softmax((np.log(np.maximum(chances, SLIGHT)) @ np.array([OWN, AGAIN]))[None])[0]
    made = [replace(one, chance=float(p), sure=float(p)) for one, p in zip(kept.values(), weighed, strict=True)]
    return sorted(made, key=lambda one: -one.chance)


def _key(one: Found) -> str:
    """A text that is the same for equal plans; empty for all that mean "the schema cannot express it"."""
    return "" if one.none else one.sketch.canonical()


def _chance(found: Mapping[str, Found], key: str) -> float:
    return found[key].chance if key in found else 0.0


def new_restate_predictor(schema: GraphSchema) -> Any:
    """``RestateQuestion`` of a schema with the shipped demonstrations."""
    return showing(restate_question(schema), demonstrations(), max_tokens=MAX_TOKENS)


@lru_cache(maxsize=1)
def demonstrations() -> Shown:
    """The shipped questions with their plain wordings.

    Raises:
        DataError: the file is missing or not of this version.
    """
    return read_demonstrations(DEMONSTRATIONS, ("query", "restated"))
