"""Random search over demonstrations: DSPy's ``BootstrapFewShotWithRandomSearch``.

Its candidates are run one at a time (``restrict``), for three things that it cannot do at once: keep within a budget,
draw the rows of each candidate balanced by label, and keep predictions on ``dev`` so that thresholds are fitted
without asking again.
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

# A demonstration is kept when the metric is truthy, and one minus Brier nearly always is. From 0.75
# on, the label has the highest probability.
METRIC_THRESHOLD = 0.75


class Bootstrap:
    """Zero-shot, a labelled set, and sets of rows that the LM gets right; the best on ``dev`` wins.

    Args:
        candidates: bootstrapped sets of a stage that decides, beside zero-shot and the labelled set.
        bootstrapped: the most demonstrations that the LM answers right by itself.
        labeled: demonstrations in all, filled up with labelled rows.
        written_candidates: labelled sets of a stage that writes, beside zero-shot and one
            bootstrapped set.
        written_demos: demonstrations in all of a stage that writes.
        written_dev: ``dev`` examples that a stage that writes is scored on.
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
        """The settings by name, and the threshold for demonstrations."""
        return {**vars(self), "metric_threshold": METRIC_THRESHOLD}

    def _try(self, work: Bench, number: int, k: int) -> None:
        """One bootstrapped set, if its worst case fits: every row of its pool asked, then ``dev``."""
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
        """Balanced rows that this candidate's demonstrations come from: twice as many as it shows.

        None of them is shown to the teacher: DSPy would leave a row out of the teacher's prompt for its own turn, and a
        server has to read a prompt that changes from row to row each time (8 s instead of 0.5).
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
            # DSPy replaces what went wrong by "Execution cancelled".
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
    # Otherwise DSPy would give it other demonstrations, out of the pool.
    teacher._compiled = True
    return teacher
