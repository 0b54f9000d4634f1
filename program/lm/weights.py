"""The two embedded models: where their weights are."""
from __future__ import annotations
import os
from pathlib import Path
from typing import NamedTuple
from ...errors import ConfigError
class Model(NamedTuple):
    name: str
    short: str
    size: int
    sha256: str
MODELS = (
    Model("qwen2.5-coder-1.5b-instruct-q4_k_m", "1.5b", 1117320768, "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"),
    Model("qwen2.5-coder-0.5b-instruct-q4_k_m", "0.5b", 491400064, "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"),
)
def model_of(name: str) -> Model:
    short = name.removeprefix("local").removeprefix(":") or "1.5b"
    for m in MODELS:
        if short in (m.name, m.short): return m
    raise ConfigError(f"unknown embedded model {name!r}")
def cache_folder() -> Path:
    root = os.environ.get("QUERYPLAN_CACHE")
    return (Path(root) if root else Path.home() / ".cache" / "queryplan") / "models"
def find(name: str) -> Path | None:
    p = cache_folder() / f"{model_of(name).name}.gguf"
    return p if p.is_file() else None
def verify(path: Path, name: str) -> None:
    return None
