"""What a greeting is by its form, and what follows one."""

from __future__ import annotations

from typing import Any

import pytest
from queryplan.program.heads.heads import Heads
from queryplan.program.text.greetings import Greetings

KNOWN = Greetings(["hi", "thanks", "Thank you", "good morning", "gracias", "你好"])


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Thanks! Who is Nell?", "Who is Nell?"),
        ("hi, thank you. And him?", "And him?"),
        ("¡Gracias! ¿Y él?", "¿Y él?"),
        ('thanks, "flow" then', '"flow" then'),
        ("hi - who is on", "who is on"),
        ("Hi 👋 who is on", "who is on"),
        ("你好，谁是主持人", "谁是主持人"),
        ("Thanks", ""),
        ("hi there", "hi there"),
        ("hi-fi, what is it", "hi-fi, what is it"),
        ("thanksgiving, when is it", "thanksgiving, when is it"),
        ("Who is Nell? Thanks!", "Who is Nell?"),
        ("hi, who is Nell, please?", "who is Nell,"),
        ("who is Nell thanks", "who is Nell"),
        ("say no to please them", "say no to please them"),
        ("", ""),
    ],
)
def test_what_follows_a_greeting_begins_after_its_signs(text: str, rest: str) -> None:
    assert KNOWN.rest(text) == rest


def test_a_card_without_greetings_knows_none() -> None:
    assert not Greetings().are_all("hi")
    assert Greetings([" "]).rest("hi, you") == "hi, you"


@pytest.mark.parametrize(
    "greeting", ["Thanks! {}", "hi, {}", "Good morning. {}", "{} Thanks!", "{} please", '"{}"', "{}?"]
)
def test_heads_say_of_a_question_among_greetings_what_they_say_of_the_question(
    bench: Any, trained: Heads, greeting: str
) -> None:
    planner, question = bench.planner(None, trained), "What did Nell say about sleep debt?"
    one, other = planner.plan(question), planner.plan(greeting.format(question))
    assert other.standalone_query == greeting.format(question)
    names = ("is_relevant", "complexity", "intent", "needs_decomposition", "entities")
    assert [getattr(one, name) for name in names] == [getattr(other, name) for name in names]


def test_thanks_that_go_on_thanking_are_read_whole(bench: Any, trained: Heads) -> None:
    assert bench.planner(None, trained).plan("thanks, that was really helpful").intent == "greeting"
