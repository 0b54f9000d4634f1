"""Encoders by name: the one chosen when compiling, and the one that a program says it needs."""

from __future__ import annotations

from ...errors import ConfigError
from .encoder import Encoder, StaticEncoder, default_encoder

CHOICES = ("static", "minilm")


def encoder_named(name: str) -> Encoder:
    """An encoder by its option name or its own name; an empty name is the static one, as in older programs.

    Raises:
        ConfigError: there is no encoder of that name, or it is not installed.
    """
    if name in ("", "static", StaticEncoder.name):
        return default_encoder()
    from .minilm import MINILM, minilm_encoder

    if name in ("minilm", MINILM):
        return minilm_encoder()
    raise ConfigError(f"there is no encoder {name!r}: give one of {', '.join(CHOICES)}")
