"""From ``--domain``, ``--program`` and ``--lm`` to an open planner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from ..errors import ConfigError
from .settings import Settings

if TYPE_CHECKING:
    from ..program.bound import Mode
    from ..program.planner import QueryPlanner

ZERO_SHOT = "zero-shot"


@contextmanager
def open_planner(
    domain: str | None,
    program: str | None,
    settings: Settings,
    *,
    plan_graph: bool = False,
    strict: bool = True,
    mode: str | None = None,
) -> Iterator[QueryPlanner]:
    """The planner that the flags mean, its model open and warm; closed at the end.

    Without ``--lm``, a compiled program uses the model it was compiled with, and an uncompiled one
    plans with rules and heads alone.

    Raises:
        QueryPlanError: no such program or domain, or a model that was asked for cannot be opened.
    """
    planner = _planner(domain, program, settings)
    planner.plan_graph = plan_graph
    if mode is not None:
        planner.in_mode(_mode(mode))
    try:
        if strict and settings.lm not in (None, "none"):
            planner.warm()
        yield planner
    finally:
        planner.close()


def _mode(name: str) -> Mode:
    from ..program.bound import MODES

    if name not in MODES:
        raise ConfigError(f"there is no mode {name!r}: give one of {', '.join(MODES)}")
    return cast("Mode", name)


def _planner(domain: str | None, program: str | None, settings: Settings) -> QueryPlanner:
    from ..data.card import shipped_domains
    from ..program.registry import resolve

    found = _program(domain, program, settings)
    planner = _uncompiled(domain) if found is None else _compiled(resolve(found, settings.tracking_uri), domain)
    if domain is not None and planner.card.name != _name(domain):
        name = planner.card.name
        what = "leave out --domain" if name in shipped_domains() else f"give the folder of {name} with --domain"
        raise ConfigError(f"the program is of the domain {name}, not {_name(domain)}; {what}")
    if program == ZERO_SHOT:
        planner.let_model_decide().with_lm(settings.lm_settings())
    if settings.lm is not None:
        planner.with_lm(None if settings.lm == "none" else settings.lm_settings())
    return planner


def _program(domain: str | None, program: str | None, settings: Settings) -> str | Path | None:
    """What to load; None for nothing compiled."""
    from ..program.uncompiled import newest_program

    if program is None and domain is not None:
        return newest_program(_name(domain), settings.programs_dir)
    return None if program == ZERO_SHOT else program


def _uncompiled(domain: str | None) -> QueryPlanner:
    from ..data.card import shipped_domains
    from ..program.uncompiled import uncompiled_planner

    if domain is None:
        raise ConfigError(
            f"say which domain: --domain {' or '.join(shipped_domains())}, or a folder with a domain.toml"
        )
    return uncompiled_planner(domain)


def _compiled(program: Path, domain: str | None) -> QueryPlanner:
    """A program, with the stores in the folder of its domain; a line says where the card is another one now."""
    from ..data.card import domain_folder, load_card
    from ..program.planner import QueryPlanner

    if domain is None:
        return QueryPlanner.load(program)
    folder = domain_folder(domain)
    planner, card = QueryPlanner.load(program, folder=folder), load_card(folder)
    if planner.card.name == card.name and planner.card.fingerprint != card.fingerprint:
        again = f"queryplan compile {domain}"
        typer.echo(f"{program} was compiled with another card than {card.name} has now: {again}", err=True)
    return planner


def _name(domain: str) -> str:
    """The name on the card of a domain."""
    from ..data.card import domain_folder, load_card

    return load_card(domain_folder(domain)).name
