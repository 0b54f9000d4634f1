"""Answers of a SPOKE server, decoded while they arrive."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.errors import DataError
from queryplan.program.graph.executors.rest_client import Again, Client, Limits, Refused, decoded
from queryplan.program.graph.executors.stepping import Gap, RunClock

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


class Dripping(BaseHTTPRequestHandler):
    """Sends the head of an answer in drops, each before a read would be given up."""

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        with suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for number in range(100):
                self.wfile.write(b"X-%d: y\r\n" % number)
                self.wfile.flush()
                time.sleep(0.1)


@pytest.fixture
def dripping() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Dripping)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_an_answer_whose_head_trickles_in_is_given_up_in_time(dripping: str) -> None:
    client = Client(dripping, Limits(timeout_s=0.5, attempts=1))
    start = time.perf_counter()
    for deadline_s in (None, 0.3):
        with pytest.raises(Gap, match="no answer in time"):
            client.neighbourhood("Disease", "name", "asthma", [], RunClock(deadline_s))
    with pytest.raises(DataError, match="no answer in time"):
        client.types()
    assert time.perf_counter() - start < 5
    client.close()
