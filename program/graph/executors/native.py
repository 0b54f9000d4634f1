"""Loads LadybugDB's library in such a way that llama.cpp can be loaded too."""

from __future__ import annotations

from contextlib import suppress
from typing import Any


def load_ladybug() -> Any:
    """The package ``ladybug``.

    It loads its library with all symbols in sight of what is loaded later. llama.cpp (xllamacpp 2026.10) loaded after
    it ended the process with ``std::bad_alloc`` when a model was opened; loaded before it, both work. So where the
    embedded model is installed, it is loaded first, which takes a fifth of a second once.

    Raises:
        ImportError: it is not installed.
    """
    with suppress(ImportError):
        import xllamacpp  # noqa: F401
    import ladybug

    return ladybug
