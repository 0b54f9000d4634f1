"""How well a new domain plans with rows lent by other domains, on four domains that nothing else learns from.

``eval/sets/new-domains`` has their cards, 50 rows to learn from, and 130 rows by other people to measure on. Plans
are made by rules and heads, which look closer where that encoder is installed, with the card alone and with the 50
rows, each with lent rows and without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ...data.domain import Domain, load_domain
from ...data.rows import LabelledRow
from ...program.heads.encoder import default_encoder
from ...program.heads.encoders import closer_encoder
from ...program.heads.lending import lent_rows
from ...program.heads.training import train_heads
from ...program.planner import QueryPlanner
from ...signatures.types import Frozen
from ..metrics import CaseScore, score_case
from ..statistics import Estimate, clustered_interval

NEW_DOMAINS = Path(__file__).parents[1] / "sets" / "new-domains"
Progress = Callable[[int, int], None]


class Lending(Frozen):
    """Accuracy of plans in a new domain, with 95 % intervals over conversations.

    Attributes:
        rows: number of labelled rows of its own.
        lent: number of rows lent by other domains.
        follow_up: share of follow-up labels that are right, in later turns only.
    """

    domain: str
    rows: int
    lent: int
    labels_right: Estimate
    plan_right: Estimate
    follow_up: Estimate


def bench_lending(progress: Progress = lambda done, of: None) -> list[Lending]:
    """Measure each domain in four ways, with the card alone and with its rows, each without and with lent rows.

    It takes minutes.
    """
    tried = list(_tried())
    found = []
    for done, (domain, rows, lending) in enumerate(tried):
        progress(done, len(tried))
        found.append(_measured(domain, rows, lending))
    progress(len(tried), len(tried))
    return found


def _tried() -> Iterator[tuple[Domain, Sequence[LabelledRow], bool]]:
    for folder in sorted(path for path in NEW_DOMAINS.iterdir() if path.is_dir()):
        domain = load_domain(folder, splits=("train", "test"))
        for rows in ((), domain.rows("train")):
            yield from ((domain, rows, lending) for lending in (False, True))


def _measured(domain: Domain, rows: Sequence[LabelledRow], lending: bool) -> Lending:
    lent = lent_rows(rows, domain.card) if lending else ()
    heads = train_heads(rows, domain.card, default_encoder(), lent=lent, closer=closer_encoder())
    planner = QueryPlanner(domain.card, heads=heads, lm=None)
    asked = domain.rows("test")
    scores = [score_case(row, planner.plan(row.query, row.history, row.session)) for row in asked]

    def share(value: Callable[[CaseScore], bool | None], of: Sequence[bool]) -> Estimate:
        kept = [(bool(value(s)), row.conversation) for s, row, one in zip(scores, asked, of, strict=True) if one]
        return clustered_interval([right for right, _ in kept], [conversation for _, conversation in kept])

    every, later = [True] * len(asked), [bool(row.history) for row in asked]
    return Lending(
        domain=domain.card.name,
        rows=len(rows),
        lent=sum(len(one.rows) for one in lent),
        labels_right=share(lambda s: s.labels_right, every),
        plan_right=share(lambda s: s.plan_right, every),
        follow_up=share(lambda s: s.follow_up_right, later),
    )
