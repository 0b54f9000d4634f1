"""The job behind ``queryplan compile``: from labelled rows to a registered program.

The job trains heads, compiles the stages, fits how model and heads are combined, saves the program folder, measures it
on ``test`` beside its rivals, and writes everything into MLflow. Every language model call goes through a journal and
every measured row into a file, so that a stopped job continues without paying again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import __version__
from ..data.domain import Domain, rows_hash
from ..data.fingerprints import text_fingerprint
from ..data.learned import prints_of, seen_among
from ..data.rows import LabelledRow
from ..errors import UserError
from ..eval.baselines import ConstantPlanner, TfidfPlanner
from ..eval.cascade.best_effort import cascade_notes
from ..eval.cascade.head_answers import head_answers
from ..eval.cascade.tables import CascadeTables, cascade_tables
from ..eval.evaluation import Evaluation, Planner, evaluate
from ..eval.metrics import Judge
from ..eval.report import Report, build_report
from ..eval.sampling import Sample, sample_rows
from ..eval.summary import Summary
from ..eval.test_readings import file_of_test, measured_on, told_reading
from ..program.artifact.folder import Manifest, check_replaceable
from ..program.artifact.planner_state import content_hash
from ..program.bound import Bound
from ..program.heads.encoder import default_encoder
from ..program.heads.encoders import closer_encoder
from ..program.heads.heads import Heads
from ..program.heads.lending import Lent, lending_counts, lending_words, lent_rows
from ..program.heads.training import train_heads, training_time
from ..program.lm.endpoint import LMHandle, open_lm
from ..program.lm.engine import asked_anew
from ..program.lm.journal import CallJournal
from ..program.opening import OWN_ADDRESS
from ..program.planner import QueryPlanner
from ..program.settle import Combination, head_alone
from ..program.stages import DECIDING, stage_specs
from .base import Optimizer, Progress, StageResult
from .bounding import fit_bound
from .cascade import Cascade
from .compiling import compile_stages
from .graph import domain_graph, graph_index, graph_metric, learn_graph
from .job_contract import JobSettings, Outcome, Weighed
from .opinions import fit_combinations
from .registry import make_optimizer
from .trials import WRITTEN_DEV
from .writing import RIVALS, fit_writing, unmeasured

COLUMNS = (
    "constant",
    "tf-idf",
    "heads alone",
    "zero-shot",
    "zero-shot + thresholds",
    "model decides",
    "best effort",
    "compiled",
)
RIVAL = "zero-shot + thresholds"
PURE = ("zero-shot", "thresholds")  # optimizers whose programs show what the model does without heads

Counted = Callable[[str, int, int], None]


class CompileJob:
    """One compile job; create it, then call ``run``."""

    def __init__(self, domain: Domain, settings: JobSettings) -> None:
        self.domain = domain
        self.settings = settings
        self.optimizer = make_optimizer(settings.optimizer, **settings.arguments)
        self.specs = stage_specs(domain.card)
        if unknown := set(settings.stages) - self.specs.keys():
            raise UserError(f"there is no stage {', '.join(sorted(unknown))}; give some of {', '.join(self.specs)}")

    def run(self, progress: Progress, counted: Counted, say: Callable[[str], None]) -> Outcome:
        """Compile, save, measure.

        Args:
            progress: is told about the progress of compiling.
            counted: is called while measuring, with (column, rows done, rows in all).
            say: is called with a sentence on each part that begins.

        Raises:
            QueryPlanError: the model cannot be opened, or the disk cannot be written.
        """
        if self.settings.out is not None:
            check_replaceable(self.settings.out)
        say(f"rows: {self.sample_words or 'all'}; data {self.domain.fingerprint}, card {self.domain.card.fingerprint}")
        with closing(CallJournal(self.settings.journal)) as journal:
            lm = open_lm(self.settings.lm, journal)
            with closing(lm) if lm is not None else nullcontext():
                return self._run(lm, progress, counted, say)

    def _run(self, lm: LMHandle | None, progress: Progress, counted: Counted, say: Callable[[str], None]) -> Outcome:
        rows = self.domain.rows("train")
        say(f"training heads (no language model){training_time(rows, self._lent)}")
        if self._lent:
            say(f"heads learn from {len(rows)} rows{lending_words(lending_counts(self._lent))}")
        closer = closer_encoder(self.settings.encoder)
        heads = train_heads(rows, self.domain.card, default_encoder(), self.settings.seed, self._lent, closer)
        rival: dict[str, StageResult] = {}
        results: dict[str, StageResult] = {}
        weighed: list[Weighed] = []
        if lm is not None:
            lm.decider.check_answer_words(self._questions())
            say(f"compiling with {lm.fingerprint}")
            rival = self._compile(make_optimizer("thresholds"), lm, progress, DECIDING)
            results = self._compile(self.optimizer, lm, progress, self.settings.stages)
            weighed = self._weigh(results, heads, lm)
        planners = self._planners(lm, heads, rival, results, weighed)
        if "graph" in self.settings.stages:
            say("learning to rank graph plans (no language model)")
            learned = learn_graph(self.domain, self._rows("train"), self.settings.seed)
            planners["compiled"].with_graph(learned, graph_index(self.domain)).plan_graph = True
        bound = self._bound(planners["compiled"], say)
        planners["compiled"].learned = self._learned
        manifest, folder = self._save(planners["compiled"], lm, results, weighed)
        evaluations = self._measure(planners, counted, say)
        tables = self._tables(heads, evaluations) if bound is not None else None
        report = self._report(evaluations, weighed, bound, tables)
        final = manifest.model_copy(update={"metrics": _metrics(evaluations[-1].summary())})
        manifest = planners["compiled"].save(folder, final)
        return Outcome(
            folder,
            manifest,
            report,
            tuple(evaluations),
            results,
            tuple(weighed),
            self.optimizer,
            self.sample_words,
            tables,
            {split: len(sample.rows) for split, sample in self.samples.items()},
            self._read(lm is not None, bound is not None),
        )

    def _tables(self, heads: Heads, evaluations: Sequence[Evaluation]) -> CascadeTables:
        """Tables of risk, reliability and coverage on the rows just measured."""
        return cascade_tables(head_answers(heads, self._rows("test"), self.domain.card), evaluations)

    # -- rows ------------------------------------------------------------------------------------

    @cached_property
    def samples(self) -> dict[str, Sample]:
        """The rows of each split that this job uses."""
        splits = ("train", "dev", "test")
        return {
            s: sample_rows(rows := self.domain.rows(s), self.settings.sizes.get(s, len(rows)), self.settings.seed, s)
            for s in splits
        }

    @cached_property
    def _lent(self) -> tuple[Lent, ...]:
        """The rows that other domains lend to the heads."""
        return lent_rows(self.domain.rows("train"), self.domain.card) if self.settings.lending else ()

    @cached_property
    def _learned(self) -> str:
        """Fingerprints of the rows that the program learns from; without a model these are those of the heads alone."""
        alone = self.settings.lm.model == "none"
        fitted = () if alone else (*self._rows("dev"), *self.domain.splits.get("calibrate", ()))
        return prints_of((*self.domain.rows("train"), *fitted))

    def _read(self, asked: bool, bounded: bool) -> dict[str, Sequence[LabelledRow]]:
        """Rows by split: heads learn from ``train`` and ``lent``, ``dev`` weighs a model, ``calibrate`` bounds."""
        read: dict[str, Sequence[LabelledRow]] = {"train": self.domain.rows("train")}
        read["lent"] = [row for one in self._lent for row in one.rows]
        read["dev"] = self._rows("dev") if asked else ()
        read["calibrate"] = self.domain.splits.get("calibrate", ()) if bounded else ()
        return {split: rows for split, rows in read.items() if rows}

    @property
    def sample_words(self) -> str | None:
        """A sentence on how the rows were drawn, or None if all are used."""
        used = self.samples
        whole = all(len(sample.rows) == len(self.domain.rows(split)) for split, sample in used.items())
        return None if whole else "; ".join(sample.name for sample in used.values())

    def _rows(self, split: str) -> tuple[LabelledRow, ...]:
        return self.samples[split].rows

    # -- compiling ----------------------------------------------------------------------------------

    def _questions(self) -> dict[str, Any]:
        """Every decision question, as DSPy would ask it."""
        from ..signatures.seam import DecisionState

        questions: dict[str, Any] = {}
        for name in DECIDING:
            signature = self.specs[name].signature
            state = DecisionState(signature, {}, system_one=True)
            for output, kind in state.types.items():
                questions[output] = state._question(output, signature.output_fields[output], kind)
        return questions

    def _compile(
        self, optimizer: Optimizer, lm: LMHandle, progress: Progress, stages: Sequence[str]
    ) -> dict[str, StageResult]:
        return compile_stages(
            self.specs,
            self._rows("train"),
            self._rows("dev"),
            self.domain.card,
            optimizer,
            lm,
            stages=[s for s in stages if s in self.settings.stages],
            seed=self.settings.seed,
            max_calls=self.settings.max_calls,
            progress=progress,
            metrics={"graph": graph_metric(domain_graph(self.domain))} if "graph" in self.settings.stages else {},
        )

    def _weigh(self, results: Mapping[str, StageResult], heads: Heads, lm: LMHandle) -> list[Weighed]:
        """Fit how model and heads are combined, for the stages that this job compiled; nothing for ``PURE`` ones."""
        if self.optimizer.name in PURE:
            return []
        predictors = {name: result.predictor for name, result in results.items()}
        specs = {name: self.specs[name] for name in results}
        dev, card, seed = self._rows("dev"), self.domain.card, self.settings.seed
        weighed: list[Weighed] = [*fit_combinations(specs, predictors, heads, dev, card, lm, seed)]
        scored = self.optimizer.arguments().get("written_dev", WRITTEN_DEV)
        for name in [name for name in RIVALS if name in results]:
            found = fit_writing(specs[name], predictors[name], heads, dev, card, lm, scored, seed)
            weighed += [found] if found is not None else []
        return weighed

    def _planners(
        self,
        lm: LMHandle | None,
        heads: Heads,
        rival: Mapping[str, StageResult],
        results: Mapping[str, StageResult],
        weighed: Sequence[Weighed],
    ) -> dict[str, Any]:
        card = self.domain.card
        train = self.domain.rows("train")
        planners: dict[str, Any] = {"constant": ConstantPlanner(train), "tf-idf": TfidfPlanner(train)}
        if lm is not None:
            planners["heads alone"] = QueryPlanner(card, heads=heads)
            planners["zero-shot"] = QueryPlanner(card, heads=heads, lm=lm)
            fitted = {name: result.predictor for name, result in rival.items()}
            planners[RIVAL] = QueryPlanner(card, heads=heads, lm=lm).use(fitted)
        combinations = self._combinations(heads, weighed, has_lm=lm is not None)
        predictors = {name: result.predictor for name, result in results.items()}
        if isinstance(self.optimizer, Cascade):
            if lm is not None:
                planners["model decides"] = QueryPlanner(card, heads=heads, lm=lm).use(predictors, combinations)
            effort = QueryPlanner(card, heads=heads, lm=lm, mode="best-effort")
            planners["best effort"] = effort.use(predictors, combinations)
        planners["compiled"] = QueryPlanner(card, heads=heads, lm=lm).use(predictors, combinations)
        return planners

    def _combinations(self, heads: Heads, weighed: Sequence[Weighed], has_lm: bool) -> dict[str, Combination]:
        """The fitted combinations, and the head alone where none was fitted; empty for ``PURE`` optimizers."""
        if self.optimizer.name in PURE:
            return {}
        alone = {name: head_alone(head.labels) for name, head in heads.heads.items()}
        written = unmeasured(heads) if has_lm else {}
        return {**alone, **written, **{w.output: w.combination for w in weighed}}

    def _bound(self, planner: QueryPlanner, say: Callable[[str], None]) -> Bound | None:
        """Fit the bound of a cascade on ``calibrate`` and put the planner into its mode."""
        optimizer = self.optimizer
        if not isinstance(optimizer, Cascade) or planner.heads is None:
            return None
        rows = self.domain.splits.get("calibrate", ())
        bound = fit_bound(
            planner.heads, rows, self.domain.card, optimizer.error, optimizer.confidence, self.settings.seed
        )
        say(bound.sentence)
        planner.in_mode(optimizer.mode, bound)
        return bound

    def _save(
        self,
        planner: QueryPlanner,
        lm: LMHandle | None,
        results: Mapping[str, StageResult],
        weighed: Sequence[Weighed],
    ) -> tuple[Manifest, Path]:
        manifest = Manifest(
            domain=self.domain.card.name,
            lm=lm.name if lm else "none",
            fingerprints={"data": self.domain.fingerprint, **({"lm": lm.fingerprint} if lm else {})},
            compiled={
                "optimizer": self.optimizer.name,
                "arguments": self.optimizer.arguments(),
                "stages": list(results),
                "chosen": {name: result.chosen for name, result in results.items()},
                "seed": self.settings.seed,
                "sample": self.sample_words,
                "code": __version__,
                "weighed": [w.sentence for w in weighed],
                **({"lent": lending_counts(self._lent)} if self._lent else {}),
                **({OWN_ADDRESS: True} if self.settings.lm.api_base else {}),
            },
        )
        folder = self.settings.out or self._folder(planner)
        return planner.save(folder, manifest), folder

    def _folder(self, planner: QueryPlanner) -> Path:
        """The program's folder, named by its content and what it came from: the same again gets the same folder."""
        name = text_fingerprint(content_hash(planner), self.settings.lm.model, self._key, str(self.settings.seed))[:10]
        return self.settings.programs / self.domain.card.name / f"{self.optimizer.name}-{name}"

    # -- measuring -------------------------------------------------------------------------------------

    @cached_property
    def _key(self) -> str:
        """A hash of data, card, test rows and model; only a job with the same key is continued."""
        parts = (self.domain.fingerprint, self.domain.card.fingerprint, rows_hash(self._rows("test")))
        return text_fingerprint(*parts, self.settings.lm.model, str(self.settings.lm.api_base))

    def _measure(self, planners: Mapping[str, Any], counted: Counted, say: Callable[[str], None]) -> list[Evaluation]:
        test, version = file_of_test(self.domain.folder), planners["compiled"].program_version
        same = measured_on(version, planners["compiled"].lm_name, self._rows("test"), planners["compiled"].plan_graph)
        said = told_reading(test, version, self.settings.why, same)
        say(f"measuring on test: {said}")
        evaluations = []
        for column in (c for c in COLUMNS if c in planners):
            evaluations.append(self._evaluate(column, planners[column], counted))
        self._notes = (said,)
        return evaluations

    def _evaluate(self, column: str, planner: Planner, counted: Counted) -> Evaluation:
        name = "".join(c if c.isalnum() else "-" for c in f"{column} {planner.program_version}")
        resume = self.settings.work / f"{self.domain.card.name}-{self._key}" / f"{name}.jsonl"
        # The rival asks what zero-shot asked, so its answers come from the journal, and its times mean nothing.
        replayed = column == RIVAL
        with nullcontext() if replayed else asked_anew():
            return evaluate(
                _warm(planner),
                self._rows("test"),
                name=column,
                progress=lambda done, total: counted(column, done, total),
                resume=resume,
                sample=self.sample_words,
                replayed=replayed,
                domain=self.domain.card.name,
                lm=planner.lm_name if isinstance(planner, QueryPlanner) else "none",
                judge=self._judge,
                seen=seen_among(self._rows("test"), self._learned),
            )

    @cached_property
    def _judge(self) -> Judge | None:
        """The judge, which has the domain's graph if graph steps are compiled."""
        if "graph" not in self.settings.stages:
            return None
        return Judge(graph=domain_graph(self.domain), schema=self.domain.card.graph)

    def _report(
        self,
        evaluations: Sequence[Evaluation],
        weighed: Sequence[Weighed],
        bound: Bound | None = None,
        tables: CascadeTables | None = None,
    ) -> Report:
        names = [e.name for e in evaluations]
        rival = RIVAL if RIVAL in names else None
        shown = (bound.sentence, *cascade_notes({e.name: e for e in evaluations})) if bound else ()
        curves = tables.sentences if tables is not None else ()
        notes = (*self._notes, *shown, *curves, *(w.sentence for w in weighed))
        title = f"{self.domain.card.name}: {self.optimizer.name} with {self.settings.lm.model}"
        return build_report(evaluations, title=title, compiled="compiled", rival=rival, notes=notes)


def _warm(planner: Any) -> Any:
    """Let the model process the fixed beginnings of prompts, so that the first row is not slower than the others."""
    if isinstance(planner, QueryPlanner):
        planner.warm()
    return planner


def _metrics(summary: Summary) -> dict[str, Any]:
    """The metrics for the manifest: each accuracy with its interval, and latency."""
    kept = {row.stage: row.accuracy.model_dump() for row in summary.stages}
    whole = {name: getattr(summary, name).model_dump() for name in ("labels_right", "plan_right", "lm_calls")}
    return {**kept, **whole, "p50_ms": summary.latency.p50.model_dump(), "p95_ms": summary.latency.p95.model_dump()}
