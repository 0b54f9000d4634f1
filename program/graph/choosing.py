"""Choosing among complete plans: the likeliest paths with their endings, weighed once more together.

Paths and endings are ranked apart, by weights that know the questions they were fitted on and so are surer of
what labels taught them than a new question bears out. Here both rankings are numbers among others (which names were
left out, which words nothing in the plan accounts for), weighed by what was right on questions that neither had
learned from. On schemas left out, four folds of 34, this was right on 0.524 of 2,907 questions, the rankings alone on
0.484, and a network of 16 hidden units in its place on 0.532, which was not thought worth it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...data.card import SHIPPED
from ...errors import DataError
from ..heads import softmax
from .completing import Completer, Option
from .endings import DENSE as ENDING_NUMBERS
from .endings import condition_of
from .evidence import DENSE as PATH_NUMBERS
from .evidence import ORDINARY
from .linking import Mention
from .paths import NOTHING
from .pool import COMBINES
from .ranking import Ranker
from .sketch import canonical
from .view import View, gram_hash
from .words import fold

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
"""The numbers of a complete plan. Those that are the same for every plan of a question say nothing by themselves."""
SMALL = 1e-9
HEAD = """\
# How much each number of a complete plan counts when plans are compared (program/graph/choosing.py): learned by
# `queryplan graph learn --choice` from the lessons and the shipped domains' train questions, each half of them
# ranked by what the other half teaches.
"""


LEARNED = SHIPPED / "graph-choice.toml"


def only_chance() -> np.ndarray:
    """What is believed before any label: the two rankings' own probability, shape (len(CHOICE),)."""
    return np.array([float(name == "chance") for name in CHOICE])


@lru_cache(maxsize=1)
def starting_choice() -> np.ndarray:
    """What was learned from the lessons, shape (len(CHOICE),); see ``learning.learn_choice``.

    Raises:
        DataError: the file is not there or not of this version.
    """
    try:
        weights = tomllib.loads(LEARNED.read_text(encoding="utf-8"))["weights"]
        return np.array([float(weights[name]) for name in CHOICE])
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{LEARNED.name} of the package cannot be read ({error}); install it again") from error


def choice_file(weights: np.ndarray) -> str:
    """Weights as the file's text."""
    lines = [f'"{name}" = {float(f"{weight:.4g}")}' for name, weight in zip(CHOICE, weights, strict=True)]
    return "\n".join([HEAD, "[weights]", *lines, ""])


@dataclass(frozen=True)
class Chosen:
    """Distinct plans of a question: those that always give the same answers are one.

    Attributes:
        options: the likeliest of each.
        numbers: shape (options, len(CHOICE)).
    """

    options: tuple[Option, ...]
    numbers: np.ndarray

    def chances(self, weights: np.ndarray) -> np.ndarray:
        """Probability of each, shape (options,)."""
        return softmax((self.numbers @ weights)[None])[0] if len(self.options) else np.zeros(0)


class Chooser:
    """Looks at complete plans for the questions of one schema."""

    def __init__(self, ranker: Ranker, completer: Completer) -> None:
        self.ranker, self.completer = ranker, completer
        self._columns: dict[int, int] = {int(g): i for i, g in enumerate(ranker.weights.grams)}
        self._ending_columns: dict[int, int] = {int(g): i for i, g in enumerate(completer.weights.grams)}

    def look(self, question: str, mentions: Sequence[Mention], options: Sequence[Option]) -> Chosen:
        """Put plans that are the same together, and number them."""
        kept: dict[str, tuple[Option, float]] = {}
        for option in sorted(options, key=lambda one: -one.chance):
            text = "" if option.ending.none else canonical(option.plan)
            first, chance = kept.get(text, (option, 0.0))
            kept[text] = first, chance + option.chance
        if not kept:
            return Chosen((), np.zeros((0, len(CHOICE))))
        meant = dict(zip(mentions, self.ranker.meant(question, mentions), strict=True))
        best = max(option.covered for option, _ in kept.values())
        seen: dict[int, _Seen] = {}
        rows = []
        for option, chance in kept.values():
            if id(option.view) not in seen:
                seen[id(option.view)] = self._seen(option.view)
            rows.append(self._numbers(option, chance, seen[id(option.view)], meant, best))
        return Chosen(tuple(option for option, _ in kept.values()), np.array(rows))

    def _seen(self, view: View) -> _Seen:
        grams = [gram_hash(word) for word in view.words]
        near = self.completer.parts.near_words(view)
        return _Seen(
            _told(self.ranker.weights.table, self._columns, grams),
            _told(self.completer.weights.table, self._ending_columns, grams),
            near,
            np.clip((view.weight - ORDINARY) / (1 - ORDINARY), 0.0, 1.0),
        )

    def _numbers(
        self, option: Option, chance: float, seen: _Seen, meant: Mapping[Mention, float], best: float
    ) -> list[float]:
        ranked, place, ending, view = option.ranked, option.place, option.ending, option.view
        path, final, condition = ranked.dense[place], ending.final, condition_of(ending)
        by_schema = self._by_schema(option)
        explained = self._explained(option, by_schema, seen)
        rows = [int(row) for row in ranked.elements[place] if row != NOTHING]
        operators = seen.paths[rows].sum(axis=0) + seen.endings[list(option.elements)].sum(axis=0)
        heard = np.maximum(explained, np.clip(operators, 0, 2) / 2)
        unsaid = seen.weight * (1 - heard)
        left = _left_out(option, meant)
        none = float(ending.none)
        logs = np.log(SMALL + np.array([chance, option.path_chance, option.ending_chance, option.none_chance]))
        values = {
            "chance": logs[0],
            "path chance": logs[1],
            "path behind": logs[1] - np.log(SMALL + option.best_path),
            "ending chance": logs[2],
            "ending behind": logs[2] - np.log(SMALL + option.best_ending),
            "none chance": logs[3],
            "path told": ranked.told[place],
            "path numbers": path @ self.ranker.weights.dense,
            "ending told": option.told,
            "ending numbers": option.numbers @ self.completer.weights.dense,
            "names": len(option.hypothesis.mentions),
            "mentions": len(meant),
            "least meant": min((meant.get(m, 0.5) for m in option.hypothesis.mentions), default=0.0),
            "likeliest left out": max(left, default=0.0),
            "left out": sum(left),
            "likely left out": sum(p > 0.5 for p in left),
            "unsaid by schema": (seen.weight * (1 - explained)).sum(),
            "unsaid": unsaid.sum(),
            "most unsaid": unsaid.max(initial=0.0),
            "all unsaid": (view.weight * (1 - heard)).sum(),
            "operators": np.clip(operators, 0, 2).sum() / 2,
            "against": np.minimum(operators, 0).sum(),
            "none covered": none * best,
            "none path": none * np.log(SMALL + option.best_path),
            "none left out": none * sum(left),
            "none unsaid": none * unsaid.sum(),
            "none words": none * len(view.words),
            "order named": float((seen.near[final.key] * view.weight).max(initial=0.0)) if final.kind == "order" else 0,
            "words": len(view.words),
            "weight": view.weight.sum(),
            "is none": none,
            "is filtered": condition is not None and not none,
            **{f"is {kind}": final.kind == kind for kind in ("count", "order", "degree")},
            **{f"combine {c}": ranked.pool.combine[place] == i for i, c in enumerate(COMBINES)},
            **{f"loop {way}": self._loops(option, way) for way in LOOPS},
            **{f"path {name}": value for name, value in zip(PATH_NUMBERS, path, strict=True)},
            **{f"ending {name}": value for name, value in zip(ENDING_NUMBERS, option.numbers, strict=True)},
        }
        return [float(values[name]) for name in CHOICE]

    def _loops(self, option: Option, way: str) -> bool:
        hops = [self.ranker.table.hops[h] for h in option.ranked.pool.hops[option.place] if h != NOTHING]
        return any(hop.source == hop.target and hop.direction == way for hop in hops)

    def _by_schema(self, option: Option) -> np.ndarray:
        """How well each word is explained by the edges and types of the path, shape (words,)."""
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

    def _explained(self, option: Option, by_schema: np.ndarray, seen: _Seen) -> np.ndarray:
        """The same with what the ending adds: its property, its edge, its value."""
        final, condition, near = option.ending.final, condition_of(option.ending), option.view.near
        explained = by_schema
        key = final.key if final.kind == "order" else condition.property if condition is not None else None
        if key is not None and key in seen.near:
            explained = np.maximum(explained, seen.near[key])
        if final.kind == "degree":
            edge = self.ranker.edge_place(final.key)
            explained = np.maximum.reduce([explained, near.edge_names[:, edge], near.edge_texts[:, edge]])
        if condition is not None and isinstance(condition.value, str):
            said = set(fold(condition.value).split())
            explained = np.maximum(explained, [float(bool({w, w.removesuffix("s")} & said)) for w in option.view.words])
        return explained


@dataclass(frozen=True)
class _Seen:
    """What each word of a view says for the elements of paths and endings, and to which property it is near."""

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
    """How likely each mention is meant that the plan leaves out."""
    used = option.hypothesis.mentions
    return [p for mention, p in meant.items() if not any(mention.overlaps(one) for one in used)]
