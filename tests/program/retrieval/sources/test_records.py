"""Source queries on the records of a domain's sources."""

from __future__ import annotations

import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import SHIPPED, load_card
from queryplan.data.sources import SourceContract, SourceField, SourceLimits
from queryplan.errors import DataError
from queryplan.program.retrieval.passages import Passage
from queryplan.program.retrieval.sources.records import RecordSource, passes
from queryplan.signatures.types import SourceQuery

FIELDS = (
    SourceField(name="projects", kind="value", values=("atlas", "cinder")),
    SourceField(name="dates", kind="date", operators=("range",)),
    SourceField(name="statuses", kind="value", values=("open", "closed")),
    SourceField(name="providers", kind="value", values=("tracker", "stripe")),
)
CONTRACT = SourceContract(name="tracker", description="issues", fields=FIELDS, store="issues.jsonl")


def record(name: str, date: str = "2025-03-01", **fields: Any) -> Passage:
    return Passage(name, fields.pop("title", name), "tracker", "", date, MappingProxyType(fields))


RECORDS = [
    record("A-1", "2025-03-01", project="atlas", status="open", title="Parcel lost in transit"),
    record("A-2", "2025-03-05", project="atlas", status="closed", title="Map tiles missing"),
    record("C-1", "2025-03-09", project="cinder", status="open", provider=["stripe", "aws"], title="Payment screen"),
]


def ask(filters: dict[str, tuple[str, ...]], question: str = "", contract: SourceContract = CONTRACT) -> list[str]:
    query = SourceQuery(id="plan0_query", query_string="issues", source="tracker", filters=filters)
    return [hit.passage.id for hit in RecordSource(contract, RECORDS).answer(query, question).hits]


def test_without_filters_everything_comes_newest_first() -> None:
    assert ask({}) == ["C-1", "A-2", "A-1"]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("A-1", ["A-1"]),
        ("is a-1 done, and c-1?", ["A-1", "C-1"]),
        ("status of C-1 in atlas", ["C-1"]),
        ("A-12 and XA-1", ["C-1"]),
    ],
)
def test_a_record_that_is_named_by_its_id_comes_first_whatever_is_filtered(question: str, first: list[str]) -> None:
    assert ask({}, question)[: len(first)] == first
    named = first if question != "A-12 and XA-1" else []
    assert ask({"statuses": ("closed",)}, question) == [*named, "A-2"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"projects": ("atlas",)}, ["A-2", "A-1"]),
        ({"projects": ("ATLAS",)}, ["A-2", "A-1"]),
        ({"projects": ("atlas", "cinder")}, ["C-1", "A-2", "A-1"]),
        ({"statuses": ("open",)}, ["C-1", "A-1"]),
        ({"projects": ("atlas",), "statuses": ("open",)}, ["A-1"]),
        ({"projects": ("cinder",), "statuses": ("closed",)}, []),
        ({"dates": ("in March",), "resolved_dates": ("2025-03-02/2025-03-31",)}, ["C-1", "A-2"]),
        ({"resolved_dates": ("../2025-03-01",)}, ["A-1"]),
        ({"resolved_dates": ("2025-03-05/..",)}, ["C-1", "A-2"]),
        ({"resolved_dates": ("2025-03-05/2025-03-05", "2025-03-01/2025-03-01")}, ["A-2", "A-1"]),
        ({"providers": ("stripe",)}, ["C-1"]),
        ({"providers": ("tracker",)}, ["C-1", "A-2", "A-1"]),
        ({"owners": ("me",)}, []),
    ],
)
def test_filters_keep_what_has_one_of_their_values(filters: dict[str, tuple[str, ...]], expected: list[str]) -> None:
    assert ask(filters) == expected


def test_records_that_share_words_with_the_question_come_first() -> None:
    assert ask({}, "which parcel was lost?") == ["A-1", "C-1", "A-2"]


def test_an_unstructured_source_gives_only_what_shares_words() -> None:
    notes = CONTRACT.model_copy(update={"structured": False})
    assert ask({}, "the payment screen", notes) == ["C-1"]
    assert ask({"projects": ("atlas",)}, "the payment screen", notes) == []


def test_the_limit_of_the_contract_cuts_and_says_so() -> None:
    few = CONTRACT.model_copy(update={"limits": SourceLimits(records=2)})
    query = SourceQuery(id="plan0_query", query_string="issues", source="tracker")
    answer = RecordSource(few, RECORDS).answer(query, "")
    assert (len(answer.hits), answer.matching, answer.cut) == (2, 3, True)


def test_a_contract_without_a_store_has_no_source(tmp_path: Path) -> None:
    assert RecordSource.of(CONTRACT.model_copy(update={"store": None}), tmp_path) is None


def test_a_store_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"issues\.jsonl cannot be read"):
        RecordSource.of(CONTRACT, tmp_path)


@given(st.sampled_from(["projects", "statuses", "providers", "resolved_dates"]), st.text(max_size=12))
def test_any_value_is_compared_and_never_fails(key: str, value: str) -> None:
    for item in RECORDS:
        assert passes(item, {key: (value,)}, CONTRACT) in (True, False)


@given(st.sets(st.sampled_from(["atlas", "cinder"])), st.sets(st.sampled_from(["open", "closed"])))
def test_a_further_filter_never_finds_more(projects: set[str], statuses: set[str]) -> None:
    one = {"projects": tuple(projects)} if projects else {}
    both = {**one, **({"statuses": tuple(statuses)} if statuses else {})}
    assert set(ask(both)) <= set(ask(one))


def gold_queries() -> list[SourceQuery]:
    """The gold source plans of the shipped domain's training rows, one query for each source."""
    rows = map(json.loads, (SHIPPED / "engineering" / "train.jsonl").read_text(encoding="utf-8").splitlines())
    plans = [plan for row in rows for plan in (row.get("gold") or {}).get("source_plans", [])]
    return [
        SourceQuery(id=plan["id"], query_string=plan["description"], source=source, filters=plan.get("filters", {}))
        for plan in plans
        for source in plan["sources"]
    ]


def test_gold_plans_of_the_shipped_domain_find_only_what_they_ask_for() -> None:
    folder = SHIPPED / "engineering"
    sources = {c.name: RecordSource.of(c, folder) for c in load_card(folder).sources}
    found = 0
    for query in gold_queries():
        source = sources[query.source]
        assert source is not None
        for hit in source.answer(query, query.query_string).hits:
            found += 1
            record = hit.passage.fields
            for key, name in (("projects", "project"), ("statuses", "status")):
                assert key not in query.filters or record[name] in query.filters[key]
    assert found > 100
