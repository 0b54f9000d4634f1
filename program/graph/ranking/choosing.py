"""Chooses among complete plans: scores the likeliest paths with their endings once more, together.

Paths and endings are ranked apart, by weights that are overconfident, since they were fitted to the questions they are
judged by. Here both rankings are features among others (which names were left out, which words nothing in the plan
accounts for), weighed by what was right on questions that neither had learned from. On schemas left out (four folds of
34) this was right on 0.524 of 2,907 questions and the rankings alone on 0.484. A network of 16 hidden units in its
place had 0.532, which was not thought worth it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ....data.card import SHIPPED
from ....errors import DataError
from ...heads.heads import softmax
from ..names.linking import Mention
from ..question.view import View, gram_hash
from ..question.words import fold
from .completing import Completer, Option
from .endings import DENSE as ENDING_NUMBERS
from .endings import condition_of
from .evidence import DENSE as PATH_NUMBERS
from .evidence import ORDINARY
from .paths import NOTHING
from .pool import COMBINES
from .ranking import Ranker

KINDS = ("count", "order", "degree", "filtered", "none")
LOOPS = ("any", "out", "in")
CHOICE = (
    *("chance", "path chance", "path behind", "ending chance", "ending behind", "none chance"),
    *("path told", "path numbers", "ending told", "ending numbers"),
    *("names", "mentions", "least meant", "likeliest left out", "left out", "likely left out"),
    *("unsaid by schema", "unsaid", "most unsaid", "all unsaid", "operators", "against"),
    *("none covered", "none path", "none left out", "none unsaid", "none words", "order named"),
    *(f"is {kind}" for kind in KINDS),
    *(f"combine {combine}" for combine in COMBINES),
    *(f"loop {way}" for way in LOOPS),
    *("words", "weight"),
    *(f"path {name}" for name in PATH_NUMBERS),
    *(f"ending {name}" for name in ENDING_NUMBERS),
)
"""The features ("numbers") of a complete plan. One that is the same for all plans of a question has no effect."""
NAMED = CHOICE[: -len(PATH_NUMBERS) - len(ENDING_NUMBERS)]
SMALL = 1e-9
HEAD = """\
# How much each number of a complete plan counts when plans are compared (program/graph/ranking/choosing.py): learned by
# `queryplan graph learn --choice` from the lessons and the shipped domains' train questions, each half of them
# ranked by what the other half teaches.
"""


LEARNED = SHIPPED / "graph-choice.toml"


def only_chance() -> np.ndarray:
    """The weights before any label is seen, shape (len(CHOICE),): the two rankings' own probability decides."""
    return np.array([float(name == "chance") for name in CHOICE])


@lru_cache(maxsize=1)
def starting_choice() -> np.ndarray:
    """The shipped weights, learned from the lessons, shape (len(CHOICE),); see ``learning/choice.py``.

    Raises:
        DataError: the file is not there or not of this version.
    """
    try:
        weights = tomllib.loads(LEARNED.read_text(encoding="utf-8"))["weights"]
        found = np.array([float(weights[name]) for name in CHOICE])
        if not np.isfinite(found).all():
            raise ValueError("not every weight is a number")
        return found
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{LEARNED.name} of the package cannot be read ({error}); install it again") from error


def choice_file(weights: np.ndarray) -> str:
    """Weights as the file's text."""
    lines = [f'"{name}" = {float(f"{weight:.4g}")}' for name, weight in zip(CHOICE, weights, strict=True)]
    return "\n".join([HEAD, "[weights]", *lines, ""])


@dataclass(frozen=True)
class Chosen:
    """The distinct plans for a question: options whose plans always give the same answers are one.

    Attributes:
        options: the likeliest option of each plan.
        numbers: the features of each, shape (options, len(CHOICE)).
    """

    options: tuple[Option, ...]
    numbers: np.ndarray

    def chances(self, weights: np.ndarray) -> np.ndarray:
        """The probability of each plan by weights of shape (len(CHOICE),); shape (options,)."""
        return softmax((self.numbers @ weights)[None])[0] if len(self.options) else np.zeros(0)


class Chooser:
    """Computes the features of complete plans for questions over one schema."""

    def __init__(self, ranker: Ranker, completer: Completer) -> None:
        self.ranker, self.completer = ranker, completer
        self._columns: dict[int, int] = {int(g): i for i, g in enumerate(ranker.weights.grams)}
        self._ending_columns: dict[int, int] = {int(g): i for i, g in enumerate(completer.weights.grams)}

    def look(self, question: str, mentions: Sequence[Mention], options: Sequence[Option]) -> Chosen:
        """Merge options that are the same plan, and compute the features of each."""
        kept: dict[str, tuple[Option, float]] = {}
        for option in sorted(options, key=lambda one: -one.chance):
            first, chance = kept.get(option.text, (option, 0.0))
            kept[option.text] = first, chance + option.chance
        if not kept:
            return Chosen((), np.zeros((0, len(CHOICE))))
        meant = dict(zip(mentions, self.ranker.meant(question, mentions), strict=True))
        best = max(option.covered for option, _ in kept.values())
        asked = _Asked(self, question, meant, best)
        rows = [asked.numbers(option, chance) for option, chance in kept.values()]
        return Chosen(tuple(option for option, _ in kept.values()), np.array(rows))

    def seen(self, view: View) -> _Seen:
        """What each word of a view says by itself."""
        grams = [gram_hash(word) for word in view.words]
        return _Seen(
            _told(self.ranker.weights.table, self._columns, grams),
            _told(self.completer.weights.table, self._ending_columns, grams),
            self.completer.parts.near_words(view),
            np.clip((view.weight - ORDINARY) / (1 - ORDINARY), 0.0, 1.0),
        )

    def path(self, option: Option, seen: _Seen, meant: Mapping[Mention, float]) -> _Path:
        """What all endings of an option's path have in common."""
        ranked, place, view = option.ranked, option.place, option.view
        dense, left = ranked.dense[place], _left_out(option, meant)
        # The weights of combinations were learned from several names; pairs of paths from one have their own scores.
        combine = COMBINES.index("alone") if ranked.pool.twofold else int(ranked.pool.combine[place])
        rows = [int(row) for row in ranked.elements[place] if row != NOTHING]
        behind = np.log(SMALL + option.best_path)
        values = {
            "path told": ranked.told[place],
            "path numbers": dense @ self.ranker.weights.dense,
            "names": len(option.hypothesis.mentions),
            "mentions": len(meant),
            "least meant": min((meant.get(m, 0.5) for m in option.hypothesis.mentions), default=0.0),
            "likeliest left out": max(left, default=0.0),
            "left out": sum(left),
            "likely left out": sum(p > 0.5 for p in left),
            "words": len(view.words),
            "weight": view.weight.sum(),
            **{f"combine {c}": combine == i for i, c in enumerate(COMBINES)},
            **{f"loop {way}": self._loops(option, way) for way in LOOPS},
        }
        return _Path(values, dense, behind, self._by_schema(option), seen.paths[rows].sum(axis=0))

    def _loops(self, option: Option, way: str) -> bool:
        hops = [self.ranker.table.hops[h] for h in option.ranked.pool.hops[option.place] if h != NOTHING]
        return any(hop.source == hop.target and hop.direction == way for hop in hops)

    def _by_schema(self, option: Option) -> np.ndarray:
        """How well each word is explained by the edges and types of the path, 0 to 1, shape (words,)."""
        near, pool, table = option.view.near, option.ranked.pool, self.ranker.table
        hops = [int(h) for h in pool.hops[option.place] if h != NOTHING]
        edges = sorted({self.ranker.edge_place(table.hops[h].edge.name) for h in hops})
        types = sorted({int(table.hops[h].target) for h in hops})
        columns = [
            near.edge_names[:, edges],
            0.8 * near.edge_texts[:, edges],
            near.type_names[:, types],
            0.8 * near.type_texts[:, types],
        ]
        return np.concatenate([np.zeros((len(option.view.words), 1)), *columns], axis=1).max(axis=1)

    def explained(self, option: Option, by_schema: np.ndarray, seen: _Seen) -> np.ndarray:
        """How well each word is explained by the path and by the ending's property, edge or value, shape (words,)."""
        final, condition, near = option.ending.final, condition_of(option.ending), option.view.near
        explained = by_schema
        key = final.key if final.kind == "order" else condition.property if condition is not None else None
        if key is not None and key in seen.near:
            explained = np.maximum(explained, seen.near[key])
        if final.kind == "degree":
            edge = self.ranker.edge_place(final.key)
            kind = self.ranker.table.types[int(option.ranked.pool.end[option.place])]
            counted = near.types[:, self.completer.parts.counted(final.key, kind)]
            explained = np.maximum.reduce([explained, near.edge_names[:, edge], near.edge_texts[:, edge], counted])
        if condition is not None and isinstance(condition.value, str):
            said = set(fold(condition.value).split())
            explained = np.maximum(explained, [float(bool({w, w.removesuffix("s")} & said)) for w in option.view.words])
            explained = np.maximum(explained, self.completer.value_words.by_word(option.view, condition.value))
        return explained


class _Asked:
    """Computes the features of one question's complete plans; what plans share is computed once."""

    def __init__(self, chooser: Chooser, question: str, meant: Mapping[Mention, float], best: float) -> None:
        self._by, self._question, self._meant, self._best = chooser, question, meant, best
        self._seen: dict[int, _Seen] = {}
        self._paths: dict[tuple[int, int], _Path] = {}

    def numbers(self, option: Option, chance: float) -> np.ndarray:
        """The features ``CHOICE`` of one plan, shape (CHOICE,); ``chance`` is summed over the options that are it."""
        if id(option.view) not in self._seen:
            self._seen[id(option.view)] = self._by.seen(option.view)
        seen, key = self._seen[id(option.view)], (id(option.ranked), option.place)
        if key not in self._paths:
            self._paths[key] = self._by.path(option, seen, self._meant)
        path = self._paths[key]
        values = path.values | self._of_ending(option, chance, path) | self._of_words(option, path, seen)
        return np.array([*(values[name] for name in NAMED), *path.dense, *option.numbers], dtype=np.float64)

    def _of_ending(self, option: Option, chance: float, path: _Path) -> dict[str, Any]:
        final, none = option.ending.final, option.ending.none
        logs = np.log(SMALL + np.array([chance, option.path_chance, option.ending_chance, option.none_chance]))
        return {
            "chance": logs[0],
            "path chance": logs[1],
            "path behind": logs[1] - path.behind,
            "ending chance": logs[2],
            "ending behind": logs[2] - np.log(SMALL + option.best_ending),
            "none chance": logs[3],
            "ending told": option.told,
            "ending numbers": option.numbers @ self._by.completer.weights.dense,
            "none covered": none * self._best,
            "none path": none * path.behind,
            "none left out": none * path.values["left out"],
            "none words": none * path.values["words"],
            "is none": none,
            "is filtered": condition_of(option.ending) is not None and not none,
            **{f"is {kind}": final.kind == kind for kind in ("count", "order", "degree")},
        }

    def _of_words(self, option: Option, path: _Path, seen: _Seen) -> dict[str, Any]:
        """The features that say how much of the question's words the plan accounts for."""
        final, weight = option.ending.final, option.view.weight
        explained = self._by.explained(option, path.by_schema, seen)
        operators = path.operators + seen.endings[list(option.elements)].sum(axis=0)
        clipped = np.clip(operators, 0, 2)
        heard = np.maximum(explained, clipped / 2)
        unsaid = seen.weight * (1 - heard)
        return {
            "unsaid by schema": (seen.weight * (1 - explained)).sum(),
            "unsaid": unsaid.sum(),
            "most unsaid": unsaid.max(initial=0.0),
            "all unsaid": (weight * (1 - heard)).sum(),
            "operators": clipped.sum() / 2,
            "against": np.minimum(operators, 0).sum(),
            "none unsaid": option.ending.none * unsaid.sum(),
            "order named": (seen.near[final.key] * weight).max(initial=0.0) if final.kind == "order" else 0.0,
        }


@dataclass(frozen=True)
class _Path:
    """What all endings of a path have in common.

    Attributes:
        values: some of its features, by name.
        dense: the ranking's numbers of the path.
        behind: the logarithm of the likeliest path's probability.
        by_schema: how well each word is explained by the path's edges and types, shape (words,).
        operators: the learned weight of each word for the path's elements, shape (words,).
    """

    values: dict[str, Any]
    dense: np.ndarray
    behind: float
    by_schema: np.ndarray
    operators: np.ndarray


@dataclass(frozen=True)
class _Seen:
    """What each word of a view says by itself.

    Attributes:
        paths, endings: its learned weight for each element of paths, and of endings, shape (elements, words).
        near: its similarity to each property, shape (words,).
        weight: how much it says of the graph, 0 for an ordinary word to 1, shape (words,).
    """

    paths: np.ndarray
    endings: np.ndarray
    near: Mapping[str, np.ndarray]
    weight: np.ndarray


def _told(table: np.ndarray, columns: Mapping[int, int], grams: Sequence[int]) -> np.ndarray:
    """The learned weight of each word by itself for each element, shape (elements, words)."""
    places = [columns.get(gram, -1) for gram in grams]
    known = np.array([place >= 0 for place in places], dtype=float)
    return table[:, places] * known if grams and table.shape[1] else np.zeros((len(table), len(grams)))


def _left_out(option: Option, meant: Mapping[Mention, float]) -> list[float]:
    """For each mention that the plan leaves out, the probability that it is meant."""
    used = option.hypothesis.mentions
    return [p for mention, p in meant.items() if not any(mention.overlaps(one) for one in used)]
