"""The cost of plans in money: prices of language models from the table ``[prices]`` of ``queryplan.toml``.

No price is built in, for they change and depend on the contract; a model without a price is reported as unknown,
never as free.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import Field, ValidationError

from ..errors import ConfigError, UserError
from ..signatures.types import Frozen
from .row_table import RowResult
from .statistics import Estimate, clustered_interval

PER = 1_000_000
PLANS = 1_000
"""The number of plans for which money is reported; one plan costs fractions of a cent."""

LOCAL = "local"
"""The name in the table for every embedded model."""


class Price(Frozen):
    """A price in dollars for a million tokens.

    Attributes:
        prompt: price of tokens that the model reads.
        completion: price of tokens that it writes.
    """

    prompt: float = Field(ge=0, allow_inf_nan=False)
    completion: float = Field(ge=0, allow_inf_nan=False)

    def dollars(self, tokens: int, completion: int | None) -> float | None:
        """Dollars for ``tokens``, of which ``completion`` were written; None if that matters and was not counted."""
        if completion is None and tokens and self.prompt != self.completion:
            return None
        written = completion or 0
        return ((tokens - written) * self.prompt + written * self.completion) / PER

    def __str__(self) -> str:
        if self.prompt == self.completion:
            return f"${self.prompt:g} a million tokens"
        return f"${self.prompt:g} a million tokens read and ${self.completion:g} written"


class Prices(Frozen):
    """Prices by the name of the model, as ``--lm`` takes it; ``local`` is every embedded one."""

    models: dict[str, Price] = {}

    def of(self, lm: str) -> Price | None:
        """The price of a model by its name, with or without the hash of its weights; None if unknown."""
        bare = lm.partition("@")[0]
        names = (lm, bare, LOCAL) if bare.partition("/")[0].partition(":")[0] == LOCAL else (lm, bare)
        return next((self.models[name] for name in names if name in self.models), None)


def prices_of(table: Mapping[str, Any]) -> Prices:
    """The prices of a ``[prices]`` table: ``"openai/gpt-4o-mini" = {prompt = 0.15, completion = 0.6}``, or one number.

    Raises:
        ConfigError: an entry is not a price; it is named.
    """
    try:
        return Prices(models={name: _price(value) for name, value in table.items()})
    except (ValidationError, TypeError):
        wrong = next(name for name, value in table.items() if not _usable(value))
        raise ConfigError(
            f"queryplan.toml sets prices.{wrong} to something that is no price: give dollars a million tokens, "
            "{prompt = 0.15, completion = 0.6} or one number for both"
        ) from None


def parse_price(text: str) -> Price:
    """``3`` or ``0.15,0.6`` from a command line.

    Raises:
        UserError: it is not a price.
    """
    try:
        numbers = [float(part) for part in text.split(",")]
        prompt, completion = numbers if len(numbers) == 2 else (*numbers, *numbers)
        return Price(prompt=prompt, completion=completion)
    except ValueError:
        raise UserError(
            f"--price takes dollars a million tokens, such as 3 or 0.15,0.6 (read, written), not {text!r}"
        ) from None


def dollars_of(rows: Sequence[RowResult], price: Price | None) -> Estimate | None:
    """Dollars for a thousand such plans, with an interval; 0 if no token was spent, None if unknown."""
    if not any(row.score.tokens for row in rows):
        price = price or Price(prompt=0, completion=0)
    if price is None or not rows:
        return None
    found = [price.dollars(row.score.tokens, row.score.completion_tokens) for row in rows]
    known = [dollars * PLANS for dollars in found if dollars is not None]
    if len(known) < len(found):
        return None
    return clustered_interval(np.array(known), [row.conversation for row in rows])


def money(found: Estimate | None, lm: str, price: Price | None) -> str:
    """A sentence on what a thousand plans cost, or on why that is unknown."""
    if found is not None and not found.high:
        return "Plans cost no money: no tokens were spent, or they are free."
    if found is not None:
        return f"A thousand plans cost {in_dollars(found)} at {price}."
    if price is not None:
        return "What plans cost in money is unknown: written tokens were not counted; evaluate again."
    who = lm or "its language model"
    return f"What plans cost in money is unknown: set a price for {who!r} under [prices] in queryplan.toml."


def in_dollars(found: Estimate) -> str:
    """``$0.42 [0.40, 0.44]``, with two significant digits."""
    digits = max(2, 1 - math.floor(math.log10(found.high))) if found.high else 2
    return f"${found.bracketed(f'.{digits}f')}"


def _price(value: Any) -> Price:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Price(prompt=value, completion=value)
    return Price.model_validate(value)


def _usable(value: Any) -> bool:
    try:
        return bool(_price(value))
    except (ValidationError, TypeError):
        return False
