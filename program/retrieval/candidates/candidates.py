"""Query candidates, the texts to search for: proposed by stages, deduplicated once, ranked once, deterministic.

Stages run in order, and each may fill only the room that those before it left. So switching on a later stage adds
candidates and removes none. The chosen candidates are then ranked by the prior of their stage times their weight.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, field_validator

from ....data.card import DomainCard
from ....data.paradigms import Paradigm
from ....signatures.types import Frozen, SubQuery
from ...plan import Degraded, QueryCandidate
from ...text.languages import detect_language
from ...text.linker import Linker
from ..sources.excepted import denies, denies_anything
from .canonical import Distinct
from .keywords import Cleaner
from .stages import (
    AgenticStage,
    CandidateStage,
    LlmStage,
    ParadigmStage,
    RuleBasedStage,
    Seed,
    StageName,
    VariationCache,
)

_NUMBER = re.compile(r"_\d+")
ALWAYS = "standalone"
FirstStage = Literal["rule_based", "paradigm", "llm"]
CAPS: dict[StageName, int] = {"rule_based": 6, "paradigm": 6, "llm": 4, "agentic": 6}
"""The most candidates of each stage, unless the settings say otherwise."""


class CandidateConfig(Frozen):
    """How many candidates there are, from which stages, and when two are near-duplicates.

    Attributes:
        stage_order: stages of the first batch, in order; ``agentic`` comes after it and never in it.
        per_stage_caps: the most candidates of each stage; a stage that is not named keeps its default.
        max_candidates: the most of the first batch; follow-ups have the cap of ``agentic`` to themselves.
        enable_llm: whether a language model may write variations, if there is one.
        enable_paradigm: whether the card's paradigms are used.
        dedup_jaccard: token Jaccard from which two candidates are near-duplicates.
        priors: a factor for each stage on the weights of its candidates.
    """

    stage_order: tuple[FirstStage, ...] = ("rule_based", "paradigm", "llm")
    per_stage_caps: dict[StageName, NonNegativeInt] = CAPS
    max_candidates: int = Field(default=12, ge=1)
    enable_llm: bool = False
    enable_paradigm: bool = True
    dedup_jaccard: float = Field(default=0.92, gt=0, le=1)
    priors: dict[StageName, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = {
        "rule_based": 1.0,
        "paradigm": 0.8,
        "llm": 0.75,
        "agentic": 0.7,
    }

    @field_validator("stage_order")
    @classmethod
    def _each_once(cls, order: tuple[FirstStage, ...]) -> tuple[FirstStage, ...]:
        if len(set(order)) < len(order):
            raise ValueError("a stage is named twice; name each once")
        return order


@dataclass(frozen=True)
class Planned:
    """The ranked candidates of one query, with counts of what was proposed and dropped.

    Attributes:
        proposed: number of candidates that each stage proposed and the card's kinds allow.
        duplicates: number of near-duplicates that were dropped.
        over: number that exceeded a cap.
    """

    candidates: tuple[QueryCandidate, ...]
    proposed: Mapping[str, int]
    duplicates: int = 0
    over: int = 0

    @property
    def summary(self) -> str:
        """One line for a trace."""
        chosen = Counter(candidate.stage for candidate in self.candidates)
        said = ", ".join(f"{name} {chosen[name]} of {count}" for name, count in self.proposed.items())
        return f"candidates: {said or 'none'}; near-duplicates {self.duplicates}; over a cap {self.over}"


class CandidatePlanner:
    """Makes the candidates of a card's queries. Safe to share between threads.

    Attributes:
        cache: variations that a language model wrote; whoever asks one fills it, and the stage ``llm`` has no others.
    """

    def __init__(self, card: DomainCard, linker: Linker | None = None, config: CandidateConfig | None = None) -> None:
        self.config = config or CandidateConfig()
        self.cache = VariationCache()
        self._card = card
        self._paradigms = {paradigm.name: paradigm for paradigm in card.paradigms}
        self._kinds = None if card.candidates.kinds is None else frozenset((*card.candidates.kinds, ALWAYS))
        self._cleaner = Cleaner(card.candidates)
        self._agentic = AgenticStage()
        linker = linker or Linker(card.names)
        stages: tuple[CandidateStage, ...] = (
            RuleBasedStage(linker, card.synonyms, self._kinds),
            ParadigmStage(),
            LlmStage(self.cache),
        )
        self._stages: dict[StageName, CandidateStage] = {stage.name: stage for stage in stages}

    def paradigm(self, name: object = None) -> Paradigm | None:
        """The paradigm of that name, else the card's default, else None."""
        known = self._paradigms.get(name) if isinstance(name, str) else None
        return known or self._paradigms.get(self._card.default_paradigm or "")

    def strange_paradigm(self, name: object) -> Degraded | None:
        """A gap if a paradigm is asked for that the card does not have."""
        if name in (None, "") or (isinstance(name, str) and name in self._paradigms):
            return None
        known = ", ".join(self._paradigms) or "none"
        default = self._card.default_paradigm
        instead = f"{default}, the card's default, was used" if default else "no paradigm was used"
        return Degraded(what="session.paradigm", why=f"the card has no such paradigm; it has {known}", instead=instead)

    def clean(self, query: str, names: Sequence[str]) -> str:
        """The query without what the card lists as noise."""
        return self._cleaner.clean(query, names)

    def seed(
        self,
        query: str,
        entities: Sequence[str] = (),
        sub_queries: Sequence[SubQuery] = (),
        relationships: Sequence[str] = (),
        paradigm: object = None,
        gaps: Sequence[str] = (),
    ) -> Seed:
        """The input of the stages, with the query cleaned and its language detected."""
        cleaned = self._cleaner.clean(query, entities)
        doubted = entities if entities and denies_anything(cleaned) else ()
        unwanted = tuple(name for name in doubted if _is_excepted(cleaned, name))
        return Seed(
            query=cleaned,
            entities=tuple(name for name in entities if name not in unwanted),
            excepted=unwanted,
            sub_queries=tuple(sub_queries),
            relationships=tuple(relationships),
            language=detect_language(query),
            paradigm=self.paradigm(paradigm),
            chosen=isinstance(paradigm, str) and paradigm in self._paradigms,
            gaps=tuple(gaps),
        )

    def plan(self, seed: Seed, expand: bool = True) -> Planned:
        """The first batch; only rule-based candidates where ``expand`` (``rag_expansion``) is false."""
        distinct, proposed, over = Distinct(self.config.dedup_jaccard), {}, 0
        for name in self._switched_on(expand):
            offered = self._allowed(name, self._stages[name].generate(seed), seed)
            proposed[name] = len(offered)
            over += self._fill(distinct, name, offered, self.config.max_candidates)
        return Planned(self._ranked(distinct.kept, seed), proposed, distinct.removed, over)

    def follow_ups(self, seed: Seed, asked: Iterable[QueryCandidate]) -> Planned:
        """Candidates for the gaps of a seed, without near-duplicates of those already asked."""
        distinct = Distinct(self.config.dedup_jaccard)
        distinct.forbid(candidate.query for candidate in asked)
        offered = self._agentic.generate(seed)
        over = self._fill(distinct, "agentic", offered, self.config.max_candidates)
        return Planned(self._ranked(distinct.kept, seed), {"agentic": len(offered)}, distinct.removed, over)

    def _switched_on(self, expand: bool) -> list[StageName]:
        """The stages of the first batch, in order."""
        on: dict[StageName, bool] = {
            "rule_based": True,
            "paradigm": expand and self.config.enable_paradigm,
            "llm": expand and self.config.enable_llm,
        }
        return [name for name in self.config.stage_order if on.get(name)]

    def _allowed(self, name: StageName, offered: Sequence[QueryCandidate], seed: Seed) -> list[QueryCandidate]:
        """The candidates of the kinds that the card allows; all of a paradigm that was asked for, and of a model."""
        said = [candidate for candidate in offered if candidate.query]
        if name == "rule_based" or self._kinds is None or name == "llm" or (name == "paradigm" and seed.chosen):
            return said
        return [candidate for candidate in said if kind_of(candidate) in self._kinds]

    def _fill(self, distinct: Distinct, name: StageName, offered: Sequence[QueryCandidate], most: int) -> int:
        """Keep new candidates while there is room; returns how many found none."""
        room, over = self.config.per_stage_caps.get(name, CAPS[name]), 0
        for candidate in offered:
            if room and distinct.room_for(most):
                room -= distinct.add(candidate)
            else:
                over += 1
        return over

    def _ranked(self, kept: Sequence[QueryCandidate], seed: Seed) -> tuple[QueryCandidate, ...]:
        """The candidates by stage prior times weight, ties in the order they were made, with the language as a tag."""
        order = sorted(kept, key=lambda c: -self.config.priors.get(_stage(c), 0.5) * c.weight)
        spoken = f"language:{seed.language}"
        return tuple(QueryCandidate.model_validate(vars(c) | {"tags": (*c.tags, spoken)}) for c in order)


def _is_excepted(query: str, name: str) -> bool:
    """Whether a query has the name only to exclude it."""
    places = [match.span() for match in re.finditer(re.escape(name), query)] if name else []
    return bool(places) and all(denies(query, start, end) for start, end in places)


def kind_of(candidate: QueryCandidate) -> str:
    """The label of a candidate without its number: what the card's ``kinds`` name."""
    return _NUMBER.sub("", candidate.label)


def _stage(candidate: QueryCandidate) -> StageName:
    return candidate.stage  # type: ignore[return-value]
