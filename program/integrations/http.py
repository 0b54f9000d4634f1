"""A planner over HTTP: a FastAPI application with typed requests and plans. Needs the extra ``serve``.

::

    POST /v1/plan         a query, its history and session; a QueryPlan comes back, whatever the model does
    POST /v1/plan/batch   several of them, planned side by side
    POST /v1/explain      the plan, and how each stage came to its value
    GET  /v1/health       alive, and how the server is; asks for no token
    GET  /v1/ready        200 when it plans, 503 while it opens its model; asks for no token
    GET  /v1/program      what is served
    GET  /metrics         counts and times for Prometheus
    GET  /openapi.json    all of this as a schema

Any ASGI server runs it, ``http_server.py`` with uvicorn. Mounted inside another application, it plans only if that
one enters its lifespan.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pydantic import BaseModel, SecretStr

from ... import __version__
from ...errors import ConfigError
from ...signatures.problems import said_of
from ..explaining import Explanation
from ..plan import QueryPlan
from ..planner import QueryPlanner

try:
    from fastapi import FastAPI, Request, Response
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse, PlainTextResponse
except ImportError as error:
    raise ConfigError("serving needs the extra: pip install 'queryplan[serve]'") from error

from .http_guard import Guard
from .http_metrics import Metrics
from .http_service import Fatal, PlanService
from .http_types import BatchAnswer, BatchRequest, Health, Limits, PlanRequest, Problem, ProgramFacts, program_facts

BODY = "the body must be a JSON object; send it with Content-Type: application/json, as /openapi.json says"
FIELD_CHARACTERS = 40
"""The longest name of a field that there is not which is repeated; a longer one is hardly a misspelling."""
OPEN_PATHS = ("/v1/health", "/v1/ready")
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem, "description": "No token, or another one."},
    408: {"model": Problem, "description": "The request did not arrive in time."},
    413: {"model": Problem, "description": "The request is too large."},
    422: {"model": Problem, "description": "The request is not of this shape."},
    503: {"model": Problem, "description": "Too many plans are waiting, or the model is not open yet: Retry-After."},
}


def create_app(
    planner: QueryPlanner,
    *,
    limits: Limits | None = None,
    token: SecretStr | None = None,
    hosts: frozenset[str] | None = None,
    fatal: Fatal | None = None,
) -> FastAPI:
    """Create the FastAPI application.

    Args:
        planner: shared by all requests; its model is opened when the application starts, and the caller closes it.
        token: the token that requests must bring; see ``Guard``.
        hosts: host names that it answers to; by default any.
        fatal: see ``PlanService``.

    Raises:
        ConfigError: the extra ``serve`` is not installed (when this module is imported).
    """
    service, metrics = PlanService(planner, limits or Limits(), fatal), Metrics()
    app = FastAPI(
        title="queryplan",
        version=__version__,
        summary=f"Plans queries of the domain {planner.card.name}",
        lifespan=_lifespan(service),
        docs_url=None,  # its page would come from a server that is not ours
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False},
    )
    _add_planning(app, service)
    _add_facts(app, service, metrics)
    _add_problems(app)
    app.add_middleware(
        Guard,
        limits=service.limits,
        token=token,
        hosts=hosts,
        open_paths=OPEN_PATHS,
        paths=[path for route in app.routes if (path := getattr(route, "path", None))],
        count=metrics.count,
    )
    return app


def _lifespan(service: PlanService) -> Any:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.stop()

    return lifespan


def _add_planning(app: FastAPI, service: PlanService) -> None:
    @app.post("/v1/plan", response_model=QueryPlan, responses=_PROBLEMS)
    async def plan(request: PlanRequest) -> Response:
        """Plan one query."""
        return _json(await service.plan(request))

    @app.post("/v1/plan/batch", response_model=BatchAnswer, responses=_PROBLEMS)
    async def plan_batch(request: BatchRequest) -> Response:
        """Plan several queries side by side."""
        return _json(BatchAnswer(plans=await service.plan_all(request.queries)))

    @app.post("/v1/explain", response_model=Explanation, responses=_PROBLEMS)
    async def explain(request: PlanRequest) -> Response:
        """Plan one query, and say who decided each stage, how surely, and what would change it."""
        return _json(await service.explain(request))


def _add_facts(app: FastAPI, service: PlanService, metrics: Metrics) -> None:
    @app.head("/v1/health", include_in_schema=False)
    @app.get("/v1/health")
    async def health() -> Health:
        """Whether the server is alive, and how it is."""
        return service.health()

    @app.head("/v1/ready", include_in_schema=False)
    @app.get("/v1/ready", response_model=Health, responses={503: {"model": Health}})
    async def ready() -> Response:
        """The same, with status 503 while it does not plan yet."""
        return _json(service.health(), 200 if service.ready else 503)

    @app.get("/v1/program", responses={401: _PROBLEMS[401]})
    async def program() -> ProgramFacts:
        """What is served."""
        return program_facts(service.planner)

    @app.get("/metrics", response_class=PlainTextResponse, responses={401: _PROBLEMS[401]})
    async def counted() -> str:
        """Counts and times, in Prometheus' text format."""
        return metrics.text(service.health())


def _add_problems(app: FastAPI) -> None:
    """Answer every problem with a ``Problem``, without repeating what was sent."""

    @app.exception_handler(RequestValidationError)
    async def wrong(request: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse({"detail": _sentence(error.errors())}, 422)

    @app.exception_handler(400)
    async def unread(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": BODY}, 422)

    @app.exception_handler(405)
    async def otherwise(request: Request, error: Exception) -> JSONResponse:
        headers = dict(getattr(error, "headers", None) or {})
        taken = headers.get("Allow", "another method")
        return JSONResponse({"detail": f"this endpoint takes {taken}; see /openapi.json"}, 405, headers)

    @app.exception_handler(404)
    async def nowhere(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": "there is no such endpoint; /openapi.json lists those there are"}, 404)


def _sentence(errors: Sequence[Any]) -> str:
    """The first problem of a request, and its place."""
    first = errors[0]
    if first["type"] == "json_invalid" or first["loc"] == ("body",):
        return BODY
    *place, last = first["loc"][1:]
    path = [*place, _name(last) if first["type"] == "extra_forbidden" else last]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    said = said_of(first)
    more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
    return f"{where}: {said}{more}; see /openapi.json"


def _name(field: object) -> str:
    """The name of a field that there is not, if it can be a misspelled one: it was typed by whoever asks."""
    name = str(field)
    return name if name.isidentifier() and len(name) <= FIELD_CHARACTERS else "a field"


def _json(model: BaseModel, status: int = 200) -> Response:
    return Response(model.model_dump_json(), status, media_type="application/json")
