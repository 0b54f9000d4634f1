"""From ``--domain``, ``--program`` and ``--lm`` to an open planner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigError
from .settings import Settings

if TYPE_CHECKING:
    from ..program.planner import QueryPlanner

ZERO_SHOT = "zero-shot"


@contextmanager
def open_planner(
    domain: str, program: str | None, settings: Settings, *, plan_graph: bool = False, strict: bool = True
) -> Iterator[QueryPlanner]:
    """The planner that the flags mean, its model open and warm; closed at the end.

    Without ``--lm``, a compiled program uses the model it was compiled with, and an uncompiled one
    plans with rules and heads alone.

    Raises:
        QueryPlanError: no such program or domain, or a model that was asked for cannot be opened.
    """
    planner = _planner(domain, program, settings)
    planner.plan_graph = plan_graph
    try:
        if strict and settings.lm not in (None, "none"):
            planner.warm()
        yield planner
    finally:
        planner.close()


def _planner(domain: str, program: str | None, settings: Settings) -> QueryPlanner:
    from ..program.planner import opener
    from ..program.registry import resolve
    from ..program.uncompiled import newest_program, uncompiled_planner

    found = program if program not in (None, ZERO_SHOT) else None
    if program is None:
        found = newest_program(_name(domain), settings.programs_dir)
    planner = uncompiled_planner(domain) if found is None else _compiled(resolve(found, settings.tracking_uri))
    if program == ZERO_SHOT:
        planner.let_model_decide()
    if found is not None and planner.card.name != _name(domain) and domain != "podcast":
        raise ConfigError(f"the program is of the domain {planner.card.name}, not {_name(domain)}")
    if settings.lm is not None:
        planner.with_lm(opener(None if settings.lm == "none" else settings.lm_settings()))
    return planner


def _compiled(folder: Path) -> QueryPlanner:
    from ..program.planner import QueryPlanner

    return QueryPlanner.load(folder)


def _name(domain: str) -> str:
    """The name on the card of a domain."""
    from ..data.card import domain_folder, load_card

    return load_card(domain_folder(domain)).name
