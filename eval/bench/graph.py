"""Speed of importing, planning and querying graphs: Hetionet where it is found, else the shipped biomedical graph."""

from __future__ import annotations

import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from ...data.card import domain_folder, load_card
from ...data.converters.hetionet import Hetionet
from ...data.domain import load_domain
from ...data.graph_names import graph_files
from ...program.graph.exchange.importing import import_graph
from ...program.graph.executor import GraphExecutor, execute_graph
from ...program.graph.executors.ladybug import open_ladybug
from ...program.graph.executors.memory import MemoryGraph, load_graph
from ...signatures.graph_steps import AnchorStep, ExpandStep, GraphPlan, GraphSchema, NodeRef
from ...signatures.types import Frozen
from .plans import timed

PLANS = 200
"""Plans timed for each number of hops."""

BENCHMARKS = "QUERYPLAN_BENCHMARKS"


class HopTiming(Frozen):
    """Milliseconds of running plans with ``hops`` hops and fetching the answers; ``answers`` is their median number.

    ``gaps`` counts the plans that could not be run.
    """

    hops: int
    plans: int
    p50: float
    p90: float
    p99: float
    answers: float
    gaps: int


class PlanTiming(Frozen):
    """Milliseconds of making plans without a language model, one question after the other.

    ``first_ms`` is the time of the first plan, which also loads what later ones share. ``p50`` should stay under
    ``under_p50`` on an idle core.
    """

    graph: str
    questions: int
    first_ms: float
    p50: float
    p90: float
    p99: float
    under_p50: float = 10.0


class GraphBench(Frozen):
    """What was measured on one graph.

    Attributes:
        graph: ``hetionet``, or the name of the shipped domain used instead.
        peak_mib: the most memory that this process used until after the import, in MiB.
        open_ms: time of opening the database and getting a first answer.
        memory_hops: times of the same plans on the graph in memory.
        planning: making plans of questions without a language model.
        load: load average of the machine over the last minute, before and after.
    """

    graph: str
    nodes: int
    edges: int
    import_s: float
    peak_mib: float
    open_ms: float
    hops: tuple[HopTiming, ...]
    memory_hops: tuple[HopTiming, ...]
    planning: tuple[PlanTiming, ...]
    load: tuple[float, float]


def bench_graph(plans: int = PLANS, seed: int = 0, progress: Callable[[str], None] | None = None) -> GraphBench:
    """Import a graph, then time plans of one, two and three hops from anchors drawn at random.

    Plans without an answer are drawn again, since they run fast and would lower the medians.
    """
    say, before = progress or (lambda line: None), os.getloadavg()[0]
    with TemporaryDirectory() as scratch:
        say("reading the graph")
        name, folder = _source(Path(scratch))
        schema = load_card(folder).graph
        assert schema is not None
        say("importing")
        report = import_graph(*graph_files(folder), schema, Path(scratch) / "bench.lbug")
        peak = _peak_mib()
        began = time.perf_counter()
        database = open_ladybug(report.database)
        first = next(iter(database.names()))
        execute_graph(_plan(first[1], first[2], ()), database)
        opened = (time.perf_counter() - began) * 1000
        memory = load_graph(folder, schema)
        drawn = {hops: list(draw_plans(memory, schema, hops, plans, seed)) for hops in (1, 2, 3)}
        say("asking the database")
        on_disk = tuple(time_plans(database, hops, made) for hops, made in drawn.items())
        say("asking the graph in memory")
        in_memory = tuple(time_plans(memory, hops, made) for hops, made in drawn.items())
        say("planning questions")
        planned = tuple(time_planning(name, graph, folder) for graph in (database, memory))
        database.close()
    return GraphBench(
        graph=name,
        nodes=sum(report.nodes.values()),
        edges=sum(report.edges.values()),
        import_s=report.seconds,
        peak_mib=peak,
        open_ms=opened,
        hops=on_disk,
        memory_hops=in_memory,
        planning=planned,
        load=(before, os.getloadavg()[0]),
    )


def _source(scratch: Path) -> tuple[str, Path]:
    """Hetionet converted, or the shipped biomedical domain."""
    place = os.environ.get(BENCHMARKS)
    if place and (Path(place) / "hetionet").is_dir():
        Hetionet().convert(Path(place) / "hetionet", scratch / "hetionet")
        return "hetionet", scratch / "hetionet"
    return "biomedical", domain_folder("biomedical")


def draw_plans(graph: GraphExecutor, schema: GraphSchema, hops: int, count: int, seed: int) -> Iterator[GraphPlan]:
    """Random plans with ``hops`` hops that have an answer: from a random node along random edges."""
    drawn = random.Random(f"{seed} {hops}")
    nodes = sorted(graph.names())
    found = 0
    for _ in range(count * 100):
        if found == count:
            return
        _, name, kind = drawn.choice(nodes)
        plan = _plan(name, kind, tuple(_way(schema, kind, hops, drawn)))
        if execute_graph(plan, graph).names:
            found += 1
            yield plan


def _way(schema: GraphSchema, kind: str, hops: int, drawn: random.Random) -> Iterator[tuple[str, str]]:
    for _ in range(hops):
        ways = [(e, d) for e in schema.edges for d in ("out", "in") if e.ends(d)[0] == kind]
        if not ways:
            return
        edge, direction = drawn.choice(ways)
        kind = edge.ends(direction)[1]
        yield edge.name, "any" if edge.source == edge.target else direction


def _plan(name: str, kind: str, way: Sequence[tuple[str, str]]) -> GraphPlan:
    anchor = AnchorStep(store_as="s0", node=NodeRef(name=name, type=kind))
    steps = [
        ExpandStep.model_validate({"store_as": f"s{n}", "start": f"s{n - 1}", "edge": edge, "direction": direction})
        for n, (edge, direction) in enumerate(way, 1)
    ]
    return GraphPlan(steps=(anchor, *steps))


def time_plans(graph: GraphExecutor, hops: int, plans: Sequence[GraphPlan]) -> HopTiming:
    """Run each plan once, one after the other, checked as always."""
    times, sizes, gaps = [], [], 0
    for plan in plans:
        began = time.perf_counter()
        answer = execute_graph(plan, graph)
        times.append((time.perf_counter() - began) * 1000)
        sizes.append(len(answer.names))
        gaps += bool(answer.gaps)
    p50, p90, p99 = np.quantile(times, (0.5, 0.9, 0.99))
    return HopTiming(
        hops=hops, plans=len(plans), p50=float(p50), p90=float(p90), p99=float(p99), answers=median(sizes), gaps=gaps
    )


def time_planning(name: str, graph: GraphExecutor, folder: Path) -> PlanTiming:
    """Plan each question once (the first once more, before): Hetionet's in ``eval/sets``, a domain's in ``dev``."""
    from ...program.graph.planner import GraphPlanner
    from ..graph.scores import questions_of_rows
    from ..graph.sets import SETS, read_questions

    domain = None if name == "hetionet" else name
    ours = SETS / "hetionet-60.jsonl"
    asked = read_questions(ours) if domain is None else questions_of_rows(load_domain(folder, ("dev",)).rows("dev"))
    planner = GraphPlanner.for_executor(graph, domain=domain)
    first, *times = (timed(lambda q=q: planner.plan(q.text)) for q in (*asked[:1], *asked))
    p50, p90, p99 = np.quantile(times, (0.5, 0.9, 0.99))
    where = "in memory" if isinstance(graph, MemoryGraph) else "in LadybugDB"
    return PlanTiming(
        graph=f"{name} {where}", questions=len(times), first_ms=first, p50=float(p50), p90=float(p90), p99=float(p99)
    )


def _peak_mib() -> float:
    """The most memory that this process has used so far, in MiB; Linux reports it in KiB, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 1024
