"""Sub-queries after the pattern of a labelled query: when there are any, and what is put into them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from queryplan.data.card import DomainCard, KnownName
from queryplan.data.rows import LabelledRow
from queryplan.program.decomposing.analogies import Analogies, from_table, learned_analogies, pattern_of
from queryplan.program.decomposing.decomposer import Decomposer
from queryplan.program.decomposing.fit import train_decomposer
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.text.linker import Linker

from .conftest import decomposed

DRUGS = [
    f"{start}{end}" for start in ("alba", "bori", "cedo", "dila", "emo", "fura") for end in ("mab", "pril", "statin")
]
GENES = [f"GEN{number}" for number in range(1, 19)]


@pytest.fixture(scope="module")
def linker() -> Linker:
    drugs = [KnownName(name=name, type="Drug") for name in DRUGS]
    return Linker([*drugs, *(KnownName(name=name, type="Gene") for name in GENES)])


@pytest.fixture(scope="module")
def chains() -> list[LabelledRow]:
    """Thirty-six chains of two kinds, and a few that have no name."""
    made = [
        decomposed(
            number,
            f"tissues of the genes that {drug} binds",
            f"which genes does {drug} bind",
            ("in which tissues are {1} active", 1),
        )
        for number, drug in enumerate(DRUGS)
    ]
    made += [
        decomposed(
            100 + number,
            f"side effects of whatever hits {gene}",
            f"which drugs hit {gene}",
            ("which side effects have {1}", 1),
        )
        for number, gene in enumerate(GENES)
    ]
    return [*made, *(decomposed(200 + n, f"what of {n} and wool", f"what of {n}", "what of wool") for n in range(3))]


def right(row: LabelledRow, parts: Any) -> bool:
    return [(one.text, one.depends_on) for one in row.labels.sub_queries] == parts


@pytest.fixture(scope="module")
def analogies(chains: list[LabelledRow], linker: Linker) -> Analogies:
    made = learned_analogies(chains, linker, default_encoder(), right)
    assert made is not None
    return made


def test_a_query_is_read_as_a_pattern(linker: Linker) -> None:
    asked = pattern_of("do GEN3 and GEN1 meet albamab 2 times?", linker)
    assert asked.text == "do gene and gene meet drug 2 times?"
    assert asked.names == (("Gene", "GEN3"), ("Gene", "GEN1"), ("Drug", "albamab"))
    assert asked.key == ("Drug", "Gene", "Gene", "2")


def test_what_is_asked_of_another_name_is_taken_apart_alike(analogies: Analogies, linker: Linker) -> None:
    found = analogies.find("tissues of the genes that furapril binds?", linker)
    assert found is not None
    assert found.parts == [("which genes does furapril bind", ()), ("in which tissues are {1} active", (1,))]
    assert 0 < found.certainty <= 1


@pytest.mark.parametrize(
    "query",
    [
        "tissues of the genes that nobody binds",
        "who sold GEN3 to the museum of clocks",
        "tissues of the genes that furapril and albamab bind",
        "tissues of the 3 genes that furapril binds",
        "",
    ],
)
def test_what_is_not_alike_is_not(query: str, analogies: Analogies, linker: Linker) -> None:
    assert analogies.find(query, linker) is None


def test_where_queries_do_not_resemble_each_other_there_are_none(linker: Linker, chains: list[LabelledRow]) -> None:
    assert learned_analogies(chains, linker, default_encoder(), lambda row, parts: False) is None
    assert learned_analogies(chains[-3:], linker, default_encoder(), right) is None


def test_a_pattern_whose_name_is_in_no_sub_query_is_none(linker: Linker, chains: list[LabelledRow]) -> None:
    odd = decomposed(300, "what of albamab", "what of wool", "what of salt")
    made = learned_analogies([*chains, odd], linker, default_encoder(), right)
    assert made is not None
    assert "what of drug" not in [pattern.text for pattern in made.patterns]


def test_patterns_are_plain_data(analogies: Analogies, linker: Linker) -> None:
    again = from_table(json.loads(json.dumps(analogies.table())), default_encoder())
    assert list(again.patterns) == list(analogies.patterns)
    assert again.sure == analogies.sure
    query = "side effects of whatever hits GEN7"
    assert again.find(query, linker) == analogies.find(query, linker)


def test_an_older_program_has_each_pattern_as_a_list(analogies: Analogies) -> None:
    older = {"patterns": json.loads(json.dumps(list(analogies.patterns))), "sure": analogies.sure}
    assert list(from_table(older, default_encoder()).patterns) == list(analogies.patterns)


def test_a_decomposer_asks_its_patterns_first(chains: list[LabelledRow], card: DomainCard, linker: Linker) -> None:
    made = train_decomposer(chains, card, linker, default_encoder())
    # Chains without a joint cannot be cut: there is nothing to learn a cut from.
    assert isinstance(made, Decomposer) or made is None
    patterns = learned_analogies(chains, linker, default_encoder(), right)
    cutting = Decomposer(made.lexicon, made.likely.weights, patterns) if made else None
    assert cutting is not None
    found = cutting.decompose("tissues of the genes that furapril binds?", linker)
    assert found is not None
    assert [one.text for one in found.sub_queries] == [
        "which genes does furapril bind",
        "in which tissues are {1} active",
    ]
    assert found.reason == "as a labelled query was: 'tissues of the genes that drug binds'"


def test_what_denies_is_not_taken_apart_like_what_does_not(analogies: Analogies, linker: Linker) -> None:
    assert analogies.find("tissues of the genes that furapril does not bind?", linker) is None


def test_names_are_found_as_words_alone(linker: Linker, chains: list[LabelledRow]) -> None:
    odd = decomposed(301, "what of GEN1 and GEN12?", "what of GEN1", "is GEN12 a GEN1x")
    made = learned_analogies([*chains, odd], linker, default_encoder(), right)
    assert made is not None
    pattern = next(one for one in made.patterns if one.text.startswith("what of"))
    assert [text for text, _ in pattern.parts] == ["what of [[0]]", "is [[1]] a GEN1x"]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("sure", []),
        ("parts", "what of [[7]]"),
        ("needs", "4"),
        ("needs", "0"),
        ("needs", "\x1f\x1f\x1f\x1f"),
        ("types", "nobody"),
        ("texts", None),
    ],
)
def test_patterns_that_are_not_whole_are_refused(column: str, said: Any, analogies: Analogies) -> None:
    table = json.loads(json.dumps(analogies.table()))
    if said:
        table[column][0] = said
    else:
        table[column] = table[column][:0]
    with pytest.raises(ValueError, match=r"patterns|argument"):
        from_table(table, default_encoder())
