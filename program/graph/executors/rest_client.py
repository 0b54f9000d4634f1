"""HTTP calls to a SPOKE server: retried, timed, paged, and decoded piece by piece, so that no answer is too long.

An answer is a JSON list of ``{"data": …}``, one for each node and edge of a neighbourhood. It is decoded while it
arrives, so a cap on rows holds whatever the server sends, and an answer that stops in the middle is noticed.
"""

from __future__ import annotations

import codecs
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import httpx
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, stop_after_delay, wait_random_exponential

from ....errors import DataError
from ...threads import in_thread
from .stepping import Gap, RunClock

RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
LONGEST_ROW = 4_000_000
"""The most characters of one node or edge; a longer one means that the answer is no list of rows."""
IDS = ("id", "source", "target")
"""The fields that identify rows and join edges to nodes."""

GRACE_S = 0.05
"""How much longer a call is waited for than it may take, so that it can say itself what was late."""

Parameters = Sequence[tuple[str, str]]
T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """How much a server is asked for, and how long it is waited for.

    Attributes:
        concurrency: calls under way at once.
        fan_out: nodes expanded in one step; each is a call.
        rows: nodes and edges read of one answer.
        pages: pages followed of one answer.
        timeout_s: for one call, from sending to the last row.
        attempts: calls in all before one is given up.
    """

    concurrency: int = 8
    fan_out: int = 200
    rows: int = 50_000
    pages: int = 20
    timeout_s: float = 20.0
    attempts: int = 3

    def __post_init__(self) -> None:
        wrong = [name for name, value in vars(self).items() if not value > 0]
        if wrong:
            raise DataError(f"{', '.join(wrong)} must be above zero")


@dataclass
class Rows:
    """The rows of one answer; ``cut`` says why if they are not all."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    cut: str | None = None


class Again(Exception):
    """A call that failed but may succeed if it is tried again."""


class Refused(Exception):
    """A call that failed and would fail again."""


class Client:
    """Calls of one server."""

    def __init__(self, root: str, limits: Limits) -> None:
        """Get ready to call a server.

        Raises:
            DataError: its address cannot be read as one.
        """
        self.root = root.rstrip("/").removesuffix("/api/v1")
        try:
            httpx.URL(self.root)
        except httpx.InvalidURL as error:
            raise DataError(f"{root!r:.200} is no address of a server: {error}; check its host and port") from error
        self.limits = limits
        pool = httpx.Limits(max_connections=limits.concurrency, max_keepalive_connections=limits.concurrency)
        # Redirects are not followed: what a server may be asked is the caller's choice.
        self._http = httpx.Client(limits=pool, timeout=limits.timeout_s, headers={"Accept": "application/json"})

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def types(self) -> Any:
        """The types document.

        Raises:
            DataError: the server does not give one.
        """
        url = f"{self.root}/api/v1/types"
        try:
            return within(self.limits.timeout_s, lambda: self._http.get(url).raise_for_status().json())
        except httpx.ConnectError as error:
            raise DataError(f"{self.root} cannot be reached: {_said(error)}; check its address") from error
        except (httpx.HTTPError, Again, ValueError, RecursionError) as error:
            raise DataError(f"{self.root} does not say its types: {_said(error)}; give --schema FILE") from error

    def neighbourhood(self, kind: str, name: str, value: str, parameters: Parameters, clock: RunClock) -> Rows:
        """What is around the nodes of a type whose property ``name`` has a value.

        Raises:
            Gap: the server did not answer as it must, however often it was asked.
        """
        path = "/".join(map(path_part, (kind, name, value)))
        url = httpx.URL(f"{self.root}/api/v1/neighborhood/{path}").copy_merge_params(list(parameters))
        left = clock.left()
        stop = stop_after_attempt(self.limits.attempts)
        retrying = Retrying(
            stop=stop if left is None else stop | stop_after_delay(left),
            wait=wait_random_exponential(multiplier=0.1, max=2.0 if left is None else min(2.0, left)),
            retry=retry_if_exception_type(Again),
            reraise=True,
        )
        try:
            return retrying(self._all_pages, url, clock)
        except Again as error:
            raise Gap(f"{self.root} did not answer for {kind} {value!r:.60}: {error}") from error
        except Refused as error:
            raise Gap(f"{self.root} refused the call for {kind} {value!r:.60}: {error}") from error

    def _all_pages(self, url: httpx.URL, clock: RunClock) -> Rows:
        """The answer, and the pages that its ``Link`` headers lead to."""
        found, following = Rows(), url
        for _ in range(self.limits.pages):
            next_page = self._page(following, found, clock)
            if next_page is None or found.cut:
                return found
            if _origin(next_page) != _origin(url):
                found.cut = "a further page was on another server and was not asked for"
                return found
            following = next_page
        found.cut = f"only the first {self.limits.pages} pages were read"
        return found

    def _page(self, url: httpx.URL, found: Rows, clock: RunClock) -> httpx.URL | None:
        """Add one page's rows, and say where the next one is."""
        left = clock.left()
        seconds = max(0.001, self.limits.timeout_s if left is None else min(self.limits.timeout_s, left))
        room = self.limits.rows - len(found.rows)
        page, following = within(seconds, lambda: self._read(url, room, seconds))
        found.rows += page.rows
        found.cut = page.cut
        return following

    def _read(self, url: httpx.URL, room: int, seconds: float) -> tuple[Rows, httpx.URL | None]:
        """At most ``room`` rows of one page, and where the next one is."""
        page, until = Rows(), time.perf_counter() + seconds
        try:
            with self._http.stream("GET", url, timeout=seconds) as answer:
                if answer.status_code == httpx.codes.NOT_FOUND:
                    return page, None
                _check_status(answer)
                for row in decoded(_in_time(answer.iter_bytes(), until)):
                    if len(page.rows) >= room:
                        page.cut = f"only the first {self.limits.rows:,} rows were read"
                        return page, None
                    page.rows.append(row)
                return page, _next_page(answer, url, page)
        except httpx.RequestError as error:
            raise Again(_said(error)) from error


def within(seconds: float, do: Callable[[], T]) -> T:
    """What a call gives, if it ends in time.

    httpx has a limit for each read and none for all of them, so an answer whose head comes in drops would not end. The
    thread that waits for it ends with its connection.

    Raises:
        Again: it took longer.
    """
    try:
        return in_thread(do).result(seconds + GRACE_S)
    except TimeoutError:
        raise Again("no answer in time") from None


def _next_page(answer: httpx.Response, url: httpx.URL, found: Rows) -> httpx.URL | None:
    """Where the ``Link`` header leads; an address that cannot be read leaves the answer cut."""
    link = answer.links.get("next", {}).get("url")
    try:
        return url.join(link) if link else None
    except httpx.InvalidURL:
        found.cut = "the address of a further page could not be read"
        return None


def path_part(text: str) -> str:
    """One part of a path, so escaped that nothing in it is read as another part or as a template.

    A name of dots alone would be taken for a folder, so its dots are escaped too.
    """
    return text.replace(".", "%2E") if set(text) == {"."} else quote(text, safe="'")


def _check_status(answer: httpx.Response) -> None:
    if answer.status_code in RETRIED:
        raise Again(f"status {answer.status_code}")
    if answer.status_code != httpx.codes.OK:
        raise Refused(f"status {answer.status_code}")


def _in_time(parts: Iterable[bytes], until: float) -> Iterator[bytes]:
    """Parts of an answer; one that trickles in is given up like one that does not come."""
    for part in parts:
        if time.perf_counter() > until:
            raise Again("the answer did not end in time")
        yield part


def decoded(parts: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The ``data`` of each element of a JSON list that arrives in parts.

    Raises:
        Again: the list ends in the middle.
        Refused: it is no list of such objects.
    """
    text = _Text(parts)
    if text.skip() != "[":
        raise Refused("the answer is no JSON list") if text.buffer else Again("the answer is empty")
    text.take(1)
    if text.skip() == "]":
        return
    while True:
        row = text.value()
        data = row.get("data") if isinstance(row, dict) else None
        if not isinstance(data, dict) or any(isinstance(data.get(name), list | dict) for name in IDS):
            raise Refused("a row of the answer is no node or edge")
        yield data
        mark = text.skip()
        text.take(1)
        if mark == "]":
            return
        if mark != ",":
            raise Again("the answer ends in the middle") if not mark else Refused("the answer is no JSON")


class _Text:
    """Text that arrives in parts."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts = iter(parts)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")  # some servers begin with a mark
        self._json = json.JSONDecoder()
        self.buffer, self._at = "", 0

    def _more(self) -> bool:
        part = next(self._parts, None)
        if part is None:
            return False
        self.buffer = self.buffer[self._at :] + self._decoder.decode(part)
        self._at = 0
        return True

    def skip(self) -> str:
        """The next character that is no white space, not taken; empty at the end."""
        while True:
            while self._at < len(self.buffer) and self.buffer[self._at].isspace():
                self._at += 1
            if self._at < len(self.buffer):
                return self.buffer[self._at]
            if not self._more():
                return ""

    def take(self, count: int) -> None:
        """Go on by some characters."""
        self._at += count

    def value(self) -> Any:
        """The next JSON value."""
        self.skip()
        while True:
            try:
                value, self._at = self._json.raw_decode(self.buffer, self._at)
                return value
            except ValueError as error:
                if len(self.buffer) - self._at > LONGEST_ROW:
                    raise Refused("a row of the answer does not end") from error
                if not self._more():
                    raise Again("the answer ends in the middle") from error
            except RecursionError as error:
                raise Refused("a row of the answer is nested too deeply") from error


def _origin(url: httpx.URL) -> tuple[str, str]:
    parts = urlsplit(str(url))
    return parts.scheme, parts.netloc


def _said(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    if isinstance(error, httpx.HTTPStatusError):
        return f"status {error.response.status_code}"
    return (str(error).splitlines() or [""])[0] or type(error).__name__
