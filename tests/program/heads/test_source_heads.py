"""Heads for kinds of information: what they learn from labelled rows, and what is read with them."""

from __future__ import annotations

import numpy as np
import pytest
from queryplan.data.domain import Domain, load_domain
from queryplan.program.heads import source_heads
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.heads.features import learned_features
from queryplan.program.heads.file import load_features, load_heads, settings_of, tensors_of
from queryplan.program.heads.heads import Heads
from queryplan.program.heads.source_heads import LANDMARKS, WIDTH, train_source_heads
from queryplan.program.heads.wish_grams import WITH_WISHES
from queryplan.program.retrieval.sources.intents import IntentReader
from queryplan.program.retrieval.sources.kind_choice import COUNT, NONE, RARE, TOGETHER
from queryplan.program.retrieval.sources.planning import MIN_CONFIDENCE
from queryplan.program.text.linker import Linker

ROWS = 240


@pytest.fixture(scope="module")
def domain() -> Domain:
    return load_domain("engineering", splits=("train",))


@pytest.fixture(scope="module")
def heads(domain: Domain) -> Heads:
    rows = domain.rows("train")[:ROWS]
    features = learned_features(
        [row.labels.standalone_query for row in rows], default_encoder(), Linker(domain.card.names)
    )
    trained = train_source_heads(rows, domain.card, features)
    return Heads({name: head for name, head in trained.items() if head is not None}, features)


@pytest.fixture(scope="module")
def reader(domain: Domain) -> IntentReader:
    return IntentReader(domain.card)


def test_there_is_a_head_for_each_kind_one_for_sets_and_one_for_their_number(domain: Domain, heads: Heads) -> None:
    kinds = {f"source.{rule.type}" for rule in domain.card.source_intents}
    assert set(heads.sources) == {*kinds, TOGETHER, COUNT}
    assert all(len(head.linear) == WITH_WISHES for head in heads.sources.values())
    assert {NONE, RARE, "query_commits", "query_commits+query_issues"} <= set(heads.sources[TOGETHER].labels)
    assert set(heads.sources[COUNT].labels) <= {"0", "1", "2", "3"}


def test_they_have_one_kernel_and_the_same_few_support_vectors(
    domain: Domain, heads: Heads, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {head.width for head in heads.sources.values()} == {WIDTH}
    assert all(len(head.support) <= LANDMARKS for head in heads.sources.values())
    monkeypatch.setattr(source_heads, "LANDMARKS", 50)
    few = train_source_heads(domain.rows("train")[:80], domain.card, heads.features)
    supports = [head.support for head in few.values() if head is not None]
    assert all(len(support) == 50 and np.array_equal(support, supports[0]) for support in supports)


def kinds(reader: IntentReader, heads: Heads, query: str) -> set[str]:
    return {intent.type.removeprefix("query_") for intent in reader.read(query, heads)}


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("commits in atlas last week", {"commits"}),
        ("which tickets are blocked in cinder", {"issues"}),
        ("how many open bugs does dovetail have", {"analytics"}),
        ("who owns foxglove", {"generic"}),
        ("what did we decide about webhooks, and which merge requests are open for it", {"generic", "commits"}),
    ],
)
def test_kinds_are_read(reader: IntentReader, heads: Heads, query: str, wanted: set[str]) -> None:
    assert kinds(reader, heads, query) == wanted


@pytest.mark.parametrize("query", ["", "?", "zzz qqq", "提交", "a" * 2000, "🙂"])
def test_of_anything_some_kind_is_wanted_and_sure_enough(reader: IntentReader, heads: Heads, query: str) -> None:
    found = reader.read(query, heads)
    assert found
    assert all(MIN_CONFIDENCE <= intent.confidence <= 1 for intent in found)


def test_they_come_back_from_a_program_as_they_were(domain: Domain, reader: IntentReader, heads: Heads) -> None:
    tensors = tensors_of(heads)
    features = load_features(tensors, default_encoder(), Linker(domain.card.names))
    again = load_heads(tensors, settings_of(heads), features)
    for row in domain.rows("train")[ROWS : ROWS + 20]:
        query = row.labels.standalone_query
        before, after = reader.read(query, heads), reader.read(query, again)
        assert [i.type for i in before] == [i.type for i in after]
        assert [i.confidence for i in before] == pytest.approx([i.confidence for i in after], abs=0.01)


def test_the_same_rows_give_the_same_heads(domain: Domain, heads: Heads) -> None:
    again = train_source_heads(domain.rows("train")[:ROWS], domain.card, heads.features)
    for name, head in again.items():
        assert head is not None
        assert np.array_equal(head.linear, heads.sources[name].linear)


def test_without_labelled_rows_there_are_none(domain: Domain, heads: Heads) -> None:
    assert train_source_heads([], domain.card, heads.features) == {}
