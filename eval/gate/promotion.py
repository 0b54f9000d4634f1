"""Moves an alias through the gate, with the reason recorded, and rolls it back.

The alias in the registry is the truth. Beside it, the registered model remembers in the tag
``queryplan.ALIAS.before`` which versions had it, oldest first and once for each time, so that a rollback knows where
to go.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

from ...errors import ConfigError, DataError
from ...program.artifact.registry import client, public_uri, speaking_to_mlflow
from ...signatures.types import Frozen
from ..evaluation import Evaluation
from ..prices import Prices
from ..tracking.public import public_value
from ..tracking.stored import measured_of_run, runs_of_version
from .judging import GateResult, judge
from .report import gate_markdown
from .settings import GateSettings

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput, Run
    from mlflow.entities.model_registry import ModelVersion
    from mlflow.tracking import MlflowClient

PREFIX = "queryplan-"
_REMEMBERED = 20


class Promotion(Frozen):
    """The outcome of promoting or rolling back an alias.

    Attributes:
        model: the registered model.
        version: the version that was to get the alias.
        before: the version that had it; None if there was none.
        moved: whether it has the alias now.
        why: the reason in words.
        gate: the gate's verdict; None for a rollback.
        run_id: the run that records all this in MLflow; None for a dry run.
    """

    model: str
    alias: str
    version: str
    before: str | None
    moved: bool
    why: str
    gate: GateResult | None = None
    run_id: str | None = None


class Registry:
    """The versions of one registered model in one MLflow registry.

    Args:
        uri: the tracking address.
        model: ``queryplan-DOMAIN``.
        prices: prices of language models, for a ceiling in money; by default those at the time of measuring.
    """

    def __init__(self, uri: str, model: str, prices: Prices | None = None) -> None:
        self.uri, self.model, self.prices = uri, model, prices or Prices()
        self.domain = model.removeprefix(PREFIX)

    def promote(
        self,
        version: str,
        alias: str,
        settings: GateSettings,
        *,
        why: str = "",
        accept_inconclusive: bool = False,
        dry_run: bool = False,
    ) -> Promotion:
        """Give ``version`` the alias if it passes the gate, and record why or why not.

        Args:
            version: a number, or ``@`` and another alias, such as ``@challenger``.
            why: the person's own reason.
            accept_inconclusive: let through what the rows could not decide; never what failed.
            dry_run: judge, and change nothing.

        Raises:
            ConfigError: there is no such version, or the server cannot be used.
            DataError: there is nothing to judge by: no evaluation of it, or none on the same rows as the champion's.
        """
        with speaking_to_mlflow(self.uri):
            mlflow = client(self.uri)
            wanted = self._version(mlflow, version)
            champion = self._holder(mlflow, alias)
            result = self._judged(wanted, champion, settings)
            through = result.verdict == "pass" or (accept_inconclusive and result.verdict == "inconclusive")
            words = f"{result.sentence} Reason: {why}" if why else result.sentence
            if through and result.verdict == "inconclusive":
                words = f"accepted although {words}"
            done = Promotion(
                model=self.model,
                alias=alias,
                version=str(wanted.version),
                before=str(champion.version) if champion else None,
                moved=through and not dry_run,
                why=words,
                gate=result,
            )
            return done if dry_run else self._write(mlflow, done)

    def rollback(self, alias: str, *, why: str = "", dry_run: bool = False) -> Promotion:
        """Give the alias back to the version that had it before.

        Raises:
            ConfigError: no version has the alias, or none had it before, or the server cannot be used.
        """
        with speaking_to_mlflow(self.uri):
            mlflow = client(self.uri)
            holder = self._holder(mlflow, alias)
            if holder is None:
                raise ConfigError(f"no version of {self.model} is {alias}: there is nothing to roll back")
            earlier = self._earlier(mlflow, alias, str(holder.version))
            if not earlier:
                raise ConfigError(f"no earlier version of {self.model} was {alias}: promote one instead")
            words = f"rolled back from version {holder.version}. {why}".strip()
            done = Promotion(
                model=self.model,
                alias=alias,
                version=earlier[-1],
                before=str(holder.version),
                moved=not dry_run,
                why=words,
            )
            return done if dry_run else self._write(mlflow, done, earlier[:-1])

    # -- who has what ------------------------------------------------------------------------------

    def _version(self, mlflow: MlflowClient, version: str) -> ModelVersion:
        from mlflow.exceptions import MlflowException

        try:
            if version.startswith("@"):
                found = mlflow.get_model_version_by_alias(self.model, version[1:])
            else:
                found = mlflow.get_model_version(self.model, version)
        except MlflowException as error:
            if error.error_code not in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
                raise
            raise ConfigError(
                f"MLflow at {public_uri(self.uri)} has no version {version} of {self.model}: compile one first"
            ) from error
        if "program_version" not in found.tags:
            raise ConfigError(f"version {version} of {self.model} was not registered by `queryplan compile`")
        return found

    def _holder(self, mlflow: MlflowClient, alias: str) -> ModelVersion | None:
        held = mlflow.get_registered_model(self.model).aliases.get(alias)
        return self._version(mlflow, str(held)) if held is not None else None

    def _earlier(self, mlflow: MlflowClient, alias: str, holder: str) -> list[str]:
        """Versions that had the alias before ``holder`` and still exist, oldest first; the last is not ``holder``."""
        there = {str(v.version) for v in mlflow.search_model_versions(f"name = '{self.model}'")}
        earlier = [version for version in self._remembered(mlflow, alias) if version in there]
        while earlier and earlier[-1] == holder:
            earlier.pop()
        return earlier

    def _remembered(self, mlflow: MlflowClient, alias: str) -> list[str]:
        kept = mlflow.get_registered_model(self.model).tags.get(_tag(alias), "[]")
        try:
            return [str(version) for version in json.loads(kept)]
        except ValueError:
            return []

    # -- judging -------------------------------------------------------------------------------------

    def _judged(self, wanted: ModelVersion, champion: ModelVersion | None, settings: GateSettings) -> GateResult:
        """Judge by the newest rows that both were measured on and neither learned from."""
        ours = self._runs(wanted)
        if not ours:
            raise DataError(
                f"version {wanted.version} of {self.model} has no evaluation in MLflow with the language model that "
                f"it was compiled with ({_lm(wanted) or 'none'}): run `queryplan evaluate "
                f"models:/{self.model}/{wanted.version}` first, without --lm"
            )
        if champion is None or str(champion.version) == str(wanted.version):
            return judge(self._new_to_them([(run,) for run in ours.values()])[0], None, settings)
        theirs = self._runs(champion)
        both = [(run, theirs[digest]) for digest, run in ours.items() if digest in theirs]
        if not both:
            raise DataError(
                f"versions {wanted.version} and {champion.version} of {self.model} were measured on different rows, "
                "each with its own language model: run `queryplan evaluate` for both with the same --data"
            )
        candidate, holder = self._new_to_them(both)
        return judge(candidate, holder, settings)

    def _new_to_them(self, choices: Sequence[tuple[str, ...]]) -> list[Evaluation]:
        """The evaluations of the first runs whose rows neither program learned from, else of the very first."""
        loaded = ([self._loaded(run) for run in runs] for runs in choices)
        first = next(loaded)
        return next((found for found in chain((first,), loaded) if not any(e.seen for e in found)), first)

    def _runs(self, version: ModelVersion) -> dict[str, str]:
        """The newest run on each set of rows, by the rows' fingerprint, newest first.

        Runs with another language model than the compiled one are left out: they say nothing about what the alias
            serves.
        """
        found: dict[str, str] = {}
        runs = runs_of_version(self.uri, self.domain, version.tags["program_version"])
        for run in (run for run in runs if run.data.params.get("lm", "") in ("", _lm(version))):
            digests = [given.dataset.digest for given in _inputs(run) if _measured_on(given)]
            for digest in digests:
                found.setdefault(digest, run.info.run_id)
        return found

    def _loaded(self, run_id: str) -> Evaluation:
        evaluation = measured_of_run(self.uri, run_id).evaluation
        if evaluation.domain and evaluation.domain != self.domain:
            raise DataError(
                f"run {run_id} is of the domain {evaluation.domain}, and {self.model} of another: evaluate it again"
            )
        return evaluation.priced(self.prices.of(evaluation.lm))

    # -- writing -------------------------------------------------------------------------------------

    def _write(self, mlflow: MlflowClient, done: Promotion, before: list[str] | None = None) -> Promotion:
        """Write a run with the reasons, then the alias, then what a later rollback needs."""
        run_id = self._explain(mlflow, done)
        if done.moved:
            if before is None:
                before = self._remembered(mlflow, done.alias)
                before += [done.before] if done.before and done.before != done.version else []
            mlflow.set_registered_model_alias(self.model, done.alias, done.version)
            mlflow.set_registered_model_tag(self.model, _tag(done.alias), json.dumps(before[-_REMEMBERED:]))
        verdict = done.gate.verdict if done.gate else "rolled back to"
        notes = {"gate": verdict, "why": public_value(done.why)[:4000], "run": run_id}
        for name, value in notes.items():
            mlflow.set_model_version_tag(self.model, done.version, f"queryplan.{done.alias}.{name}", value)
        return done.model_copy(update={"run_id": run_id})

    def _explain(self, mlflow: MlflowClient, done: Promotion) -> str:
        known = mlflow.get_experiment_by_name(self.model)
        experiment = known.experiment_id if known else mlflow.create_experiment(self.model)
        tags = {
            "queryplan.kind": "promotion" if done.gate else "rollback",
            "queryplan.domain": self.domain,
            "queryplan.alias": done.alias,
            "queryplan.version": done.version,
            "queryplan.before": done.before or "",
            "queryplan.moved": str(done.moved),
            "queryplan.verdict": done.gate.verdict if done.gate else "",
        }
        when = datetime.now(UTC).isoformat(timespec="seconds")
        name = f"{'promote' if done.gate else 'roll back to'} {done.version} {done.alias}"
        run_id = mlflow.create_run(experiment, run_name=name, tags=tags).info.run_id
        plain = json.loads(done.model_dump_json(exclude={"run_id"}))
        plain["why"] = public_value(done.why)
        mlflow.log_dict(run_id, {"when": when, **plain}, "gate.json")
        mlflow.log_text(run_id, gate_markdown(done.gate) if done.gate else f"{plain['why']}\n", "gate.md")
        mlflow.set_terminated(run_id, "FINISHED")
        return run_id


def planner_models(uri: str) -> list[str]:
    """The registered models that are programs of ours.

    Raises:
        ConfigError: the server cannot be used.
    """
    with speaking_to_mlflow(uri):
        return sorted(m.name for m in client(uri).search_registered_models(f"name LIKE '{PREFIX}%'"))


def _lm(version: ModelVersion) -> str:
    """The language model that a version was compiled with; empty if not recorded."""
    return version.tags.get("lm", "")


def _inputs(run: Run) -> list[DatasetInput]:
    return run.inputs.dataset_inputs if run.inputs else []


def _measured_on(given: DatasetInput) -> bool:
    return any(tag.key == "mlflow.data.context" and tag.value == "eval" for tag in given.tags)


def _tag(alias: str) -> str:
    return f"queryplan.{alias}.before"
