"""N-grams and frames: the same text gives the same columns, parts have length one, rare words become one star."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from queryplan.program.heads.ngrams import (
    COLUMNS,
    FEWEST_TEXTS,
    HASHED,
    WIDTH,
    Vocabulary,
    as_matrix,
    common_words,
    frame_columns,
    gram_columns,
    gram_places,
    inverse_frequencies,
    is_common,
    learned_vocabulary,
    weigh,
    words_of,
)

TEXTS = [f"what did _guest_ say about {thing}" for thing in ("sleep", "grief", "clay", "bread", "salt", "ink")]
COMMON = common_words(words_of(text) for text in TEXTS)


def columns(text: str) -> np.ndarray:
    words = words_of(text)
    return np.concatenate([gram_columns(text, words), frame_columns(words, COMMON)])


def test_a_word_is_common_if_three_queries_have_it() -> None:
    assert is_common("_guest_", COMMON)
    assert not is_common("sleep", COMMON)
    assert common_words([["a", "a", "a"], ["a"], ["b"]]) == frozenset()


def test_queries_that_differ_in_rare_words_alone_have_the_same_frame() -> None:
    one, other, third = (
        frame_columns(words_of(text), COMMON).tolist()
        for text in (
            "what did _guest_ say about walnut oil",
            "what did _guest_ say about thirteen broken kilns",
            "what did _guest_ say",
        )
    )
    assert one == other != third


def test_where_a_word_stands_is_part_of_the_frame() -> None:
    assert set(frame_columns(["what", "say"], COMMON)) != set(frame_columns(["say", "what"], COMMON))


def test_frames_have_columns_of_their_own() -> None:
    words = words_of(TEXTS[0])
    assert gram_columns(TEXTS[0], words).max() < COLUMNS
    frames = frame_columns(words, COMMON)
    assert COLUMNS <= frames.min() <= frames.max() < WIDTH


@given(st.text(max_size=900))
def test_each_part_of_any_text_has_length_one_or_none(text: str) -> None:
    row = weigh(columns(text), np.ones(WIDTH, dtype=np.float32))
    for part in (row.values[row.columns < COLUMNS], row.values[row.columns >= COLUMNS]):
        assert not len(part) or abs(float(part @ part) - 1) < 1e-4
    assert len(set(row.columns.tolist())) == len(row.columns)
    assert np.isfinite(row.values).all()


@given(st.lists(st.integers(0, WIDTH - 1), min_size=1, max_size=60))
def test_weights_are_sublinear_counts_times_idf(drawn: list[int]) -> None:
    idf = np.linspace(1, 3, WIDTH, dtype=np.float32)
    row = weigh(np.array(drawn, dtype=np.int32), idf)
    raw = {c: (1 + np.log(drawn.count(c))) * idf[c] for c in set(drawn)}
    for low, high in ((0, COLUMNS), (COLUMNS, WIDTH)):
        norm = np.sqrt(sum(v**2 for c, v in raw.items() if low <= c < high))
        for column, value in zip(row.columns.tolist(), row.values.tolist(), strict=True):
            if low <= column < high:
                assert abs(value - raw[column] / norm) < 1e-4


def test_what_every_text_has_weighs_least() -> None:
    counted = [columns(text) for text in TEXTS]
    idf = inverse_frequencies(counted)
    shared = set(counted[0].tolist()).intersection(*(c.tolist() for c in counted[1:]))
    assert idf.shape == (WIDTH,)
    assert {round(float(idf[c]), 6) for c in shared} == {round(float(idf.min()), 6)}


def test_rows_as_a_matrix_have_their_values_in_their_columns() -> None:
    rows = [weigh(columns(text), np.ones(WIDTH, dtype=np.float32)) for text in TEXTS[:2]]
    matrix = as_matrix(rows).toarray()
    assert matrix.shape == (2, WIDTH)
    assert np.count_nonzero(matrix[1]) == len(rows[1].columns)
    assert matrix[0, rows[0].columns].tolist() == rows[0].values.tolist()


def test_lone_surrogates_and_very_long_texts_are_counted_too() -> None:
    assert len(columns("\ud800 x"))
    assert len(columns("word " * 5000)) < 5000


def places(text: str) -> np.ndarray:
    return gram_places(text, words_of(text))


def test_n_grams_that_two_texts_have_get_a_column_each() -> None:
    vocabulary = learned_vocabulary(map(places, TEXTS))
    of_each = [set(places(text).tolist()) for text in TEXTS]
    shared = {place for one in of_each for place in one if sum(place in other for other in of_each) >= FEWEST_TEXTS}
    assert set(vocabulary.kept.tolist()) == shared
    assert sorted(vocabulary.column_of[vocabulary.kept].tolist()) == list(range(len(shared)))
    words = words_of(TEXTS[0])
    found = gram_columns(TEXTS[0], words, frame_columns(words, COMMON), vocabulary=vocabulary)
    ours = found[found < COLUMNS]
    assert set(ours.tolist()) == {int(vocabulary.column_of[p]) for p in of_each[0] & shared}
    assert (found[len(ours) :] >= COLUMNS).all()


def test_there_are_no_more_columns_than_there_may_be_and_the_rarest_n_grams_go_without() -> None:
    everywhere = np.arange(0, HASHED, 7)
    twice = np.arange(HASHED)
    vocabulary = learned_vocabulary([twice, twice, everywhere])
    assert len(vocabulary.kept) == COLUMNS == vocabulary.column_of.max() + 1
    assert set(vocabulary.kept.tolist()) <= set(everywhere.tolist())


@given(st.sets(st.integers(0, HASHED - 1), max_size=40))
def test_a_vocabulary_comes_back_from_its_bits(kept: set[int]) -> None:
    vocabulary = Vocabulary(np.array(sorted(kept), dtype=np.int64))
    back = Vocabulary.unpacked(vocabulary.packed())
    assert back.kept.tolist() == sorted(kept)
    assert Vocabulary.unpacked(np.packbits(vocabulary.column_of >= 0)).kept.tolist() == sorted(kept)
    assert np.array_equal(back.column_of, vocabulary.column_of)


def test_an_n_gram_that_no_training_query_has_is_left_out() -> None:
    vocabulary = learned_vocabulary([places("salt"), places("salt")])
    assert not len(gram_columns("ink", ["ink"], vocabulary=vocabulary))
    assert len(gram_columns("salt ink", ["salt", "ink"], vocabulary=vocabulary)) == len(places("salt"))
