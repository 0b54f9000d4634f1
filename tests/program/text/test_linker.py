"""Names are found as whole words, the longest where several overlap, each once, wherever they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import KnownName
from queryplan.program.text.linker import Linker

NAMES = (
    KnownName(name="Ilse Brandt", type="guest", aliases=("Ilse", "Brandt")),
    KnownName(name="The Long Now", type="book", aliases=()),
    KnownName(name="Now What?", type="book", aliases=()),
    KnownName(name="What", type="band", aliases=()),
    KnownName(name="C++", type="language", aliases=()),
    KnownName(name="++", type="sign", aliases=()),
    KnownName(name="Episode 7", type="episode", aliases=("ep 7",)),
    KnownName(name="Episode 71", type="episode", aliases=()),
    KnownName(name="Imatinib", type="drug", aliases=("伊马替尼", "イマチニブ", "이마티닙")),
    KnownName(name="Li", type="guest", aliases=("李",)),
)
LINKER = Linker(NAMES)


def found(text: str) -> list[tuple[str, str]]:
    return [(link.surface, link.name.name) for link in LINKER.links(text)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("what did ilse brandt say", [("what", "What"), ("ilse brandt", "Ilse Brandt")]),
        ("the long now what?", [("the long now", "The Long Now"), ("what", "What")]),
        ("now what?", [("now what?", "Now What?")]),
        ("now what", [("what", "What")]),
        ("episode 7, then episode 71", [("episode 7", "Episode 7"), ("episode 71", "Episode 71")]),
        ("ilseb", []),
        ("Ilse and Ilse?!", [("Ilse", "Ilse Brandt")]),
        ("is c++ dead", [("c++", "C++")]),
        ("a ++ b", [("++", "++")]),
        ("", []),
        ("她和Ilse争论的是什么", [("Ilse", "Ilse Brandt")]),
        ("第Episode 7集", [("Episode 7", "Episode 7")]),
        ("哪些基因是伊马替尼的靶点", [("伊马替尼", "Imatinib")]),
        ("イマチニブは何に効きますか", [("イマチニブ", "Imatinib")]),
        ("メタイマチニブは", []),
        ("이마티닙은 어떤 약인가요", [("이마티닙", "Imatinib")]),
        ("메타이마티닙은", []),
        ("行李在哪里", []),
        ("李 说了什么", [("李", "Li")]),
    ],
)
def test_names_are_whole_and_the_longest_wins(text: str, names: list[tuple[str, str]]) -> None:
    assert found(text) == names


def test_older_programs_find_only_names_that_stand_apart() -> None:
    linker = Linker(NAMES, inside=False)
    assert linker.surfaces("她和Ilse争论的是什么") == ()
    assert linker.surfaces("Ilse 说了什么") == ("Ilse",)


@given(st.lists(st.sampled_from(["ilse", "brandt", "the", "long", "now", "what?", "c++", "ep", "7", "71", "x"])))
def test_a_link_is_where_it_says_it_is(words: list[str]) -> None:
    text = " ".join(words)
    links = LINKER.links(text)
    assert all(text[link.start : link.start + len(link.surface)] == link.surface for link in links)
    assert [link.start for link in links] == sorted(link.start for link in links)
    assert len({link.name.name for link in links}) == len(links)
    assert {"ilse"} & set(words) == set() or "Ilse Brandt" in {link.name.name for link in links}
