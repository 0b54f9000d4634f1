"""What stands in questions without being a name."""

from __future__ import annotations

from itertools import permutations

from queryplan.program.graph.names.hypotheses import plain_counts, runs_outside

QUESTION = "Which lung cancer drug helps in breast cancer?"


def test_runs_have_no_word_of_a_name() -> None:
    runs = runs_outside(QUESTION, {"lung cancer", "breast cancer"})
    assert {"which", "drug", "drug helps in", "in"} <= runs
    assert not {run for run in runs if "cancer" in run or "lung" in run}


def test_names_that_overlap_count_alike_in_any_order() -> None:
    names = ("lung cancer", "cancer drug", "which lung!")  # a set has them in an order that each process draws anew
    assert len({frozenset(runs_outside(QUESTION, order)) for order in permutations(names)}) == 1


def test_each_question_counts_once() -> None:
    counts = plain_counts([QUESTION, "a drug for a drug"], [("lung cancer", "breast cancer"), ()])
    assert (counts["drug"], counts["in"], counts["a"]) == (2, 1, 1)
