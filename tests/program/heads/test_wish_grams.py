"""Frames of wishes as sparse columns behind those of n-grams and frames, and heads that see them or do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.heads.features import Features, Seen, learned_features
from queryplan.program.heads.fit_head import fit_head
from queryplan.program.heads.heads import Heads, with_cues
from queryplan.program.heads.ngrams import WIDTH, Common, Grams, common_words
from queryplan.program.heads.source_heads import WISH_SHARES
from queryplan.program.heads.wish_grams import LINK_COLUMNS, PARTS, WITH_WISHES, with_wishes
from queryplan.program.text.linker import Linker

NONE = Grams(np.array([], dtype=np.int32), np.array([], dtype=np.float32))
COMMON = common_words([["what", "in", "and"]] * 3)
CUES = np.zeros(2, dtype=np.float32)


def columns(*frame: str, common: Common = COMMON) -> set[int]:
    return set(with_wishes(NONE, frame, common).columns.tolist())


@given(st.lists(st.sampled_from(["«0»", "«1,2»", "«dates»", "@why", "what", "in", "rare", "?", "票"]), max_size=30))
@settings(deadline=None)
def test_both_parts_stand_behind_the_others_and_have_length_one(frame: list[str]) -> None:
    grams = with_wishes(NONE, frame, COMMON)
    assert len(grams.columns) == len(set(grams.columns.tolist())) == len(grams.values)
    assert ((grams.columns >= WIDTH) & (grams.columns < WITH_WISHES)).all()
    links = grams.columns >= WITH_WISHES - LINK_COLUMNS
    for part in (grams.values[links], grams.values[~links]):
        assert float(part @ part) == pytest.approx(1.0, abs=1e-5)


def test_what_was_there_stays() -> None:
    there = Grams(np.array([3, 70], dtype=np.int32), np.array([0.6, 0.8], dtype=np.float32))
    both = with_wishes(there, ("«0»",), COMMON)
    assert both.columns[:2].tolist() == [3, 70]
    assert both.values[:2].tolist() == there.values.tolist()
    assert sum(PARTS) == WITH_WISHES


def test_rare_words_are_the_same_star_however_many_they_are() -> None:
    assert columns("what", "kettle", "«0»") == columns("what", "steaming", "copper", "pot", "«0»")
    assert columns("what", "«0»") != columns("what", "kettle", "«0»")


def test_order_and_kinds_of_cues_are_told_apart() -> None:
    assert columns("«0»", "and", "«1»") != columns("«1»", "and", "«0»")
    assert columns("«0»") != columns("«0,1»")


def test_words_that_ask_are_never_a_star() -> None:
    assert columns("@why", "«0»") != columns("@who", "«0»")


def links(*frame: str) -> set[int]:
    return {column for column in columns(*frame) if column >= WITH_WISHES - LINK_COLUMNS}


def test_links_are_of_a_clause_whatever_stands_between() -> None:
    assert links("@why", "in", "what", "«0»") == links("@why", "«0»")
    assert links("@why", "«0»", "@and", "@who", "«1»") != links("@why", "«1»", "@and", "@who", "«0»")


def test_links_of_two_clauses_are_those_of_each() -> None:
    first, second = links("@why", "«0»"), links("@who", "«1»")
    assert len(links("@why", "«0»", ",", "@who", "«1»") - first - second) == 1  # how many clauses there are


def test_the_order_of_marks_makes_no_other_link() -> None:
    assert links("@why", "«0»", "«1»") == links("@why", "«1»", "«0»")


def test_an_empty_frame_has_columns_too() -> None:
    assert columns()


@pytest.fixture(scope="module")
def features() -> Features:
    return learned_features(["what is in it", "what was that and why", "who and what"], default_encoder(), Linker(()))


def rows(features: Features, frames: Sequence[tuple[str, ...]]) -> list[Seen]:
    """Rows that differ in their frames alone."""
    seen = with_cues(features.of_wishes("what is it"), CUES)
    common = features.common or frozenset()
    return [seen._replace(grams=with_wishes(seen.grams, frame, common)) for frame in frames]


def test_a_head_learns_from_frames_alone(features: Features) -> None:
    frames = [("«0»", "and", "«1»"), ("«1»", "«2»")] * 10
    labels = ["true", "false"] * 10
    groups = [str(n) for n in range(20)]
    head = fit_head("source.both", rows(features, frames), labels, groups, shares=WISH_SHARES, parts=PARTS)
    assert head is not None
    assert len(head.linear) == WITH_WISHES
    heads = Heads({"source.both": head}, features)
    assert heads.of_sources("what is it", CUES, ("«0»", "and", "«1»"))["both"].label == "true"
    assert heads.of_sources("what is it", CUES, ("«1»", "«2»"))["both"].label == "false"


def test_heads_of_before_do_not_see_frames(features: Features) -> None:
    queries = ["what is in it", "who and what"] * 10
    seen = [with_cues(features.of_wishes(query), CUES) for query in queries]
    head = fit_head("source.old", seen, ["true", "false"] * 10, [str(n) for n in range(20)])
    assert head is not None
    heads = Heads({"source.old": head}, features)
    assert heads.of_sources("what is in it", CUES, ("«0»",)) == heads.of_sources("what is in it", CUES)
