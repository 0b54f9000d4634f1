"""``queryplan serve``: plans over HTTP."""

from __future__ import annotations

import gc
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ConfigError
from . import options
from .logging_plans import logging_service
from .opening import open_planner
from .settings import load_settings

if TYPE_CHECKING:
    from pydantic import SecretStr

    from ..program.planner import QueryPlanner

CACHED = 1000


def command(
    program: Annotated[
        str | None, typer.Argument(help="A program folder, models:/NAME@ALIAS, or zero-shot. Or give --domain.")
    ] = None,
    domain: options.Domain = None,
    lm: options.Lm = None,
    api_base: options.ApiBase = None,
    mode: options.Mode = None,
    graph: options.Graph = False,
    host: Annotated[str, typer.Option(help="The address to serve on; any but loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 is any free one.")] = 8000,
    deadline: Annotated[
        float, typer.Option(min=0.01, help="Seconds a plan may take, waiting included; requests may ask for less.")
    ] = 30.0,
    concurrency: Annotated[int, typer.Option(min=1, help="Plans made at the same time.")] = 16,
    queue: Annotated[int, typer.Option(min=0, help="Plans that may wait; requests beyond that get status 503.")] = 64,
    cache: Annotated[int, typer.Option(min=0, help="Plans kept in memory for an hour; 0 keeps none.")] = CACHED,
    grace: Annotated[int, typer.Option(min=0, help="Seconds for running requests when the server is stopped.")] = 30,
    no_token: Annotated[
        bool,
        typer.Option(
            "--no-token", help="Serve beyond loopback without a token, behind a proxy that authenticates callers."
        ),
    ] = False,
    access_log: Annotated[
        bool, typer.Option("--access-log/--no-access-log", help="Log a line for each request: endpoint, status, time.")
    ] = True,
    log: options.Log = None,
    log_text: options.LogText = False,
    tracking_uri: options.TrackingUri = None,
) -> None:
    """Serve a program over HTTP, on loopback unless told otherwise.

    [bold]Ask it[/bold]

    queryplan serve models:/queryplan-podcast@champion --lm local

    curl http://127.0.0.1:8000/v1/plan --json '{"query": "and meditation?", "deadline_s": 2, "history":
    \\[{"role": "user", "content": "what does Priya say about sleep?"}]}'

    A QueryPlan comes back, whatever the model does. Also POST /v1/plan/batch, /v1/explain; GET /v1/health, /v1/ready,
    /v1/program, /metrics, /openapi.json.

    [bold]Beyond this machine[/bold]

    QUERYPLAN_SERVE_TOKEN=$(openssl rand -hex 24) queryplan serve PROGRAM --host 0.0.0.0

    Requests then bring -H "Authorization: Bearer $QUERYPLAN_SERVE_TOKEN". Put a proxy with TLS before it.
    SIGTERM and Ctrl-C let running requests finish. What users typed is written nowhere without --log-text.
    """
    from ..program.integrations.http_server import address_of, bound_socket, listen, serve, token_of_environment
    from ..program.integrations.http_types import Limits

    settings = load_settings(lm=lm, api_base=api_base, tracking_uri=tracking_uri)
    token = token_of_environment()
    limits = Limits(running=concurrency, waiting=queue, deadline_s=deadline)
    with _logging_to_stderr(access_log), bound_socket(host, port) as bound:
        hosts = _who_may_ask(bound, token, no_token)
        listen(bound)
        opened = open_planner(domain, program, settings, plan_graph=graph, model="later", mode=mode)
        with opened as planner, logging_service(planner, log, log_text):
            _keep_plans(planner, cache)
            name, address = planner.program_version, address_of(bound)
            with _without_long_pauses():
                serve(
                    planner,
                    bound,
                    limits=limits,
                    token=token,
                    hosts=hosts,
                    grace_s=grace,
                    started=lambda: typer.echo(f"serving {name} on {address}; Ctrl-C stops"),
                )
    typer.echo("stopped", err=True)


def _who_may_ask(bound: socket.socket, token: SecretStr | None, no_token: bool) -> frozenset[str] | None:
    """The host names that the server answers to; None for any.

    Raises:
        ConfigError: others could reach the server, and nothing would authenticate them.
    """
    from ..program.integrations.http import LOOPBACK_HOSTS
    from ..program.integrations.http_server import TOKEN_VARIABLE, is_loopback

    if token is not None:
        return None
    if is_loopback(bound):
        return None if no_token else LOOPBACK_HOSTS
    host = bound.getsockname()[0]
    if not no_token:
        raise ConfigError(
            f"whoever reaches {host} could plan, and spend on a language model: set {TOKEN_VARIABLE}, leave out "
            "--host, or say --no-token behind a proxy that asks who calls"
        )
    typer.echo(f"warning: {host} is served without a token: whoever reaches it can plan", err=True)
    return None


def _keep_plans(planner: QueryPlanner, plans: int) -> None:
    if plans:
        from ..program.plan_cache import PlanCache

        planner.cache = PlanCache(plans)


@contextmanager
def _without_long_pauses() -> Iterator[None]:
    """A context in which the garbage collector leaves alone what was loaded before.

    It looked at all of that once in some thousand plans, which stopped every request for 100 ms.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def _logging_to_stderr(access_log: bool) -> Iterator[None]:
    """A context in which the server logs to stderr, without users' words, or tracebacks that could show them."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    levels = {"queryplan.http": logging.INFO if access_log else logging.WARNING, "uvicorn.error": logging.WARNING}
    loggers = {logging.getLogger(name): level for name, level in levels.items()}
    before = [(one, one.handlers, one.propagate, one.level) for one in loggers]
    for one, level in loggers.items():
        one.handlers, one.propagate = [handler], False
        one.setLevel(level)
    try:
        yield
    finally:
        for one, handlers, propagate, level in before:
            one.handlers, one.propagate = handlers, propagate
            one.setLevel(level)
