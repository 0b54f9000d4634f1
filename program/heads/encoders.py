"""Encoders by name: the one that a program says it needs, and the one of the heads that look closer."""

from __future__ import annotations

from ...errors import ConfigError
from .encoder import Encoder, StaticEncoder, default_encoder
from .minilm import MINILM, PLAIN, WHOLE, MiniLm, minilm_encoder, missing_packages

AUTO, STATIC = "auto", "static"
CHOICES = (AUTO, STATIC, "minilm")
"""What may be chosen: ``static`` vectors alone; ``minilm`` where these leave a doubt, too (``closer.py``); ``auto``
is ``minilm`` where its extra is installed."""


def encoder_named(name: str) -> Encoder:
    """An encoder by its own name, as a program gives it; an empty name is the static one, as in older programs.

    Raises:
        ConfigError: there is no encoder of that name, or it is not installed.
    """
    if name in ("", StaticEncoder.name):
        return default_encoder()
    if name in (MINILM, PLAIN, WHOLE):
        return minilm_encoder(name)
    raise ConfigError(f"there is no encoder {name!r} in this version; compile the program again")


def closer_encoder(choice: str = AUTO) -> MiniLm | None:
    """The encoder of the heads that look closer; None for none.

    Args:
        choice: one of ``CHOICES``.

    Raises:
        ConfigError: there is no such choice, or it is not installed.
    """
    if choice not in CHOICES:
        raise ConfigError(f"there is no encoder {choice!r}: give one of {', '.join(CHOICES)}")
    if choice == STATIC or (choice == AUTO and missing_packages()):
        return None
    return minilm_encoder()
