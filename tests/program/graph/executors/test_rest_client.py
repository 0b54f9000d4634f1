"""Answers of a SPOKE server, decoded while they arrive."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.graph.executors.rest_client import Again, Refused, decoded

ROWS = st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=6) | st.integers(), max_size=3), max_size=6)


@given(ROWS, st.integers(1, 7), st.booleans())
def test_rows_are_decoded_however_they_are_cut_into_parts(rows: list[Any], size: int, plain: bool) -> None:
    text = json.dumps([{"data": row} for row in rows], ensure_ascii=plain, indent=None if plain else 1)
    body = text.encode("utf-8", "surrogatepass")
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    if "\ufffd" not in body.decode("utf-8", "replace"):
        assert list(decoded(parts)) == rows
    for cut in (body[:-1], body[: len(body) // 2]):
        with pytest.raises((Again, Refused)):
            list(decoded([cut]))
