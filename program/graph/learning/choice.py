"""Learns the weights by which complete plans are compared, shipped as ``data/domains/graph-choice.toml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...heads.encoder import Encoder
from ..ranking.answering import Answerer
from ..ranking.choosing import only_chance
from ..values import Values
from .fit_choosing import fit_choice, right_options
from .fit_ranking import ranker_of, related
from .labelled import Labelled, Source, some_of
from .learning import learn_shared
from .store import Learned


def learn_choice(sources: Sequence[Labelled], common: Mapping[str, float], encoder: Encoder) -> np.ndarray:
    """Learn the weights of ``CHOICE``, shape (len(CHOICE),): from each half of the domains, ranked by the other half.

    This takes three times as long as all other learning, so the result is shipped.
    """
    examples = []
    for taught, asked in halves(sources):
        learned = learn_shared(taught, common, encoder)
        examples += [example for source, values in asked for example in choices(learned, source, values, encoder)]
    return fit_choice(examples, only_chance())


def halves(sources: Sequence[Labelled]) -> list[tuple[list[Labelled], list[Labelled]]]:
    """Two pairs of halves of the domains, (learned from, asked), so that each half is asked once.

    Domains that share an edge type are in the same half. Empty if all are.
    """
    first: list[Labelled] = []
    second: list[Labelled] = []
    families, homes = _families(sources), dict[int, list[Labelled]]()
    for one in sorted(sources, key=lambda one: -len(one[0].questions)):
        family = next(i for i, family in enumerate(families) if any(other is one for other in family))
        homes.setdefault(family, min((first, second), key=_questions_in)).append(one)
    return [(first, second), (second, first)] if first and second else []


def _families(sources: Sequence[Labelled]) -> list[list[Labelled]]:
    """The domains in groups that are connected by shared edge types, directly or through others."""
    families: list[list[Labelled]] = []
    for one in sources:
        near = [bool(related(one[0].schema, [source for source, _ in family])) for family in families]
        joined = [other for family, is_near in zip(families, near, strict=True) if is_near for other in family]
        apart = [family for family, is_near in zip(families, near, strict=True) if not is_near]
        families = [*apart, [*joined, one]]
    return families


def _questions_in(half: Sequence[Labelled]) -> int:
    return sum(len(source.questions) for source, _ in half)


def choices(learned: Learned, source: Source, values: Values, encoder: Encoder) -> list[tuple[np.ndarray, np.ndarray]]:
    """For some questions of a domain, the numbers of their plans, shape (n, len(CHOICE)), and which plans are right."""
    answerer = Answerer(ranker_of(source, learned.paths, encoder), learned, source.index, values, encoder)
    looked = [(answerer.chosen(question.text), question) for question in some_of(source).questions]
    return [(chosen.numbers, right_options(chosen, question)) for chosen, question in looked]
