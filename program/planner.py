"""``QueryPlanner``: the DSPy module that turns a query and its conversation into a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import dspy

from ..data.card import DomainCard
from ..data.fingerprints import text_fingerprint
from .artifact.folder import Manifest, ProgramState, load_program, save_program
from .artifact.planner_state import content_hash, fingerprints, heads_of, restore, state_of
from .asked import AskedPredictors, asked_of
from .asking import Clock, Threads, asend_round, send_round
from .bound import Bound, Gate, Mode
from .context import CleanInput, History, clean_input, messages_of
from .flow import Flow, Parts
from .graph.asking.restated import new_restate_predictor
from .graph.learning.learning import card_index
from .graph.learning.store import Learned
from .graph.names.linking import NameIndex
from .graph.planner import GraphPlanner
from .heads.heads import Heads
from .opening import Given, HasModel, Model, as_compiled
from .plan import NO_MODEL, QueryPlan
from .plan_cache import PlanCache, plan_key
from .planning import Planning
from .retrieval.candidates.candidates import CandidateConfig
from .retrieval.dates.clock import Now, local_now
from .retrieval.stage import RetrievalParts
from .settle import Combination
from .stages import StageSpec, new_predictor, stage_specs
from .text.greetings import greetings_of
from .text.linker import Linker

if TYPE_CHECKING:
    from .plan_log import PlanLog


class QueryPlanner(HasModel, dspy.Module):
    """Plans queries of one domain. Safe to share between threads.

    Attributes:
        card: the domain.
        stage_predictors: one ``dspy.Predict`` for each stage, by name; optimizers replace them.
        heads: learned heads, or None.
        manifest: that of the program this planner was loaded from, or None.
        gate: says when heads answer instead of the model.
        make_flow: makes the flow that takes a query from round to round; the oracle ladder uses one with gold labels.
        log: where plans are logged, see ``program/plan_log.py``; nowhere unless one is set.
    """

    make_flow: Callable[..., Flow] = Flow

    def __init__(
        self,
        card: DomainCard,
        *,
        heads: Heads | None = None,
        lm: Given = None,
        plan_graph: bool = False,
        notes: Sequence[str] = (),
        mode: Mode = "off",
        bound: Bound | None = None,
        cache: PlanCache | None = None,
        candidates: CandidateConfig | None = None,
        now: Now = local_now,
        folder: Path | None = None,
    ) -> None:
        """Make a planner without compiled predictors.

        Args:
            card: what the domain covers.
            heads: decide where no language model does, and predict what will have to be written.
            lm: a model's name or settings, or a function that opens one at the first query; or an opened model, which
                the caller closes; or None.
            plan_graph: also plan graph steps for questions about a name that the graph has.
            notes: sentences for every plan's trace.
            mode: whether heads answer in the model's place, see ``program/bound.py``.
            bound: the certainty from which they may, in the mode ``bounded``.
            cache: a cache of plans; none by default. Planners of several programs may share one.
            candidates: how many query candidates there are, and from which stages.
            now: the clock, used where a session does not give the time.
            folder: the domain's folder, for the stores that its card names; not needed for a shipped domain.
        """
        super().__init__()
        self.card = card
        self.heads = heads
        self.manifest: Manifest | None = None
        self.specs: dict[str, StageSpec] = stage_specs(card)
        self.stage_predictors: dict[str, dspy.Predict] = {
            name: new_predictor(spec) for name, spec in self.specs.items()
        }
        self.combinations: dict[str, Combination] = {}
        self.plan_graph = plan_graph
        self.graph: Learned | None = None
        self._graph_planner: GraphPlanner | None = None
        self._own_graph = ""
        self.notes = tuple(notes)
        self.learned = ""  # the rows that it learned from, see `Manifest.learned`
        self.gate = Gate(mode, bound)
        self.cache = cache
        self.log: PlanLog | None = None
        self._linker = _linker_of(card, heads)
        self._retrieval = RetrievalParts(card, self._linker, candidates, now, folder)
        self._greetings = greetings_of(card.greetings)
        self._model = Model(lm)
        self._version: str | None = None
        self._known: AskedPredictors | None = None
        self._threads = Threads()

    # -- planning ------------------------------------------------------------------------------

    def plan(
        self,
        query: str,
        history: History = None,
        session: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
    ) -> QueryPlan:
        """Plan one query. A plan is returned whatever the query is and whatever the model or the network do.

        Args:
            query: what the user typed, any text.
            history: earlier messages, oldest first, each with ``role`` and ``content`` as keys or attributes, or what
                holds them as ``messages``, such as a ``dspy.History``.
            session: what the application knows; ``active_entity`` is a candidate referent.
            deadline_s: seconds after which the plan is made from what is known, and says so; at once for 0 or less.

        Raises:
            TypeError: the query is not a string or the history not a list of messages.
            ConfigError: the deadline is not a number of seconds.
        """
        clock, history = Clock(deadline_s), messages_of(history)
        self._model.wait(clock.left())
        planning = self._begin(query, history, session, clock)
        while planning.asks:
            sent = send_round(planning.asks, planning.lm, clock, self._threads.pool) if planning.lm else {}
            planning.send(sent)
        return self._keep(planning, history, session)

    async def aplan(
        self,
        query: str,
        history: History = None,
        session: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
    ) -> QueryPlan:
        """As ``plan``, for asyncio."""
        clock, history = Clock(deadline_s), messages_of(history)
        await self._model.await_(clock.left())
        planning = self._begin(query, history, session, clock)
        while planning.asks:
            planning.send(await asend_round(planning.asks, planning.lm, clock) if planning.lm else {})
        return self._keep(planning, history, session)

    def let_model_decide(self) -> QueryPlanner:
        """Drop the combinations of model and heads: the model decides, heads only where it cannot; returns self."""
        self.combinations.clear()
        return self.use({})

    def forward(self, query: str, history: History = None, session: Mapping[str, Any] | None = None) -> dspy.Prediction:
        """The plan as a DSPy prediction with one field, ``plan``."""
        return dspy.Prediction(plan=self.plan(query, history, session))

    async def aforward(
        self, query: str, history: History = None, session: Mapping[str, Any] | None = None
    ) -> dspy.Prediction:
        """As ``forward``, for asyncio."""
        return dspy.Prediction(plan=await self.aplan(query, history, session))

    def _begin(self, query: str, history: History, session: Mapping[str, Any] | None, clock: Clock) -> Planning:
        """Start planning a query, up to its first round; already done if the cache has its plan."""
        # ``vars`` goes round DSPy's attribute access, which takes longer than most of this.
        own = vars(self)
        clean = clean_input(query, history, session, own["card"].history, own["_greetings"])
        lm, missing = own["_model"].now()
        cache: PlanCache | None = own["cache"]
        key = self._key(clean, lm.fingerprint if lm else missing) if cache and not clean.degraded else ""
        kept = cache.get(key, query, clock.started) if cache and key else None
        return Planning(self.make_flow(self._parts(lm is not None, missing), query, clean, clock), key, lm, kept)

    def _key(self, clean: CleanInput, model: str) -> str:
        switches = (repr(self.gate), str(self.plan_graph), repr(self.notes), self._own_graph)
        who = (self.card.name, self.program_version, *switches)
        return plan_key(clean.query, clean.turns, clean.session, *who, *self._retrieval.stands_on(clean.session), model)

    def _keep(self, planning: Planning, history: History, session: Mapping[str, Any] | None) -> QueryPlan:
        cache, log = vars(self)["cache"], vars(self)["log"]
        if planning.key and not planning.kept:
            cache.put(planning.key, planning.done)
        if log is not None:
            log.log(planning.done, history, session)
        return planning.done

    def _parts(self, has_lm: bool, missing: str = "") -> Parts:
        own = vars(self)
        asked, heads, plan_graph = self._asked(), own["heads"], own["plan_graph"]
        return Parts(
            card=own["card"],
            linker=own["_linker"],
            heads=heads,
            predictors=asked.predictors,
            greetings=own["_greetings"],
            retrieval=own["_retrieval"],
            has_lm=has_lm,
            combinations=own["combinations"],
            joint=heads.joint if heads else {},
            gate=own["gate"],
            whole=own["stage_predictors"],
            plan_graph=plan_graph,
            graph=self._graphs() if plan_graph else None,
            lm_missing=missing or NO_MODEL,
            lm_failed=bool(missing),
            version=own["_version"] or self.program_version,
            notes=own["notes"],
        )

    # -- models and programs ----------------------------------------------------------------------

    @property
    def program_version(self) -> str:
        """A name of this program's content.

        A program that was loaded keeps its version whether or not it plans graph steps, with whatever candidates and
        graph it was given.
        """
        self._asked()  # somebody may have changed a predictor
        if self._version is None:
            self._version = self._of_manifest(self.manifest) if self.manifest else f"uncompiled-{content_hash(self)}"
        return self._version

    def _of_manifest(self, manifest: Manifest) -> str:
        """The program's own version, followed by a mode or a bound that it was not compiled with."""
        if self.gate == Gate(manifest.mode, manifest.bound):
            return manifest.version
        other_bound = f"-{text_fingerprint(repr(self.gate.bound))[:6]}" if self.gate.bound != manifest.bound else ""
        return f"{manifest.version}-{self.gate.mode}{other_bound}"

    def use(
        self, predictors: Mapping[str, dspy.Predict], combinations: Mapping[str, Combination] | None = None
    ) -> QueryPlanner:
        """Replace some predictors and combinations; returns self."""
        for name, predictor in predictors.items():
            self.stage_predictors[name] = predictor
        self.combinations.update(combinations or {})
        self.manifest, self._version, self._known = None, None, None
        return self

    def with_graph(self, learned: Learned | None, index: NameIndex | None = None) -> QueryPlanner:
        """Plan graph steps with ``learned``; names come from ``index``, or else from the card. Returns self."""
        self.graph, self._graph_planner, self._version = learned, None, None
        self._own_graph = uuid4().hex  # its names have no fingerprint, so no plan that a cache has is of this graph
        if learned is not None and index is not None and self.card.graph is not None:
            self._graph_planner = GraphPlanner(self.card.graph, index, learned)
        return self

    def _graphs(self) -> GraphPlanner | None:
        """The planner of graph steps, made at the first plan that wants it."""
        if self._graph_planner is None and self.graph is not None and self.card.graph is not None:
            self._graph_planner = GraphPlanner(self.card.graph, card_index(self.card, self.card.graph), self.graph)
        return self._graph_planner

    def in_mode(self, mode: Mode, bound: Bound | None = None) -> QueryPlanner:
        """Set whether heads answer in the model's place; ``bound`` replaces the current one. Returns self."""
        self.gate = Gate(mode, bound or self.gate.bound)
        self._version = None
        return self

    def warm(self) -> None:
        """Open the model and let it read every prompt prefix, so that the first query is as fast as later ones.

        A model that could not be opened before is tried again.

        Raises:
            QueryPlanError: the model cannot be opened; plans are made without it from then on.
        """
        if (lm := self._model.open()) is not None:
            lm.warm(self._prefixed())

    def _prefixed(self) -> list[dspy.Predict]:
        """Every predictor that a query may ask, including the one by which the model helps to rank graph plans."""
        known = self._asked().predictors
        asked = [predictor for name, predictor in known.items() if name != "graph" or self.plan_graph]
        if self.plan_graph and (graphs := self._graphs()) is not None:
            asked.append(new_restate_predictor(graphs.schema))
        return asked

    def _asked(self) -> AskedPredictors:
        """The predictors that a query may ask; made again if one was changed, which makes it another program."""
        known: AskedPredictors | None = vars(self)["_known"]
        if known is not None and known.still_of(self):
            return known
        now = asked_of(self)
        if known is not None and known.content != now.content:
            self.manifest, self._version = None, None
        self._known = now
        return now

    def close(self) -> None:
        """Stop the model if this planner opened it, and pending requests; later plans are made without it."""
        self._model.close()
        self._threads.close()

    def __deepcopy__(self, memo: dict[int, Any]) -> QueryPlanner:
        """A copy with its own predictors and weighing; an open model and what planning does not change are shared."""
        memo[id(self)] = other = self.__class__.__new__(self.__class__)
        vars(other).update(vars(self))
        for name in ("stage_predictors", "combinations", "specs", "_model", "history", "callbacks"):
            setattr(other, name, deepcopy(vars(self)[name], memo))
        other._threads = Threads()
        return other

    def __copy__(self) -> QueryPlanner:
        """A copy that shares everything, but that closing it leaves the model open."""
        other = self.__class__.__new__(self.__class__)
        vars(other).update(vars(self))
        other._model = deepcopy(self._model)
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to pickle: a planner is saved as a folder, from which each process loads its own copy.

        Raises:
            TypeError: always.
        """
        raise TypeError("a planner is not pickled: save it with .save(FOLDER) and let each process load that folder")

    def fingerprints(self) -> dict[str, str]:
        """Hashes of what this planner depends on: card, schema, signatures, encoder."""
        return fingerprints(self)

    def state(self, manifest: Manifest) -> ProgramState:
        """Everything that a program folder holds, with ``manifest`` completed."""
        return state_of(self, manifest)

    def save(self, folder: str | Path, manifest: Manifest | None = None) -> Manifest:  # type: ignore[override]
        """Write this planner as a program folder and take its version.

        Args:
            manifest: how it was made and what was measured; by default the loaded one, if it is still that program.

        Raises:
            ProgramError: the folder cannot be written; what was there before is intact.
        """
        version, record = self.program_version, manifest or self.manifest
        if record is None or (manifest is None and record.version != version):
            record = Manifest(domain=self.card.name)
        self.manifest = save_program(self.state(record), Path(folder))
        self._version = self._known = None
        self._asked()
        return self.manifest

    @classmethod
    def load(  # type: ignore[override]
        cls, program: str | Path, lm: Given = "as compiled", **options: Any
    ) -> QueryPlanner:
        """Load a compiled program, without running any code of it.

        As a part of another DSPy program it stays unchanged: DSPy's optimizers leave compiled modules alone.

        Args:
            program: a folder, or ``models:/NAME@ALIAS`` of an MLflow registry.
            lm: a model name, ``program.lm.endpoint.LMSettings(model=…, api_base=…)``, an opened model, or None for
                rules and heads alone; by default the one that it was compiled with. Opened at the first plan. One that
                had an address of its own has to be given: no program has an address in it.
            options: as for the constructor.

        Raises:
            ProgramError: it is not a program, was altered, or is not of this version; the file is named.
        """
        from .artifact.registry import resolve

        state = load_program(resolve(program))
        given = as_compiled(state.manifest) if lm == "as compiled" else lm
        gate = {"mode": state.manifest.mode, "bound": state.manifest.bound}
        planner = cls(state.card, heads=heads_of(state), lm=given, **{**gate, **options})
        restore(planner, state)
        planner._compiled = True  # else DSPy's optimizers put examples of that program into its predictors
        planner._asked()
        return planner


def _linker_of(card: DomainCard, heads: Heads | None) -> Linker:
    """The heads' linker, if it has the same names: it has already linked a query when the plan asks for its names."""
    linker = heads.features.linker if heads is not None else None
    return linker if linker is not None and linker.names == card.names else Linker(card.names)
