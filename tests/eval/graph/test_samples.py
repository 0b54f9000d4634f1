"""Samples of MetaQA: drawn by seed, written down, and never of what is learned from."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.errors import DataError
from queryplan.eval.graph.samples import (
    HOPS,
    LEARNED,
    MEASURED,
    SURE,
    PublicQuestion,
    draw_samples,
    held_out,
    load_samples,
    metaqa_questions,
    stratified,
    type_folds,
    write_samples,
)

QUESTIONS = tuple(
    PublicQuestion(id=f"{hops}-{kind}-{i}", text="q", answers=("a",), hops=hops, qtype=f"t{kind}")
    for hops in HOPS
    for kind in range(hops + 2)
    for i in range(40 * (kind + 1))
)


def test_the_ids_that_were_written_down_are_disjoint_and_as_many_as_promised() -> None:
    samples = load_samples()
    taught = {*samples.learned, *samples.sure}
    assert len(taught) == LEARNED + SURE == 500
    assert [len(set(samples.measured[hops])) for hops in HOPS] == [MEASURED] * 3
    for ids in samples.measured.values():
        assert not taught & set(ids)


@pytest.mark.skipif("QUERYPLAN_BENCHMARKS" not in os.environ, reason="the questions are in QUERYPLAN_BENCHMARKS")
def test_the_ids_that_were_written_down_are_those_that_the_seed_draws() -> None:
    assert draw_samples(metaqa_questions()) == load_samples()


def test_a_sample_has_every_stratum_by_its_share_whatever_the_order() -> None:
    drawn = stratified(QUESTIONS, 100)
    assert len(drawn) == 100
    for stratum in {q.stratum for q in QUESTIONS}:
        share = 100 * sum(q.stratum == stratum for q in QUESTIONS) / len(QUESTIONS)
        assert abs(sum(q.stratum == stratum for q in drawn) - share) < 1
    assert {q.id for q in stratified(QUESTIONS[::-1], 100)} == {q.id for q in drawn}
    assert {q.id for q in stratified(QUESTIONS, 100, seed=1)} != {q.id for q in drawn}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 700))
def test_as_many_are_drawn_as_there_are_at_most(count: int) -> None:
    assert len(stratified(QUESTIONS[:600], count)) == min(count, 600)


def test_what_is_drawn_is_read_back(tmp_path: Path) -> None:
    drawn = draw_samples([*QUESTIONS, *(q.model_copy(update={"id": f"more-{q.id}"}) for q in QUESTIONS)])
    write_samples(drawn, tmp_path / "samples")
    assert load_samples(tmp_path / "samples") == drawn
    assert not {*drawn.learned, *drawn.sure} & {one for ids in drawn.measured.values() for one in ids}
    with pytest.raises(DataError, match="in a checkout"):
        load_samples(tmp_path)


def test_every_type_is_held_out_once_and_never_learned_from() -> None:
    folds = type_folds(QUESTIONS, 3)
    assert sorted(t for part in folds for t in part) == sorted({f"{q.hops}:{q.qtype}" for q in QUESTIONS})
    assert max(map(len, folds)) - min(map(len, folds)) <= 1
    taught, unseen = held_out(QUESTIONS, folds[0], 50)
    assert len(taught) == 50
    assert {f"{q.hops}:{q.qtype}" for q in unseen} == folds[0]
    assert not {f"{q.hops}:{q.qtype}" for q in taught} & folds[0]


def test_questions_are_read_from_plain_and_packed_files(tmp_path: Path) -> None:
    line = {"id": "a", "question": "who?", "answers": ["x", "y"], "qtype": "t"}
    (tmp_path / "1hop_dev.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    (tmp_path / "2hop_dev.jsonl.gz").write_bytes(gzip.compress(json.dumps({**line, "id": "b"}).encode() + b"\n"))
    assert [(q.id, q.hops, q.answers) for q in metaqa_questions(tmp_path, (1, 2))] == [
        ("a", 1, ("x", "y")),
        ("b", 2, ("x", "y")),
    ]
    assert metaqa_questions(tmp_path, (1,))[0].question("k").kind == "k"
    with pytest.raises(DataError, match="no 3hop_dev"):
        metaqa_questions(tmp_path)
    (tmp_path / "3hop_dev.jsonl").write_text('{"id": "c"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"3hop_dev\.jsonl:1"):
        metaqa_questions(tmp_path)
