"""The prompts of a program's predictors in MLflow's prompt registry, one version for each wording."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from ...signatures.types import Frozen

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

LINKED = "mlflow.linkedPrompts"
"""The tag by which MLflow's page shows which prompts a run used."""

_SHA = "queryplan.sha256"
_EXPERIMENTS = "_mlflow_experiment_ids"
# MLflow refuses longer ones.
_LONGEST = 100_000
_CUT = "\n… (cut: MLflow keeps no longer prompt; the whole is in the program's predictors.json)"


class PromptText(Frozen):
    """The prompt of a predictor, with its inputs as ``{{name}}``.

    Attributes:
        name: the stage, followed by the output asked for if the stage has several predictors.
        messages: (role, text), in the order they are sent.
    """

    name: str
    messages: tuple[tuple[str, str], ...]

    def template(self) -> list[dict[str, str]]:
        """The messages as MLflow takes them, cut where they are longer than it takes."""
        messages = [{"role": role, "content": text} for role, text in self.messages]
        while (over := len(json.dumps(messages)) - _LONGEST) > 0:
            longest = max(messages, key=lambda message: len(message["content"]))
            # Escaping can turn one character into six of JSON; a few rounds of this end under the limit.
            kept = max(0, len(longest["content"]) - over // 6 - len(_CUT) - 1)
            longest["content"] = longest["content"][:kept] + _CUT
        return messages


def register_prompts(
    mlflow: MlflowClient, run_id: str, model: str, prompts: tuple[PromptText, ...], model_id: str | None
) -> list[dict[str, str]]:
    """Register each prompt as ``MODEL.NAME``, a new version only for a new wording, and link run and model to it.

    Returns:
        The name and version of each, in the form of MLflow's tag.

    Raises:
        mlflow.exceptions.MlflowException: the server refuses.
    """
    if not prompts:
        return []
    experiment = mlflow.get_run(run_id).info.experiment_id
    linked = [_registered(mlflow, f"{model}.{prompt.name}", prompt, experiment) for prompt in prompts]
    # MLflow's own way of linking looks the run up at its global tracking address (3.17.2).
    mlflow.set_tag(run_id, LINKED, json.dumps(linked))
    if model_id is not None:
        mlflow.set_logged_model_tags(model_id, {LINKED: json.dumps(linked)})
    return linked


def _registered(mlflow: MlflowClient, name: str, prompt: PromptText, experiment: str) -> dict[str, str]:
    template = prompt.template()
    sha = hashlib.sha256(json.dumps(template).encode()).hexdigest()
    if mlflow.get_prompt(name) is None:
        mlflow.create_prompt(name, tags={_EXPERIMENTS: f",{experiment},"})
    same = mlflow.search_model_versions(
        f"name = '{name}' AND tag.`mlflow.prompt.is_prompt` = 'true' AND tag.`{_SHA}` = '{sha}'"
    )
    version = same[0].version if same else mlflow.create_prompt_version(name, template, tags={_SHA: sha}).version
    return {"name": name, "version": str(version)}
