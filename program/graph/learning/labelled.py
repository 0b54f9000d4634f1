"""Labelled questions over a schema, from which graph planners learn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ....signatures.graph_steps import GraphPlan, GraphSchema
from ..names.linking import NameIndex
from ..question.words import folded_words
from ..values import Values

EPSILON = 0.002
"""The share of questions from which a word counts as occurring at all: one question in five hundred."""
SOME = 60
"""About how many questions of each shipped domain teach endings and the comparison of complete plans."""


@dataclass(frozen=True)
class Question:
    """A labelled question.

    Attributes:
        plan: the right plan; None where the schema cannot say what is asked.
    """

    text: str
    plan: GraphPlan | None
    group: str = ""


@dataclass(frozen=True, eq=False)
class Source:
    """A labelled domain: its schema, its names, and questions. Compared and hashed by identity.

    Attributes:
        counted: whether counts of texts that are no names (``plain_of``) are learned from it. They are not for lessons,
            which stand for domains without labels.
    """

    name: str
    schema: GraphSchema
    index: NameIndex
    questions: tuple[Question, ...]
    counted: bool = True


Labelled = tuple[Source, Values]


def some_of(source: Source) -> Source:
    """A domain with about ``SOME`` of its questions, at even intervals."""
    return replace(source, questions=source.questions[:: max(1, len(source.questions) // SOME)])


def common_words(questions: Iterable[Sequence[str]]) -> dict[str, float]:
    """The weight of each word, from near 0 if it is frequent in the questions of every domain to 1 if it is rare.

    Args:
        questions: for each domain, its questions with their names taken out.
    """
    shares = [_shares(texts) for texts in questions]
    words = {word for share in shares for word in share}
    floor = math.log(EPSILON)
    logs = {w: sum(math.log(share.get(w, 0.0) + EPSILON) for share in shares) / len(shares) for w in words}
    return {word: round(min(1.0, value / floor), 4) for word, value in sorted(logs.items())}


def _shares(texts: Sequence[str]) -> dict[str, float]:
    counts = Counter(word for text in texts for word in set(folded_words(text)))
    return {word: count / max(1, len(texts)) for word, count in counts.items()}
