"""Chooses which of the mentions in a question are meant: sets of mentions that do not overlap, likeliest first.

A mention's probability is a logistic function of how it is written and of how ordinary its words are, learned from
the labelled rows of every domain. In a domain with labelled questions it also counts how often the mention's words
stood there without naming anything: in a graph of films "films" is a tag, but is never meant.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, product

import numpy as np

from ..question.view import Hypothesis
from ..question.words import fold, folded_words, words_of
from .linking import Mention, Reading

SPAN = (
    *("bias", "words", "letters", "alias", "id", "fuzzy", "fuzzy distance", "as written", "capital", "lower"),
    *(
        "weight",
        "least weight",
        "inside",
        "contains",
        "share",
        "schema word",
        "plain before",
        "one short word",
        "cjk",
        "case clash",
        "value",
        "value alone",
    ),
)
MOST_MENTIONS = 10
MOST_SETS = 8
MOST_NAMES = 5
MOST_READINGS = 10
APART = 3.0
"""What is taken from a set's log-probability where two mentions that may mean one node are read as two nodes.

Mostly they are one node, said twice."""
UNLIKELY = 3.0
"""A set of mentions is dropped if its log-probability is this much lower than the likeliest set's."""


def span_features(
    question: str,
    mentions: Sequence[Mention],
    weights: Mapping[str, float],
    plain: Mapping[str, int],
    schema_words: Collection[str],
) -> np.ndarray:
    """Features of each mention, shape (mentions, len(SPAN)).

    Args:
        plain: how often each folded text stood in labelled questions of the domain without being a name.
        schema_words: words of the schema's types and edges.
    """
    count = max(1, len(words_of(question)))
    return np.array([_span(m, mentions, count, weights, plain, schema_words) for m in mentions]).reshape(-1, len(SPAN))


def _span(
    mention: Mention,
    mentions: Sequence[Mention],
    count: int,
    weights: Mapping[str, float],
    plain: Mapping[str, int],
    schema_words: Collection[str],
) -> list[float]:
    words = folded_words(mention.text)
    best = mention.readings[0]
    heavy = [weights.get(word, 1.0) for word in words]
    first = mention.text[:1]
    return [
        1.0,
        min(len(words), 5) - 1.0,
        math.log(len(mention.text)),
        best.how == "alias",
        best.how == "id",
        best.how == "fuzzy",
        1.0 - best.score,
        any(r.name == mention.text for r in mention.readings),
        first.isupper() and mention.start > 0,
        mention.text.islower(),
        sum(heavy) / len(heavy),
        min(heavy),
        any(mention.inside(other) for other in mentions),
        any(other.inside(mention) for other in mentions),
        len(words) / count,
        any(word in schema_words for word in words),
        math.log1p(plain.get(" ".join(words), 0)),
        len(words) == 1 and len(mention.text) < 4,
        not first.isascii(),
        mention.text.islower() and all(any(c.isupper() for c in r.name[1:]) for r in mention.readings),
        _is_value(mention),
        # In "how many cancers are there" the value is what is meant; beside a name a value is more often a condition.
        _is_value(mention) and all(_is_value(other) or other.overlaps(mention) for other in mentions),
    ]


def _is_value(mention: Mention) -> bool:
    return mention.readings[0].how == "value"


def hypotheses(mentions: Sequence[Mention], probabilities: Sequence[float], most: int = MOST_SETS) -> list[Hypothesis]:
    """The likeliest non-empty sets of mentions that do not overlap, once for each combination of their readings.

    Args:
        probabilities: for each mention, that it is meant.
        most: the most sets.
    """
    order = np.argsort([-p for p in probabilities], kind="stable")[:MOST_MENTIONS]
    beams: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for i in order:
        p = min(max(float(probabilities[i]), 1e-4), 1 - 1e-4)
        grown = [(score + math.log(1 - p), chosen) for score, chosen in beams]
        for score, chosen in beams:
            free = not any(mentions[i].overlaps(mentions[j]) for j in chosen)
            if free and len(chosen) < MOST_NAMES:
                grown.append((score + math.log(p), (*chosen, int(i))))
        # The set that is still empty competes with the others, and is left out at the end.
        beams = sorted(grown, key=lambda b: -b[0])[: 4 * most]
    sets = [(score, sorted(chosen)) for score, chosen in beams if chosen]
    sets = [(score, chosen) for score, chosen in sets if score > sets[0][0] - UNLIKELY][:most]
    return [hypothesis for score, chosen in sets for hypothesis in _read([mentions[i] for i in chosen], score)]


def _read(mentions: Sequence[Mention], score: float) -> list[Hypothesis]:
    """Combinations of readings of the chosen mentions, the likeliest first, at most ``MOST_READINGS``."""
    found = []
    each = [m.readings if len(mentions) == 1 else m.readings[:3] for m in mentions]
    pairs = _one_thing(mentions)
    for readings in product(*each):
        distance = sum(10.0 * (r.score - m.readings[0].score) for r, m in zip(readings, mentions, strict=True))
        spelled = sum(r.name != m.text for r, m in zip(readings, mentions, strict=True))
        apart = sum(not _same_node(readings[i], readings[j]) for i, j in pairs)
        found.append(Hypothesis(tuple(mentions), tuple(readings), score + distance - 0.3 * spelled - APART * apart))
    return sorted(found, key=lambda h: -h.log_prior)[:MOST_READINGS]


def _one_thing(mentions: Sequence[Mention]) -> list[tuple[int, int]]:
    """Pairs of mentions in different words that may mean one node: "light hurts" and "photophobia"."""
    texts = [fold(mention.text) for mention in mentions] if len(mentions) > 1 else []
    nodes = [{(r.name, r.type) for r in mention.readings} for mention in mentions]
    return [(i, j) for i, j in combinations(range(len(texts)), 2) if texts[i] != texts[j] and nodes[i] & nodes[j]]


def _same_node(one: Reading, other: Reading) -> bool:
    return (one.name, one.type) == (other.name, other.type)


def plain_counts(questions: Sequence[str], names: Sequence[Collection[str]], most_words: int = 4) -> dict[str, int]:
    """For each folded run of words, the number of questions in which it stands outside the names.

    Args:
        names: folded names of each question, as labelled.
    """
    counts: dict[str, int] = {}
    for question, known in zip(questions, names, strict=True):
        for text in runs_outside(question, known, most_words):
            counts[text] = counts.get(text, 0) + 1
    return counts


def runs_outside(question: str, names: Collection[str], most_words: int = 4) -> set[str]:
    """The folded runs of up to ``most_words`` words of a question that have no word of a name."""
    text = f" {fold(question)} "
    for name in sorted(names, key=lambda name: (-len(name), name)):  # whatever the order in a set, which changes
        text = text.replace(f" {name} ", " \x00 ")
    found = set()
    for piece in text.split("\x00"):
        words = piece.split()
        found |= {" ".join(words[i : i + n]) for n in range(1, most_words + 1) for i in range(len(words) - n + 1)}
    return found
