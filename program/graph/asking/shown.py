"""Shipped demonstrations for requests about graph questions, and predictors that show them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ....errors import DataError

Shown = tuple[dict[str, str], ...]


def read_demonstrations(file: Path, fields: Sequence[str]) -> Shown:
    """The demonstrations of a file of the package, each with these fields.

    Raises:
        DataError: the file is not there or not of this version.
    """
    try:
        listed = tomllib.loads(file.read_text(encoding="utf-8"))["demonstration"]
        return tuple({name: str(one[name]) for name in fields} for one in listed)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{file.name} of the package cannot be read ({error}); install it again") from error


def showing(signature: Any, demonstrations: Iterable[Mapping[str, str]], **config: Any) -> Any:
    """A predictor of a signature that shows these demonstrations."""
    import dspy

    predictor = dspy.Predict(signature, **config)
    predictor.demos = [dspy.Example(**one) for one in demonstrations]
    return predictor
