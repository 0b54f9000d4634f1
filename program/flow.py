"""From a clean query to a plan: what is asked in which round, and what replaces a missing answer.

The flow is a generator. It yields a round, the requests to be in flight together, and is sent the
replies; so the same code plans with threads, with asyncio, or with no language model at all.

Round A asks whether the query is a follow-up and, where a head thinks that likely, already for the
rewrite. Round B asks for the labels of the standalone form and, where likely, for the sub-queries.
At most one further round asks for a written part that was not foreseen, or for one repair.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import dspy

from ..data.card import DomainCard
from ..signatures.types import DecidedBy, GraphPlan, Stage, SubQuery
from .asking import Ask, Clock, Reply
from .bound import OUTSIDE, Gate, complexity_certainty, kind_certainty, relevance_certainty
from .checks import check_rewrite, check_sub_queries
from .context import CleanInput, conversation_context, encodable, history_text, printable
from .graph_check import check_graph_plan
from .heads import HeadAnswer, Heads
from .joint import COMPLEXITY_OUTPUTS, Joint, choose_together
from .linker import Linker
from .plan import Decision, Degraded, PlanTrace, QueryPlan
from .settle import Combination, Settled, settle
from .stages import DECIDING
from .strategy import choose_strategy

Round = Generator[list[Ask], Mapping[Stage, Reply], Any]

# A rewrite costs about as much as four labels, so it is asked for ahead when it is needed in more
# than one case of three.
FORESEE_REWRITE = 0.35
FORESEE_DECOMPOSITION = 0.35
# With the further round spent, a decomposition that was not foreseen is lost: foresee it sooner.
FORESEE_LAST_CHANCE = 0.15


@dataclass(frozen=True)
class Parts:
    """What a flow works with; the same for every query of a planner."""

    card: DomainCard
    linker: Linker
    heads: Heads | None
    predictors: Mapping[str, dspy.Predict]
    greetings: frozenset[str]
    has_lm: bool
    combinations: Mapping[str, Combination] = field(default_factory=dict)
    joint: Joint = field(default_factory=dict)
    gate: Gate = field(default_factory=Gate)
    whole: Mapping[str, dspy.Predict] = field(default_factory=dict)
    plan_graph: bool = False
    lm_missing: str = "no language model was given"
    lm_failed: bool = False
    version: str = "unversioned"
    notes: tuple[str, ...] = ()

    def asks_lm(self, stage: Stage) -> bool:
        """Whether the model is asked anything in a stage; it is not where only heads weigh."""
        return stage in self.predictors


@dataclass
class Labels:
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
    """One query on its way to a plan."""

    parts: Parts
    original: str
    clean: CleanInput
    clock: Clock
    labels: Labels = field(default_factory=Labels)
    decisions: list[Decision] = field(default_factory=list)
    degraded: list[Degraded] = field(default_factory=list)
    rounds: int = 0
    requests: int = 0
    wasted: int = 0
    tokens: int = 0
    further_round_spent: bool = False
    answered: set[Stage] = field(default_factory=set)
    understood: bool = True
    unread: bool = False

    def run(self) -> Generator[list[Ask], Mapping[Stage, Reply], QueryPlan]:
        """Yield rounds of requests, be sent their replies, return the plan."""
        self.degraded += self.clean.degraded
        self.labels.standalone_query = self.clean.query
        if self._decided_by_form():
            return self._plan()
        yield from self._follow_up()
        yield from self._standalone_labels()
        return self._plan()

    # -- rules: only what is certain by form ---------------------------------------------------

    def _decided_by_form(self) -> bool:
        """An empty query, or exactly a greeting that the card lists."""
        why = decided_by_form(self.clean.query, self.parts.greetings)
        if not why:
            return False
        self.labels.intent = "greeting"
        self._decide("follow_up", False, "rule", 1.0, why)
        self._decide("relevance", True, "rule", 1.0, why)
        value = {"complexity": "simple", "intent": "greeting", "needs_decomposition": False}
        self._decide("complexity", value, "rule", 1.0, why)
        return True

    # -- round A: the conversation ---------------------------------------------------------------

    def _follow_up(self) -> Round:
        if not self.clean.turns:
            self._decide("follow_up", False, "rule", 1.0, "there is no earlier turn")
            return
        head = self.parts.heads.of_turn(self.clean.query, self.clean.turns) if self.parts.heads else None
        replies: Mapping[Stage, Reply] = {}
        sure = self._gate("follow_up", head.confidence if head else None)
        if self.parts.has_lm:
            asked = self.parts.asks_lm("follow_up") and not sure
            asks = [self._ask("follow_up", self._turn_inputs())] if asked else []
            if head is None or head.probabilities["true"] >= (0.5 if sure else FORESEE_REWRITE):
                asks.append(self._ask("rewrite", self._rewrite_inputs()))
            replies = yield from self._round(asks)
        self._settle_follow_up(replies.get("follow_up"), head)
        yield from self._rewrite(replies.get("rewrite"))

    def _settle_follow_up(self, reply: Reply | None, head: HeadAnswer | None) -> None:
        found = self._settle("follow_up", "is_follow_up", reply, head)
        self._note_missing("follow_up", reply, found, "it was taken to stand alone")
        self.labels.is_follow_up = found.truth if found else False
        self._record("follow_up", self.labels.is_follow_up, [found], reply)

    def _rewrite(self, reply: Reply | None) -> Round:
        if not self.labels.is_follow_up:
            self.wasted += reply.calls if reply else 0
            return
        problems = self._accept_rewrite(reply)
        if problems and self.parts.has_lm and not self.further_round_spent:
            self.further_round_spent = True
            repair = problems[0] if reply and reply.prediction else None
            replies = yield from self._round([self._ask("rewrite", self._rewrite_inputs(), repair)])
            reply = replies["rewrite"]
            problems = self._accept_rewrite(reply)
        if problems:
            self._without_lm("rewrite", reply, "the query was left as typed", problems[0])
            self.understood = False
            self._guess_references()

    def _accept_rewrite(self, reply: Reply | None) -> list[str]:
        """Take a rewrite over, or say what is wrong with it."""
        if reply is None or reply.prediction is None:
            return [(reply.error if reply else None) or self.parts.lm_missing]
        text = printable(str(reply.prediction.standalone_query or ""))
        if problems := check_rewrite(self.clean.query, text):
            return problems
        self.labels.standalone_query = text
        said = " ".join(turn.content for turn in self.clean.turns).casefold()
        names = dict.fromkeys(str(n).strip() for n in reply.prediction.referenced_entities or ())
        self.labels.referenced_entities = tuple(n for n in names if n and n.casefold() in said)
        self._decide("rewrite", text, "lm", 1.0, "written from the earlier turns", reply)
        return []

    def _guess_references(self) -> None:
        """What the application shows, else the names of the last turn: candidates, not knowledge."""
        last = self.parts.linker.surfaces(self.clean.turns[-1].content)
        active = (self.clean.active_entity,) if self.clean.active_entity else ()
        self.labels.referenced_entities = active or last

    # -- round B: the standalone form -----------------------------------------------------------

    def _standalone_labels(self) -> Round:
        query = self.labels.standalone_query
        heads = self.parts.heads.of_query(query) if self.parts.heads else {}
        self._note_unread(query, heads)
        self._gate_labels(heads)
        replies: Mapping[Stage, Reply] = {}
        if self.parts.has_lm:
            replies = yield from self._round(self._second_asks(query, heads))
        self._settle_relevance(replies.get("relevance"), heads)
        self._settle_complexity(replies.get("complexity"), heads)
        yield from self._decomposition(replies.get("decompose"))
        self._settle_graph(replies.get("graph"))

    def _second_asks(self, query: str, heads: Mapping[str, HeadAnswer]) -> list[Ask]:
        inputs = {"query": query}
        stages: tuple[Stage, ...] = ("relevance", "complexity")
        if "relevance" in self.answered and heads["is_relevant"].label == "false":
            return []
        asked = self.parts.whole if self.unread else self.parts.predictors
        asks = [self._ask(s, inputs) for s in stages if s in asked and s not in self.answered]
        enough = FORESEE_LAST_CHANCE if self.further_round_spent else FORESEE_DECOMPOSITION
        if "complexity" in self.answered:
            enough = 0.5
        likely = "needs_decomposition" not in heads or heads["needs_decomposition"].probabilities["true"] >= enough
        if likely and heads.get("is_relevant") and heads["is_relevant"].probabilities["true"] < 1 - enough:
            likely = False
        if likely:
            asks.append(self._ask("decompose", inputs))
        elif self.parts.plan_graph and "graph" in self.parts.predictors and self.parts.linker.links(query):
            asks.append(self._ask("graph", inputs))
        return asks

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
        complexity, intent, needs = found
        self._note_missing("complexity", reply, complexity, "it was taken to be a simple fact")
        labels.complexity = complexity.label if complexity else "simple"
        labels.intent = intent.label if intent else "factual"
        labels.needs_decomposition = needs.truth if needs else False
        if labels.intent == "greeting":  # a greeting is simple and never split, whatever the others say
            labels.complexity, labels.needs_decomposition = "simple", False
        self._record("complexity", {name: getattr(labels, name) for name in COMPLEXITY_OUTPUTS}, found, reply)

    def _together(self, found: list[Settled | None]) -> list[Settled | None]:
        """Labels that go together, where all are known as probabilities and the training rows say which do."""
        known = [f for f in found if f is not None and not f.by_thresholds]
        if len(known) < len(found) or not self.parts.joint:
            return found
        labels = choose_together(self.parts.joint, [f.probabilities for f in known])
        return [replace(f, label=label) for f, label in zip(known, labels, strict=True)]

    def _settle(self, stage: Stage, output: str, reply: Reply | None, head: HeadAnswer | None) -> Settled | None:
        combination = self.parts.combinations.get(output)
        if stage in self.answered:  # as it was calibrated: the head's own label
            found = settle(None, head, combination if self.parts.gate.mode == "best-effort" else None)
            return replace(found, by="head", reason=self.parts.gate.reason) if found else None
        answer = getattr(reply.prediction, output, None) if reply is not None and reply.prediction else None
        found = settle(answer, head, combination)
        beyond = found is not None and found.by == "head" and self.parts.gate.mode == "bounded"
        return replace(found, reason=OUTSIDE) if found is not None and beyond else found

    # -- heads in the model's place ----------------------------------------------------------------

    def _gate(self, stage: Stage, certainty: float | None) -> bool:
        """Whether the head answers this stage; a form that the heads were not calibrated on stays outside a bound."""
        bounded = self.parts.gate.mode == "bounded"
        if self.parts.gate.opens(certainty) and (self.understood or not bounded):
            self.answered.add(stage)
        return stage in self.answered

    def _note_unread(self, query: str, heads: Mapping[str, HeadAnswer]) -> None:
        """Heads that cannot read a query say so, and the model is asked what they would have decided."""
        if heads or self.parts.heads is None or not self.parts.heads.cannot_read(query):
            return
        self.unread = True
        instead = "the model decided" if self.parts.has_lm else "the safe plan: search the query as it is"
        self.degraded.append(Degraded(what="heads", why="they know none of its words or script", instead=instead))

    def _gate_labels(self, heads: Mapping[str, HeadAnswer]) -> None:
        if self.parts.gate.mode == "off":
            return
        self._gate("relevance", relevance_certainty(heads))
        self._gate("complexity", complexity_certainty(heads, self.parts.joint))

    def _note_missing(self, stage: str, reply: Reply | None, found: Settled | None, instead: str) -> None:
        """A head that decides where a model should have is worth a word; one that was meant to is not."""
        if found is None:
            self._without_lm(stage, reply, instead)
        elif found.by == "head" and ((reply is not None and reply.error) or self.parts.lm_failed):
            self._without_lm(stage, reply, "a learned head decided")

    def _record(self, stage: Stage, value: Any, found: Sequence[Settled | None], reply: Reply | None) -> None:
        """One decision of a stage, with the confidence of its least sure output."""
        sure = [f for f in found if f is not None]
        if not sure:
            self._decide(stage, value, "fallback", 0.0, "nothing could decide", reply)
            return
        least = min(sure, key=lambda f: f.confidence)
        by: DecidedBy = "lm" if any(f.by == "lm" for f in sure) else "head"
        self._decide(stage, value, by, least.confidence, least.reason, reply)

    # -- written parts ------------------------------------------------------------------------------

    def _decomposition(self, reply: Reply | None) -> Round:
        if not self.labels.needs_decomposition:
            self.wasted += reply.calls if reply else 0
            return
        problems = self._accept_sub_queries(reply)
        if problems and self.parts.has_lm and not self.further_round_spent:
            self.further_round_spent = True
            repair = problems[0] if reply and reply.prediction else None
            inputs = {"query": self.labels.standalone_query}
            replies = yield from self._round([self._ask("decompose", inputs, repair)])
            reply = replies["decompose"]
            problems = self._accept_sub_queries(reply)
        if problems:
            self._without_lm("decompose", reply, "the query is searched whole", problems[0])

    def _accept_sub_queries(self, reply: Reply | None) -> list[str]:
        """Take sub-queries over, or say what is wrong with them."""
        if reply is None or reply.prediction is None:
            return [(reply.error if reply else None) or self.parts.lm_missing]
        query, prediction = self.labels.standalone_query, reply.prediction
        sub_queries, problems = check_sub_queries(query, prediction.sub_queries or ())
        if problems:
            return problems
        self.labels.sub_queries = sub_queries
        self.labels.entities = _present(prediction.entities, query)
        relations = (printable(str(r)) for r in prediction.relationships_needed or ())
        self.labels.relationships_needed = tuple(r for r in dict.fromkeys(relations) if r)
        self._decide("decompose", [s.text for s in sub_queries], "lm", 1.0, "split into searches", reply)
        return []

    def _settle_graph(self, reply: Reply | None) -> None:
        if reply is None or self.parts.card.graph is None:
            return
        if not self.labels.is_relevant:
            self.wasted += reply.calls
            return
        plan = reply.prediction.hop.to_plan() if reply.prediction is not None else None
        problems = check_graph_plan(plan, self.parts.card.graph) if plan else [reply.error or "no answer"]
        if problems:
            self._without_lm("graph", reply, "the text is searched without the graph", problems[0])
            return
        self.labels.graph_plan = plan
        self._decide("graph", "anchor, expand", "lm", 1.0, "well-typed in the schema", reply)

    # -- bookkeeping ---------------------------------------------------------------------------------

    def _ask(self, stage: Stage, inputs: dict[str, Any], problem: str | None = None) -> Ask:
        predictor = self.parts.whole.get(stage) if self.unread else None
        return Ask(stage, predictor or self.parts.predictors[stage], inputs, stage in DECIDING, problem)

    def _round(self, asks: list[Ask]) -> Generator[list[Ask], Mapping[Stage, Reply], Mapping[Stage, Reply]]:
        if not asks:
            return {}
        replies = yield asks
        self.rounds += any(reply.calls for reply in replies.values())
        self.requests += sum(reply.calls for reply in replies.values())
        self.tokens += sum(reply.tokens for reply in replies.values())
        return replies

    def _turn_inputs(self) -> dict[str, str]:
        return {"history": history_text(self.clean.turns), "query": self.clean.query}

    def _rewrite_inputs(self) -> dict[str, str]:
        return {**self._turn_inputs(), "active_entity": self.clean.active_entity}

    def _decide(
        self, stage: Stage, value: Any, by: DecidedBy, confidence: float, why: str, reply: Reply | None = None
    ) -> None:
        cost = reply or Reply(None)
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

    def _without_lm(self, stage: str, reply: Reply | None, instead: str, why: str | None = None) -> None:
        reason = why or (reply.error if reply else None) or self.parts.lm_missing
        self.degraded.append(Degraded(what=stage, why=reason, instead=instead))

    def _plan(self) -> QueryPlan:
        labels, parts, turns = self.labels, self.parts, self.clean.turns
        if labels.is_relevant and not labels.entities:
            labels.entities = parts.linker.surfaces(labels.standalone_query)
        strategy = choose_strategy(labels.is_relevant, labels.intent, labels.complexity, len(labels.entities))
        return QueryPlan(
            query=encodable(self.original),
            **vars(labels),
            conversation_context=conversation_context(turns),
            previous_topics=_topics(parts.linker, self.clean),
            rejection_reason=None if labels.is_relevant else parts.card.reason(labels.rejection_kind),
            retrieval_strategy=strategy,
            trace=self._trace(),
            degraded=tuple(self.degraded),
            program_version=parts.version,
        )

    def _trace(self) -> PlanTrace:
        return PlanTrace(
            decisions=tuple(self.decisions),
            rounds=self.rounds,
            requests=self.requests,
            wasted_requests=self.wasted,
            tokens=self.tokens,
            milliseconds=self.clock.elapsed_ms(),
            notes=(*self.parts.notes, *self.parts.gate.notes),
        )


def decided_by_form(query: str, greetings: frozenset[str]) -> str:
    """Why the form of a query alone decides it; empty if it does not."""
    bare = query.casefold().strip(" .!?…,;:。！？、")
    if not bare:
        return "there is nothing to search for"
    return "exactly a greeting of the card" if bare in greetings else ""


def _present(names: Any, text: str) -> tuple[str, ...]:
    """The names that do occur in the text, each once."""
    folded = text.casefold()
    return tuple(n for n in dict.fromkeys(str(n).strip() for n in names or ()) if n and n.casefold() in folded)


def _topics(linker: Linker, clean: CleanInput) -> tuple[str, ...]:
    """The card's names in the earlier turns, latest first, each once."""
    found = (link.name.name for turn in reversed(clean.turns) for link in linker.links(turn.content))
    return tuple(dict.fromkeys(found))
