"""Names where a value would stand, that no source knows."""

from __future__ import annotations

import pytest
from queryplan.data.card import DomainCard, domain_folder, load_card
from queryplan.program.retrieval.sources.intents import IntentReader
from queryplan.program.retrieval.sources.planning import plan_sources
from queryplan.program.retrieval.sources.unknown_names import UnknownNames


@pytest.fixture(scope="module")
def card() -> DomainCard:
    return load_card(domain_folder("engineering"))


@pytest.fixture(scope="module")
def reader(card: DomainCard) -> IntentReader:
    return IntentReader(card)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("anything on the falcon project", ("falcon",)),
        ("anything still open in marigold", ("marigold",)),
        ("how is project obsidian going", ("obsidian",)),
        ("everything in Quetzal since October", ("quetzal",)),
        ("anything in gryphon that is still open?", ("gryphon",)),
        ("the marigold project and atlas", ("atlas", "marigold")),
        ("commits in quetzal and atlas", ("atlas", "quetzal")),
        ("tickets in atlas and heron", ("atlas", "heron")),
        ("tickets in atlas, heron and cinder", ("atlas", "cinder", "heron")),
        ("bugs in atlas/heron", ("atlas", "heron")),
        ("how do atlas and heron compare", ("atlas", "heron")),
        ("heron vs atlas", ("atlas", "heron")),
        ("atlas vs. cinder vs. heron velocity", ("atlas", "cinder", "heron")),
        ("atlas and heron commits since monday", ("atlas", "heron")),
        ("offene Tickets in atlas und heron seit letzter Woche", ("atlas", "heron")),
        ("velocity of heron, quetzal and atlas", ("atlas", "quetzal", "heron")),
    ],
)
def test_an_unknown_name_is_read_as_a_value(reader: IntentReader, text: str, names: tuple[str, ...]) -> None:
    assert reader.filters(text)["projects"] == names


@pytest.mark.parametrize(
    "text",
    [
        "commits in october",
        "tickets for customers",
        "tickets in production",
        "who fixed the crash in staging",
        "what does the team say about webhooks",
        "which project is the slowest",
        "how is the whole project",
        "tickets for testing",
        "is the team faster than in autumn",
        "",
    ],
)
def test_other_words_are_no_names(reader: IntentReader, text: str) -> None:
    assert "projects" not in reader.filters(text)


@pytest.mark.parametrize(
    "text",
    [
        "resumen del estado de borealis, porfa",
        "alright and BOR-333 what is it about",
        "ownr of HLP-786",
        "refund of HLP-786 done",
        "atlas and velocity",
        "atlas, wich tickets are open",
        "was läuft in atlas und warum",
    ],
)
def test_what_stands_beside_a_value_and_is_not_enumerated_with_it_is_no_name(reader: IntentReader, text: str) -> None:
    assert len(reader.filters(text)["projects"]) == 1


def test_a_name_that_is_not_there_is_a_gap_and_no_plan_asks_for_everything(
    card: DomainCard, reader: IntentReader
) -> None:
    intents = reader.read("commits in the quetzal project", None)
    planned = plan_sources(card, intents, ["any"])
    assert planned.plans == ()
    assert [gap.what for gap in planned.gaps] == ["projects:quetzal"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("open bugs in safari", ["projects:safari"]),
        ("tickets from hamburg", ["projects:hamburg"]),
        ("tickets for customers", []),
        ("anything in quetzal", []),
    ],
)
def test_what_may_be_no_name_is_said_and_the_source_asked_without_it(
    card: DomainCard, reader: IntentReader, text: str, names: list[str]
) -> None:
    assert [gap.what for gap in reader.left_out(text, ())] == names
    if names:
        assert plan_sources(card, reader.read(text, None), ["any"]).plans


def test_without_a_filter_of_names_nothing_is_read() -> None:
    card = load_card(domain_folder("journal"))
    assert UnknownNames(card).find("anything on the falcon project") == ()
