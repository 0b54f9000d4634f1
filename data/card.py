"""The domain card: everything the planner knows about a domain, from ``domain.toml`` and ``names.tsv``."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from pydantic import Field, ValidationError, field_validator, model_validator

from ..errors import DataError
from ..signatures.problems import problems_of
from ..signatures.types import Frozen, GraphSchema
from .element_words import with_element_words
from .fingerprints import text_fingerprint
from .graph_names import names_of_graph, strange_to
from .other_words import NAMES_FILE, add_other_words, each_word, read_other_words
from .paradigms import CandidateRules, Paradigm, SynonymSet, paradigm_problems
from .sources import Calendar, CollectionRules, FilterValue, SourceContract, SourceIntentRule, source_problems

SHIPPED = Path(__file__).parent / "domains"
LENDERS = "lenders"
CARD_FILE = "domain.toml"


class ExcludedTopic(Frozen):
    """A subject the domain does not answer.

    Attributes:
        kind: its label (``rejection_kind``).
        answer: the one word that a language model answers for it; one token, different from the others.
        description: what belongs to it.
        reason: what a user is told.
    """

    kind: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    description: str = Field(min_length=1)
    reason: str = Field(min_length=1)


class KnownName(Frozen):
    """A name that users may type, with its type and other spellings.

    Attributes:
        aliases: other spellings; query candidates use the first of them.
        other_words: lay words and words of other languages, separated by "; "; used only to find the name in what users
            type.
    """

    name: str = Field(min_length=1)
    type: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()
    other_words: str = ""

    @property
    def spellings(self) -> tuple[str, ...]:
        """Everything by which the name is found in a text: itself, its aliases, its other words."""
        return (self.name, *self.aliases, *each_word(self.other_words))


class HistoryWindow(Frozen):
    """How much of the conversation the planner sees: the last messages, each cut to ``characters``."""

    messages: int = Field(default=3, ge=1, le=50)
    characters: int = Field(default=200, ge=20, le=10_000)


class DomainCard(Frozen):
    """What a domain covers, what it does not, and the names it knows.

    Attributes:
        names_from_graph: node types whose names in the domain's graph also count as names of the card; see
            `graph_names.py`.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    title: str = Field(min_length=1)
    description: str = Field(min_length=1)
    covers: tuple[str, ...] = Field(min_length=1)
    excluded: tuple[ExcludedTopic, ...] = Field(min_length=2)
    names: tuple[KnownName, ...] = ()
    names_from_graph: tuple[str, ...] = ()
    greetings: tuple[str, ...] = ()
    history: HistoryWindow = HistoryWindow()
    graph: GraphSchema | None = None
    sources: tuple[SourceContract, ...] = ()
    source_intents: tuple[SourceIntentRule, ...] = ()
    filter_values: tuple[FilterValue, ...] = ()
    calendar: Calendar | None = None
    collection: CollectionRules | None = None
    paradigms: tuple[Paradigm, ...] = ()
    default_paradigm: str | None = None
    synonyms: tuple[SynonymSet, ...] = ()
    candidates: CandidateRules = CandidateRules()

    @field_validator("excluded")
    @classmethod
    def _distinct(cls, value: tuple[ExcludedTopic, ...]) -> tuple[ExcludedTopic, ...]:
        for field in ("kind", "answer"):
            words = [getattr(topic, field) for topic in value]
            if len(set(words)) != len(words):
                raise ValueError(f"excluded topics must have different {field}s: {words}")
        return value

    @model_validator(mode="after")
    def _graph_knows_the_names(self) -> DomainCard:
        if self.graph is not None:
            types = {node.name for node in self.graph.nodes}
            unknown = {name.type for name in self.names} - types
            if unknown:
                raise ValueError(f"names have types that the graph does not: {sorted(unknown)}")
            if unknown := set(self.names_from_graph) - types:
                raise ValueError(f"names_from_graph names types that the graph does not have: {sorted(unknown)}")
        elif self.names_from_graph:
            raise ValueError("names_from_graph needs the schema of a graph, [[graph.nodes]]")
        return self

    @model_validator(mode="after")
    def _sources_fit_together(self) -> DomainCard:
        if problems := list(source_problems(self.sources, self.source_intents, self.filter_values)):
            raise ValueError("; ".join(problems))
        return self

    @model_validator(mode="after")
    def _paradigms_fit_together(self) -> DomainCard:
        names = tuple(source.name for source in self.sources)
        if problems := list(paradigm_problems(self.paradigms, self.default_paradigm, names)):
            raise ValueError("; ".join(problems))
        return self

    @property
    def kinds(self) -> tuple[str, ...]:
        """The labels of the excluded topics."""
        return tuple(topic.kind for topic in self.excluded)

    @property
    def fingerprint(self) -> str:
        """Content hash of the card, 16 hex digits."""
        # Defaults left out: a field that a later version adds does not make every card another one.
        return text_fingerprint(self.model_dump_json(exclude_defaults=True))

    def reason(self, kind: str | None) -> str:
        """What a user is told of a rejected query of this kind."""
        known = {topic.kind: topic.reason for topic in self.excluded}
        return known.get(kind or "", f"This is outside what {self.title} covers.")

    def domain_text(self) -> str:
        """The domain in a few lines for a prompt: what it covers and what it does not."""
        covers = "\n".join(f"- {line}" for line in self.covers)
        outside = "; ".join(topic.description for topic in self.excluded)
        return f"{self.description}\nInside:\n{covers}\nOutside: {outside}."

    def topics(self) -> tuple[tuple[str, str, str], ...]:
        """(kind, answer word, description) of each excluded topic."""
        return tuple((t.kind, t.answer, t.description) for t in self.excluded)


def domain_folder(name_or_folder: str | Path) -> Path:
    """The folder of a shipped domain, or the given folder.

    Raises:
        DataError: it is neither a shipped name nor a folder with a card.
    """
    for folder in (Path(name_or_folder), SHIPPED / str(name_or_folder)):
        if (folder / CARD_FILE).is_file():
            return folder
    known, folder = ", ".join(shipped_domains()), Path(name_or_folder)
    if folder.is_file() and (folder.parent / CARD_FILE).is_file():
        raise DataError(f"{folder} is a file of a domain: give its folder, {folder.parent}")
    wrong = f"{folder} is there, but has no {CARD_FILE}" if folder.is_dir() else f"there is no domain {str(folder)!r}"
    raise DataError(f"{wrong}: give one of {known} or a folder with a {CARD_FILE}")


def domain_of(card: DomainCard, given: str | None = None) -> str:
    """Where a program's domain is read from: the given name or folder, or else the shipped domain that its card names.

    Raises:
        DataError: nothing was given, and no shipped domain has that name.
    """
    if given is not None or card.name in shipped_domains():
        return given or card.name
    raise DataError(f"the program is of the domain {card.name}, which does not ship: give its folder with --domain")


def shipped_domains() -> list[str]:
    """Names of the domains that come with the package."""
    return sorted(p.parent.name for p in SHIPPED.glob(f"*/{CARD_FILE}"))


def lending_folders() -> list[Path]:
    """The folders of domains that lend rows to others: the shipped ones, and small ones made for nothing else."""
    return sorted(p.parent for kind in ("*", f"{LENDERS}/*") for p in SHIPPED.glob(f"{kind}/{CARD_FILE}"))


def load_card(folder: Path) -> DomainCard:
    """Read the card of a domain folder, with the other words for its names and its schema beside it, if any.

    Raises:
        DataError: there is no card, it is not TOML, a field is unknown or wrong (it is named), or other words are given
            for a name that the card does not have.
    """
    path = folder / CARD_FILE
    where = f"{path.name} of {folder.name}"
    text = _text_of_card(path, where)
    try:
        read = tomllib.loads(text)
        if rows := read_other_words(folder / NAMES_FILE):
            add_other_words(read.get("names", ()), rows, f"{NAMES_FILE} of {folder.name}")
        card = _with_names_of_graph(DomainCard.model_validate(read), folder)
        return card if card.graph is None else card.model_copy(update={"graph": with_element_words(card.graph, folder)})
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{where} cannot be read: {error}{_line_of(text, str(error))}") from error
    except OSError as error:
        raise DataError(f"{where} cannot be read: {error}") from error
    except ValidationError as error:
        raise DataError(f"{where}: {problems_of(error, 20, model=DomainCard)}") from error


def _text_of_card(path: Path, where: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        said = f"line {line}: {error.reason}, byte 0x{error.object[error.start]:02x}"
        raise DataError(f"{where} cannot be read as UTF-8 text ({said}); save it as UTF-8") from error
    except OSError as error:
        raise DataError(f"{where} cannot be read: {error}") from error


def _line_of(text: str, said: str) -> str:
    """The line that an error of TOML names, which says more than its number where a table takes a value's name."""
    place = re.search(r"at line (\d+)", said)
    lines = text.split("\n")
    return f", in {lines[n - 1].strip()[:60]!r}" if place and (n := int(place[1])) <= len(lines) else ""


def _with_names_of_graph(card: DomainCard, folder: Path) -> DomainCard:
    if not card.names_from_graph:
        return card
    own = (spelling for name in card.names for spelling in name.spellings)
    new = strange_to(own, names_of_graph(folder, card.names_from_graph))
    return card.model_copy(update={"names": (*card.names, *(KnownName(name=name, type=kind) for name, kind in new))})
