"""Filters what is written into a tracking server: no keys, and no paths of this machine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...program.artifact.registry import public_uri

LEFT_OUT = "(left out)"
# MLflow refuses longer values of a parameter.
_LONGEST = 6000
_SECRET_NAME = re.compile(
    r"api[_-]?key|secret|passw(or)?d|authorization|credential|(access|auth|bearer|refresh)[_-]?token|^token$|^key$",
    re.I,
)
_SECRET_VALUE = re.compile(r"\b(sk|pk|rk|ghp|hf|xox[bp])[-_][A-Za-z0-9_-]{12,}|\bBearer\s+\S+", re.I)
# Absolute, with two parts or more; not the path of a web address.
_POSIX_PATH = re.compile(r"(?<![\w.:/])~?(?:/[\w.@+ -]*[\w.@+-])+/([\w.@+-]+)")
_WINDOWS_PATH = re.compile(r"\b[A-Za-z]:\\(?:[^\\\s\"']+\\)*([^\\\s\"']+)")
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"']+")


def public_params(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """``values`` as flat text, nested names joined by dots, without keys and without paths."""
    return {name: public_value(value)[:_LONGEST] for name, value in _flat(values, prefix)}


def public_value(value: Any) -> str:
    """One value as text: keys left out, absolute paths cut to their last part, addresses without users."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = _SECRET_VALUE.sub(LEFT_OUT, text)
    text = _ADDRESS.sub(lambda match: public_uri(match.group()), text)
    return _WINDOWS_PATH.sub(r"\1", _POSIX_PATH.sub(r"\1", text))


def _flat(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if _SECRET_NAME.search(str(name)):
            yield f"{prefix}{name}", LEFT_OUT
        elif isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
