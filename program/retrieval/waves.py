"""Sub-queries that wait for each other's answers: which can be asked now, and which next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...signatures.types import SubQuery
from ..plan import QueryCandidate, QueryPlan
from ..text.languages import detect_language
from .answers import Answerer
from .calls import Call, Deadline, Limits, run_calls
from .candidates.canonical import canonical
from .candidates.keywords import key_terms
from .fusion import fuse
from .placeholders import filled, open_references
from .reading_results import read_answers
from .results import Evidence, Gap, RankedList
from .run_result import SubAnswer

ANSWERS = 3
"""Answers kept for one sub-query; the first is filled in."""
ANSWER_CHARACTERS = 200
"""The most of an answer that is filled in: a name or a clause is looked for, a page finds anything."""
BESIDE = 0.5
"""Weight of asking a waiting sub-query in the words of the one it waits for, in case the answer is wrong."""


@dataclass
class Waves:
    """The sub-queries of a plan during a run: which were asked and how, and which were answered and how."""

    plan: QueryPlan
    answerer: Answerer
    deadline: Deadline = field(default_factory=Deadline)
    gaps: list[Gap] = field(default_factory=list)
    _begun: bool = False
    _asked: dict[int, str] = field(default_factory=dict)
    _answers: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def first(self, candidates: Sequence[QueryCandidate]) -> tuple[QueryCandidate, ...]:
        """What can be asked now: the candidates, and sub-queries that others wait for and no candidate asks."""
        self._begun = bool(candidates)
        if not candidates:
            return ()
        there = {canonical(candidate.query) for candidate in candidates}
        needed = {i for sub in self.plan.sub_queries for i in _waits_for(sub)}
        ready = [sub for sub in self.plan.sub_queries if not _waits_for(sub)]
        self._asked.update((sub.id, sub.text) for sub in ready)
        more = (_candidate(sub, sub.text) for sub in ready if sub.id in needed and canonical(sub.text) not in there)
        return (*candidates, *more)

    def next(self, lists: Sequence[RankedList], constant: int) -> tuple[QueryCandidate, ...]:
        """Candidates of the sub-queries that need not wait any more; none if nothing waits."""
        for sub in self.plan.sub_queries:
            if sub.id in self._asked and sub.id not in self._answers and self._is_waited_for(sub):
                self._answer(sub, lists, constant)
        ready = [
            s for s in self.plan.sub_queries if s.id not in self._asked and set(_waits_for(s)) <= set(self._answers)
        ]
        return tuple(candidate for sub in ready for candidate in self._fill(sub))

    def answered(self) -> tuple[SubAnswer, ...]:
        """The sub-queries answered during the run."""
        return tuple(SubAnswer(id=i, question=self._asked[i], answers=found) for i, found in self._answers.items())

    def questions(self) -> tuple[str, ...]:
        """Every sub-query as it was asked, or as the plan has it if it never was."""
        return tuple(self._asked.get(sub.id, sub.text) for sub in self.plan.sub_queries)

    def _is_waited_for(self, sub: SubQuery) -> bool:
        return any(sub.id in _waits_for(other) for other in self.plan.sub_queries)

    def _answer(self, sub: SubQuery, lists: Sequence[RankedList], constant: int) -> None:
        question = self._asked[sub.id]
        mine = [ranking for ranking in lists if canonical(ranking.query) == canonical(question)]
        found, why = self._found(question, fuse(mine, constant))
        if why or not found:
            self._gap(question, why or "no answer could be read from its evidence")
        elif len(found[0]) > ANSWER_CHARACTERS:
            why = f"its answer has {len(found[0]):,} characters"
            self._gap(question, why, f"what waits for it was asked with the first {ANSWER_CHARACTERS} of them")
        self._answers[sub.id] = found

    def _found(self, question: str, evidence: list[Evidence]) -> tuple[tuple[str, ...], str]:
        """The answerer's answers, or why there are none; it may be the user's, and a language model behind it."""
        limits = Limits(concurrency=1, timeout_s=math.inf)
        call = Call(object(), limits, lambda: self.answerer(question, evidence), read_answers)
        outcome = run_calls([call], self.deadline)[0]
        read = outcome.value
        why = outcome.error or (read.why if read and not read.good else "")
        return read.good[:ANSWERS] if read else (), f"the answerer failed ({why})" if why else ""

    def _fill(self, sub: SubQuery) -> list[QueryCandidate]:
        """The sub-query with answers filled in, and with the words of the questions they answer."""
        words = {i: self._words(i) for i in _waits_for(sub)}
        known = {i: _shortened(self._answers[i][0]) for i in words if self._answers[i]}
        by_words = filled(sub.text, words)
        self._asked[sub.id] = filled(sub.text, {**words, **known})
        if not known:
            return [_candidate(sub, by_words)]
        return [_candidate(sub, self._asked[sub.id]), _candidate(sub, by_words, BESIDE)]

    def _words(self, sub_id: int) -> str:
        question = self._asked[sub_id]
        return " ".join(key_terms(question, self.plan.entities, detect_language(question)))

    def end(self) -> None:
        """Name the sub-queries that were not asked, as what they wait for never came."""
        if not self._begun:
            return
        ids = {sub.id for sub in self.plan.sub_queries}
        for sub in self.plan.sub_queries:
            if sub.id not in self._asked:
                strange = [i for i in _waits_for(sub) if i not in ids or i == sub.id]
                named = ", ".join(f"{{{i}}}" for i in strange)
                why = (
                    f"it waits for {named}, which the plan does not ask" if strange else "what it waits for never came"
                )
                self._gap(sub.text, why, "it was not asked")

    def _gap(
        self, question: str, why: str, instead: str = "what waits for it was asked with the words of this question"
    ) -> None:
        self.gaps.append(Gap(kind="dependency", what=question, why=why, instead=instead))


def _waits_for(sub: SubQuery) -> tuple[int, ...]:
    return tuple(dict.fromkeys((*sub.depends_on, *open_references(sub.text))))


def _shortened(answer: str) -> str:
    """An answer as a part of a search: on one line, and cut between words where it is long."""
    line = " ".join(answer.split())
    if len(line) <= ANSWER_CHARACTERS:
        return line
    return line[: ANSWER_CHARACTERS + 1].rsplit(" ", 1)[0][:ANSWER_CHARACTERS]


def _candidate(sub: SubQuery, text: str, weight: float = 1.0) -> QueryCandidate:
    label = f"sub_query_{sub.id}" if weight == 1.0 else f"sub_query_{sub.id}_words"
    return QueryCandidate(query=text, stage="rule_based", label=label, weight=weight, tags=(f"sub_query:{sub.id}",))
