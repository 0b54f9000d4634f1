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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("What did Ben say last week?", "last week"),
        ("what did mia say last week", "last week"),
        ("What did Min say about sleep last month?", "last month"),
        ("What did Mi and Je say last week?", "last week"),
        ("What happened in the US last week?", "last week"),
        ("what happened in the us last week", "last week"),
        ("US elections: what was said last week?", "last week"),
        ("What is new about My Year of Rest last week?", "last week"),
        ("Was hat Ben gestern gesagt?", "gestern"),
        ("vem talade i Göteborg igår?", "igår"),
        ("i comuni: chi ha deciso i turni ieri?", "ieri"),
        ("które błędy i zmiany wyszły wczoraj?", "wczoraj"),
        ("¿Qué dijo Mia la semana pasada?", "la semana pasada"),
    ],
)
def test_what_sounds_like_a_word_for_oneself_in_another_language_is_none(text: str, said: str) -> None:
    assert asked_dates(text) == (said,)


@pytest.mark.parametrize(
    "text",
    [
        "What did we say last week?",
        "WHAT DID WE SAY LAST WEEK?",
        "What Did My Boss Say Last Week",
        "what did Ben tell us last week",
        "Was hast du mir gestern gesagt?",
        "Was hat Mein Chef gestern gesagt?",
        "qu'est-ce que j'ai lu la semaine dernière ?",
        "¿qué dijo mi jefe la semana pasada?",
        "o que o meu chefe disse na semana passada?",
        "cosa ha detto mia madre ieri",
        "vad sa min chef igår?",
        "co powiedziała moja szefowa wczoraj?",
        "ben geçen hafta ne dedim?",
        "что сказал мой начальник вчера?",
    ],
)
def test_who_asks_of_himself_in_his_language_asks_for_no_time(text: str) -> None:
    assert asked_dates(text) == ()


def test_names_stand_for_nobody_who_asks() -> None:
    assert asked_dates("what was said in all my rivers last week") == ()
    assert asked_dates("what was said in all my rivers last week", names=["all my rivers"]) == ("last week",)
    assert asked_dates("Mia che cosa ha detto ieri?", names=["Mia"]) == ("ieri",)
    assert asked_dates("cosa ha detto mia madre ieri", names=["mia"]) == ()
    assert asked_dates("what do I know of I last week", names=["I"]) == ()


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
    named = bench.planner(heads=kinds).plan("what did Ilse say about the US last month?")
    assert any(gap.what == "date:last month" for gap in named.degraded)
    without = bench.planner(heads=kinds).plan("what did Ilse say about beauty?")
    assert not any(gap.what.startswith("date:") for gap in without.degraded)
