"""Opens the planner that ``--domain``, ``--program`` and ``--lm`` name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import typer

from ..errors import ConfigError, DataError, RefusedError, UserError
from .progress import saying_waits
from .settings import Settings

if TYPE_CHECKING:
    from ..program.bound import Mode
    from ..program.lm.endpoint import LMSettings
    from ..program.planner import QueryPlanner

ZERO_SHOT = "zero-shot"
When = Literal["before", "within", "later"]


@contextmanager
def open_planner(
    domain: str | None,
    program: str | None,
    settings: Settings,
    *,
    plan_graph: bool = False,
    model: When = "before",
    mode: str | None = None,
) -> Iterator[QueryPlanner]:
    """Open the planner that the flags name; it is closed at the end.

    Without ``--lm``, a compiled program uses the model it was compiled with, and an uncompiled one
    plans with rules and heads alone.

    Args:
        model: when the language model is opened. ``before``: before anything is planned, and it must answer.
            ``within``: during the first plan and within its deadline; if that fails, a line at the end says why.
            ``later``: the caller opens it.

    Raises:
        QueryPlanError: no such program or domain, or the model cannot be opened. With ``within``, the latter only for
            errors that show before any request, such as a name that no provider has.
    """
    from ..program.waiting import telling

    planner = _planner(domain, program, settings)
    planner.plan_graph = plan_graph
    if mode is not None:
        planner.in_mode(_mode(mode))
    try:
        if model == "before":
            planner.warm()
        with telling(_say):  # a first question on a graph may learn about graphs
            yield planner
        if model == "within":
            _say_problem(planner)
    finally:
        planner.close()


def _say_problem(planner: QueryPlanner) -> None:
    """Print a line on why there was no model, if there was none.

    Raises:
        UserError: it could not be opened for a reason that shows without any request, so that trying again is useless.
    """
    failure = planner.lm_failure
    if isinstance(failure, UserError) and not isinstance(failure, RefusedError):
        raise failure
    if why := planner.lm_problem:
        typer.echo(f"planned without the language model: {why}", err=True)


def _mode(name: str) -> Mode:
    from ..program.bound import MODES

    if name not in MODES:
        raise ConfigError(f"there is no mode {name!r}: give one of {', '.join(MODES)}")
    return cast("Mode", name)


def _planner(domain: str | None, program: str | None, settings: Settings) -> QueryPlanner:
    from ..data.card import shipped_domains
    from ..program.artifact.registry import resolve
    from ..program.opening import OWN_ADDRESS

    found = _program(domain, program, settings)
    planner = (
        _uncompiled(domain, settings.encoder)
        if found is None
        else _compiled(resolve(found, settings.tracking_uri), domain)
    )
    if domain is not None and planner.card.name != _name(domain):
        name = planner.card.name
        what = "leave out --domain" if name in shipped_domains() else f"give the folder of {name} with --domain"
        raise ConfigError(f"the program is of the domain {name}, not {_name(domain)}; {what}")
    if program == ZERO_SHOT:
        return planner.let_model_decide().with_lm(_given(settings, "local"))
    manifest = planner.manifest
    own_address = manifest is not None and manifest.compiled.get(OWN_ADDRESS)
    if settings.lm is not None or settings.api_base is not None or not own_address:
        planner.with_lm(_given(settings, manifest.lm if manifest else "none"))
    return planner


def _given(settings: Settings, usual: str) -> LMSettings | None:
    """The model that the settings name, or ``usual``, at the settings' address and with their patience."""
    given = settings.lm_settings(usual)
    return None if given.model == "none" else given


def _program(domain: str | None, program: str | None, settings: Settings) -> str | Path | None:
    """The program to load; None if nothing was compiled."""
    from ..program.uncompiled import newest_intact

    if program is None and domain is not None:
        return newest_intact(_name(domain), settings.programs_dir, _say)
    return None if program == ZERO_SHOT else program


def _say(sentence: str) -> None:
    typer.echo(" ".join(sentence.split()), err=True)


def _uncompiled(domain: str | None, encoder: str) -> QueryPlanner:
    from ..data.card import shipped_domains
    from ..program.uncompiled import uncompiled_planner

    if domain is None:
        raise ConfigError(
            f"say which domain: --domain {' or '.join(shipped_domains())}, or a folder with a domain.toml"
        )
    with saying_waits():
        return uncompiled_planner(domain, encoder=encoder)


def _compiled(program: Path, domain: str | None) -> QueryPlanner:
    """A compiled program with the stores in its domain's folder; a line says if it was compiled from another folder.

    Two folders may have cards of one name, and a card and rows may have changed.
    """
    from ..data.card import domain_folder, load_card
    from ..program.planner import QueryPlanner

    if domain is None:
        return QueryPlanner.load(program)
    folder = domain_folder(domain)
    planner, card = QueryPlanner.load(program, folder=folder), load_card(folder)
    if planner.card.name == card.name and planner.card.fingerprint != card.fingerprint:
        again = f"queryplan compile {domain}"
        typer.echo(f"{program} was compiled with another card than {card.name} has now: {again}", err=True)
    elif planner.card.name == card.name and (strange := _strange_rows(planner, folder)):
        rows = "a row that is" if strange == 1 else f"{strange} rows that are"
        typer.echo(f"{program} learned from {rows} not in {domain}'s train: queryplan compile {domain}", err=True)
    return planner


def _strange_rows(planner: QueryPlanner, folder: Path) -> int:
    """How many rows a program of one's own domain learned from that its folder does not have to learn from.

    None of a shipped domain, whose thousands of rows change with the package alone; none where rows cannot be read,
    which planning does not need.
    """
    from ..data.card import SHIPPED
    from ..data.domain import load_domain
    from ..data.learned import strange_to

    if folder.parent == SHIPPED or not planner.learned:
        return 0
    with suppress(DataError):
        return strange_to(load_domain(folder, ("train",)).splits.get("train", ()), planner.learned)
    return 0


def _name(domain: str) -> str:
    """The name on the card of a domain."""
    from ..data.card import domain_folder, load_card

    return load_card(domain_folder(domain)).name
