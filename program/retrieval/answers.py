"""The answer to a sub-query that the next one waits for: names in its evidence, found without a language model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence

from ..text.linker import Linker
from .results import Evidence
from .terms import terms

Answerer = Callable[[str, Sequence[Evidence]], Sequence[str] | Awaitable[Sequence[str]]]
"""A function from a question and its evidence to short answers, the likeliest first; it may be a coroutine function."""

PASSAGES = 5
DAMPING = 1.0
NEAR = 2.0


class NamesInEvidence:
    """Answers with names of the card that are in the best passages but not in the question.

    A name scores by the ranks of the passages that have it and by how rare it is, so that a host who is in every
    passage seldom answers anything. Names that the graph joins to those of the question count double.
    """

    def __init__(
        self,
        linker: Linker,
        weight: Callable[[str], float],
        near: Callable[[Sequence[str]], Collection[str]] = lambda names: (),
        passages: int = PASSAGES,
    ) -> None:
        self._linker = linker
        self._weight = weight
        self._near = near
        self._passages = passages

    def __call__(self, question: str, evidence: Sequence[Evidence]) -> list[str]:
        """Names, the likeliest first."""
        asked = {link.name.name for link in self._linker.links(question)}
        near = self._near(sorted(asked)) if asked else ()
        scores: dict[str, float] = defaultdict(float)
        for place, item in enumerate(evidence[: self._passages]):
            text = " ".join((str(item.passage.fields.get("speaker", "")), item.passage.text))
            for link in self._linker.links(text):
                if link.name.name not in asked:
                    worth = NEAR if link.name.name in near else 1.0
                    scores[link.name.name] += worth * self._telling(link.surface) / (DAMPING + place)
        return sorted(scores, key=lambda name: -scores[name])

    def _telling(self, surface: str) -> float:
        return max((self._weight(term) for term in terms(surface)), default=0.0)
