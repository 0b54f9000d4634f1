"""Short hashes that say whether two texts, two files or two graph schemas are the same."""

from __future__ import annotations

import hashlib

from ..signatures.graph_steps import GraphSchema


def text_fingerprint(*parts: str) -> str:
    """Hash of the given texts in their order, 16 hex digits.

    Raises:
        UnicodeEncodeError: a text has a lone surrogate.
    """
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:16]


def bytes_fingerprint(content: bytes) -> str:
    """Hash of a file's bytes, 16 hex digits."""
    return hashlib.sha256(content).hexdigest()[:16]


def schema_fingerprint(schema: GraphSchema) -> str:
    """Content hash of a schema, 16 hex digits; defaults are left out, so that a new field makes no other schema."""
    return text_fingerprint(schema.model_dump_json(exclude_defaults=True))
