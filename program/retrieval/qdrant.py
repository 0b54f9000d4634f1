"""A retriever on Qdrant. Needs the extra ``qdrant``; nothing is imported before one is made.

The client is yours: a server's, or embedded with ``QdrantClient(":memory:")`` or ``QdrantClient(path=…)``.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...errors import ConfigError, DataError
from ..heads.encoder import Encoder, default_encoder
from .passages import Passage
from .results import Hit

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient, QdrantClient

UPLOAD = 256
_SPACE = uuid.UUID("6f9d3f0e-5b59-4f6e-9d7c-0a4d5f1f8f11")
_PARTS = ("id", "text", "source", "title", "date")


class QdrantRetriever:
    """The nearest passages of one Qdrant collection, by cosine of the encoder's vectors.

    With an asynchronous client ``retrieve`` returns a coroutine, which a provider awaits.
    """

    name = "qdrant"

    def __init__(
        self, client: QdrantClient | AsyncQdrantClient, collection: str, encoder: Encoder | None = None
    ) -> None:
        self._client = client
        self._collection = collection
        self._encoder = encoder or default_encoder()

    def retrieve(self, query: str, limit: int) -> list[Hit | Exception] | Awaitable[list[Hit | Exception]]:
        """The passages nearest to the query; none for a text that the encoder cannot read.

        A point without a text is replaced by a `DataError` that names it.
        """
        vector = self._encoder.encode([query])[0]
        if not vector.any():
            return []
        answer: Any = self._client.query_points(self._collection, query=vector.tolist(), limit=limit, with_payload=True)
        return _awaited(answer) if isinstance(answer, Awaitable) else _hits(answer)


def index_passages(
    client: QdrantClient, collection: str, passages: Sequence[Passage], encoder: Encoder | None = None
) -> int:
    """Put passages into a Qdrant collection, which is created if missing; the same passage replaces itself.

    Returns:
        The number of passages written.

    Raises:
        ConfigError: the extra is not installed, the client is the asynchronous one, or the collection holds vectors
            of another length or compares them by a distance.
    """
    try:
        from qdrant_client import AsyncQdrantClient, models
    except ImportError as error:
        raise ConfigError("Qdrant needs the extra: pip install 'queryplan[qdrant]'") from error

    if isinstance(client, AsyncQdrantClient):
        raise ConfigError("passages are indexed with a QdrantClient; the asynchronous client only searches them")
    encoder = encoder or default_encoder()
    width = int(encoder.encode(["width"]).shape[1])
    _make(client, collection, width, models)
    for start in range(0, len(passages), UPLOAD):
        part = passages[start : start + UPLOAD]
        vectors = encoder.encode([passage.searchable for passage in part])
        points = [
            models.PointStruct(id=_point_id(passage), vector=vector.tolist(), payload=_payload(passage))
            for passage, vector in zip(part, vectors, strict=True)
        ]
        client.upsert(collection, points)
    return len(passages)


def _make(client: QdrantClient, collection: str, width: int, models: Any) -> None:
    if not client.collection_exists(collection):
        config = models.VectorParams(size=width, distance=models.Distance.COSINE)
        client.create_collection(collection, vectors_config=config)
        return
    held: Any = client.get_collection(collection).config.params.vectors
    # The encoder's vectors have length 1, so a dot product is their cosine too.
    alike = getattr(held, "distance", None) in (models.Distance.COSINE, models.Distance.DOT)
    if getattr(held, "size", None) != width or not alike:
        raise ConfigError(
            f"the Qdrant collection {collection!r} does not compare {width} numbers by cosine; choose another name"
        )


async def _awaited(answer: Awaitable[Any]) -> list[Hit | Exception]:
    return _hits(await answer)


def _hits(answer: Any) -> list[Hit | Exception]:
    return [_hit(point) for point in answer.points]


def _hit(point: Any) -> Hit | Exception:
    try:
        return Hit(_passage(point.payload or {}, point.id), float(point.score))
    except DataError as error:  # it costs its own place among the others
        return error


def _point_id(passage: Passage) -> str:
    """A UUID, as Qdrant requires, that is the same for the same passage everywhere."""
    return str(uuid.uuid5(_SPACE, f"{passage.source}\n{passage.id}"))


def _payload(passage: Passage) -> dict[str, Any]:
    fields = {key: list(value) if isinstance(value, tuple) else value for key, value in passage.fields.items()}
    return {**{part: getattr(passage, part) for part in _PARTS}, "fields": fields}


def _passage(payload: Mapping[str, Any], point: Any) -> Passage:
    """The passage in a payload; collections filled by others need at least a ``text``."""
    text = payload.get("text")
    if not isinstance(text, str) or not text:
        raise DataError(f"the Qdrant point {point} has no text in its payload; index passages with index_passages")
    given = {part: str(payload.get(part) or "") for part in _PARTS}
    fields = payload.get("fields")
    held = {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()} if isinstance(fields, Mapping) else {}
    return Passage(**{**given, "id": given["id"] or str(point)}, fields=MappingProxyType(held))
