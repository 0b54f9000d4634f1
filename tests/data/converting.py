"""Hand-made records in the published formats of public sets, and their conversion in one line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from queryplan.data.converters import CONVERTERS
from queryplan.data.domain import Domain, load_domain
from queryplan.data.rows import LabelledRow
from queryplan.program.graph.check import check_graph_plan

Fields = dict[str, Any]
CLINC = {"id": "c-1", "split": "train", "text": "my balance", "intent": "balance", "domain": "banking"}
FIRST = {"id": "s-9_1", "conversation_id": "9", "turn": "1", "history": [], "utterance": "What is a fugue?"}
LATER = {
    "id": "s-9_2",
    "conversation_id": "9",
    "turn": "2",
    "history": [{"role": "user", "text": "What is a fugue?"}, {"role": "system", "text": "A piece."}],
    "utterance": "Who wrote them ",
}
CAST = [
    {**FIRST, "resolved_utterance": "what is a fugue"},
    {**LATER, "resolved_utterance": "Who wrote fugues?"},
    {**LATER, "id": "s-9_3", "turn": "3", "utterance": "Who was Bach?", "resolved_utterance": "who was Bach"},
]
STRATEGY = {
    "id": "q1",
    "question": "Did Ada outlive Bo?",
    "decomposition": ["When did Ada die?", "When did Bo die?", "Is #1 after #2?"],
    "step_is_operation": [False, False, True],
}
BREAK = {
    "id": "DROP_1",
    "source_dataset": "DROP",
    "question": "How many songs by the writer of Lo?",
    "steps": ["return writer of  Lo", "return songs by #1", "return number of  #2"],
    "operators": ["select", "project", "aggregate"],
}
KB = ["A|directed_by|Ann", "B|directed_by|Ann", "B|release_year|1999", "C|directed_by|Bo", "A|release_year|1980"]
HOPS = [
    {"relation": "directed_by", "direction": "forward"},
    {"relation": "directed_by", "direction": "inverse"},
    {"relation": "release_year", "direction": "forward"},
]


def question(hops: int, answers: Sequence[str]) -> Fields:
    """A question of MetaQA of that many hops from A."""
    words = {"question": f"{hops} of A", "topic_entity": "A", "qtype": f"type{hops}"}
    return {"id": f"m-{hops}", **words, "plan": HOPS[:hops], "answers": list(answers)}


METAQA = {1: question(1, ["Ann"]), 2: question(2, ["B"]), 3: question(3, ["1999"])}
HETIONET = {
    "nodes.jsonl": [
        {"id": "Disease::1", "name": "gout", "kind": "Disease"},
        {"id": "Side Effect::2", "name": "rash", "kind": "Side Effect"},
        {"id": "Compound::3", "name": "colchicine", "kind": "Compound"},
    ],
    "edges.tsv": ["source\tmetaedge\ttarget", "Compound::3\tCtD\tDisease::1", "Compound::3\tCcSE\tSide Effect::2"],
    "neo4j-labels.tsv": [
        "metanode\tabbreviation\tlabel",
        "Disease\tD\tDisease",
        "Side Effect\tSE\tSideEffect",
        "Compound\tC\tCompound",
    ],
    "neo4j-types.tsv": [
        "metaedge\trel_type",
        "Compound - treats - Disease\tTREATS_CtD",
        "Compound - causes - Side Effect\tCAUSES_CcSE",
    ],
    "metaedges.tsv": [
        "metaedge\tabbreviation",
        "Compound - treats - Disease\tCtD",
        "Compound - causes - Side Effect\tCcSE",
    ],
}


def write(path: Path, *lines: Any) -> Path:
    """A file of these lines, JSON where they are not text, gzipped where its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def metaqa_folder(folder: Path, kb: Sequence[str] = KB) -> Path:
    """A small MetaQA in its published files."""
    write(folder / "kb.txt.gz", *kb)
    for hops, record in METAQA.items():
        write(folder / f"{hops}hop_dev.jsonl.gz", record)
    return folder


def hetionet_folder(folder: Path, **change: Sequence[Any]) -> Path:
    """A small Hetionet in its published files; ``change`` has other lines for some."""
    for name, lines in {**HETIONET, **change}.items():
        write(folder / name, *lines)
    return folder


def converted(name: str, source: Path | str, out: Path, **options: Any) -> Domain:
    """The domain that a converter made."""
    CONVERTERS[name].convert(source, out, **options)
    return load_domain(out)


def rows_of(domain: Domain) -> dict[str, LabelledRow]:
    """The rows of all splits, by id."""
    return {row.id: row for rows in domain.splits.values() for row in rows}


def convert_rows(name: str, tmp_path: Path, *records: Any, **options: Any) -> dict[str, LabelledRow]:
    """The rows that a converter made of records."""
    return rows_of(converted(name, write(tmp_path / "in.jsonl", *records), tmp_path / "out", **options))


def left_out(name: str, tmp_path: Path, *records: Fields) -> dict[str, int]:
    """How many records a converter left out, by reason."""
    return dict(CONVERTERS[name].convert(write(tmp_path / "in.jsonl", *records), tmp_path / "out").left_out)


def wrong_answers(domain: Domain, graph: Any, rows: Any) -> list[str]:
    """Rows whose gold plan does not pass the check or does not give the gold answers."""
    assert domain.card.graph is not None
    return [
        row.id
        for row in rows
        if check_graph_plan(row.gold.graph_plan, domain.card.graph)
        or graph.run(row.gold.graph_plan).names != row.gold.answers
    ]
