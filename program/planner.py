"""``QueryPlanner``: the DSPy module that turns a query and its conversation into a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import dspy

from ..data.card import DomainCard
from ..errors import QueryPlanError
from ..signatures.types import Turn
from .asking import MAX_IN_FLIGHT, Clock, asend_round, send_round
from .bound import Bound, Gate, Mode
from .context import CleanInput, clean_input
from .flow import Flow, Parts
from .folder import Manifest, ProgramState, load_program, save_program, text_fingerprint
from .graph.asking_restated import new_restate_predictor
from .graph.learning import card_index
from .graph.linking import NameIndex
from .graph.planner import GraphPlanner
from .graph.store import Learned
from .greetings import greetings_of
from .heads import Heads
from .linker import Linker
from .lm.endpoint import LMHandle, LMSettings, open_lm
from .plan import QueryPlan
from .plan_cache import PlanCache, plan_key
from .planner_state import content_hash, fingerprints, heads_of, restore, state_of
from .planning import Planning
from .retrieval.candidates import CandidateConfig
from .retrieval.clock import Now, local_now
from .retrieval.stage import RetrievalParts
from .settle import Combination
from .stages import NOT_ALONE, StageSpec, narrowed, new_predictor, outputs_of, stage_specs

if TYPE_CHECKING:
    from .plan_log import PlanLog

History = Sequence[Mapping[str, Any] | Turn] | None
Opener = Callable[[], LMHandle | None]


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
        lm: LMHandle | Opener | None = None,
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
            lm: an opened model, a function that opens one at the first query, or None.
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
        self.gate = Gate(mode, bound)
        self.cache = cache
        self.log: PlanLog | None = None
        self._linker = _linker_of(card, heads)
        self._retrieval = RetrievalParts(card, self._linker, candidates, now, folder)
        self._greetings = greetings_of(card.greetings)
        self._lm = lm
        self._lm_problem = ""
        self._unopened: Opener | None = None
        self._opening = Lock()
        self._version: str | None = None
        self._asking: dict[str, dspy.Predict] | None = None
        self._pool = ThreadPoolExecutor(MAX_IN_FLIGHT, thread_name_prefix="queryplan")

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
            history: earlier messages, oldest first, each with ``role`` and ``content``.
            session: what the application knows; ``active_entity`` is a candidate referent.
            deadline_s: seconds after which the plan is made from what is known, and says so.

        Raises:
            TypeError: the query is not a string or the history not a list of messages.
        """
        planning = self._begin(query, history, session, deadline_s)
        while planning.asks:
            planning.send(send_round(planning.asks, planning.lm, planning.clock, self._pool) if planning.lm else {})
        return self._keep(planning, history, session)

    async def aplan(
        self,
        query: str,
        history: History = None,
        session: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
    ) -> QueryPlan:
        """As ``plan``, for asyncio."""
        planning = self._begin(query, history, session, deadline_s)
        while planning.asks:
            planning.send(await asend_round(planning.asks, planning.lm, planning.clock) if planning.lm else {})
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

    def _begin(
        self, query: str, history: History, session: Mapping[str, Any] | None, deadline_s: float | None
    ) -> Planning:
        """A query on its way, up to its first round; done already if the cache has its plan."""
        clock = Clock(deadline_s)
        # DSPy stands between a module and each of its attributes, which takes longer than most of this.
        own = vars(self)
        clean = clean_input(query, history, session, own["card"].history, own["_greetings"])
        lm = self._open() if callable(own["_lm"]) else own["_lm"]
        key = "" if own["cache"] is None or clean.degraded else self._key(clean, lm)
        kept = own["cache"].get(key, query, clock.started) if key else None
        return Planning(self.make_flow(self._parts(lm is not None), query, clean, clock), key, lm, kept)

    def _key(self, clean: CleanInput, lm: LMHandle | None) -> str:
        who = (self.card.name, self.program_version, repr(self.gate), str(self.plan_graph), repr(self.notes))
        model = lm.fingerprint if lm else self._lm_problem
        return plan_key(clean.query, clean.turns, clean.session, *who, *self._retrieval.stands_on(clean.session), model)

    def _keep(self, planning: Planning, history: History, session: Mapping[str, Any] | None) -> QueryPlan:
        cache, log = vars(self)["cache"], vars(self)["log"]
        if planning.key and not planning.kept:
            cache.put(planning.key, planning.done)
        if log is not None:
            log.log(planning.done, history, session)
        return planning.done

    def _parts(self, has_lm: bool) -> Parts:
        own = vars(self)
        heads, problem, plan_graph = own["heads"], own["_lm_problem"], own["plan_graph"]
        return Parts(
            card=own["card"],
            linker=own["_linker"],
            heads=heads,
            predictors=own["_asking"] or self._asked(),
            greetings=own["_greetings"],
            retrieval=own["_retrieval"],
            has_lm=has_lm,
            combinations=own["combinations"],
            joint=heads.joint if heads else {},
            gate=own["gate"],
            whole=own["stage_predictors"],
            plan_graph=plan_graph,
            graph=self._graphs() if plan_graph else None,
            lm_missing=problem or "no language model was given",
            lm_failed=bool(problem),
            version=own["_version"] or self.program_version,
            notes=own["notes"],
        )

    def _open(self) -> LMHandle | None:
        """The model, opened at the first query; one that cannot be opened is tried again by ``warm`` alone."""
        with self._opening:
            if callable(self._lm):
                with suppress(Exception):  # whatever it is, the plan goes on without a model and says so
                    self._try_to_open(self._lm)
            return None if callable(self._lm) else self._lm

    def _try_to_open(self, opener: Opener) -> None:
        try:
            self._lm, self._lm_problem, self._unopened = opener(), "", None
        except Exception as error:
            self._lm, self._lm_problem, self._unopened = None, _why_closed(error), opener
            raise

    # -- models and programs ----------------------------------------------------------------------

    @property
    def program_version(self) -> str:
        """Name of this program's content; changes whenever the same query could get another plan."""
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
        self.manifest, self._version, self._asking = None, None, None
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

    def with_lm(self, lm: LMHandle | Opener | None) -> QueryPlanner:
        """Use another model from now on; returns self."""
        self._lm, self._lm_problem, self._unopened = lm, "", None
        return self

    @property
    def lm_name(self) -> str:
        """What the opened language model is called, weights included; "none" where none is open. Opens nothing."""
        return "none" if self._lm is None or callable(self._lm) else self._lm.fingerprint

    @property
    def lm_problem(self) -> str:
        """Why the language model that plans should have cannot be opened; empty where nothing is wrong."""
        return self._lm_problem

    def warm(self) -> None:
        """Open the model and let it read every prefix, so that the first query is as fast as the next.

        A model that could not be opened before is tried again.

        Raises:
            QueryPlanError: the model cannot be opened; plans are made without it from then on.
        """
        with self._opening:
            opener = self._lm if callable(self._lm) else self._unopened
            if opener is not None:
                self._try_to_open(opener)
        if self._lm is not None:
            self._lm.warm(self._prefixed())

    def _prefixed(self) -> list[dspy.Predict]:
        """Every predictor that a query may ask, with what lets the model help the ranking of graph plans."""
        asked = [predictor for name, predictor in self._asked().items() if name != "graph" or self.plan_graph]
        if self.plan_graph and (graphs := self._graphs()) is not None:
            asked.append(new_restate_predictor(graphs.schema))
        return asked

    def _asked(self) -> dict[str, dspy.Predict]:
        """The predictors that a query may ask, each for the outputs that the model has a say in."""
        if self._asking is None:
            heads = self.heads.heads if self.heads else {}
            silent = {o for o, c in self.combinations.items() if not c.lm_weight and o in heads}
            self._asking = {
                name: narrowed(predictor, outputs)
                for name, predictor in self.stage_predictors.items()
                if (outputs := outputs_of(predictor) - silent) - NOT_ALONE
            }
        return self._asking

    def close(self) -> None:
        """Stop the model if this planner opened one."""
        if isinstance(self._lm, LMHandle):
            self._lm.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def fingerprints(self) -> dict[str, str]:
        """Hashes of what this planner stands on: card, schema, signatures, encoder."""
        return fingerprints(self)

    def state(self, manifest: Manifest) -> ProgramState:
        """Everything a program folder holds, with ``manifest`` completed."""
        return state_of(self, manifest)

    def save(self, folder: str | Path, manifest: Manifest | None = None) -> Manifest:  # type: ignore[override]
        """Write this planner as a program folder and take its version.

        Raises:
            ProgramError: the folder cannot be written; what was there before is intact.
        """
        self.manifest = save_program(self.state(manifest or Manifest(domain=self.card.name)), Path(folder))
        self._version = None
        return self.manifest

    @classmethod
    def load(  # type: ignore[override]
        cls, program: str | Path, lm: LMHandle | Opener | LMSettings | str | None = "as compiled", **options: Any
    ) -> QueryPlanner:
        """Load a compiled program; no code of it is run.

        Args:
            program: a folder, or ``models:/NAME@ALIAS`` of an MLflow registry.
            lm: a model name, settings, an opened model, or None for rules and heads alone. By
                default the model that the program was compiled with. It is opened at the first plan.
            options: as for the constructor.

        Raises:
            ProgramError: not a program, altered, or not of this version; the file is named.
        """
        from .registry import resolve

        state = load_program(resolve(program))
        name = state.manifest.lm if lm == "as compiled" else lm
        gate = {"mode": state.manifest.mode, "bound": state.manifest.bound}
        planner = cls(state.card, heads=heads_of(state), lm=opener(name), **{**gate, **options})
        restore(planner, state)
        return planner


def opener(lm: LMHandle | Opener | LMSettings | str | None) -> LMHandle | Opener | None:
    """A function that opens the model when it is first needed; what is open already stays as it is."""
    if lm is None or lm == "none" or isinstance(lm, LMHandle):
        return lm if isinstance(lm, LMHandle) else None
    if isinstance(lm, str):
        return lambda: open_lm(LMSettings(model=lm))
    return (lambda: open_lm(lm)) if isinstance(lm, LMSettings) else lm


def _linker_of(card: DomainCard, heads: Heads | None) -> Linker:
    """That of the heads, which have looked at a query before the plan asks for its names."""
    linker = heads.features.linker if heads is not None else None
    return linker if linker is not None and linker.names == card.names else Linker(card.names)


def _why_closed(error: Exception) -> str:
    """Our own words, or the kind of error: a foreign message may hold a key or an address."""
    if isinstance(error, QueryPlanError):
        return str(error)
    return f"the language model could not be opened ({type(error).__name__})"
