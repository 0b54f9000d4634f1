"""``QueryPlanner``: the DSPy module that turns a query and its conversation into a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dspy

from ..data.card import DomainCard
from .artifact.folder import Manifest, ProgramState, load_program, save_program, text_fingerprint
from .artifact.planner_state import content_hash, fingerprints, heads_of, restore, state_of
from .asked import Asked, asked_of
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
from .opening import Given, Model
from .plan import QueryPlan
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


class QueryPlanner(dspy.Module):
    """Plans queries of one domain. Safe to share between threads.

    Attributes:
        card: the domain.
        stage_predictors: one ``dspy.Predict`` a stage, by name; optimizers replace them.
        heads: learned heads, or None.
        manifest: of the program this planner was loaded from, or None.
        gate: when heads answer in the model's place.
        make_flow: what takes a query from round to round; an evaluation puts in one that is given gold.
        log: where plans are written down, see ``program/plan_log.py``; nowhere unless one is put here.
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
        """A planner without compiled predictors.

        Args:
            card: what the domain covers.
            heads: decide where no language model does, and foresee what will have to be written.
            lm: a model's name or settings, or a function that opens one, at the first query; an opened model, which
                stays the caller's to close; or None.
            plan_graph: also write graph steps for questions about a name the graph has.
            notes: put into every plan's trace.
            mode: whether heads answer in the model's place, see ``program/bound.py``.
            bound: from which certainty they may, in the mode ``bounded``.
            cache: keeps plans; none by default. Planners of several programs may share one.
            candidates: how many ways of asking there are, and from which stages.
            now: the clock where a session does not say what time it is.
            folder: of the domain, for the stores that its card names; a shipped domain's is known.
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
        self._known: Asked | None = None
        self._threads = Threads()

    # -- planning ------------------------------------------------------------------------------

    def plan(
        self,
        query: str,
        history: History = None,
        session: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
    ) -> QueryPlan:
        """Plan one query; a plan comes back whatever the query, the model or the network do.

        Args:
            query: what the user typed, any text.
            history: earlier messages, oldest first, each with ``role`` and ``content`` as keys or attributes, or what
                holds them as ``messages``, such as a ``dspy.History``.
            session: what the application knows; ``active_entity`` is a candidate referent.
            deadline_s: seconds after which the plan is made from what is known, and says so; 0 or less is at once.

        Raises:
            TypeError: the query is not a string or the history not a list of messages.
            ConfigError: the deadline is no number of seconds.
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
        """Forget how model and heads are weighed: the model decides, heads where it cannot; returns self."""
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
        """A query on its way, up to its first round; done already if the cache has its plan."""
        # DSPy stands between a module and each of its attributes, which takes longer than most of this.
        own = vars(self)
        clean = clean_input(query, history, session, own["card"].history, own["_greetings"])
        lm, missing = own["_model"].now()
        cache: PlanCache | None = own["cache"]
        key = self._key(clean, lm.fingerprint if lm else missing) if cache and not clean.degraded else ""
        kept = cache.get(key, query, clock.started) if cache and key else None
        return Planning(self.make_flow(self._parts(lm is not None, missing), query, clean, clock), key, lm, kept)

    def _key(self, clean: CleanInput, model: str) -> str:
        who = (self.card.name, self.program_version, repr(self.gate), str(self.plan_graph), repr(self.notes))
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
            lm_missing=missing or "no language model was given",
            lm_failed=bool(missing),
            version=own["_version"] or self.program_version,
            notes=own["notes"],
        )

    # -- models and programs ----------------------------------------------------------------------

    @property
    def program_version(self) -> str:
        """Name of this program's content; changes whenever the same query could get another plan."""
        self._asked()  # somebody may have put other words into a predictor
        if self._version is None:
            self._version = self._of_manifest(self.manifest) if self.manifest else f"uncompiled-{content_hash(self)}"
        return self._version

    def _of_manifest(self, manifest: Manifest) -> str:
        """The program's own version, and beside it a mode or a bound that it was not compiled with."""
        if self.gate == Gate(manifest.mode, manifest.bound):
            return manifest.version
        other_bound = f"-{text_fingerprint(repr(self.gate.bound))[:6]}" if self.gate.bound != manifest.bound else ""
        return f"{manifest.version}-{self.gate.mode}{other_bound}"

    def use(
        self, predictors: Mapping[str, dspy.Predict], combinations: Mapping[str, Combination] | None = None
    ) -> QueryPlanner:
        """Put other predictors and combinations in the place of some; returns self."""
        for name, predictor in predictors.items():
            self.stage_predictors[name] = predictor
        self.combinations.update(combinations or {})
        self.manifest, self._version, self._known = None, None, None
        return self

    def with_graph(self, learned: Learned | None, index: NameIndex | None = None) -> QueryPlanner:
        """Plan graph steps by what was learned; ``index`` has the graph's names, or the card does. Returns self."""
        self.graph, self._graph_planner, self._version = learned, None, None
        if learned is not None and index is not None and self.card.graph is not None:
            self._graph_planner = GraphPlanner(self.card.graph, index, learned)
        return self

    def _graphs(self) -> GraphPlanner | None:
        """What ranks graph steps, made at the first plan that wants them."""
        if self._graph_planner is None and self.graph is not None and self.card.graph is not None:
            self._graph_planner = GraphPlanner(self.card.graph, card_index(self.card, self.card.graph), self.graph)
        return self._graph_planner

    def in_mode(self, mode: Mode, bound: Bound | None = None) -> QueryPlanner:
        """Let heads answer in the model's place, or not; ``bound`` replaces the one it has. Returns self."""
        self.gate = Gate(mode, bound or self.gate.bound)
        self._version = None
        return self

    def with_lm(self, lm: Given) -> QueryPlanner:
        """Use another model from now on; returns self."""
        self._model = Model(lm)
        return self

    def set_lm(self, lm: Given) -> None:
        """As ``with_lm``: what DSPy calls it."""
        self.with_lm(lm)

    @property
    def lm_name(self) -> str:
        """What the opened language model is called, weights included; "none" where none is open. Opens nothing."""
        return self._model.lm.fingerprint if self._model.lm is not None else "none"

    @property
    def lm_problem(self) -> str:
        """Why the language model that plans should have cannot be opened; empty where nothing is wrong."""
        return self._model.problem

    def warm(self) -> None:
        """Open the model and let it read every prefix, so that the first query is as fast as the next.

        A model that could not be opened before is tried again.

        Raises:
            QueryPlanError: the model cannot be opened; plans are made without it from then on.
        """
        if (lm := self._model.open()) is not None:
            lm.warm(self._prefixed())

    def _prefixed(self) -> list[dspy.Predict]:
        """Every predictor that a query may ask, with what lets the model help the ranking of graph plans."""
        known = self._asked().predictors
        asked = [predictor for name, predictor in known.items() if name != "graph" or self.plan_graph]
        if self.plan_graph and (graphs := self._graphs()) is not None:
            asked.append(new_restate_predictor(graphs.schema))
        return asked

    def _asked(self) -> Asked:
        """The predictors that a query may ask; made anew where somebody changed one, which is another program then."""
        known: Asked | None = vars(self)["_known"]
        if known is not None and known.still_of(self):
            return known
        now = asked_of(self)
        if known is not None and known.content != now.content:
            self.manifest, self._version = None, None
        self._known = now
        return now

    def close(self) -> None:
        """Stop the model if this planner opened one, and what is still being asked; plans are made without it then."""
        self._model.close()
        self._threads.close()

    def __deepcopy__(self, memo: dict[int, Any]) -> QueryPlanner:
        """One with predictors and weighing of its own; what planning does not change is shared, an open model too."""
        memo[id(self)] = other = self.__class__.__new__(self.__class__)
        vars(other).update(vars(self))
        for name in ("stage_predictors", "combinations", "specs", "_model", "history", "callbacks"):
            setattr(other, name, deepcopy(vars(self)[name], memo))
        other._threads = Threads()
        return other

    def __copy__(self) -> QueryPlanner:
        """One that shares everything."""
        other = self.__class__.__new__(self.__class__)
        vars(other).update(vars(self))
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        """Refused: a planner is a folder, from which each process loads its own.

        Raises:
            TypeError: always.
        """
        raise TypeError("a planner is not pickled: save it with .save(FOLDER) and let each process load that folder")

    def fingerprints(self) -> dict[str, str]:
        """Hashes of what this planner stands on: card, schema, signatures, encoder."""
        return fingerprints(self)

    def state(self, manifest: Manifest) -> ProgramState:
        """Everything a program folder holds, with ``manifest`` completed."""
        return state_of(self, manifest)

    def save(self, folder: str | Path, manifest: Manifest | None = None) -> Manifest:  # type: ignore[override]
        """Write this planner as a program folder and take its version.

        Args:
            manifest: how it came to be and what was measured; as it was loaded, if it is still that program.

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
        """Load a compiled program; no code of it is run. As a part of another program it stays as it is: DSPy's
        optimizers change no module that is compiled.

        Args:
            program: a folder, or ``models:/NAME@ALIAS`` of an MLflow registry.
            lm: a model name, ``program.lm.endpoint.LMSettings(model=…, api_base=…)``, an opened model, or None for
                rules and heads alone. By default what the program was compiled with. It is opened at the first plan.
            options: as for the constructor.

        Raises:
            ProgramError: not a program, altered, or not of this version; the file is named.
        """
        from .artifact.registry import resolve

        state = load_program(resolve(program))
        name = state.manifest.lm if lm == "as compiled" else lm
        gate = {"mode": state.manifest.mode, "bound": state.manifest.bound}
        planner = cls(state.card, heads=heads_of(state), lm=name, **{**gate, **options})
        restore(planner, state)
        planner._compiled = True  # else they put examples of that other program into its predictors
        planner._asked()
        return planner


def _linker_of(card: DomainCard, heads: Heads | None) -> Linker:
    """That of the heads, which have looked at a query before the plan asks for its names."""
    linker = heads.features.linker if heads is not None else None
    return linker if linker is not None and linker.names == card.names else Linker(card.names)
