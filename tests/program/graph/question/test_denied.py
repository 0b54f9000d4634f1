"""Names that a question denies, and that nothing else is taken for one; on three small graphs, in 26 languages."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from queryplan.program.graph.names.linking import NameIndex
from queryplan.program.graph.question.asked_type import TypeWords
from queryplan.program.graph.question.denied import denied_names
from queryplan.program.graph.question.denying import denying_edges, told_words
from queryplan.program.graph.question.spoken import spoken_in
from queryplan.program.graph.values import values_of
from queryplan.signatures.graph_steps import GraphSchema


class Small(NamedTuple):
    """A graph's schema and its names by type."""

    schema: GraphSchema
    names: dict[str, tuple[str, ...]]

    def denied(self, question: str) -> tuple[set[str], set[str]]:
        """The names of a question that it denies, and all of them."""
        index = NameIndex((name, name, kind) for kind, names in self.names.items() for name in names)
        mentions = index.mentions(question)
        told = told_words(values_of(self.schema), TypeWords(self.schema))
        texts = [mention.readings[0].name for mention in mentions]
        return {texts[place] for place in denied_names(question, mentions, told)}, set(texts)


def _schema(kinds: dict[str, list[dict[str, object]]], edges: list[dict[str, str]]) -> GraphSchema:
    nodes = [{"name": kind, "properties": [d["name"] for d in told], "details": told} for kind, told in kinds.items()]
    return GraphSchema.model_validate({"nodes": nodes, "edges": edges})


GRAPHS = {
    "kitchen": Small(
        _schema({"Dish": [{"name": "vegan", "kind": "boolean"}], "Ingredient": [], "Cook": []}, []),
        {"Ingredient": ("tahini", "miso", "tofu", "kimchi", "wasabi"), "Cook": ("Jun", "Leila")},
    ),
    "trails": Small(
        _schema(
            {
                "Trail": [
                    {"name": "closed", "kind": "boolean"},
                    {"name": "difficulty", "kind": "enum", "values": ["easy", "hard"]},
                ],
                "Village": [],
                "Animal": [],
                "Club": [],
            },
            [],
        ),
        {"Village": ("Altdorf", "Brunn"), "Animal": ("Steinbocke", "Murmel"), "Club": ("Almverein",)},
    ),
    "packages": Small(
        _schema({"Package": [{"name": "deprecated", "kind": "boolean"}], "Licence": []}, []),
        {"Package": ("app", "libfoo", "barlib"), "Licence": ("Apache-2.0",)},
    ),
}
ROWS = [
    line.split("\t")
    for line in Path(__file__).with_name("denied_questions.tsv").read_text(encoding="utf-8").splitlines()[1:]
]


@pytest.mark.parametrize(("graph", "denied", "question"), [(row[0], row[2], row[4]) for row in ROWS])
def test_a_question_of_denied_names_alone_is_told_from_others(graph: str, denied: str, question: str) -> None:
    found, names = GRAPHS[graph].denied(question)
    assert names
    assert (found == names) is (denied == "yes")


@pytest.mark.parametrize(
    ("question", "denied"),
    [
        ("dishes by Jun without tahini", {"tahini"}),
        ("dishes without tahini, miso or tofu", {"tahini", "miso", "tofu"}),
        ("dishes without tahini and by Jun", {"tahini"}),
        ("dishes without tahini and with miso", {"tahini"}),
        ("dishes that have not been made with tofu", {"tofu"}),
        ("dishes in which tofu is not used", {"tofu"}),
        ("which cooks have never made a dish with tahini", {"tahini"}),
        ("cooks who haven't made any of the dishes with miso", {"miso"}),
        ("cooks who never made a dish that has tofu or kimchi", {"tofu", "kimchi"}),
        ("cooks without any dish that has wasabi", {"wasabi"}),
        ("cooks of miso with no dish of tofu", {"tofu"}),
        ("cooks who made no dish for Jun, which cooks like tofu", {"Jun"}),
        ("welche Cooks haben nie ein Dish mit tofu gemacht", {"tofu"}),
        ("cooks who have never met but made dishes with tofu", set()),
        ("dishes Jun did not write", {"Jun"}),
        ("what does the tofu not go with", {"tofu"}),
        ("welche Gerichte kocht Jun nie?", {"Jun"}),
        ("wasabifreie Gerichte", {"wasabi"}),
        ("piatti che Jun non ha scritto", {"Jun"}),
        ("tofu içeren vegan olmayan yemekler", set()),
        ("tofu içermeyen yemekler", {"tofu"}),
        ("tofuを使う辛くない料理", set()),
        ("tofuを使わない料理", {"tofu"}),
        ("tofu를 쓰는 맵지 않은 요리", set()),
        ("tofu를 쓰지 않는 요리", {"tofu"}),
        ("dishes not too hard to make with tofu", set()),
        ("dishes that do not work without tofu", set()),
        ("dishes with not more than 3 grams of tofu", set()),
        ("is there nothing but tofu? not that I mind tofu", set()),
        ("Jun made tofu, didn't he?", set()),
        ("I can't eat that. Give me something with tofu", set()),
        ("why do you not like tofu", set()),
        ("nao pode levar tofu", set()),
        ("welche nicht scharfen Gerichte werden mit tofu gekocht", set()),
        ("不辣的用 tofu 的菜", set()),
        ("不加 tofu 的菜", {"tofu"}),
        ("I never said so, which dishes have tofu", set()),
        ("non-greasy tofu", set()),
        ("pratos servidos no Jun", set()),
        ("is miso not one of the dishes' ingredients with tofu", set()),
        ("does Jun not cook with tofu?", set()),
        ("is the cook Jun not one of those who use tofu", set()),
        ("ist Jun nicht einer der Köche mit tofu", set()),
        ("is Jun not cooking without tofu?", set()),
        ("plats qui ne demandent que tofu", set()),
        ("les plats qui n'ont besoin que de tofu", set()),
        ("les plats qui ne demandent pas tofu", {"tofu"}),
        ("dishes without any mention of tofu", {"tofu"}),
        ("platos sin ninguna cantidad de tofu", {"tofu"}),
        ("dishes without more talk about tofu", set()),
        ("which dishes does Jun not cook", {"Jun"}),
        ("are there dishes not made with tofu", {"tofu"}),
        ("do any dishes not have tofu", {"tofu"}),
    ],
)
def test_a_denial_is_of_the_names_in_its_reach(question: str, denied: set[str]) -> None:
    assert GRAPHS["kitchen"].denied(question)[0] == denied


def test_an_edge_whose_own_words_deny_is_told_in_the_language_of_its_description() -> None:
    edges = {
        "LACKS": "",
        "POOR_IN": "does not have enough of it",
        "HAS": "there is some of it",
        "FEITO_EM": "o prato que foi feito no lugar",
    }
    made = [{"name": name, "source": "A", "target": "B", "description": said} for name, said in edges.items()]
    assert denying_edges(_schema({"A": [], "B": []}, made)) == {"LACKS", "POOR_IN"}


def test_small_words_tell_languages_apart() -> None:
    assert "pt" in spoken_in("quais genes são expressos no".split())
    assert "en" not in spoken_in("quais genes são expressos no".split())
    assert not spoken_in(["xyzzy"])
