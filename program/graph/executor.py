"""The interface of executors of graph plans, and the one function through which plans are run.

``execute_graph`` checks a plan against the executor's schema before anything is run, so an ill-typed plan never
reaches an executor. Executors are :class:`~.memory.MemoryGraph`, :class:`~.ladybug.LadybugGraph` and
:class:`~.rest.SpokeGraph`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from ...errors import DataError
from ...signatures.graph_steps import GraphPlan, GraphSchema, NodeRef
from .check import check_graph_plan

NAMES_READ = 200_000
"""The most names of a graph that an unknown name is compared with."""

NEAR = 75
"""Similarity (rapidfuzz, 0 to 100) from which a name is worth showing."""


@dataclass(frozen=True)
class GraphAnswer:
    """The answer of a graph plan.

    Attributes:
        names: the names of the answers, sorted, or in their order after ``order``; a count is its number as text.
        unknown: the anchors that the graph does not have.
        ids: ids of the nodes, in the order of ``names``; empty for a count.
        type: the node type of the answers, ``number``, or None if it is not known.
        paths: if asked for, how each answer was reached, in the order of ``names``: node, edge, node, …
        cut: what was left out and why, one sentence each; empty if the answer is complete.
        gaps: what went wrong and what it means for the answer, one sentence each.
        milliseconds: how long the run took.
        near: in the order of ``unknown``, similar names that the graph has.
    """

    names: tuple[str, ...]
    unknown: tuple[NodeRef, ...] = ()
    ids: tuple[str, ...] = ()
    type: str | None = None
    paths: tuple[tuple[str, ...], ...] = ()
    cut: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    milliseconds: float = 0.0
    near: tuple[tuple[str, ...], ...] = ()

    @property
    def degraded(self) -> tuple[str, ...]:
        """Everything that makes the answer incomplete, in sentences."""
        near = (*self.near, *((),) * (len(self.unknown) - len(self.near)))
        unknown = (
            f"the graph has no {ref.type} whose {ref.field} is {ref.name!r}"
            + (f"; near it: {', '.join(like)}" if like else "")
            for ref, like in zip(self.unknown, near, strict=True)
        )
        return (*unknown, *self.cut, *self.gaps)


class GraphExecutor(Protocol):
    """Runs graph plans."""

    @property
    def schema(self) -> GraphSchema:
        """The graph's schema."""
        ...

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change when the graph does, as far as the executor can know."""
        ...

    def run(
        self, plan: GraphPlan, *, cap: int | None = None, deadline_s: float | None = None, paths: bool = False
    ) -> GraphAnswer:
        """Run a plan that has passed the check.

        Args:
            cap: most answers to return; ``cut`` says what was left out.
            deadline_s: seconds after which to stop; ``gaps`` says where.
            paths: also return how each answer was reached.
        """
        ...

    def find(self, ref: NodeRef) -> Collection[str]:
        """Ids of the nodes that a reference names; empty if the graph has none."""
        ...

    def names(self, kind: str | None = None) -> Iterable[tuple[str, str, str]]:
        """(id, name, type) of every node, or of those of one type; empty if a store cannot list them."""
        ...

    def close(self) -> None:
        """Release files and connections; closing twice is harmless."""
        ...


def execute_graph(
    plan: GraphPlan,
    executor: GraphExecutor,
    deadline_s: float | None = None,
    *,
    cap: int | None = None,
    paths: bool = False,
) -> GraphAnswer:
    """Check a plan against the executor's schema and run it; the answer to an ill-typed plan has its problems as gaps.

    Where the schema does not give the kind of a property's values, the executor's ``kinds`` are checked. Never raises
    for what a plan or a store contains: an executor that fails is named in ``gaps``.

    Raises:
        DataError: ``cap`` is below zero.
    """
    if cap is not None and cap < 0:
        raise DataError(f"an answer cannot be cut to {cap} names; give a cap of 0 or more, or none")
    if problems := check_graph_plan(plan, executor.schema, kinds=getattr(executor, "kinds", None)):
        return ill_typed(problems)
    answer = executor.run(plan, cap=cap, deadline_s=deadline_s, paths=paths)
    if not answer.unknown:
        return answer
    return replace(answer, near=tuple(near_names(executor, ref) for ref in answer.unknown))


def near_names(executor: GraphExecutor, ref: NodeRef, limit: int = 3) -> tuple[str, ...]:
    """Names of the graph that resemble one that it does not have, the most similar first.

    At most ``NAMES_READ`` names are compared. There are none for a reference by another field than the name.
    """
    if ref.field != "name":
        return ()
    from rapidfuzz import fuzz, process, utils

    names = {name for _, name, kind in islice(executor.names(ref.type), NAMES_READ) if kind == ref.type}
    found = process.extract(
        ref.name, sorted(names), scorer=fuzz.WRatio, processor=utils.default_process, limit=limit, score_cutoff=NEAR
    )
    return tuple(name for name, _, _ in found)


def ill_typed(problems: Iterable[str]) -> GraphAnswer:
    """The answer to a plan that was not run because it does not fit the schema."""
    return GraphAnswer((), gaps=("the plan was not run: " + "; ".join(problems),))


def open_graph(where: str | Path, schema: GraphSchema | None = None, **options: Any) -> GraphExecutor:
    """Open an executor for a domain's graph, a database file, or a server.

    Args:
        where: a shipped domain's name, a domain folder, a ``.lbug`` database, or the http(s) root of a server that
            speaks SPOKE's protocol.
        schema: the graph's schema, if ``where`` does not say it itself or says less.
        options: for a server, the fields of :class:`~.rest.Limits`.

    Raises:
        DataError: ``where`` is none of these, or cannot be read.
    """
    place = str(where)
    if place.startswith(("http://", "https://")):
        from .executors.rest import open_spoke

        return open_spoke(place, schema, **options)
    if options:
        raise DataError(f"{', '.join(options)} can be set for a server only, and {place} is none")
    if Path(place).is_file() or place.endswith(".lbug"):
        from .executors.ladybug import open_ladybug

        return open_ladybug(Path(place), schema)
    return _domain_graph(place, schema)


def _domain_graph(name: str, schema: GraphSchema | None) -> GraphExecutor:
    from ...data.card import domain_folder, load_card
    from .executors.memory import load_graph

    try:
        folder = domain_folder(name)
    except DataError as error:
        raise DataError(f"{error}, a .lbug database, or the http(s) address of a graph server") from error
    declared = schema or load_card(folder).graph
    if declared is None:
        raise DataError(f"the domain {folder.name} has no graph: add [graph] to its card, or give another domain")
    return load_graph(folder, declared)
