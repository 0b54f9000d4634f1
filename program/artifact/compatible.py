"""Checks that a saved program fits this version: that card, signatures and encoder are those it was compiled with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...data.fingerprints import text_fingerprint
from ...errors import ProgramError
from ..stages import StageSpec
from .folder import Manifest

# Fields of the graph stage before it wrote plans of several steps. Nothing compiled it then, so a program of that time
# loads with the present one.
ONE_HOP = ("hop", "query")


def signatures_hash(specs: Mapping[str, StageSpec], **older: Sequence[str]) -> str:
    """Content hash of the names and fields of every signature; ``older`` has those of stages that had others."""
    fields = {name: older.get(name, sorted(spec.signature.fields)) for name, spec in specs.items()}
    lines = (f"{name}: {spec.signature.__name__} {list(fields[name])}" for name, spec in specs.items())
    return text_fingerprint(*lines)


def has_one_hop(specs: Mapping[str, StageSpec], manifest: Manifest) -> bool:
    """Whether a program was saved before the graph stage wrote plans of several steps."""
    return manifest.fingerprints.get("signatures") == signatures_hash(specs, graph=ONE_HOP)


def check_fingerprints(here: Mapping[str, str], specs: Mapping[str, StageSpec], manifest: Manifest) -> None:
    """Refuse a program whose card, signatures or encoder are not the ones it was compiled with.

    Raises:
        ProgramError: one of them differs; it is named.
    """
    for name, value in here.items():
        saved = manifest.fingerprints.get(name)
        if name == "signatures" and has_one_hop(specs, manifest):
            continue
        if saved is not None and saved != value:
            raise ProgramError(
                f"the program was compiled with another {name} ({saved}, here {value}); compile it again"
            )
