"""Measures one program on labelled rows: alone, beside cheap rivals, with gold stage by stage, and under load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..data.card import domain_of
from ..data.domain import Domain, check_kinds, load_domain, rows_hash
from ..data.fingerprints import text_fingerprint
from ..data.rows import LabelledRow, read_rows
from ..program.graph.executors.memory import load_graph
from ..program.planner import QueryPlanner
from .baselines import ConstantPlanner, TfidfPlanner
from .cascade.best_effort import trap_words
from .evaluation import Evaluation, evaluate
from .measured import Measured
from .metrics import Judge
from .oracle import oracle_ladder
from .prices import Price, Prices, money
from .report import Report, build_report
from .sampling import Sample, sample_rows
from .test_readings import measured_on, read_of_test, seen_before, seen_by, told_reading
from .throughput import measure_throughput

WORK = Path(".queryplan/evaluations")

MANY = 2000
"""Rows above which TF-IDF predicts all at once (one by one takes 10 ms), and the oracle ladder only runs if asked."""

Told = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Wanted:
    """What to measure, and on which rows.

    Attributes:
        domain: a shipped name or a folder; by default the planner's own.
        data: labelled rows; by default the domain's test split, whose readings are counted.
        size: size of a stratified sample of the rows.
        why: why the test set is read.
        oracle: whether to plan the rows also with gold given stage by stage; by default only without a language model,
            on up to `MANY` rows.
        throughput: whether to plan also with 1, 8 and 64 queries in flight.
        prices: prices of language models, by name.
        work: folder of the files from which a stopped evaluation continues, and of the results.
    """

    domain: str | None = None
    data: Path | None = None
    size: int | None = None
    why: str = "evaluate"
    oracle: bool | None = None
    throughput: bool = False
    prices: Prices = field(default_factory=Prices)
    work: Path = WORK


class Measuring:
    """A planner's passes over the rows that were asked for, which are read once.

    Raises:
        DataError: the domain or the file cannot be read, or its labels do not fit the planner's card.
    """

    def __init__(self, planner: QueryPlanner, wanted: Wanted, told: Told = lambda what, done, total: None) -> None:
        self.planner, self.wanted, self.told = planner, wanted, told
        self.domain = _domain(wanted, planner)
        self.rows = tuple(read_rows(wanted.data)) if wanted.data is not None else self.domain.rows("test")
        name = wanted.data.stem if wanted.data else "test"
        check_kinds(self.rows, planner.card, wanted.data.name if wanted.data else "test.jsonl")
        self.sample: Sample = sample_rows(self.rows, wanted.size or len(self.rows), name=name)
        self.dataset = f"{self.domain.card.name} {name}"

    def program(self, name: str = "program") -> Measured:
        """Measure the planner itself, with its ladder and its throughput if they are wanted."""
        self.planner.warm()
        judge = _judge(self.domain, self.planner)
        lm = self.planner.lm_name
        seen = seen_by(self.planner, self.sample.rows, self.domain)
        evaluation = self._pass(self.planner, name, lm, judge, seen).priced(self.wanted.prices.of(lm))
        rows, wanted = self.sample.rows, self.wanted
        cheap = self.planner.lm_name == "none" and len(rows) <= MANY
        climb = cheap if wanted.oracle is None else wanted.oracle
        folder = self._resume(self.planner.program_version, self.planner.lm_name).with_suffix("")
        return Measured(
            evaluation,
            oracle_ladder(self.planner, rows, evaluation, folder=folder, progress=self.told, judge=judge)
            if climb
            else None,
            measure_throughput(self.planner, rows) if wanted.throughput else (),
        )

    def rivals(self) -> list[Evaluation]:
        """Measure the majority class and TF-IDF on the same rows.

        Raises:
            DataError: the domain has no training rows.
        """
        train, many = self.domain.rows("train"), len(self.sample.rows) > MANY
        words = TfidfPlanner(train).foresee(self.sample.rows) if many else TfidfPlanner(train)
        foreseen = self._pass(words, "tf-idf").model_copy(update={"replayed": many})
        return [self._pass(ConstantPlanner(train), "constant"), foreseen]

    def counted(self) -> list[str]:
        """Sentences about the rows: how often the test set was read, which is recorded first, and who has seen them."""
        self.planner.warm()  # a model that cannot be opened measures nothing, so nothing is read
        rows, wanted, version = self.sample.rows, self.wanted, self.planner.program_version
        told = seen_before(rows, self.domain)
        test = read_of_test(rows, wanted.data, self.domain)
        if test is None:
            return told
        same = measured_on(version, self.planner.lm_name, rows, self.planner.plan_graph)
        return [told_reading(test, version, wanted.why, same), *told]

    def folder(self, measured: Measured) -> Path:
        """The folder of the planner's results: the same for the same program, model and rows."""
        return self._resume(measured.evaluation.program_version, measured.evaluation.lm).with_suffix("")

    def _pass(
        self,
        planner: ConstantPlanner | TfidfPlanner | QueryPlanner,
        name: str,
        lm: str = "none",
        judge: Judge | None = None,
        seen: int = 0,
    ) -> Evaluation:
        words = self.sample.name if len(self.sample.rows) < len(self.rows) else None
        return evaluate(
            planner,
            self.sample.rows,
            name=name,
            progress=lambda done, total: self.told(name, done, total),
            resume=self._resume(planner.program_version, lm),
            sample=words,
            judge=judge,
            domain=self.domain.card.name,
            lm=lm,
            seen=seen,
        )

    def _resume(self, version: str, lm: str) -> Path:
        return journal_of(self.wanted.work, version, lm, self.sample.rows, self.planner.plan_graph)


def journal_of(work: Path, version: str, lm: str, rows: Sequence[LabelledRow], graph: bool = False) -> Path:
    """The journal file for a program, a model and some rows, whoever measures; ``evaluate`` gets the model."""
    model = "" if lm == "none" else f"-{text_fingerprint(lm)[:8]}"
    with_graph = "-graph" if graph else ""  # a compiled program has one version with and without
    return work / f"{version}{model}{with_graph}-{rows_hash(rows)}.jsonl"


def measure(
    planner: QueryPlanner, wanted: Wanted, told: Told, price: Price | None = None
) -> tuple[Measuring, Measured, Report]:
    """Evaluate a program, the majority class and TF-IDF on the same rows, and keep what was measured.

    Args:
        price: the model's price, which takes precedence over ``wanted``.

    Returns:
        The measuring, the program's results, and the report of all columns, the program last.

    Raises:
        DataError: the domain or the file cannot be read.
    """
    measuring = Measuring(planner, wanted, told)
    notes = measuring.counted()
    rivals = measuring.rivals()
    measured = measuring.program().priced(price)
    measured.save(measuring.folder(measured))
    title = f"{planner.program_version} on {measuring.domain.card.name}"
    one = measured.evaluation
    notes += [found.sentence for each in (*rivals, one) if (found := trap_words(each)) is not None]
    notes.append(money(one.dollars, one.lm, one.price))
    return measuring, measured, build_report([*rivals, one], title=title, notes=notes)


def _domain(wanted: Wanted, planner: QueryPlanner) -> Domain:
    return load_domain(domain_of(planner.card, wanted.domain))


def _judge(domain: Domain, planner: QueryPlanner) -> Judge | None:
    """The judge, which has the domain's graph if there is one and the planner plans graph steps."""
    if not planner.plan_graph or planner.card.graph is None or not (domain.folder / "graph").is_dir():
        return None
    return Judge(graph=load_graph(domain.folder, planner.card.graph), schema=planner.card.graph)
