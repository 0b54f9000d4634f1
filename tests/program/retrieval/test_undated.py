"""Dates that nothing can be asked for: said where a question asks what was said then, and not of other dates."""

from __future__ import annotations

from typing import Any

import pytest
from queryplan.program.retrieval.undated import asked_dates


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("what did Ilse say about beauty last month", "last month"),
        ("any news on the kiln in the past two weeks?", "past two weeks"),
        ("who spoke yesterday", "yesterday"),
        ("what was recommended 3 days ago", "3 days ago"),
        ("what did priya say last wek", "last wek"),
        ("Wer war gestern in der Sendung?", "gestern"),
        ("qu'a dit Miriam la semaine dernière ?", "la semaine dernière"),
        ("o que a Nell disse na semana passada?", "na semana passada"),
        ("cosa ha detto Aoife ieri", "ieri"),
        ("wat zei Ilse vorige maand over schoonheid?", "vorige maand"),
        ("上周谁谈到了睡眠", "上周"),
    ],
)
def test_what_is_over_and_asked_for_is_told(text: str, said: str) -> None:
    assert asked_dates(text) == (said,)


@pytest.mark.parametrize(
    "text",
    [
        "what happened in 2008",
        "who speaks in the episode from May",
        "what does Ansei never do on a Friday",
        "I started last week, who is Nell?",
        "meine Prüfung war gestern, wer ist Nell?",
        "is that better than last week?",
        "what is one to do when past day one",
        "My talk was yesterday. what is flow",
        "the reading of last week was lovely",
        "what did the two say in the last episode",
        "Wie viele Gene liegen hier auf dem Chromosom?",
        "which practice can be tried this week",
        "",
    ],
)
def test_other_dates_are_not(text: str) -> None:
    assert asked_dates(text) == ()


def test_of_ones_own_texts_one_asks_in_the_first_person_and_by_weekdays() -> None:
    text = "what did I write on Tuesday?"
    assert asked_dates(text, own=True) == ("Tuesday",)
    assert asked_dates(text) == ()


def test_a_plan_of_a_domain_without_dated_sources_says_so(bench: Any) -> None:
    kinds = {"is_relevant": {"true": 0.9, "false": 0.1}, "intent": {"factual": 0.9, "causal": 0.1}}
    plan = bench.planner(heads=kinds).plan("what did Ilse say about beauty last month?")
    assert [(gap.what, gap.instead) for gap in plan.degraded if gap.what.startswith("date:")] == [
        ("date:last month", "the texts of all times are searched")
    ]
    without = bench.planner(heads=kinds).plan("what did Ilse say about beauty?")
    assert not any(gap.what.startswith("date:") for gap in without.degraded)
