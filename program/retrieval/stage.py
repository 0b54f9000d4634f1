"""The retrieval part of a plan: query candidates, source plans, and whether to read a collection whole."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dspy

from ...data.card import SHIPPED, DomainCard
from ...errors import DataError
from ...signatures.types import SourceIntent, SourcePlan, SourceQuery
from ...signatures.vary_query import VaryQuery
from ..asking import Ask, Reply
from ..plan import Degraded, QueryCandidate, RetrievalStrategy
from ..text.languages import detect_language
from ..text.linker import Linker
from .candidates.candidates import CandidateConfig, CandidatePlanner
from .candidates.keywords import key_terms
from .collection.collection import ItemStore, choose_method, open_items
from .dates.clock import Now, local_now, session_now
from .passages import collection_name, stamp_of
from .sources.intents import IntentReader
from .sources.planning import SourcePlanner
from .undated import undated_gaps

if TYPE_CHECKING:
    from ..flow import Flow

log = logging.getLogger(__name__)


@dataclass
class Retrieved:
    """The fields of a plan that this part fills, with notes for the trace.

    ``notes`` are about what was made, ``degraded`` about what was asked for and cannot be done.
    """

    strategy: RetrievalStrategy
    candidates: tuple[QueryCandidate, ...] = ()
    source_intents: tuple[SourceIntent, ...] = ()
    source_plans: tuple[SourcePlan, ...] = ()
    source_queries: tuple[SourceQuery, ...] = ()
    notes: list[str] = field(default_factory=list)
    degraded: list[Degraded] = field(default_factory=list)


class RetrievalParts:
    """What a planner needs for planning retrieval, made once for a card. Safe to share between threads.

    Attributes:
        candidates: makes query candidates.
        now: the clock for relative dates and the age of statistics, used if the session does not give the time.
    """

    def __init__(
        self,
        card: DomainCard,
        linker: Linker,
        config: CandidateConfig | None = None,
        now: Now = local_now,
        folder: Path | None = None,
    ) -> None:
        """Prepare what every query needs.

        Args:
            folder: the domain's folder, for the collection that its card names; not needed for a shipped domain.

        Raises:
            DataError: the collection cannot be read.
        """
        self.card = card
        self.now = now
        self._folder = folder
        self.candidates = CandidatePlanner(card, linker, config)
        self._collection = (folder or SHIPPED / card.name) / collection_name(card.collection)
        self.items()  # one that cannot be read is an error now and not with a query
        self._vary = dspy.Predict(VaryQuery)
        self._reader = IntentReader(card) if card.source_intents else None
        self._planner = SourcePlanner(card)
        fields = (field for source in card.sources for field in source.fields)
        self._asks_dates = self._reader is not None and any(field.kind == "date" for field in fields)

    def stands_on(self, session: Mapping[str, Any]) -> tuple[str, ...]:
        """What this part of a plan depends on, beside query and program, as texts for a cache's key.

        These are the settings, the folder, if dates are resolved, the current day of whoever asks, and if the card has
        rules for a collection, when that was changed."""
        measured = self.card.collection is not None
        tells_time = self._reader is not None or measured
        day = session_now(session, self.now)[0].date().isoformat() if tells_time else ""
        changed = [repr(stamp_of([self._collection]))] if measured else []
        return repr(self.candidates.config), str(self._folder), day, *changed

    def items(self) -> ItemStore | None:
        """The domain's own collection as its file is now; None without rules for it, and without a file.

        Raises:
            DataError: it cannot be read.
        """
        there = self.card.collection is not None and stamp_of([self._collection])
        return open_items(self._collection) if there else None

    def asks(self, flow: Flow) -> list[Ask]:
        """The request for other wordings, if they are switched on, not cached, and likely to be used.

        Only a plan for several names is widened (``rag_expansion``).
        """
        query = flow.labels.standalone_query
        if not self.candidates.config.enable_llm or len(flow.parts.linker.surfaces(query)) < 2:
            return []
        paradigm = self.candidates.paradigm(flow.clean.session.get("paradigm"))
        if self.candidates.cache.get(self._cleaned(flow), paradigm.name if paradigm else "") is not None:
            return []
        described = paradigm.description if paradigm else "none in particular"
        inputs = {"query": query, "paradigm": described, "language": detect_language(query)}
        return [Ask("vary", self._vary, inputs, decides=False)]

    def settle(self, flow: Flow, reply: Reply | None) -> None:
        """Cache the wordings that the model wrote; without any, the plan has the other candidates and says so."""
        if reply is None:
            return
        if not flow.labels.is_relevant:
            flow.wasted += reply.calls
        if reply.prediction is None:
            flow.without_lm("candidates", reply, "no other wordings were added")
            return
        paradigm = self.candidates.paradigm(flow.clean.session.get("paradigm"))
        self.candidates.cache.put(
            self._cleaned(flow), paradigm.name if paradigm else "", reply.prediction.variations or ()
        )

    def _cleaned(self, flow: Flow) -> str:
        """The query in the form by which variations are cached."""
        query = flow.labels.standalone_query
        return self.candidates.clean(query, flow.parts.linker.surfaces(query))

    def fill(self, flow: Flow, strategy: RetrievalStrategy) -> Retrieved:
        """The retrieval part that a flow's labels lead to; empty if nothing is searched."""
        found = Retrieved(strategy)
        if strategy.use_rag:
            self._ask(flow, found)
            if self._reader is not None:
                self._plan_sources(flow, found, self._reader)
            if self.card.collection is not None:
                self._choose(flow, found)
            elif flow.clean.session.get("collection") is not None:
                found.notes.append("session.collection is not read: the card has no [collection]")
            if not self._asks_dates and found.strategy.retrieval_method != "direct":
                own, query = self.card.collection is not None, flow.labels.standalone_query
                found.degraded += undated_gaps(query, own=own, names=flow.parts.linker.surfaces(query))
        return found

    def _ask(self, flow: Flow, found: Retrieved) -> None:
        labels = flow.labels
        if (gap := self.candidates.strange_paradigm(flow.clean.session.get("paradigm"))) is not None:
            found.degraded.append(gap)
        seed = self.candidates.seed(
            _asked(flow),
            labels.entities,
            labels.sub_queries,
            labels.relationships_needed,
            flow.clean.session.get("paradigm"),
        )
        planned = self.candidates.plan(seed, expand=found.strategy.rag_expansion)
        found.candidates = planned.candidates
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s", planned.summary)
        if planned.duplicates or planned.over:  # the list itself does not show what was dropped
            found.notes.append(planned.summary)

    def _plan_sources(self, flow: Flow, found: Retrieved, reader: IntentReader) -> None:
        now, gap = session_now(flow.clean.session, self.now)
        query = flow.labels.standalone_query
        intents = reader.read(query, flow.parts.heads)
        planned = self._planner.plan(intents, now)
        found.source_intents = planned.intents
        found.source_plans = planned.plans
        found.source_queries = planned.queries
        found.degraded += [*([gap] if gap else []), *planned.gaps, *reader.left_out(query, intents)]
        if flow.labels.is_follow_up and not flow.understood:
            guessed = flow.labels.standalone_query != flow.clean.query
            form = "was rewritten by a guess" if guessed else "was not rewritten"
            why = f"the query goes on with a conversation and {form}, so what that was about may not be in it"
            found.degraded.append(
                Degraded(what="source filters", why=why, instead="sources are asked for its own words")
            )
        if intents and not planned.plans:
            why = "of what was asked for, no source knows anything"
            found.degraded.append(Degraded(what="sources", why=why, instead="the text alone is searched"))

    def _choose(self, flow: Flow, found: Retrieved) -> None:
        assert self.card.collection is not None, "asked only where the card has rules"
        now, gap = session_now(flow.clean.session, self.now)
        try:
            items = self.items()
        except DataError as error:  # the file was changed since this planner was made
            items = None
            instead = "what the session says of it was taken for true"
            found.degraded.append(Degraded(what="collection", why=str(error), instead=instead))
        measure = items.tokens if items is not None else None
        choice = choose_method(flow.clean.session.get("collection"), now, self.card.collection, measure)
        found.strategy = found.strategy.model_copy(update={"retrieval_method": choice.method})
        found.notes.append(f"read everything or search: {choice.method}, {choice.why}")
        found.degraded += [g for g in (gap, choice.gap) if g is not None and g not in found.degraded]


def _asked(flow: Flow) -> str:
    """The text to search for: the standalone form or, for a follow-up that no model rewrote, the query with more words.

    These are key terms of what the user asked before, the card's names in the answers and, if the query has no name,
    what the application shows. Nothing else in an answer is searched for, as it may be a rejection or somebody else's
    text. Of the gold passages for 28 such follow-ups of the podcast's evidence, 0.24 are among the first ten for the
    query alone, 0.49 with key terms of the answers, too, 0.51 with the words given here, and 0.64 for the gold rewrite.
    A head's rewrite in the query's place found 0.43 on ``dev`` instead of 0.49 (23 questions).
    """
    if not flow.labels.is_follow_up or flow.understood:
        return flow.labels.standalone_query
    query, turns, linker = flow.clean.query, flow.clean.turns, flow.parts.linker
    before = " ".join(turn.content for turn in turns if turn.role == "user")
    answers = (turn.content for turn in turns if turn.role == "assistant")
    named = (name for answer in answers for name in linker.surfaces(answer))
    shown = "" if linker.surfaces(query) else flow.clean.active_entity
    parts = (query, *key_terms(before, (), detect_language(before)), *named, shown)
    return " ".join(part for part in dict.fromkeys(parts) if part)
