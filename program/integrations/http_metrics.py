"""Counters and timings of a server in Prometheus' text format: only totals, nothing about any one request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .http_types import Health

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds in seconds, from plans without a language model to those that wait for one."""


class Metrics:
    """Counts and times of answers since the server started. For one event loop, so without a lock."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[str, int]] = Counter()
        self._within: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count one answer."""
        self._answers[path, status] += 1
        self._seconds[path] += seconds  # type: ignore[assignment]  (Counter declares whole numbers)
        for bucket in BUCKETS:
            self._within[path, bucket] += seconds <= bucket

    def text(self, health: Health) -> str:
        """All metrics in Prometheus' text format."""
        return "\n".join((*self._of_answers(), *_of_health(health))) + "\n"

    def _of_answers(self) -> Iterator[str]:
        yield "# TYPE queryplan_http_requests_total counter"
        for (path, status), number in sorted(self._answers.items()):
            yield f'queryplan_http_requests_total{{path="{path}",status="{status}"}} {number}'
        yield "# TYPE queryplan_http_request_seconds histogram"
        for path in sorted(self._seconds):
            yield from self._histogram(path)

    def _histogram(self, path: str) -> Iterator[str]:
        total = sum(number for (counted, _), number in self._answers.items() if counted == path)
        for bucket in BUCKETS:
            yield f'queryplan_http_request_seconds_bucket{{path="{path}",le="{bucket:g}"}} {self._within[path, bucket]}'
        yield f'queryplan_http_request_seconds_bucket{{path="{path}",le="+Inf"}} {total}'
        yield f'queryplan_http_request_seconds_sum{{path="{path}"}} {self._seconds[path]:.6f}'
        yield f'queryplan_http_request_seconds_count{{path="{path}"}} {total}'


def _of_health(health: Health) -> Iterator[str]:
    yield "# TYPE queryplan_program_info gauge"
    yield f'queryplan_program_info{{domain="{health.domain}",version="{health.version}"}} 1'
    counters = {"plans": health.plans, "degraded_plans": health.degraded_plans}
    if health.cache is not None:
        counters |= {"cache_asked": health.cache.asked, "cache_hits": health.cache.hits}
    gauges = {"running": health.running, "waiting": health.waiting, "ready": int(health.ready)}
    gauges["lm_open"] = int(health.lm_open)
    for name, number in counters.items():
        yield from (f"# TYPE queryplan_{name}_total counter", f"queryplan_{name}_total {number}")
    for name, number in gauges.items():
        yield from (f"# TYPE queryplan_{name} gauge", f"queryplan_{name} {number}")
