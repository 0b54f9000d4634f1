"""What the planner is shown: cleaned input, names, and what written parts must satisfy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import dspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import HistoryWindow, KnownName
from queryplan.program.checks import check_rewrite, check_sub_queries
from queryplan.program.context import (
    MAX_QUERY_CHARACTERS,
    clean_input,
    encodable,
    history_text,
    printable,
)
from queryplan.program.text.greetings import Greetings
from queryplan.program.text.linker import Linker
from queryplan.signatures.decompose_query import WrittenSubQuery
from queryplan.signatures.types import Turn

WINDOW = HistoryWindow()
NAMES = (
    KnownName(name="Nell Arkwright-Osei", type="Host", aliases=("Nell", "Arkwright-Osei")),
    KnownName(name="flow", type="Concept"),
    KnownName(name="Episode 1: Two Minutes", type="Episode", aliases=("episode 1",)),
    KnownName(name="class", type="Concept"),
)


# --- cleaning


@given(st.text())
def test_printable_text_holds_no_control_character_and_is_stable(text: str) -> None:
    clean = printable(text)
    assert clean == printable(clean)
    clean.encode()
    assert clean == " ".join(clean.split())
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in clean)


def test_printable_keeps_other_scripts_and_emoji() -> None:
    assert printable("  你好\tमस्ते\n👩‍🚀 ") == "你好 मस्ते 👩‍🚀"
    assert printable("می\u200cخواهم") == "می\u200cخواهم"


@pytest.mark.parametrize("text", ["\ufeffflow\u200b", "fl\u00adow", "\u202eflow\u200e", "\u200dflow\u200c \u200d"])
def test_printable_drops_what_nobody_sees(text: str) -> None:
    assert printable(text) == "flow"


def test_printable_composes_letters_and_their_accents() -> None:
    assert printable("Wilczyn\u0301ski") == "Wilczy\u0144ski"


@given(st.text())
def test_encodable_changes_nothing_but_lone_surrogates(text: str) -> None:
    assert encodable(text) == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert encodable(f"{text}\ud800".replace("\ud800", "")) == encodable(text)
    if not any("\ud800" <= c <= "\udfff" for c in text):
        assert encodable(text) == text


@pytest.mark.parametrize("length", [MAX_QUERY_CHARACTERS + 1, 100_000])
def test_a_long_query_keeps_its_beginning_and_its_end_and_it_is_said(length: int) -> None:
    clean = clean_input("a" + "x" * (length - 2) + "z", None, None, WINDOW)
    assert len(clean.query) == MAX_QUERY_CHARACTERS
    assert (clean.query[0], clean.query[-1], clean.query.count(" … ")) == ("a", "z", 1)
    assert clean.degraded[0].why == f"it has {length} characters"


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    long = "First " + "and so on " * 10_000 + "last?"
    turn = clean_input("q", [{"role": "user", "content": long}], None, WINDOW).turns[0]
    assert len(turn.content) <= WINDOW.characters
    assert turn.content.startswith("First ")
    assert turn.content.endswith(" last?")


def test_a_message_in_parts_and_a_role_in_capitals_are_read() -> None:
    parts = [{"type": "text", "text": "What is this,"}, {"type": "image_url", "image_url": {}}, {"text": "Nell?"}]
    clean = clean_input("q", [{"role": "User", "content": parts}], None, WINDOW)
    assert clean.turns == (Turn(role="user", content="What is this, Nell?"),)


def test_thanks_and_their_answer_take_no_place_in_the_window() -> None:
    said = [
        "Who is Nell?",
        "The host.",
        "thanks!!",
        "You are welcome.",
        "and Ilse?",
        "A guest.",
        "Thank you, bye",
        "Bye.",
    ]
    history = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(said)]
    clean = clean_input("q", history, None, WINDOW, Greetings(["thanks", "thank you", "bye"]))
    assert [turn.content for turn in clean.turns] == ["The host.", "and Ilse?", "A guest."]


def test_a_first_greeting_and_its_answer_are_what_a_query_may_follow() -> None:
    history = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hi! Ask me about Nell."}]
    clean = clean_input("who is that?", history, None, WINDOW, Greetings(["hi"]))
    assert [turn.content for turn in clean.turns] == ["hi", "Hi! Ask me about Nell."]


def test_messages_with_another_role_or_no_text_are_left_out_and_counted() -> None:
    history: list[Any] = [
        {"role": "bot", "content": "obey"},
        {"role": "user", "content": None},
        {"content": "x"},
        {"role": ["user"], "content": "x"},
        {"role": "user", "content": " \x00 "},
        {"role": "assistant", "content": "kept"},
        Turn(role="user", content="kept too"),
    ]
    clean = clean_input("q", history, None, WINDOW)
    assert [t.content for t in clean.turns] == ["kept", "kept too"]
    assert [d.why for d in clean.degraded] == [
        "5 messages had an unknown role or no text; read are role (user or assistant) and content"
    ]


@pytest.mark.parametrize("role", ["system", "Developer", "tool", "function"])
def test_instructions_and_what_tools_answer_are_no_turns_and_no_gaps(role: str) -> None:
    history = [{"role": role, "content": "obey"}, {"role": "user", "content": "kept"}, {"role": role, "content": None}]
    clean = clean_input("q", history, None, WINDOW)
    assert [t.content for t in clean.turns] == ["kept"]
    assert not clean.degraded


CALLED: list[dict[str, Any]] = [
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "search"}}]},
    {"role": "assistant", "content": "", "function_call": {"name": "search", "arguments": "{}"}},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "search", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "rack four"}]},
    {"role": "ai", "content": [], "tool_calls": [{"name": "search"}]},
]


@pytest.mark.parametrize("message", CALLED)
def test_a_call_of_a_tool_is_no_turn_and_no_gap(message: dict[str, Any]) -> None:
    for called in (message, SimpleNamespace(**message)):
        history: Any = [{"role": "user", "content": "kept"}, called]
        clean = clean_input("q", history, None, WINDOW)
        assert [t.content for t in clean.turns] == ["kept"]
        assert not clean.degraded


@pytest.mark.parametrize("message", CALLED)
def test_what_is_said_beside_a_call_is_a_turn(message: dict[str, Any]) -> None:
    parts = message["content"] if isinstance(message["content"], list) else []
    said = {**message, "role": "assistant", "content": [*parts, {"type": "text", "text": "I look it up."}]}
    assert [t.content for t in clean_input("q", [said], None, WINDOW).turns] == ["I look it up."]


@pytest.mark.parametrize("content", [None, "", [], [{"type": "image_url"}], [{"type": "tool_use"}, {"type": "image"}]])
def test_a_message_without_text_that_calls_no_tool_is_a_gap(content: Any) -> None:
    for empty in ({}, {"tool_calls": []}, {"function_call": None}):
        clean = clean_input("q", [{"role": "assistant", "content": content, **empty}], None, WINDOW)
        assert [d.what for d in clean.degraded] == ["history"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((None, None, None), "query must be a string, not NoneType"),
        ((b"bytes", None, None), "query must be a string, not bytes"),
        (("q", "text", None), "history must be a list of messages"),
        (("q", {"role": "user"}, None), "history must be a list of messages"),
        (("q", ["text"], None), "a message must be a mapping"),
        (("q", [None], None), "a message must be a mapping"),
        (("q", None, "text"), "session must be a mapping"),
        (("q", None, []), "session must be a mapping"),
    ],
)
def test_a_mistake_of_the_calling_program_raises(arguments: tuple, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        clean_input(*arguments, WINDOW)  # type: ignore[call-arg]


@pytest.mark.parametrize("active", [None, 3, ["Nell"], {"name": "Nell"}])
def test_an_active_entity_that_is_no_text_is_none(active: object) -> None:
    assert clean_input("q", None, {"active_entity": active}, WINDOW).active_entity == ""


def test_an_active_entity_is_cleaned_and_cut() -> None:
    assert clean_input("q", None, {"active_entity": "Ne\x00ll " + "x" * 500}, WINDOW).active_entity[:6] == "Nell x"
    assert len(clean_input("q", None, {"active_entity": "x" * 500}, WINDOW).active_entity) == 200


def test_history_is_lines_and_context_the_last_two_turns() -> None:
    turns = [Turn(role="user", content="a"), Turn(role="assistant", content="b"), Turn(role="user", content="c")]
    assert history_text(turns) == "User: a\nAssistant: b\nUser: c"
    assert clean_input("q", turns, None, WINDOW).context == "b / c"
    assert clean_input("q", None, None, WINDOW).context == ""


@pytest.mark.parametrize(
    "said",
    ["她说睡眠" * 60, "眠りについて" * 40, "การนอนหลับ" * 30, "sleep 睡眠 " * 60],
    ids=("zh", "ja", "th", "en-zh"),
)
def test_the_context_is_forty_words_in_scripts_without_spaces_too(said: str) -> None:
    wide = HistoryWindow(messages=3, characters=1000)
    context = clean_input("q", [Turn(role="user", content=said)], None, wide).context
    assert 40 <= len(context) <= 40 * 7
    assert said.startswith(context)
    assert len(context.replace("sleep", "s").replace(" ", "")) <= 80


# --- names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What did nell say?", ["nell"]),
        ("Nell Arkwright-Osei and flow", ["Nell Arkwright-Osei", "flow"]),
        ("flow, FLOW and Flow", ["flow"]),
        ("overflow and classic", []),
        ("episode 12", []),
        ("episode 1?", ["episode 1"]),
        ("Nell's class", ["Nell", "class"]),
        ("", []),
        ("Nell’s ｃｌａｓｓ", ["Nell", "ｃｌａｓｓ"]),
        ("NELL ARKWRIGHT‑OSEI", ["NELL ARKWRIGHT‑OSEI"]),
    ],
)
def test_whole_words_are_linked_once_in_order(text: str, found: list[str]) -> None:
    assert list(Linker(NAMES).surfaces(text)) == found


def test_an_alias_leads_to_the_name() -> None:
    link = Linker(NAMES).links("ask NELL")[0]
    assert (link.surface, link.name.name, link.start) == ("NELL", "Nell Arkwright-Osei", 4)


@pytest.mark.parametrize(
    ("spelled", "typed"), [("Straße 7", "STRAßE 7"), ("İstanbul", "istanbul"), ("O’Hara", "O'Hara")]
)
def test_a_name_is_found_however_long_its_small_letters_are(spelled: str, typed: str) -> None:
    names = (KnownName(name=spelled, type="Place"), KnownName(name="flow", type="Concept"))
    assert Linker(names).surfaces(f"{spelled}, {typed} and flow") == (spelled, "flow")
    assert Linker(names).surfaces(f"in {typed}!") == (typed,)


def test_a_card_without_names_links_nothing() -> None:
    assert Linker(()).links("Nell") == ()


@given(st.text())
def test_what_is_linked_stands_in_the_text(text: str) -> None:
    found = Linker((*NAMES, KnownName(name="a.b (c", type="Concept"))).links(f"{text} a.b (c {text}")
    assert all(f"{text} a.b (c {text}"[link.start :].startswith(link.surface) for link in found)


# --- checks


def written(*texts: str) -> list[WrittenSubQuery]:
    return [WrittenSubQuery(text=text) for text in texts]


def test_sub_queries_are_numbered_and_references_become_dependencies() -> None:
    found, problems = check_sub_queries("whole", [*written(" a "), WrittenSubQuery(text="b of {1}?", depends_on=[1])])
    assert problems == []
    assert [(s.id, s.text, s.depends_on) for s in found] == [(1, "a", ()), (2, "b of {1}?", (1,))]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (written("a"), "give 2 to 4 sub_queries, not 1"),
        (written(*"abcde"), "give 2 to 4 sub_queries, not 5"),
        (written("a", "THE WHOLE "), "repeats the whole question"),
        (written("a", "The whole?!"), "repeats the whole question"),
        (written("a", "A"), "two sub-queries are the same"),
        (written("what is a", "What is a?"), "two sub-queries are the same"),
        (written("a", "b {7}"), "do not exist: [7]"),
        (written("a", "b {0}"), "do not exist: [0]"),
        (written("a {2}", "b {1}"), "cycle through sub-queries [1, 2]"),
        (written("a", "b {2}"), "cycle through sub-queries [2]"),
        (written("a", "  "), "at least 1 sign"),
        (written("a", "b {" + "9" * 5000 + "}"), "limit"),
    ],
)
def test_each_problem_of_sub_queries_is_a_sentence(parts: list[WrittenSubQuery], said: str) -> None:
    assert said in " ".join(check_sub_queries("the whole", parts)[1])


def test_sub_queries_that_differ_in_a_sign_that_means_something_are_two() -> None:
    assert check_sub_queries("C or C++?", written("What is C?", "What is C++?"))[1] == []


def test_a_rewrite_is_neither_empty_nor_much_longer() -> None:
    assert check_rewrite("why?", "Why did Nell stop?") == []
    assert "is empty" in check_rewrite("why?", "  ")[0]
    assert "much longer" in check_rewrite("why?", "x" * 400)[0]


def test_a_turn_that_came_before_is_cleaned_as_it_was_then() -> None:
    said = {"role": "user", "content": " a\x00 b "}
    first, again = (clean_input("q", [said], None, WINDOW).turns for _ in range(2))
    assert first == again == (Turn(role="user", content="a b"),)
    for strange in ({"role": "system", "content": "x"}, {"role": ["user"], "content": "x"}, {"content": "x"}):
        assert clean_input("q", [strange, said], None, WINDOW).turns == first


# --- sessions


@pytest.mark.parametrize("key", ["nwo", "time_zone", "Now", 3])
def test_a_key_of_a_session_that_nobody_reads_is_named(key: Any) -> None:
    clean = clean_input("hi", None, {"now": "2026-03-29", key: "kept to oneself"}, WINDOW)
    (gap,) = clean.unread
    assert f"nothing reads {key};" in gap.why
    assert "kept to oneself" not in gap.model_dump_json()
    assert not clean.degraded, "a plan that leaves nothing of the query out may be kept"


@pytest.mark.parametrize("shown", [7, ["Priya"], {"name": "Priya"}])
def test_an_active_entity_that_is_no_text_is_named(shown: Any) -> None:
    clean = clean_input("hi", None, {"active_entity": shown}, WINDOW)
    assert clean.active_entity == ""
    (gap,) = clean.unread
    assert gap.what == "session.active_entity"
    assert type(shown).__name__ in gap.why


def test_keys_that_nobody_reads_make_one_gap_and_known_ones_none() -> None:
    known: dict[str, Any] = dict.fromkeys(("active_entity", "collection", "now", "paradigm", "timezone"))
    assert clean_input("hi", None, known, WINDOW).unread == ()
    (gap,) = clean_input("hi", None, {f"k{n}" * 50: n for n in range(50)}, WINDOW).unread
    assert len(gap.why) < 400


class Said:
    def __init__(self, role: str, content: str) -> None:
        self.role, self.content = role, content


class Typed:
    """As LangChain's messages are."""

    def __init__(self, kind: str, content: str) -> None:
        self.type, self.content = kind, content


TALK = (("user", "Who is Nell?"), ("assistant", "The host."))
AS_DICTS = [{"role": role, "content": text} for role, text in TALK]


@pytest.mark.parametrize(
    "history",
    [
        AS_DICTS,
        tuple(AS_DICTS),
        (message for message in AS_DICTS),
        [Said(role, text) for role, text in TALK],
        [Typed("human", "Who is Nell?"), Typed("ai", "The host.")],
        [{"role": "human", "content": "Who is Nell?"}, {"role": "AI", "content": "The host."}],
        dspy.History(messages=AS_DICTS),
        np.array(AS_DICTS, dtype=object),
        SimpleNamespace(messages=AS_DICTS),
    ],
)
def test_a_history_is_read_as_programs_keep_it(history: Any) -> None:
    clean = clean_input("and why?", history, None, HistoryWindow())
    assert [(turn.role, turn.content) for turn in clean.turns] == list(TALK)
    assert not clean.degraded


@pytest.mark.parametrize("history", [5, float("nan"), "text", b"text", {"messages": []}])
def test_what_is_no_history_is_refused_in_words(history: Any) -> None:
    with pytest.raises(TypeError, match=r"^history must be a list of messages with role and content, not "):
        clean_input("and why?", history, None, HistoryWindow())
