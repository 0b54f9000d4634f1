"""Runs the gold plans of a domain on its own stores: a label that cannot be reproduced is worth nothing.

``queryplan data check`` calls this beside the checks of ``data.checking``, which know rows and cards only: plans are
run by ``program``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from ...data.card import DomainCard
from ...data.checking import MAX_EXAMPLES, Finding, LabelledSet
from ...data.domain import EVIDENCE_FILE
from ...data.graph_names import graph_files, strange_to
from ...data.lines import numbered_lines
from ...data.rows import Gold
from ...errors import DataError
from ...program.graph.check import check_graph_plan
from ...program.graph.executors.memory import MemoryGraph, load_graph
from ...program.retrieval.sources.filters import RESOLVED
from ...signatures.problems import problems_of
from ...signatures.types import GraphPlan, GraphSchema

ADVICE = "mend the plan, the answers or the graph; the answers are what the reference plan returns"


@dataclass(frozen=True)
class GoldPlans:
    """The results of checking the gold plans of one domain.

    Attributes:
        run: how many graph plans were run.
        findings: mistakes: node types that the schema lacks, plans that are ill-typed or do not return the labelled
            answers, and source plans that ask what no source declares.
        notes: things to know that are no mistakes.
    """

    run: int
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


def check_gold_plans(labelled: LabelledSet, folder: Path | None) -> GoldPlans:
    """Run every gold graph plan, and check every gold source plan against the card.

    Args:
        folder: the domain's, with its graph and further labels; None for a bare file of rows.

    Raises:
        DataError: the graph (even if there are no gold plans) or ``evidence.jsonl`` cannot be read.
    """
    golds = [*_of_rows(labelled), *(_of_evidence(folder) if folder else ())]
    planned = [(place, gold) for place, gold in golds if gold.graph_plan is not None]
    graph = _graph_of(folder, labelled.card)
    strange = graph[0].left_out if graph else ()
    found = [
        f"{place}: {problem}"
        for place, gold in planned
        for problem in (_graph_problems(gold, *graph) if graph else ["the domain has no graph to run it on"])
    ]
    asked = [f"{place}: {problem}" for place, gold in golds for problem in _source_problems(gold, labelled.card)]
    return GoldPlans(
        run=len(planned),
        findings=(
            *_finding("nodes of types that the schema does not have", list(strange), "mend the type or the schema"),
            *_finding("gold graph plans that do not give their answers", found, ADVICE),
            *_finding("gold source plans that ask what no source declares", asked, "mend the plan or the card"),
        ),
        notes=(
            *((f"{len(planned)} gold graph plans were run",) if planned else ()),
            *(_names_unknown(graph[0], labelled.card) if graph and labelled.card else ()),
        ),
    )


def _names_unknown(graph: MemoryGraph, card: DomainCard) -> Iterator[str]:
    """A note on the names that are only in the graph: `queryplan graph run` finds them in a question, plans do not."""
    spellings = (spelling for name in card.names for spelling in name.spellings)
    if new := strange_to(spellings, ((name, kind) for _, name, kind in graph.names())):
        types = [kind for kind, _ in Counter(kind for _, kind in new).most_common()]
        shown = ", ".join(repr(name) for name, _ in new[:3])
        yield (
            f"{len(new):,} names stand in the graph alone ({shown}, …), so that plans do not know them: where users "
            f"type such names, put their types on the card, as in names_from_graph = {json.dumps(types[:3])}"
        )


def _of_rows(labelled: LabelledSet) -> Iterator[tuple[str, Gold]]:
    for split, rows in labelled.splits.items():
        for row in rows:
            if row.gold is not None:
                yield f"{split} {row.id}", row.gold


def _of_evidence(folder: Path) -> Iterator[tuple[str, Gold]]:
    """The gold in ``evidence.jsonl``, which is kept beside the rows (see ``data/README.md``), each with its place."""
    path = folder / EVIDENCE_FILE
    for number, line in numbered_lines(path.read_text(encoding="utf-8")) if path.is_file() else ():
        try:
            entry = json.loads(line)
            yield f"{EVIDENCE_FILE}:{number} {entry.pop('id')}", Gold.model_validate(entry)
        except (ValueError, KeyError, AttributeError, ValidationError) as error:
            said = problems_of(error, 1) if isinstance(error, ValidationError) else error
            where = f"{EVIDENCE_FILE}:{number}"
            raise DataError(f"{where}: expected an object with id and the fields of gold ({said})") from error


def _graph_of(folder: Path | None, card: DomainCard | None) -> tuple[MemoryGraph, GraphSchema] | None:
    """The domain's graph and schema, read as `queryplan graph run` reads them.

    None if there is no schema or no ``graph/nodes.jsonl``: a card may have a schema while its graph is elsewhere.
    """
    if folder is None or card is None or card.graph is None or not graph_files(folder)[0].is_file():
        return None
    return load_graph(folder, card.graph), card.graph


def _graph_problems(gold: Gold, graph: MemoryGraph, schema: GraphSchema) -> list[str]:
    plan = gold.graph_plan
    assert isinstance(plan, GraphPlan)
    if not gold.expressible:
        return ["it has a plan and is said to be inexpressible"]
    if problems := check_graph_plan(plan, schema):
        return problems
    answer = graph.run(plan)
    if answer.unknown and gold.answers != ():  # a name that the graph lacks can be why there is no answer
        return [f"the graph has no {', '.join(f'{ref.type} {ref.name!r}' for ref in answer.unknown)}"]
    if gold.answers is not None and set(gold.answers) != set(answer.names):
        return [f"the plan returns {_few(answer.names)}, and the label says {_few(gold.answers)}"]
    return []


def _source_problems(gold: Gold, card: DomainCard | None) -> Iterator[str]:
    known = {source.name: source for source in card.sources} if card else {}
    for plan in gold.source_plans or ():
        for name in plan.sources:
            if name not in known:
                yield f"plan {plan.id} asks {name!r}, which is no source of the card"
                continue
            for key in plan.filters:
                if known[name].field(key.removeprefix(RESOLVED)) is None:
                    yield f"plan {plan.id} filters {name!r} by {key!r}, which it does not understand"


def _few(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:5]) or 'nothing'}{f' and {len(names) - 5} more' if len(names) > 5 else ''}"


def _finding(kind: str, found: list[str], advice: str) -> Iterator[Finding]:
    if found:
        yield Finding(kind=kind, count=len(found), examples=tuple(found[:MAX_EXAMPLES]), advice=advice)
