"""Judges a candidate before an alias moves: not worse than the champion, good enough, fast enough, and safe.

There are three verdicts, since rows may be too few to tell. *Pass*: what is required is shown. *Fail*: the opposite
is shown. *Inconclusive*: neither, with the number of rows that would probably decide. Requiring every check to pass
needs no correction for their number (an intersection-union test, Berger 1982): a candidate that is worse than the
margin in one place gets through with the error of that one check.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from ...errors import ConfigError, DataError
from ...signatures.types import Frozen
from ..evaluation import Case, Evaluation, learned_from
from ..prices import PLANS, money
from ..significance import PairedDifference, corrected, paired_difference
from ..slices import reported
from ..statistics import LEVEL, Estimate, clustered_interval, clustered_quantiles
from ..summary import arising, score_values
from .non_inferiority import difference_of_shares, rows_needed, smallest_margin
from .settings import MEASURES, GateSettings

Verdict = Literal["pass", "fail", "inconclusive", "not judged"]


class Check(Frozen):
    """One requirement for the candidate, and whether it is met.

    Attributes:
        measure: one of `MEASURES` or `COSTS`, or ``injection_successes``, or ``rows learned from``.
        part: the slice that it is about; None for all rows.
        found: what was measured: the difference to the champion, or the candidate's own figure.
        limit: the value that ``found`` is compared with.
        rows: number of rows behind it.
        rows_needed: number of rows like these that would decide, in four cases of five, if the figure stays the same;
            only for an inconclusive check, and None there if no number of rows would.
        sentence: all of this in words.
    """

    kind: Literal["not worse", "minimum", "ceiling", "injections", "new rows"]
    measure: str
    part: str | None = None
    verdict: Verdict
    found: Estimate | None = None
    limit: float
    rows: int
    rows_needed: int | None = None
    sentence: str

    @property
    def name(self) -> str:
        """Kind, measure and slice in one."""
        return f"{self.kind}: {self.measure}" + (f" on {self.part}" if self.part else "")


class GateResult(Frozen):
    """The gate's verdict, and the reasons.

    Attributes:
        candidate: the program version to be promoted.
        champion: the version it is compared with; None if there is none yet.
        candidate_lm: the language model that the candidate was measured with; empty if not given.
        champion_lm: that of the champion.
        checks: failures first, then what is inconclusive.
        level: level of the intervals.
    """

    verdict: Verdict
    candidate: str
    champion: str | None
    candidate_lm: str = ""
    champion_lm: str = ""
    data_fingerprint: str
    rows: int
    conversations: int
    checks: tuple[Check, ...]
    level: float = LEVEL

    def with_verdict(self, verdict: Verdict) -> tuple[Check, ...]:
        """The checks with this verdict."""
        return tuple(check for check in self.checks if check.verdict == verdict)

    @property
    def who(self) -> str:
        """The candidate and the champion, with their models."""
        ours = _with_model(self.candidate, self.candidate_lm)
        if self.champion is None:
            return f"{ours}, with no champion to be held against"
        return f"{ours} against {_with_model(self.champion, self.champion_lm)}"

    @property
    def sentence(self) -> str:
        """The verdict and its reason."""
        begun = f"{self.verdict}: {self.who}, {self.rows} rows"
        why = [c.sentence for c in self.with_verdict("fail") or self.with_verdict("inconclusive")]
        return f"{begun}. {' '.join(why)}".strip()


def judge(candidate: Evaluation, champion: Evaluation | None, settings: GateSettings) -> GateResult:
    """Judge a candidate against the champion and the settings.

    Args:
        champion: its evaluation on the same rows; None if no version has the alias yet.

    Raises:
        DataError: the two are of different domains or different rows.
        ConfigError: a margin is for something that is neither a measure nor a slice of these rows.
    """
    _known_margins(candidate, settings)
    if champion is not None:
        _same_rows(candidate, champion)
    checks = [
        *(_not_worse(candidate, champion, settings) if champion else ()),
        *_minimums(candidate, settings),
        *_ceilings(candidate, settings),
        *_ratio(candidate, champion, settings),
        _injections(candidate, settings),
    ]
    checks += _nothing_asked(candidate, checks, settings.level)
    checks += _new_rows(candidate, champion)
    verdicts = {check.verdict for check in checks}
    overall: Verdict = "fail" if "fail" in verdicts else "inconclusive" if "inconclusive" in verdicts else "pass"
    order: dict[str, int] = {"fail": 0, "inconclusive": 1, "pass": 2, "not judged": 3}
    return GateResult(
        verdict=overall,
        candidate=candidate.program_version,
        champion=champion.program_version if champion else None,
        candidate_lm=candidate.lm,
        champion_lm=champion.lm if champion else "",
        data_fingerprint=candidate.data_fingerprint,
        rows=len(candidate.cases),
        conversations=candidate.summary().conversations,
        checks=tuple(sorted(checks, key=lambda check: order[check.verdict])),
        level=settings.level,
    )


def _known_margins(candidate: Evaluation, settings: GateSettings) -> None:
    """Refuse margins with unknown names, which would have no effect."""
    slices = {name for case in candidate.cases for name in case.slices}
    if wrong := sorted(settings.margins.keys() - MEASURES.keys() - slices):
        raise ConfigError(
            f"queryplan.toml sets gate.margins.{wrong[0]!r}, which is no measure ({', '.join(MEASURES)}) and no slice "
            f"of these rows ({', '.join(sorted(slices))})"
        )


def _nothing_asked(candidate: Evaluation, checks: Sequence[Check], level: float) -> Iterator[Check]:
    """Inconclusive if nothing but injections was judged, since any plans would pass."""
    if any(check.kind != "injections" and check.verdict != "not judged" for check in checks):
        return
    found = share_of(candidate.cases, "plan_right", level)
    right = found.spelled(".3g") if found else "unknown"
    yield Check(
        kind="minimum",
        measure="plan_right",
        verdict="inconclusive",
        found=found,
        limit=0.0,
        rows=len(candidate.cases),
        sentence=f"Nothing was asked of its plans, of which {right} are right: set a minimum under [gate] in "
        "queryplan.toml, or accept it with --accept-inconclusive and --why.",
    )


def _new_rows(candidate: Evaluation, champion: Evaluation | None) -> Iterator[Check]:
    """Inconclusive for rows that a program learned from: they say nothing about its quality in production."""
    one = max((e for e in (candidate, champion) if e is not None), key=lambda e: e.seen)
    if not one.seen:
        return
    yield Check(
        kind="new rows",
        measure="rows learned from",
        verdict="inconclusive",
        limit=0.0,
        rows=one.seen,
        sentence=f"{one.program_version}: {learned_from(one.seen, len(one.cases))}; run `queryplan evaluate` with "
        f"--data on rows that are new to {'both' if champion else 'it'}, and promote again.",
    )


# -- not worse than the champion


def _not_worse(candidate: Evaluation, champion: Evaluation, settings: GateSettings) -> list[Check]:
    """Compare every measure on all rows, and whole plans on every slice; losses are corrected for their number."""
    theirs = {case.row_id: case for case in champion.cases}
    asked = [(measure, None, _in_both(candidate.cases, theirs, score)) for measure, score in MEASURES.items()]
    slices = reported([case.slices for case in candidate.cases], 1)
    of_slice = {name: tuple(c for c in candidate.cases if name in c.slices) for name in slices}
    asked += [("plan_right", name, rows) for name, rows in of_slice.items()]
    some = [(m, part, rows) for m, part, rows in asked if rows]
    pairs = corrected([_paired(m, rows, theirs, settings.level) for m, _, rows in some], settings.level)
    found = [_margin_check(*one, pair, theirs, settings) for one, pair in zip(some, pairs, strict=True)]
    return [*found, *_one_sided(candidate, champion, settings)]


def _in_both(cases: Sequence[Case], theirs: Mapping[str, Case], score: str) -> tuple[Case, ...]:
    """The rows on which a measure applies to both."""
    return tuple(c for c in arising(cases, score) if getattr(theirs[c.row_id].score, score) is not None)


def _one_sided(candidate: Evaluation, champion: Evaluation, settings: GateSettings) -> Iterator[Check]:
    """Measures that only one of the two has, as graph steps are run only if asked for."""
    for measure, score in MEASURES.items():
        ours, theirs = (bool(arising(one.cases, score)) for one in (candidate, champion))
        if ours == theirs:
            continue
        who = "candidate" if ours else "champion"
        yield Check(
            kind="not worse",
            measure=measure,
            verdict="not judged" if ours else "inconclusive",
            limit=-settings.margin_of(measure, None),
            rows=0,
            sentence=f"{measure}: measured for the {who} alone; run `queryplan evaluate --graph` for both.",
        )


def _values(measure: str, rows: Sequence[Case], theirs: Mapping[str, Case]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    score = MEASURES[measure]
    other = [theirs[case.row_id] for case in rows]
    return score_values(rows, score), score_values(other, score), [case.conversation for case in rows]


def _paired(measure: str, rows: Sequence[Case], theirs: Mapping[str, Case], level: float) -> PairedDifference:
    return paired_difference(*_values(measure, rows, theirs), level)


def _margin_check(
    measure: str,
    part: str | None,
    rows: Sequence[Case],
    pair: PairedDifference,
    theirs: Mapping[str, Case],
    settings: GateSettings,
) -> Check:
    margin = settings.margin_of(measure, part)
    ours, champions, conversations = _values(measure, rows, theirs)
    found, error = difference_of_shares(ours, champions, conversations, settings.level)
    common = {"kind": "not worse", "measure": measure, "part": part, "found": found, "limit": -margin, "rows": found.n}
    what = f"{measure} on {part or 'all rows'}: {found.in_points} on {found.n} rows, allowed {-100 * margin:+.1f}"
    # Shown worse at all, in the family of everything looked at, and by the margin or more as far as can be told.
    shown = pair.verdict(level=settings.level) == "worse" and pair.difference.value <= -margin + 1e-9
    if found.high < -margin or shown:
        return Check(**common, verdict="fail", sentence=f"{what}: worse.")
    if found.low > -margin:
        return Check(**common, verdict="pass", sentence=f"{what}: not worse.")
    few = found.n < len(theirs) and smallest_margin(found.clusters, settings.level) >= margin
    if few or found.n < min(settings.part_rows, len(theirs)):
        return Check(**common, verdict="not judged", sentence=f"{what}: too few rows to be judged by.")
    needed = rows_needed(found.n, error, found.value + margin, settings.level)
    return Check(**common, verdict="inconclusive", rows_needed=needed, sentence=f"{what}: {_undecided(needed)}.")


# -- the candidate by itself


def _minimums(candidate: Evaluation, settings: GateSettings) -> Iterator[Check]:
    for measure, minimum in settings.minimum.items():
        found = share_of(candidate.cases, measure, settings.level)
        yield _limit_check("minimum", measure, found, minimum, settings.level, higher_is_better=True)


def share_of(cases: Sequence[Case], measure: str, level: float = LEVEL) -> Estimate | None:
    """The share right of a measure of `MEASURES`, with its interval; None if it applies to no case."""
    rows = arising(cases, MEASURES[measure])
    if not rows:
        return None
    return clustered_interval(score_values(rows, MEASURES[measure]), [case.conversation for case in rows], level)


def _ceilings(candidate: Evaluation, settings: GateSettings) -> Iterator[Check]:
    for cost, ceiling in settings.ceilings.items():
        timed = cost.endswith("_ms")
        found = _cost(candidate, cost, settings.level)
        if found is None:
            sentence = f"{cost}: {money(None, candidate.lm, candidate.price)}"
            rows = len(candidate.cases)
            yield Check(
                kind="ceiling", measure=cost, verdict="inconclusive", limit=ceiling, rows=rows, sentence=sentence
            )
        elif timed and candidate.replayed:
            yield _untimed(cost, ceiling, found.n)
        else:
            yield _limit_check("ceiling", cost, found, ceiling, settings.level, higher_is_better=False)


def _cost(candidate: Evaluation, cost: str, level: float) -> Estimate | None:
    """One of `COSTS`; None for money without a known price. A summary has the same values, at `LEVEL`."""
    conversations = [case.conversation for case in candidate.cases]
    if cost.endswith("_ms"):
        share = int(cost[1:-3]) / 100
        return clustered_quantiles(score_values(candidate.cases, "milliseconds"), conversations, [share], level)[0]
    values = _dollars(candidate) if cost == "dollars" else score_values(candidate.cases, cost)
    return None if values is None else clustered_interval(values, conversations, level)


def _dollars(candidate: Evaluation) -> np.ndarray | None:
    """Dollars of a thousand plans like each row's; None if unknown, see `dollars_of`."""
    if candidate.dollars is None:
        return None
    price, scores = candidate.price, [case.score for case in candidate.cases]
    spent = [price.dollars(s.tokens, s.completion_tokens) if price else 0.0 for s in scores]
    return PLANS * np.array(spent, dtype=float)


def _ratio(candidate: Evaluation, champion: Evaluation | None, settings: GateSettings) -> Iterator[Check]:
    if settings.p95_ratio is None or champion is None:
        return
    limit = settings.p95_ratio * champion.summary().latency.p95.value
    if candidate.replayed or champion.replayed:
        yield _untimed("p95_ms", limit, len(candidate.cases))
    else:
        found = _cost(candidate, "p95_ms", settings.level)
        yield _limit_check("ceiling", "p95_ms", found, limit, settings.level, higher_is_better=False)


def _untimed(cost: str, ceiling: float, rows: int) -> Check:
    sentence = f"{cost}: answers came from a journal, so no time was measured; evaluate again without it."
    return Check(kind="ceiling", measure=cost, verdict="inconclusive", limit=ceiling, rows=rows, sentence=sentence)


def _limit_check(
    kind: Literal["minimum", "ceiling"],
    measure: str,
    found: Estimate | None,
    limit: float,
    level: float,
    *,
    higher_is_better: bool,
) -> Check:
    if found is None:
        sentence = f"{measure}: no row of this set raises it."
        return Check(kind=kind, measure=measure, verdict="inconclusive", limit=limit, rows=0, sentence=sentence)
    shown = f"{found.spelled('.3g')} on {found.n} rows"
    what = f"{measure}: {shown}, {'at least' if higher_is_better else 'at most'} {limit:g}"
    common = {"kind": kind, "measure": measure, "found": found, "limit": limit, "rows": found.n}
    good, bad = (
        (found.low >= limit, found.high < limit) if higher_is_better else (found.high <= limit, found.low > limit)
    )
    if good or bad:
        verdict: Verdict = "pass" if good else "fail"
        return Check(**common, verdict=verdict, sentence=f"{what}: {'kept' if good else 'not kept'}.")
    needed = _needed_of(found, limit, level)
    return Check(**common, verdict="inconclusive", rows_needed=needed, sentence=f"{what}: {_undecided(needed)}.")


def _needed_of(found: Estimate, limit: float, level: float) -> int | None:
    """Rows needed, from a given interval; limits may have any unit, so closeness is relative to the limit."""
    from scipy.stats import norm

    scale = max(abs(limit), 1e-9)
    error = (found.high - found.low) / 2 / float(norm.ppf((1 + level) / 2)) / scale
    return rows_needed(found.n, error, (found.value - limit) / scale, level)


def _injections(candidate: Evaluation, settings: GateSettings) -> Check:
    rows = arising(candidate.cases, "injection_succeeded")
    limit = settings.injection_successes
    common = {"kind": "injections", "measure": "injection_successes", "limit": float(limit), "rows": len(rows)}
    if not rows:
        sentence = "injections: no row of this set tries to give orders (tag injection)."
        return Check(**common, verdict="not judged", sentence=sentence)
    through = [case.row_id for case in rows if case.score.injection_succeeded]
    found = clustered_interval(
        score_values(rows, "injection_succeeded"), [c.conversation for c in rows], settings.level
    )
    named = f" ({', '.join(through[:5])}{', …' if len(through) > 5 else ''})" if through else ""
    counted = f"{len(through)} of {len(rows)} got through{named}, at most {limit}"
    sentence = f"injections: {counted}; the share may be as high as {found.high:.2f}."
    return Check(**common, verdict="fail" if len(through) > limit else "pass", found=found, sentence=sentence)


# -- words


def _with_model(version: str, lm: str) -> str:
    return version if lm in ("", "none") else f"{version} with {lm}"


def _undecided(needed: int | None) -> str:
    if needed is None:
        return "inconclusive, and so close to the limit that more rows would not decide"
    return f"inconclusive; about {needed} rows like these would decide"


def _same_rows(candidate: Evaluation, champion: Evaluation) -> None:
    names = f"{candidate.program_version} and {champion.program_version}"
    if candidate.domain and champion.domain and candidate.domain != champion.domain:
        raise DataError(
            f"{names} are of different domains, {candidate.domain} and {champion.domain}: give two of the same domain"
        )
    ids = [sorted(case.row_id for case in e.cases) for e in (candidate, champion)]
    if candidate.data_fingerprint != champion.data_fingerprint or ids[0] != ids[1]:
        raise DataError(f"{names} were measured on different rows: run `queryplan evaluate` for both on one file")
