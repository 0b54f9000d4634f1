"""From a cleaned query to a plan: what is asked in which round, and what replaces a missing answer.

The flow is a generator. It yields a round, which is the set of requests to be in flight together, and is sent the
replies. So the same code plans with threads, with asyncio, or with no language model at all.

Round A asks whether the query is a follow-up and, where a head thinks that likely, already for the rewrite. Round B
asks for the labels of the standalone form and, where likely, for the sub-queries. At most one further round asks for
a written part that was not foreseen, or for one repair.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import dspy

from ..data.card import DomainCard
from ..signatures.types import DecidedBy, GraphPlan, Stage, SubQuery
from .asking import Ask, Clock, Reply, Sent
from .assemble import assemble
from .bound import OUTSIDE, Gate, kind_certainty
from .context import CleanInput, says_nothing
from .graph_stage import graph_asks, settle_graph
from .heads.heads import HeadAnswer, Heads
from .heads.joint import COMPLEXITY_OUTPUTS, Joint, choose_together
from .plan import NO_MODEL, Decision, Degraded, QueryPlan
from .retrieval.stage import RetrievalParts
from .rewriting.wording import led
from .settle import Combination, Settled, settle
from .stages import DECIDING
from .text.greetings import Greetings
from .text.linker import Linker
from .text.words import is_unspaced
from .written import cut_surely, decompose, rewrite, rewrite_inputs, turn_inputs

if TYPE_CHECKING:
    from .decomposing.decomposer import Decomposed
    from .graph.planner import GraphPlanner, GraphProposal

Round = Generator[list[Ask], Mapping[Sent, Reply], Any]

# A rewrite costs about as much as four labels, so it is asked for ahead when it is needed in more
# than one case of three.
FORESEE_REWRITE = 0.35
FORESEE_DECOMPOSITION = 0.35
# With the further round spent, a decomposition that was not foreseen is lost: foresee it sooner.
FORESEE_LAST_CHANCE = 0.15
LEAST_GREETING, LEAST_WORD = 0.4, 0.65
"""The least probability at which a query of several words, and one of a single word, is taken for a greeting.

A greeting is not searched for, so a query that may be a question must not be taken for one. A single word says little
of how it is meant, so it needs more: the podcast's heads give "silence" 0.53 as a greeting, and "Dankeschön" 0.71."""
NO_GREETING = "no greeting at a probability under {}"
NOTHING_BEFORE = "a greeting follows nothing up"
UNASKED = Reply(None)
"""The cost of a decision without any request."""


@dataclass(frozen=True)
class Parts:
    """The parts that a flow works with; the same for every query of a planner."""

    card: DomainCard
    linker: Linker
    heads: Heads | None
    predictors: Mapping[str, dspy.Predict]
    greetings: Greetings
    retrieval: RetrievalParts
    has_lm: bool
    combinations: Mapping[str, Combination] = field(default_factory=dict)
    joint: Joint = field(default_factory=dict)
    gate: Gate = field(default_factory=Gate)
    whole: Mapping[str, dspy.Predict] = field(default_factory=dict)
    plan_graph: bool = False
    graph: GraphPlanner | None = None
    lm_missing: str = NO_MODEL
    lm_failed: bool = False
    version: str = "unversioned"
    notes: tuple[str, ...] = ()


@dataclass
class DraftLabels:
    """The decisions so far; the defaults are the safe plan: search the query as it is."""

    is_follow_up: bool = False
    standalone_query: str = ""
    referenced_entities: tuple[str, ...] = ()
    is_relevant: bool = True
    rejection_kind: str | None = None
    complexity: Any = "simple"
    intent: Any = "factual"
    needs_decomposition: bool = False
    sub_queries: tuple[SubQuery, ...] = ()
    entities: tuple[str, ...] = ()
    relationships_needed: tuple[str, ...] = ()
    graph_plan: GraphPlan | None = None


@dataclass
class Flow:
    """The planning of one query, as a generator of rounds."""

    parts: Parts
    original: str
    clean: CleanInput
    clock: Clock
    labels: DraftLabels = field(default_factory=DraftLabels)
    decisions: list[Decision] = field(default_factory=list)
    degraded: list[Degraded] = field(default_factory=list)
    rounds: int = 0
    requests: int = 0
    wasted: int = 0
    tokens: int = 0
    completion_tokens: int = 0
    further_round_spent: bool = False
    answered: set[Stage] = field(default_factory=set)
    understood: bool = True
    unread: bool = False
    graph_proposal: GraphProposal | None = None
    cut: tuple[str, Decomposed | None] | None = None
    heading: str = ""

    def run(self) -> Generator[list[Ask], Mapping[Sent, Reply], QueryPlan]:
        """Yield rounds of requests, receive their replies, return the plan."""
        self.degraded += (*self.clean.degraded, *self.clean.unread)
        self.labels.standalone_query = self.clean.query
        if self._decided_by_form():
            return assemble(self)
        yield from self._follow_up()
        yield from self._standalone_labels()
        return assemble(self)

    # -- rules: only what is certain by form ---------------------------------------------------

    def _decided_by_form(self) -> bool:
        """Decide by form an empty query, or one of nothing but greetings that the card lists."""
        why = decided_by_form(self.clean.query, self.parts.greetings)
        if not why:
            return False
        self.labels.intent = "greeting"
        self.decide("follow_up", False, "rule", 1.0, why)
        self.decide("relevance", True, "rule", 1.0, why)
        value = {"complexity": "simple", "intent": "greeting", "needs_decomposition": False}
        self.decide("complexity", value, "rule", 1.0, why)
        return True

    # -- round A: the conversation ---------------------------------------------------------------

    def _follow_up(self) -> Round:
        if not self.clean.turns:
            self.decide("follow_up", False, "rule", 1.0, "there is no earlier turn")
            return
        closely = self.parts.gate.closely
        head = self.parts.heads.of_turn(self.clean.query, self.clean.turns, closely) if self.parts.heads else None
        self._note_unread(self.clean.query, head is not None)
        replies: Mapping[Sent, Reply] = {}
        sure = self._gate("follow_up", self.parts.gate.opens(head.confidence if head else None))
        if self.parts.has_lm:
            asked = self.asks_lm("follow_up") and not sure
            asks = [self.ask("follow_up", turn_inputs(self))] if asked else []
            likely = head is None or head.probabilities["true"] >= (0.5 if sure else FORESEE_REWRITE)
            if likely and self.asks_lm("rewrite"):
                asks.append(self.ask("rewrite", rewrite_inputs(self)))
            replies = yield from self.round(asks)
        self._settle_follow_up(replies.get("follow_up"), head)
        yield from rewrite(self, replies.get("rewrite"))

    def _settle_follow_up(self, reply: Reply | None, head: HeadAnswer | None) -> None:
        found = self._settle("follow_up", "is_follow_up", reply, head)
        self._note_missing("follow_up", reply, found, "it was taken to stand alone")
        self.labels.is_follow_up = found.truth if found else False
        self._record("follow_up", self.labels.is_follow_up, [found], reply)

    # -- round B: the standalone form -----------------------------------------------------------

    def _standalone_labels(self) -> Round:
        query = self.labels.standalone_query
        typed = self.clean.query if self.labels.is_follow_up else None
        # Heads did not learn from queries with a heading ("NAME: …"), so they read the same words without the colon.
        read = query.replace(led(self.heading, ""), f"{self.heading} ", 1) if self.heading else query
        heads = self.parts.heads.of_query(read, typed, self.parts.gate.closely) if self.parts.heads else {}
        self._note_unread(query, bool(heads))
        self._gate_labels(heads)
        replies: Mapping[Sent, Reply] = {}
        if self.parts.has_lm:
            replies = yield from self.round(self._second_asks(query, heads))
        self._settle_relevance(replies.get("relevance"), heads)
        self._settle_complexity(replies.get("complexity"), heads)
        yield from decompose(self, replies.get("decompose"))
        yield from settle_graph(self, replies.get("graph"))
        self.parts.retrieval.settle(self, replies.get("vary"))

    def _second_asks(self, query: str, heads: Mapping[str, HeadAnswer]) -> list[Ask]:
        inputs = {"query": query}
        stages: tuple[Stage, ...] = ("relevance", "complexity")
        if "relevance" in self.answered and heads["is_relevant"].label == "false":
            return []
        asks = [self.ask(s, inputs) for s in stages if self.asks_lm(s) and s not in self.answered]
        enough = FORESEE_LAST_CHANCE if self.further_round_spent else FORESEE_DECOMPOSITION
        if "complexity" in self.answered:
            enough = 0.5
        likely = "needs_decomposition" not in heads or heads["needs_decomposition"].probabilities["true"] >= enough
        if likely and heads.get("is_relevant") and heads["is_relevant"].probabilities["true"] < 1 - enough:
            likely = False
        if likely and not self.listed and self.asks_lm("decompose") and not cut_surely(self):
            asks.append(self.ask("decompose", inputs))
        elif not likely:
            asks += graph_asks(self)
        return asks + self.parts.retrieval.asks(self)

    def _settle_relevance(self, reply: Reply | None, heads: Mapping[str, HeadAnswer]) -> None:
        labels = self.labels
        found = self._settle("relevance", "is_relevant", reply, heads.get("is_relevant"))
        self._note_missing("relevance", reply, found, "it was taken to be relevant")
        labels.is_relevant = found.truth if found else True
        if not labels.is_relevant:
            kind = self._settle("relevance", "rejection_kind", reply, heads.get("rejection_kind"))
            unsure = "relevance" in self.answered and not self.parts.gate.opens(kind_certainty(heads))
            labels.rejection_kind = kind.label if kind and not unsure else None
            labels.complexity, labels.intent = "simple", "out_of_scope"
        self._record("relevance", labels.is_relevant, [found], reply)

    def _settle_complexity(self, reply: Reply | None, heads: Mapping[str, HeadAnswer]) -> None:
        labels = self.labels
        if not labels.is_relevant:
            self.wasted += reply.calls if reply else 0
            return
        found = self._together([self._settle("complexity", n, reply, heads.get(n)) for n in COMPLEXITY_OUTPUTS])
        found = self._unless_unsure(found)
        complexity, intent, needs = found
        unsaid = next((f for f in found if f is None or f.by == "head"), complexity)
        self._note_missing("complexity", reply, unsaid, "it was taken to be a simple fact")
        labels.complexity = complexity.label if complexity else "simple"
        labels.intent = intent.label if intent else "factual"
        labels.needs_decomposition = needs.truth if needs else False
        if labels.intent == "greeting":  # a greeting is simple and never split, whatever the others say
            labels.complexity, labels.needs_decomposition = "simple", False
            self._stand_alone()
        self._record("complexity", {name: getattr(labels, name) for name in COMPLEXITY_OUTPUTS}, found, reply)

    @property
    def listed(self) -> bool:
        """Whether the query lists questions, which are its searches if it needs some, and nobody rewrote it."""
        return self.clean.lists and self.labels.standalone_query == self.clean.query

    def _together(self, found: list[Settled | None]) -> list[Settled | None]:
        """Choose the labels jointly, if all have probabilities and the training rows say which combinations occur."""
        known = [f for f in found if f is not None and not f.by_thresholds]
        if len(known) < len(found) or not self.parts.joint:
            return found
        labels = choose_together(self.parts.joint, [f.probabilities for f in known])
        return [f if f.label == label else f._replace(label=label) for f, label in zip(known, labels, strict=True)]

    def _unless_unsure(self, found: list[Settled | None]) -> list[Settled | None]:
        """The same labels, with the next likeliest intent if the intent is a greeting at too low a probability."""
        complexity, intent, needs = found
        query = self.labels.standalone_query
        least = LEAST_GREETING if len(query.split()) > 1 or is_unspaced(query) else LEAST_WORD
        if intent is None or intent.label != "greeting" or intent.confidence >= least:
            return found
        others = {label: p for label, p in intent.probabilities.items() if label != "greeting"}
        if not others:
            return found
        label = max(others, key=lambda name: others[name])
        other = intent._replace(
            label=label, probabilities=others, reason=f"{intent.reason}; {NO_GREETING.format(least)}"
        )
        return self._together([complexity, other, needs])

    def _stand_alone(self) -> None:
        """Withdraw the decision that the query is a follow-up, and its rewrite: a greeting follows nothing up."""
        if not self.labels.is_follow_up:
            return
        labels = self.labels
        labels.is_follow_up, labels.standalone_query, labels.referenced_entities = False, self.clean.query, ()
        kept = [d for d in self.decisions if d.stage != "rewrite"]
        taken_back = {"value": False, "reason": NOTHING_BEFORE}
        self.decisions = [d.model_copy(update=taken_back) if d.stage == "follow_up" else d for d in kept]
        self.degraded = [note for note in self.degraded if note.what != "rewrite"]

    def _settle(self, stage: Stage, output: str, reply: Reply | None, head: HeadAnswer | None) -> Settled | None:
        combination = self.parts.combinations.get(output)
        if stage in self.answered:  # the head's own label, unweighed, since that is what the bound was fitted on
            found = settle(None, head, combination if self.parts.gate.mode == "best-effort" else None)
            why = self.parts.gate.reason + (head.besides if head is not None else "")
            return found._replace(by="head", reason=why) if found else None
        answer = getattr(reply.prediction, output, None) if reply is not None and reply.prediction else None
        found = settle(answer, head, combination)
        beyond = found is not None and found.by == "head" and self.parts.gate.mode == "bounded"
        if found is None or not beyond:
            return found
        return found._replace(reason=OUTSIDE + (head.besides if head is not None else ""))

    # -- heads in the model's place ----------------------------------------------------------------

    def _gate(self, stage: Stage, opened: bool) -> bool:
        """Whether the head answers this stage in the model's place, given whether the gate opens for it.

        The bound does not cover a follow-up that could not be rewritten, since it was fitted on gold standalone forms.
        """
        bounded = self.parts.gate.mode == "bounded"
        if opened and (self.understood or not bounded):
            self.answered.add(stage)
        return stage in self.answered

    def _note_unread(self, query: str, read: bool) -> None:
        """Note whether the heads cannot read the query; if so, the model is asked what they would have decided."""
        self.unread = not read and self.parts.heads is not None and self.parts.heads.cannot_read(query)
        if not self.unread or any(note.what == "heads" for note in self.degraded):
            return
        instead = "the model decided" if self.parts.has_lm else "the safe plan: search the query as it is"
        self.degraded.append(Degraded(what="heads", why="they know none of its words or script", instead=instead))

    def _gate_labels(self, heads: Mapping[str, HeadAnswer]) -> None:
        opened = self.parts.gate.labels_opened(heads, self.parts.joint)
        self._gate("relevance", "relevance" in opened)
        self._gate("complexity", "complexity" in opened)

    def _note_missing(self, stage: str, reply: Reply | None, found: Settled | None, instead: str) -> None:
        """Note in ``degraded`` what decided in place of a missing model; nothing where the head was meant to decide."""
        if found is None:
            self.without_lm(stage, reply, instead)
        elif found.by == "head" and ((reply is not None and reply.error) or self.parts.lm_failed):
            self.without_lm(stage, reply, "a learned head decided")

    def _record(self, stage: Stage, value: Any, found: Sequence[Settled | None], reply: Reply | None) -> None:
        """Record one decision of a stage, with the confidence of its least certain output."""
        sure = [f for f in found if f is not None]
        if not sure:
            self.decide(stage, value, "fallback", 0.0, "nothing could decide", reply)
            return
        least = min(sure, key=lambda f: f.confidence)
        by: DecidedBy = "lm" if any(f.by == "lm" for f in sure) else "head"
        self.decide(stage, value, by, least.confidence, least.reason, reply)

    # -- bookkeeping ---------------------------------------------------------------------------------

    def asks_lm(self, stage: Stage) -> bool:
        """Whether a stage asks the model anything: not if heads alone decide, unless they cannot read the query."""
        return stage in (self.parts.whole if self.unread else self.parts.predictors)

    def ask(self, stage: Stage, inputs: dict[str, Any], problem: str | None = None) -> Ask:
        """Make one request to a stage; ``problem`` makes it a repair."""
        predictor = self.parts.whole.get(stage) if self.unread else None
        return Ask(stage, predictor or self.parts.predictors[stage], inputs, stage in DECIDING, problem)

    def round(self, asks: list[Ask]) -> Generator[list[Ask], Mapping[Sent, Reply], Mapping[Sent, Reply]]:
        """Send requests together, and count what they cost."""
        if not asks:
            return {}
        replies = yield asks
        self.rounds += any(reply.calls for reply in replies.values())
        self.requests += sum(reply.calls for reply in replies.values())
        self.tokens += sum(reply.tokens for reply in replies.values())
        self.completion_tokens += sum(reply.completion_tokens for reply in replies.values())
        return replies

    def decide(
        self, stage: Stage, value: Any, by: DecidedBy, confidence: float, why: str, reply: Reply | None = None
    ) -> None:
        """Add a decision and its cost to the trace."""
        cost = reply or UNASKED
        self.decisions.append(
            Decision(
                stage=stage,
                value=value,
                decided_by=by,
                confidence=min(1.0, max(0.0, confidence)),
                milliseconds=cost.milliseconds,
                lm_calls=cost.calls,
                tokens=cost.tokens,
                reason=why,
            )
        )

    def without_lm(self, stage: str, reply: Reply | None, instead: str, why: str | None = None) -> None:
        """Say what a model should have done, why it did not, and what was done instead."""
        reason = why or (reply.error if reply else None) or self.parts.lm_missing
        # The reason becomes a part of a sentence, also where it was written as a whole one.
        self.degraded.append(Degraded(what=stage, why=reason.rstrip("."), instead=instead))


def decided_by_form(query: str, greetings: Greetings) -> str:
    """Why the form of a query alone decides it; empty if it does not."""
    if says_nothing(query):
        return "there is nothing to search for"
    return "exactly a greeting of the card" if greetings.are_all(query) else ""
