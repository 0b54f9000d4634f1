"""``GraphPlanner``: turns a question into a typed plan over one graph, and says how sure that plan is.

The learned ranking answers where it is certain enough. Otherwise, a question in words that the ranking seldom met is
restated in plain English by a language model, if there is one, and plans are ranked by both wordings. Only where the
ranking has no plan at all is the model asked for steps, which are taken if they pass the checker, after one repair at
most. What remains is the ranking's best guess, which is marked as such. Every plan that leaves here has passed the
static check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...data.card import DomainCard, KnownName, domain_folder, load_card
from ...data.element_words import with_words_of
from ...errors import DataError, ProgramError
from ...signatures.graph_steps import GraphSchema
from ..asking import Clock
from ..heads.encoder import Encoder, default_encoder
from .check import answer_type, check_graph_plan
from .executor import GraphExecutor
from .learning.labelled import Source
from .learning.learning import KEPT, domain_knowledge, graph_values, labelled_source, named_values, probe_of
from .learning.store import Learned
from .names.borrowing import is_shipped, shipped_names, with_shipped_words
from .names.linking import Mention, NameIndex, Reading
from .names.unknown import unknown_mention
from .proposal import GraphProposal, LinkedEntity
from .ranking.answering import Answerer, Found, Probe
from .ranking.paths import PathTable
from .ranking.ranking import Ranker
from .reasons import instead_of, names_left_out, names_unused, not_understood, taken_for, unknown_name, why_none
from .values import Values, values_of

if TYPE_CHECKING:
    from ..lm.endpoint import LMHandle, LMSettings
    from .asking.restated import Restating

LIKELY = 0.5
"""Certainty below which a plan is likelier wrong than right: a question to the graph alone gets it with a warning, and
a query that is searched for as well gets none (``graph_stage.py``)."""
LIKELIEST = 6
"""The number of first plans that a proposal keeps; a model that restates the question is shown the names in them."""
NEXT_BEST = 2
RESTATED = "ranked first by the question's own words and by those in which the language model said it again"
WRITTEN = "written by the language model and well-typed in the schema"
SURE_ENOUGH = 0.7
"""Certainty from which no language model is asked, where no bound was fitted.

Of 167 held-out questions in words seldom met, 72 had a certainty of 0.7 to 0.9. Restating these made no plan right and
one wrong.
"""


class GraphPlanner:
    """Plans questions over one graph. Safe to share between threads."""

    def __init__(
        self,
        schema: GraphSchema,
        index: NameIndex,
        learned: Learned,
        *,
        values: Values | None = None,
        encoder: Encoder | None = None,
        lm: LMHandle | None = None,
        predictor: Any = None,
        probe: Probe | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        """Make a planner from its parts; ``for_executor`` finds them.

        Args:
            values: the known values of properties; by default what the schema says.
            lm: the model to ask where the ranking is not sure; the caller closes it.
            predictor: a compiled ``PlanGraphSteps``; by default an uncompiled one.
            probe: tests whether a plan finds anything on the graph; given only for graphs that answer at once.
            notes: sentences for every proposal's ``degraded``.
        """
        self.schema, self.learned, self.notes = schema, learned, tuple(notes)
        ranker = Ranker(PathTable(schema), encoder or default_encoder(), learned.paths)
        known = values if values is not None else values_of(schema)
        self.answerer = Answerer(ranker, learned, index, known, encoder or default_encoder(), probe)
        self._lm, self._predictor, self._owned = lm, predictor, False

    @classmethod
    def for_executor(
        cls,
        executor: GraphExecutor,
        *,
        domain: str | Path | None = None,
        card: DomainCard | None = None,
        program: str | Path | None = None,
        lm: LMHandle | LMSettings | None = None,
        kept: Path = KEPT,
    ) -> GraphPlanner:
        """Make a planner for the graph of an executor.

        Args:
            domain: a shipped name or a folder, from whose labelled questions it learns.
            card: has other spellings of the graph's names; by default the domain's or the program's.
            program: a compiled program folder; what it learned is used instead.
            lm: settings, which open a model that ``close`` stops; or a handle, which the caller closes.
            kept: the folder that keeps what is learned.

        Raises:
            ProgramError: the program cannot be read or was compiled without the stage ``graph``.
            DataError: the domain cannot be read.
        """
        if card is None and domain is not None:
            card = load_card(domain_folder(domain))
        predictor, schema = None, _worded(executor.schema, card)
        if program is not None:
            learned, predictor, card = _from_program(program, card)
            schema = _worded(schema, card)
        else:
            learned = _learned_for(domain or (card.name if card else None), schema, kept)
        values = graph_values(schema, executor)
        named = named_values(values, schema)
        planner = cls(
            schema,
            NameIndex(executor.names(), _names(schema, card), named, schema.words),
            learned,
            values=values,
            predictor=predictor,
            probe=probe_of(executor),
        )
        return planner.with_lm(lm)

    def with_lm(self, lm: LMHandle | LMSettings | None) -> GraphPlanner:
        """Use this model where the ranking is not sure; returns self. One that was opened here before is closed."""
        from ..lm.endpoint import LMSettings, open_lm

        self.close()
        if isinstance(lm, LMSettings):
            self._lm, self._owned = open_lm(lm), True
        else:
            self._lm, self._owned = lm, False
        return self

    @property
    def lm_name(self) -> str:
        """The language model's name with its weights' hash; "none" without one."""
        return self._lm.fingerprint if self._lm is not None else "none"

    @property
    def enough(self) -> float:
        """The certainty from which the ranking answers without asking a model."""
        return SURE_ENOUGH if self.learned.answers_from is None else self.learned.answers_from

    def close(self) -> None:
        """Stop the model if this planner opened one."""
        if self._owned and self._lm is not None:
            self._lm.close()
        self._lm, self._owned = None, False

    def plan(self, query: str, deadline_s: float | None = None) -> GraphProposal:
        """A proposal for a question. One is returned whatever the question, the graph or the model do.

        Args:
            deadline_s: seconds after which no language model is waited for any longer.
        """
        clock = Clock(deadline_s)
        proposal = self._plan(query, clock)
        took = clock.elapsed_ms()
        return replace(proposal, milliseconds=took, degraded=(*proposal.degraded, *self.notes))

    def ranked(self, query: str) -> GraphProposal:
        """The proposal of the learned ranking, without a language model."""
        mentions = self.answerer.mentions(query)
        found = self.answerer.best(query, mentions, LIKELIEST)
        if not found:
            missing = unknown_mention(query, self.answerer)
            found = self.answerer.best(query, missing, LIKELIEST) if missing else []
            return self._proposal(found, missing, query) if found else _nothing(query, mentions)
        return self._proposal(found, mentions, query)

    def _plan(self, query: str, clock: Clock) -> GraphProposal:
        ranked = self.ranked(query)
        if self.is_sure(ranked):
            return ranked
        if self._lm is not None:
            return self._asked(query, ranked, clock)
        return _best_effort(ranked)

    def _asked(self, query: str, ranked: GraphProposal, clock: Clock) -> GraphProposal:
        """The proposal ranked by the question as asked and as restated; the model's steps if that has no plan."""
        assert self._lm is not None
        again = self.again(query, ranked, self._lm, clock.left())
        return self._written(query, ranked, clock) if again is ranked and not ranked.likeliest else _best_effort(again)

    def is_sure(self, ranked: GraphProposal) -> bool:
        """Whether the ranking is sure enough that no model is asked."""
        return ranked.plan is not None and ranked.confidence >= self.enough

    def again(self, query: str, ranked: GraphProposal, lm: LMHandle, deadline_s: float | None = None) -> GraphProposal:
        """The ranking's proposal after a model has restated the question; unchanged if that changes nothing.

        Only questions whose words are rare in labelled questions are restated.
        """
        if not self.wants_restating(query, ranked):
            return ranked
        return self.ranked_again(query, ranked, self._restated(query, ranked, lm, deadline_s))

    def _restated(self, query: str, ranked: GraphProposal, lm: LMHandle, deadline_s: float | None) -> Restating:
        from .asking.restated import ask_restated

        return ask_restated(query, self.schema, ranked.likeliest, lm, deadline_s=deadline_s)

    def wants_restating(self, query: str, ranked: GraphProposal) -> bool:
        """Whether a question has words that the ranking seldom met."""
        from .asking.restated import SELDOM, rarity

        return rarity(query, ranked.likeliest, self.learned.paths.common) >= SELDOM

    def ranked_again(self, query: str, ranked: GraphProposal, restating: Restating) -> GraphProposal:
        """The ranking's proposal by both wordings of a question.

        Without a second wording the question is ranked alone, with the reason. If the second leads to no plan, the
        proposal is ``ranked`` itself.
        """
        from .asking.restated import COMPARED, pooled

        if not restating.text:
            said = f"the language model did not say the question again ({restating.problem}); its own words were ranked"
            return replace(ranked, degraded=(*ranked.degraded, said))
        again = self.answerer.best(restating.text, count=COMPARED)
        if not again:
            return ranked
        found = pooled(self.answerer.best(query, count=COMPARED), again)
        made = self._proposal(found[:LIKELIEST], (), query)
        return replace(made, decided_by="lm", reason=RESTATED if made.plan is not None else made.reason)

    def _written(self, query: str, ranked: GraphProposal, clock: Clock) -> GraphProposal:
        """The model's plan if it passes the check; otherwise a proposal without a plan."""
        from .asking.steps import ask_steps

        assert self._lm is not None
        written = ask_steps(query, self.schema, self._lm, self._predictor, clock.left())
        if written.plan is None:
            said = f"the language model gave no plan that fits the schema ({written.problem})"
            return replace(ranked, degraded=(*ranked.degraded, said))
        kind = answer_type(written.plan, self.schema)
        return replace(ranked, plan=written.plan, answer_type=kind, decided_by="lm", reason=WRITTEN)

    def _proposal(self, found: Sequence[Found], mentions: Sequence[Mention], query: str) -> GraphProposal:
        fitting = [one for one in found[: 1 + NEXT_BEST] if not check_graph_plan(one.plan, self.schema)]
        if not fitting:
            return _nothing(query, mentions)
        if fitting[0].none:
            return replace(self._unsayable(fitting, query), likeliest=tuple(found))
        best = fitting[0]
        entities = tuple(
            self._entity(m, r) for m, r in zip(best.hypothesis.mentions, best.hypothesis.readings, strict=True)
        )
        unknown = [e for e in entities if e.how == "unknown"]
        return GraphProposal(
            best.plan,
            entities,
            answer_type(best.plan, self.schema),
            "head",
            best.sure,
            (
                *(unknown_name(entity, len(self.answerer.index) > 0) for entity in unknown),
                *taken_for(best),
                *names_left_out(query, best, self.answerer),
                *names_unused(query, best, self.answerer),
                *not_understood(query, best, self.answerer),
                *instead_of(best),
            ),
            "ranked first of the well-typed plans from the names in the question",
            others=tuple(one.plan for one in fitting[1:]),
            likeliest=tuple(found),
        )

    def _unsayable(self, found: Sequence[Found], query: str) -> GraphProposal:
        """A proposal without a plan, since the schema cannot express the question; it keeps the nearest plans."""
        best = found[0]
        named = zip(best.hypothesis.mentions, best.hypothesis.readings, strict=True)
        entities = tuple(self._entity(m, r) for m, r in named)
        listed = len(self.answerer.index) > 0
        return GraphProposal(
            None,
            entities,
            confidence=best.sure,
            degraded=(
                *(unknown_name(e, listed, False) for e in entities if e.how == "unknown"),
                *names_left_out(query, best, self.answerer, planned=False),
                *not_understood(query, best, self.answerer),
            ),
            reason=why_none(query, best, self.answerer),
            others=tuple(one.plan for one in found if not one.none and one.chance > 0),
        )

    def _entity(self, mention: Mention, reading: Reading) -> LinkedEntity:
        others = tuple(f"{r.name} ({r.type})" for r in mention.readings if r != reading and r.how != "unknown")
        near = self.answerer.index.near(mention.text) if reading.how == "unknown" else ()
        names = tuple(dict.fromkeys(f"{r.name} ({r.type})" for r in near))
        return LinkedEntity(mention.text, reading.name, reading.type, reading.how, reading.score, others, names)


def _worded(schema: GraphSchema, card: DomainCard | None) -> GraphSchema:
    """A graph's schema with words for it: the card's, or else those of a shipped domain with the same edges."""
    worded = schema if card is None or card.graph is None else with_words_of(schema, card.graph)
    return worded if worded.words else with_shipped_words(schema)


def _names(schema: GraphSchema, card: DomainCard | None) -> tuple[KnownName, ...]:
    """Other spellings of a graph's names: the card's, and those of a shipped domain with the same edges."""
    own = () if card is None else card.names
    return own if card is not None and is_shipped(card.graph) else (*own, *shipped_names(schema))


def _nothing(query: str, mentions: Sequence[Mention]) -> GraphProposal:
    if not query.strip():
        reason = "there is no question"
    elif mentions:
        reason = "no edge of the schema leads anywhere from the names in the question"
    else:
        reason = "the question has no name of the graph to start from"
    return GraphProposal(None, decided_by="fallback", reason=reason)


def _best_effort(ranked: GraphProposal) -> GraphProposal:
    """The ranking's plan, with a warning if it is likelier wrong than right."""
    if ranked.plan is None:
        return ranked
    if ranked.confidence < LIKELY and not any(e.how == "unknown" for e in ranked.entities):
        said = f"the plan is a best effort: its probability of being right is {ranked.confidence:.2f}"
        return replace(ranked, degraded=(*ranked.degraded, said))
    return ranked


def _from_program(program: str | Path, card: DomainCard | None) -> tuple[Learned, Any, DomainCard]:
    """What a compiled program learned of graphs, its predictor, and its card unless another was given."""
    from ..planner import QueryPlanner

    planner = QueryPlanner.load(program, lm=None)
    learned = planner.graph
    if learned is None:
        raise ProgramError(f"the program {program} was compiled without the stage graph; compile with --stages graph")
    return learned, planner.stage_predictors.get("graph"), card or planner.card


def _learned_for(domain: str | Path | None, schema: GraphSchema, kept: Path) -> Learned:
    """What is learned from the shipped questions, and what the domain's own labelled questions add, if it has any."""
    return domain_knowledge(schema, _own_source(domain, schema), kept)


def _own_source(domain: str | Path | None, schema: GraphSchema) -> tuple[Source, Values] | None:
    if domain is None:
        return None
    try:
        folder = domain_folder(domain)
        found = labelled_source(Path(folder).name, folder)
    except DataError:
        return None
    return found if found is not None and found[0].schema == schema else None
