"""The small words of graph questions are read from the package's own table."""

from pathlib import Path

import pytest
from queryplan.data import grammar_words
from queryplan.data.grammar_words import read_grammar
from queryplan.data.word_tables import LANGUAGE
from queryplan.errors import DataError


def test_phrases_have_their_line_and_language_and_no_space_around_them() -> None:
    phrases = read_grammar()
    assert {"lt", "not", "which", "neither", "earliest"} <= {phrase.line for phrase in phrases}
    assert all(LANGUAGE.fullmatch(phrase.language) for phrase in phrases)
    assert all(phrase.text == phrase.text.strip() for phrase in phrases)


@pytest.mark.parametrize("text", [None, "line\ten\tde\nlt\tunder N\n"], ids=["not there", "a cell too few"])
def test_a_table_that_cannot_be_read_is_named(text: str | None, tmp_path: Path) -> None:
    file = tmp_path / "graph-grammar.tsv"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    read_grammar.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grammar_words, "GRAMMAR_FILE", file)
        with pytest.raises(DataError, match=r"graph-grammar\.tsv of the package cannot be read"):
            read_grammar()
    read_grammar.cache_clear()
