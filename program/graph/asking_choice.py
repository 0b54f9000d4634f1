"""Asking a language model which of the ranking's likeliest plans finds what the question asks for.

The model's probability of each and the ranking's are weighed together, by weights fitted on questions that the ranking
had not learned from: reading five plans in words takes a model half as long as writing one, and what comes out has
passed the check before the model sees it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any
from zlib import crc32

import numpy as np

from ...data.card import SHIPPED
from ...signatures.choose_graph_plan import LETTERS, ChooseGraphPlan, options_text
from ...signatures.graph_steps import GraphPlan, GraphSchema
from ..asking import Ask, Clock, Reply, send_round
from ..heads import softmax
from ..lm.endpoint import LMHandle
from ..settle import label_probabilities
from .saying import plan_sentence
from .shown import Shown, read_demonstrations, showing

SHOWN = len(LETTERS) - 1
"""Plans that are shown. On schemas left out the right one is among five for 0.85 of questions, among eight for 0.89."""
DEMONSTRATIONS = SHIPPED / "graph-options.toml"
SLIGHT = 1e-4
"""A plan is taken to be at least so likely to the ranking."""
RANKING, MODEL = 0.64, 0.93
"""How much the logarithms of both probabilities count."""


@dataclass(frozen=True)
class Choosing:
    """What came of asking.

    Attributes:
        chances: probability of each plan, and of none, by ranking and model together; empty without an answer.
        problem: why there is none.
    """

    chances: tuple[float, ...] = ()
    problem: str = ""
    calls: int = 0


def ask_choice(
    query: str,
    schema: GraphSchema,
    plans: Sequence[GraphPlan],
    ranking: Sequence[float],
    lm: LMHandle,
    predictor: Any = None,
    deadline_s: float | None = None,
) -> Choosing:
    """Ask which of some plans is meant.

    Args:
        plans: well-typed, ``SHOWN`` at most.
        ranking: their probabilities by the learned ranking, and that of "none of these" after them.
        predictor: a compiled ``ChooseGraphPlan``; one with the shipped demonstrations if not given.
    """
    ask = choice_ask(query, schema, plans, predictor)
    with ThreadPoolExecutor(1, thread_name_prefix="queryplan-graph") as pool:
        reply = send_round([ask], lm, Clock(deadline_s), pool)["graph"]
    return read_choice(query, reply, ranking)


def choice_ask(query: str, schema: GraphSchema, plans: Sequence[GraphPlan], predictor: Any = None) -> Ask:
    """The request that shows the plans, in the order of ``shown_order``."""
    options = options_text([plan_sentence(plans[place], schema) for place in shown_order(query, len(plans))])
    predictor = predictor if predictor is not None else new_choice_predictor()
    return Ask("graph", predictor, {"query": query, "options": options}, True)


def shown_order(query: str, count: int) -> list[int]:
    """In which order plans are shown: another for every question and always the same for one.

    Models like some letters better than others, and the likeliest plan should not always have the same.
    """
    order = list(range(count))
    Random(crc32(query.encode())).shuffle(order)
    return order


def read_choice(query: str, reply: Reply, ranking: Sequence[float]) -> Choosing:
    """The model's answer to ``choice_ask`` and the ranking's probabilities, weighed together."""
    if reply.prediction is None:
        return Choosing(problem=reply.error or "it did not answer", calls=reply.calls)
    by_letter = label_probabilities(reply.prediction.chosen)
    order = shown_order(query, len(ranking) - 1)
    told = [0.0] * len(ranking)
    for letter, place in zip(LETTERS, (*order, len(order)), strict=False):
        told[place] = by_letter.get(letter, 0.0)
    return Choosing(tuple(weighed(ranking, told).tolist()), calls=reply.calls)


def weighed(ranking: Sequence[float], model: Sequence[float]) -> np.ndarray:
    """Probabilities of both together, shape (plans + 1,)."""
    logs = RANKING * np.log(np.maximum(ranking, SLIGHT)) + MODEL * np.log(np.maximum(model, SLIGHT))
    return softmax(logs[None])[0]


def new_choice_predictor() -> Any:
    """``ChooseGraphPlan`` with the shipped demonstrations."""
    return showing(ChooseGraphPlan, demonstrations())


@lru_cache(maxsize=1)
def demonstrations() -> Shown:
    """The shipped questions with options and the letter of the right one.

    Raises:
        DataError: the file is not there or not of this version.
    """
    return read_demonstrations(DEMONSTRATIONS, ("query", "options", "chosen"))
