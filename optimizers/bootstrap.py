"""Random search over demonstrations: DSPy's ``BootstrapFewShotWithRandomSearch``.

Its candidates are run one at a time (``restrict``), because otherwise it cannot keep within a budget, draw the rows of
each candidate balanced by label, and keep the predictions on ``dev``, on which thresholds are then fitted without
asking again.
"""

from __future__ import annotations

from random import Random
from typing import Any

import dspy

from .base import Progress, StageResult, StageTask
from .demonstrations import balanced, grouping
from .finishing import ChooseBy, finish
from .labeled import labeled_program, run_labelled_sets
from .trials import WRITTEN_DEV, Bench, Recorder, StageProgram, bench, quiet

# Without a threshold DSPy keeps a demonstration if the metric is truthy, which one minus the Brier score nearly always
# is. From 0.75 on, the right label has the highest probability.
METRIC_THRESHOLD = 0.75


class Bootstrap:
    """Tries no demonstrations, a labelled set, and sets of rows that the LM gets right; the best on ``dev`` wins.

    Args:
        candidates: number of bootstrapped sets for a stage that decides, besides zero-shot and the labelled set.
        bootstrapped: the most demonstrations in a set that the LM answered right by itself.
        labeled: number of demonstrations in a set, filled up with labelled rows.
        written_candidates: number of labelled sets for a stage that writes, besides zero-shot and one bootstrapped set.
        written_demos: number of demonstrations in a set for a stage that writes.
        written_dev: number of ``dev`` examples that a stage that writes is scored on.
        choose_by: the score on ``dev`` by which the winner is chosen; see `finishing.ChooseBy`.
    """

    name = "bootstrap"

    def __init__(
        self,
        candidates: int = 3,
        bootstrapped: int = 4,
        labeled: int = 8,
        written_candidates: int = 3,
        written_demos: int = 3,
        written_dev: int = WRITTEN_DEV,
        choose_by: ChooseBy = "calibrated",
    ) -> None:
        self.candidates, self.bootstrapped, self.labeled = candidates, bootstrapped, labeled
        self.written_candidates, self.written_demos = written_candidates, written_demos
        self.written_dev = written_dev
        self.choose_by: ChooseBy = choose_by

    def compile(self, task: StageTask, progress: Progress) -> StageResult:
        """Try every candidate that fits into ``task.max_calls``, choose, and fit thresholds.

        Raises:
            LMError: the language model is unreachable.
        """
        with bench(task, progress, lambda dev: self._foreseen(task, dev), self.written_dev) as work:
            work.run("zero-shot", work.program())
            k = self.written_demos if task.writes else self.labeled
            run_labelled_sets(work, k, self.written_candidates if task.writes else 1)
            for number in range(1 if task.writes else self.candidates):
                self._try(work, number, k)
            return finish(work, progress, choose_by=self.choose_by)

    def arguments(self) -> dict[str, Any]:
        """The settings by name, and ``METRIC_THRESHOLD``."""
        return {**vars(self), "metric_threshold": METRIC_THRESHOLD}

    def _try(self, work: Bench, number: int, k: int) -> None:
        """Try one bootstrapped set, if the budget allows its worst case: asking every row of its pool, then ``dev``."""
        name, teacher = f"bootstrap-{number + 1}", _teacher(work, k)
        pool = self._pool(work, number, k, teacher)
        if not pool:
            work.notes.append(f"{name} was not tried: every labelled row already demonstrates")
            return
        if not work.fits(name, work.cost(pool) + work.cost(work.dev)):
            return
        recorder, before = Recorder(work.task.metric, work.ledger), work.ledger.calls
        program = self._search(work, recorder, teacher, pool, number, k)
        work.add(name, program, recorder, before)

    def _pool(self, work: Bench, number: int, k: int, teacher: StageProgram) -> list[dspy.Example]:
        """Balanced rows from which this candidate's demonstrations are chosen: twice as many as it shows.

        None of them is a demonstration of the teacher. For such a row DSPy would leave it out of the teacher's prompt,
        and a prompt that changes from row to row has to be processed anew each time (8 s instead of 0.5).
        """
        rng = Random(f"{work.task.seed}/{number}")
        rows = balanced(work.train, grouping(work.task.signature), rng)
        return [row for row in rows if row not in teacher.predict.demos][: 2 * k]

    def _search(
        self, work: Bench, recorder: Recorder, teacher: StageProgram, pool: list[dspy.Example], number: int, k: int
    ) -> StageProgram:
        """The candidate with this number, made and scored by DSPy."""
        try:
            with quiet():
                search = dspy.BootstrapFewShotWithRandomSearch(
                    metric=recorder,
                    metric_threshold=METRIC_THRESHOLD,
                    max_bootstrapped_demos=min(self.bootstrapped, k),
                    max_labeled_demos=k,
                    num_candidate_programs=number + 1,
                    num_threads=1,
                    max_errors=1,
                )
                return search.compile(
                    work.program(), teacher=teacher, trainset=pool, valset=work.dev, restrict=[number]
                )
        except Exception as error:
            # DSPy raises "Execution cancelled" instead of the error itself.
            if work.ledger.failure is not None and work.ledger.failure is not error:
                raise work.ledger.failure from error
            raise

    def _foreseen(self, task: StageTask, dev: int) -> int:
        """The expected number of evaluations, if everything fits and about every second row is answered right."""
        sets = self.written_candidates if task.writes else 1
        bootstraps = 1 if task.writes else self.candidates
        return (1 + sets + bootstraps) * dev + bootstraps * 2 * self.bootstrapped


def _teacher(work: Bench, k: int) -> StageProgram:
    """The labelled set as a teacher, whose right answers become demonstrations."""
    teacher = labeled_program(work, k, work.task.seed)
    # Otherwise DSPy would replace its demonstrations by rows of the pool.
    teacher._compiled = True
    return teacher
