"""Opens the sets that graph plans are measured on: questions, a graph, a planner, and what the planner learned from.

``biomedical`` is shipped. ``biomedical-more``, ``biomedical-voices``, ``hetionet``, ``hetionet-more`` (names as
people say them) and ``unseen`` are questions of our own in ``eval/sets``. ``metaqa`` (1, 2 and 3 hops, 500 labelled
questions in all) and ``metaqa-types`` (question types held out, fold by fold) are read from the benchmarks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ...data.converters.hetionet import Hetionet
from ...data.converters.metaqa import MetaQa
from ...data.converters.sources import resolve_path
from ...data.domain import Domain, load_domain
from ...data.graph_names import graph_files
from ...data.rows import LabelledRow
from ...errors import DataError
from ...program.graph.executor import GraphExecutor
from ...program.graph.executors.memory import MemoryGraph, load_graph
from ...program.graph.learning.learning import KEPT, graph_values, index_of, probe_of
from ...program.graph.learning.store import Learned
from ...program.graph.planner import GraphPlanner
from ...program.graph.schema import read_schema
from .samples import (
    HOPS,
    SURE,
    PublicQuestion,
    held_out,
    load_samples,
    metaqa_questions,
    stratified,
    type_folds,
)
from .scores import NO_PLAN, GraphQuestion, questions_of_rows

if TYPE_CHECKING:
    from ...program.graph.executors.ladybug import LadybugGraph

SETS = Path(__file__).parents[1] / "sets"
OF_A_TYPE = 40
"""The most questions measured of each held-out type: 49 types then have at most 1,960, which takes some minutes."""

Learn = Callable[[Domain, Sequence[LabelledRow], int, MemoryGraph], Learned]
"""A function that learns to rank plans from a domain's labelled rows, and calibrates on its split ``calibrate``."""


@dataclass(frozen=True)
class GraphSet:
    """Questions, the graph that they ask about, and a planner for them.

    Attributes:
        folder: a domain folder with the graph's files, to make a database from.
        taught: labelled rows that may be shown to a language model; none of the questions is among them.
        told: what the planner learned from, in words, for the report.
    """

    name: str
    questions: tuple[GraphQuestion, ...]
    graph: GraphExecutor
    planner: GraphPlanner
    folder: Path
    taught: tuple[LabelledRow, ...] = ()
    told: str = ""

    def first(self, most: int | None) -> GraphSet:
        """The same set with only its first ``most`` questions; all if None."""
        return self if most is None else replace(self, questions=self.questions[:most])


@dataclass(frozen=True)
class Opening:
    """The settings of opening a set.

    Attributes:
        learn: learns from the rows of a converted domain.
        sampled: of MetaQA, take only the questions whose ids are in ``eval/samples``: 150 for each number of hops,
            and 150 in all where types are held out.
        split: the split of ``biomedical``; if it is ``test``, the caller has to record the reading.
        kept: the folder where the weights that carry over to any graph are kept.
    """

    learn: Learn
    sampled: bool = False
    split: str = "dev"
    kept: Path = KEPT


def open_sets(names: Sequence[str], how: Opening) -> Iterator[GraphSet]:
    """Yield each set in turn; its files are removed before the next is opened.

    Raises:
        DataError: there is no such set, or its files are not there.
    """
    if unknown := sorted(set(names) - set(KINDS)):
        raise DataError(f"there is no set {', '.join(unknown)}; there are {', '.join(KINDS)}")
    for name in names:
        with TemporaryDirectory() as scratch:
            yield from KINDS[name](Path(scratch), how)


def _biomedical(scratch: Path, how: Opening) -> Iterator[GraphSet]:
    domain = load_domain("biomedical", ("train", how.split))
    graph = load_graph(domain.folder, domain.card.graph)
    planner = GraphPlanner.for_executor(graph, domain="biomedical", kept=how.kept)
    yield GraphSet(
        f"biomedical {how.split}",
        tuple(questions_of_rows(domain.rows(how.split))),
        graph,
        planner,
        domain.folder,
        _with_plans(domain.rows("train")),
        "the shipped rows in train",
    )


def _on_biomedical(scratch: Path, how: Opening, name: str) -> Iterator[GraphSet]:
    questions = read_questions(SETS / f"{name}.jsonl")
    for one in _biomedical(scratch, replace(how, split="dev")):
        yield replace(one, name=name, questions=questions)


def _hetionet(scratch: Path, how: Opening, name: str = "hetionet", file: str = "hetionet-60") -> Iterator[GraphSet]:
    folder = scratch / "hetionet"
    Hetionet().convert(resolve_path(None, "hetionet"), folder)
    domain = load_domain(folder, ())
    graph = load_graph(folder, domain.card.graph)
    planner = GraphPlanner.for_executor(graph, kept=how.kept)
    taught = _with_plans(load_domain("biomedical", ("train",)).rows("train"))
    questions = read_questions(SETS / f"{file}.jsonl")
    yield GraphSet(name, questions, graph, planner, folder, taught, "the shipped domains; none of this graph's own")


def _unseen(scratch: Path, how: Opening) -> Iterator[GraphSet]:
    folder = SETS / "unseen"
    graph = load_graph(folder, read_schema(folder / "schema.toml").schema)
    planner = GraphPlanner.for_executor(graph, kept=how.kept)
    yield GraphSet(
        "unseen", read_questions(folder / "questions.jsonl"), graph, planner, folder, (), "no label of its own"
    )


def _metaqa(scratch: Path, how: Opening) -> Iterator[GraphSet]:
    public, samples, films = metaqa_questions(), load_samples(), _Films.convert(scratch)
    planner = films.planner(samples.learned, samples.sure, how)
    used = {*samples.learned, *samples.sure}
    told = f"{len(used)} labelled questions of 1 to 3 hops"
    for hops in HOPS:
        chosen = set(samples.measured[hops]) if how.sampled else {q.id for q in public if q.id not in used}
        asked = [q.question(q.qtype) for q in public if q.hops == hops and q.id in chosen]
        taught = films.rows_of(samples.learned)
        yield GraphSet(f"metaqa {hops} hops", tuple(asked), films.graph, planner, films.folder, taught, told)


def _metaqa_types(scratch: Path, how: Opening) -> Iterator[GraphSet]:
    """Each fold as a set of its own, whose planner learned from no question of the fold's types."""
    public, films = metaqa_questions(), _Films.convert(scratch)
    chosen = set(load_samples().types) if how.sampled else set[str]()
    for number, part in enumerate(type_folds(public), 1):
        taught, unseen = held_out(public, part)
        sure = {q.id for q in stratified(taught, SURE)}
        planner = films.planner([q.id for q in taught if q.id not in sure], sorted(sure), how)
        some = [q for q in unseen if q.id in chosen] if how.sampled else _at_most(unseen, OF_A_TYPE)
        asked = [q.question(f"{q.hops} hops") for q in some]
        told = f"{len(taught)} labelled questions of other types"
        yield GraphSet(f"metaqa types {number}", tuple(asked), films.graph, planner, films.folder, (), told)


def _at_most(questions: Sequence[PublicQuestion], count: int) -> Iterator[PublicQuestion]:
    for stratum in dict.fromkeys(q.stratum for q in questions):
        yield from stratified([q for q in questions if q.stratum == stratum], count)


@dataclass(frozen=True)
class _Films:
    """MetaQA converted: its graph and its rows by id."""

    folder: Path
    domain: Domain
    graph: MemoryGraph
    rows: Mapping[str, LabelledRow]

    @classmethod
    def convert(cls, scratch: Path) -> _Films:
        folder = scratch / "metaqa"
        MetaQa().convert(resolve_path(None, "metaqa"), folder, split="train")
        domain = load_domain(folder)
        return cls(folder, domain, load_graph(folder, domain.card.graph), {row.id: row for row in domain.rows("train")})

    def rows_of(self, ids: Sequence[str]) -> tuple[LabelledRow, ...]:
        """The rows with these ids, without those that could not be converted."""
        return tuple(self.rows[one] for one in ids if one in self.rows)

    def planner(self, learned: Sequence[str], sure: Sequence[str], how: Opening) -> GraphPlanner:
        """A planner that learned from some rows (by id) and whose certainty is calibrated on others."""
        splits = {"train": self.rows_of(learned), "calibrate": self.rows_of(sure)}
        domain = Domain(self.folder, self.domain.card, splits)
        known = how.learn(domain, splits["train"], 0, self.graph)
        schema, index = self.graph.schema, index_of(self.graph, domain.card)
        values, probe = graph_values(schema, self.graph), probe_of(self.graph)
        return GraphPlanner(schema, index, known, values=values, probe=probe)


KINDS: dict[str, Callable[[Path, Opening], Iterator[GraphSet]]] = {
    "biomedical": _biomedical,
    "biomedical-more": partial(_on_biomedical, name="biomedical-more"),
    "biomedical-voices": partial(_on_biomedical, name="biomedical-voices"),
    "hetionet": _hetionet,
    "hetionet-more": partial(_hetionet, name="hetionet-more", file="hetionet-more"),
    "unseen": _unseen,
    "metaqa": _metaqa,
    "metaqa-types": _metaqa_types,
}


def _with_plans(rows: Sequence[LabelledRow]) -> tuple[LabelledRow, ...]:
    return tuple(row for row in rows if row.gold is not None and row.gold.graph_plan is not None)


def read_questions(path: Path) -> tuple[GraphQuestion, ...]:
    """The questions of a JSON Lines file in ``eval/sets``; each is reported under the first of its ``kinds``.

    Raises:
        DataError: the file is not there or a line of it cannot be read; the line is named by its number alone.
    """
    if not path.is_file():
        raise DataError(f"{path.name} is not there: the sets of questions are in a checkout, not in the package")
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"), 1):
        try:
            said = json.loads(line)
            gold = said["gold"]
            kind = said["kinds"][0] if gold.get("expressible", True) else NO_PLAN
            answers = tuple(gold.get("answers") or ())
            found.append(GraphQuestion(id=said["id"], text=said["query"], answers=answers, kind=kind))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise DataError(f"{path.name}:{number}: expected an object with id, query, kinds and gold") from error
    return tuple(found)


@contextmanager
def database_of(folder: Path, graph: GraphExecutor) -> Iterator[LadybugGraph]:
    """The graph of a folder as a LadybugDB database, opened read-only; removed at the end."""
    from ...program.graph.exchange.importing import import_graph
    from ...program.graph.executors.ladybug import open_ladybug

    with TemporaryDirectory() as scratch:
        opened = open_ladybug(import_graph(*graph_files(folder), graph.schema, Path(scratch) / "graph.lbug").database)
        try:
            yield opened
        finally:
            opened.close()
