"""Settings: from flags, then ``QUERYPLAN_*`` in the environment, then ``queryplan.toml`` in the current folder.

API keys are not settings: they are read from the environment where a request is made (``QUERYPLAN_API_KEY``, or the
provider's own variable), and refused in files.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ..errors import ConfigError
from ..program.lm.endpoint import LMSettings
from ..signatures.problems import said_of

ADDRESS = re.compile(r"https?://[^\s@]+")
FILE = "queryplan.toml"
PREFIX = "QUERYPLAN_"

OTHER_VARIABLES = frozenset({"API_KEY", "BENCHMARKS", "CACHE", "DEBUG", "PLAN_LOG", "PLAN_LOG_TEXT", "SERVE_TOKEN"})
"""Environment variables with the prefix ``QUERYPLAN_`` that are not settings of a command."""


class Settings(BaseModel):
    """What a command takes from flags, environment and file.

    Attributes:
        lm: a DSPy model name, ``local``, ``local:0.5b`` or ``none``; the command decides when not given.
        api_base: the base URL of an OpenAI-compatible server.
        tracking_uri: where MLflow keeps runs and versions.
        programs_dir: where compiled programs are written, one folder for each domain.
        journal: the file with language model calls that were already paid for.
        timeout: seconds to wait for an answer of the language model.
        encoder: what embeds texts for heads that are trained; see ``program/heads/encoders.py``.
        gate: a table of what `queryplan promote` requires; see ``eval/gate/settings.py``.
        prices: a table of dollars per million tokens, by the name of the model; see ``eval/prices.py``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    lm: str | None = Field(default=None, min_length=1)
    api_base: str | None = None
    tracking_uri: str = Field(default="sqlite:///.queryplan/mlflow.db", min_length=1)
    programs_dir: Path = Path(".queryplan/programs")
    journal: Path = Path(".queryplan/journal.sqlite")
    timeout: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    encoder: Literal["auto", "static", "minilm"] = "auto"
    gate: dict[str, Any] = {}
    prices: dict[str, Any] = {}

    @field_validator("api_base")
    @classmethod
    def _is_address(cls, given: str | None) -> str | None:
        if given is not None and not ADDRESS.fullmatch(given):
            raise ValueError("give an address such as http://localhost:8000/v1, without a name or a password")
        return given

    def lm_settings(self, default: str = "local") -> LMSettings:
        """The settings for opening a language model; ``default`` is used if none was named."""
        return LMSettings(model=self.lm or default, api_base=self.api_base, timeout_s=self.timeout)


def load_settings(**flags: Any) -> Settings:
    """The settings in force.

    Args:
        flags: what the command line gave; None means not given.

    Raises:
        ConfigError: a setting is unknown or wrong (with its name and where it was given), or a file cannot be read.
    """
    merged: dict[str, Any] = {}
    for where, values in _sources(flags):
        _check(where, values)
        merged.update(values)
    return Settings(**merged)


def _sources(flags: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The sources of settings with their values; later ones override earlier ones."""
    yield FILE, _from_file(Path(FILE))
    # MLflow's own variable, for those who have it set; ours takes precedence.
    uri = os.environ.get("MLFLOW_TRACKING_URI")
    yield "MLFLOW_TRACKING_URI", {"tracking_uri": uri} if uri else {}
    yield "the environment", _from_environment(os.environ)
    yield "the command line", {name: value for name, value in flags.items() if value is not None}


def _from_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} cannot be read as UTF-8 text; save it as UTF-8 or move it away.") from error
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be read ({error}); mend it or move it away.") from error


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    named = {k.removeprefix(PREFIX): v for k, v in environment.items() if k.startswith(PREFIX) and v.strip()}
    return {name.lower(): value for name, value in named.items() if name not in OTHER_VARIABLES}


def _check(where: str, values: Mapping[str, Any]) -> None:
    """Check one source by itself, so that the message can say where the mistake is."""
    for name in values:
        if where != "the environment" and "key" in name.lower():
            raise ConfigError(f"{where} sets {name}: keys are read only from the environment (QUERYPLAN_API_KEY).")
        if name not in Settings.model_fields:
            shown = f"{PREFIX}{name.upper()}" if where == "the environment" else name
            known = ", ".join(sorted(Settings.model_fields))
            raise ConfigError(f"{where} sets {shown}, which is no setting; the settings are {known}.")
    try:
        Settings(**values)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        why = said_of(first)
        raise ConfigError(f"{where} sets {first['loc'][0]} to something unusable: {why}.") from None
