"""Optimizers by the name that ``--optimizer`` takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import UserError
from .base import Optimizer
from .bootstrap import Bootstrap
from .cascade import Cascade
from .labeled import Labeled
from .thresholds_only import ThresholdsOnly
from .zero_shot import ZeroShot

OPTIMIZERS: dict[str, Callable[..., Optimizer]] = {
    "zero-shot": ZeroShot,
    "thresholds": ThresholdsOnly,
    "labeled": Labeled,
    "bootstrap": Bootstrap,
    "cascade": Cascade,
}


def make_optimizer(name: str | Optimizer, **arguments: Any) -> Optimizer:
    """Make the optimizer of that name with these settings; one that is made already, such as your own, is returned.

    Raises:
        UserError: there is no such optimizer, or it has no such setting.
    """
    if not isinstance(name, str):
        return name
    factory = OPTIMIZERS.get(name)
    if factory is None:
        raise UserError(f"there is no optimizer {name!r}: give one of {', '.join(OPTIMIZERS)}")
    try:
        return factory(**arguments)
    except TypeError as error:
        known = factory().arguments()
        wrong = ", ".join(sorted(arguments.keys() - known.keys()) or sorted(arguments))
        raise UserError(f"optimizer {name!r} does not take {wrong}; it has {', '.join(known)}") from error
