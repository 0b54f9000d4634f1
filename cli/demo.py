"""``queryplan demo``: compile, measure and plan on the shipped podcast domain."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from . import options
from .compile import run_job
from .settings import load_settings
from .show import plan_tree

SAMPLE = {"train": 48, "dev": 36, "test": 24}
# With these sizes and this budget the demonstration sends fewer than 700 label requests: one pass over dev
# costs about 150 (the first is paid once for both programs), one over test about 115.
BUDGET = 300
# The smaller embedded model: on two cores the whole demonstration takes minutes, and heads decide most labels.
MODEL = "local:0.5b"
STAGES = ("follow_up", "relevance", "complexity")
CONVERSATION = [
    {"role": "user", "content": "what does Priya Raghunandan-Moss say about sleep debt?"},
    {
        "role": "assistant",
        "content": "In episode 9 she says that sleep debt weakens attention before it spoils the mood.",
    },
]
QUERIES = (("and does she still wear the ring?", CONVERSATION), ("what will the weather be in Bergen tomorrow", []))


def command(
    full: Annotated[
        bool, typer.Option("--full", help="All labelled rows and every stage; about 45 minutes on two idle cores.")
    ] = False,
    lm: Annotated[str | None, typer.Option(help="local, none, or any DSPy model name; default: local:0.5b.")] = None,
    tracking_uri: options.Tracked = None,
) -> None:
    """Compile a planner on a real language model and real labelled queries, and plan with the winner.

    The short form uses a stratified sample, whose size it prints. On so few rows most differences cannot be told from
    chance, and the intervals say so.
    """
    from ..optimizers.job_contract import JobSettings

    settings = load_settings(lm=lm, tracking_uri=tracking_uri)
    sampled = {"stages": STAGES, "sizes": SAMPLE, "max_calls": BUDGET, "why": "demo"}
    job = JobSettings(
        lm=settings.lm_settings(MODEL),
        programs=settings.programs_dir,
        journal=settings.journal,
        **({"why": "demo-full"} if full else sampled),  # type: ignore[arg-type]
    )
    folder = run_job("podcast", job, settings)
    _plan(str(folder))


def _plan(folder: str) -> None:
    """Plan two queries with the program that was just compiled."""
    from ..program.planner import QueryPlanner

    console = Console()
    planner = QueryPlanner.load(folder)
    for query, history in QUERIES:
        console.print(plan_tree(planner.plan(query, history)))
    planner.close()
    console.print('Now one of your own: queryplan plan "…" --domain podcast')
