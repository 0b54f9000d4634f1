"""Qdrant, embedded, as a retriever."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import pytest
from queryplan.errors import ConfigError
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.plan import QueryCandidate
from queryplan.program.retrieval.passages import Passage
from queryplan.program.retrieval.providers import LocalProvider
from queryplan.program.retrieval.qdrant import QdrantRetriever, index_passages
from queryplan.program.retrieval.results import ids
from queryplan.program.retrieval.retrievers import VectorRetriever
from queryplan.program.retrieval.search import search_with_plan

qdrant_client = pytest.importorskip("qdrant_client", reason="the extra `qdrant` is not installed")

PASSAGES = [
    Passage(
        "1[1]", "The kiln cooled for two days.", "talks", "On Fire", "2024-01-02", MappingProxyType({"guests": ("Bo",)})
    ),
    Passage("1[2]", "Bees keep their hive warm all winter.", "talks"),
    Passage("1[3]", "Nobody knew what the silence on the radio meant.", "talks"),
]


@pytest.fixture
def client() -> Iterator[Any]:
    opened = qdrant_client.QdrantClient(":memory:")
    yield opened
    opened.close()


def test_passages_come_back_as_they_were_put_in(client: Any) -> None:
    assert index_passages(client, "talks", PASSAGES) == 3
    found: Any = QdrantRetriever(client, "talks").retrieve("pottery and fire", 1)
    best = found[0]
    assert best.passage == PASSAGES[0]
    assert best.passage.fields["guests"] == ("Bo",)


def test_the_order_is_that_of_the_same_vectors_in_memory(client: Any) -> None:
    index_passages(client, "talks", PASSAGES)
    found: Any = QdrantRetriever(client, "talks").retrieve("insects in a cold season", 3)
    here = VectorRetriever(PASSAGES).retrieve("insects in a cold season", 3)
    assert [hit.passage.id for hit in found][: len(here)] == [hit.passage.id for hit in here]
    assert found[0].score == pytest.approx(here[0].score, abs=1e-5)


def test_indexing_again_replaces_what_is_there(client: Any) -> None:
    index_passages(client, "talks", PASSAGES)
    index_passages(client, "talks", PASSAGES[:2])
    assert client.count("talks").count == 3


def test_it_is_searched_by_planned_candidates(client: Any) -> None:
    index_passages(client, "talks", PASSAGES)
    provider = LocalProvider("vectors", [QdrantRetriever(client, "talks")])
    asked = [QueryCandidate(query="bees in winter", stage="rule_based", label="standalone")]
    run = search_with_plan("q", provider, asked)
    assert ids(run.evidence)[0] == "1[2]"
    assert run.evidence[0].query_variant == "rule_based:standalone"
    assert run.lists[0].channel == "qdrant"


def test_a_collection_that_is_not_there_is_a_gap(client: Any) -> None:
    provider = LocalProvider("vectors", [QdrantRetriever(client, "nothing")])
    run = search_with_plan("q", provider, [QueryCandidate(query="bees", stage="rule_based", label="s")])
    assert run.evidence == ()
    assert "nothing" in run.gaps[0].why


def test_points_of_others_need_a_text(client: Any) -> None:
    index_passages(client, "talks", [])
    vector = default_encoder().encode(["bees"])[0].tolist()
    client.upsert("talks", [qdrant_client.models.PointStruct(id=1, vector=vector, payload={"title": "no text"})])
    provider = LocalProvider("vectors", [QdrantRetriever(client, "talks")])
    run = search_with_plan("q", provider, [QueryCandidate(query="bees", stage="rule_based", label="s")])
    assert "has no text in its payload" in run.gaps[0].why


def test_a_point_without_a_text_costs_its_own_place_alone(client: Any) -> None:
    index_passages(client, "talks", PASSAGES)
    vector = default_encoder().encode(["bees"])[0].tolist()
    client.upsert("talks", [qdrant_client.models.PointStruct(id=1, vector=vector, payload={})])
    provider = LocalProvider("vectors", [QdrantRetriever(client, "talks")])
    run = search_with_plan("q", provider, [QueryCandidate(query="bees in winter", stage="rule_based", label="s")])
    assert ids(run.evidence)[0] == "1[2]"
    assert ["the Qdrant point 1 has no text" in gap.why for gap in run.gaps] == [True]


@pytest.mark.parametrize(("size", "distance"), [(3, "Dot"), (256, "Euclid"), (256, "Manhattan")])
def test_a_collection_of_other_vectors_is_refused(client: Any, size: int, distance: str) -> None:
    config = qdrant_client.models.VectorParams(size=size, distance=qdrant_client.models.Distance(distance))
    client.create_collection("other", vectors_config=config)
    with pytest.raises(ConfigError, match="choose another name"):
        index_passages(client, "other", PASSAGES)


def test_the_asynchronous_client_is_refused_for_indexing_in_a_sentence() -> None:
    with pytest.raises(ConfigError, match="passages are indexed with a QdrantClient"):
        index_passages(qdrant_client.AsyncQdrantClient(":memory:"), "talks", PASSAGES)  # type: ignore[arg-type]


def test_a_query_that_cannot_be_read_finds_nothing(client: Any) -> None:
    index_passages(client, "talks", PASSAGES)
    assert QdrantRetriever(client, "talks").retrieve("", 3) == []


def test_an_asynchronous_client_is_awaited() -> None:
    async def main() -> Any:
        client = qdrant_client.AsyncQdrantClient(":memory:")
        models = qdrant_client.models
        await client.create_collection(
            "talks", vectors_config=models.VectorParams(size=256, distance=models.Distance.COSINE)
        )
        vector = default_encoder().encode(["bees"])[0].tolist()
        await client.upsert("talks", [models.PointStruct(id=7, vector=vector, payload={"text": "about bees"})])
        hits = await QdrantRetriever(client, "talks").retrieve("bees", 1)  # type: ignore[misc]
        await client.close()
        return hits

    (hit,) = asyncio.run(main())
    assert (hit.passage.id, hit.passage.text) == ("7", "about bees")
