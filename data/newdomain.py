"""Begins a domain: a card from a few answers, and starter rows that show the form of a label.

Starter rows (`starters.py`) carry the tag ``starter``. They are made from templates, so they teach nothing about what
users type; they are there so that everything runs, and to be replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from pydantic import ValidationError

from ..errors import DataError
from ..signatures.problems import problems_of
from .card import CARD_FILE, DomainCard, ExcludedTopic, shipped_domains
from .card_check import card_problems
from .converters.folder import card_toml
from .duplicates import tokens
from .locks import alone_at
from .rows import write_rows
from .starters import starter_rows

GREETINGS = ("hi", "hello", "hey", "good morning", "thanks", "thank you", "bye", "goodbye")
EXCLUDED: Mapping[str, str] = {
    "general_knowledge": "general knowledge: facts about the world that have nothing to do with this domain",
    "tasks": "other tasks: translating, writing a text, booking, buying",
}
"""The topics that a domain excludes by default."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True)
class DomainAnswers:
    """A person's description of a domain.

    Attributes:
        covers: the subjects it answers, one line each.
        excluded: the topics it does not answer, as kind and description.
    """

    name: str
    title: str
    description: str
    covers: tuple[str, ...]
    excluded: Mapping[str, str]


def check_name(name: str) -> str:
    """Return the name, if it is a valid one and no shipped domain has it.

    Raises:
        DataError: it is not; the message says what a name looks like.
    """
    if name in shipped_domains():
        raise DataError(
            f"the domain {name} ships with queryplan, and a folder of its name would hide it: choose another"
        )
    if not _NAME.fullmatch(name):
        raise DataError(f"{name!r} is no name for a domain: use small letters, digits, - and _, such as bread-help")
    return name


def parse_excluded(lines: Sequence[str]) -> dict[str, str]:
    """``KIND=DESCRIPTION`` lines; with fewer than two, ``EXCLUDED`` is added.

    Raises:
        DataError: a line lacks one of the parts.
    """
    found: dict[str, str] = {}
    for line in lines:
        kind, _, description = (part.strip() for part in line.partition("="))
        if not kind or not description:
            raise DataError(f"{line!r} is no excluded topic; say KIND=DESCRIPTION, such as weather=weather reports")
        key = re.sub(r"\W+", "_", kind.casefold()).strip("_")
        if not key:
            raise DataError(f"{kind!r} is no kind of topic; say it in letters, such as weather=weather reports")
        if key in found:
            raise DataError(f"the excluded topic {key!r} is given twice; say both in one description")
        found[key] = description
    return (
        found if len(found) > 1 else {**found, **{kind: text for kind, text in EXCLUDED.items() if kind not in found}}
    )


def make_card(answers: DomainAnswers) -> DomainCard:
    """The card of a description, without duplicate subjects.

    Raises:
        DataError: a card cannot hold an answer, which is named.
    """
    if not all(re.search(r"\w", line) for line in answers.covers):
        raise DataError("covers: say in some words what the domain answers")
    topics = tuple(
        ExcludedTopic(kind=kind, answer=word, description=text, reason=f"I can only help with {answers.title}.")
        for (kind, text), word in zip(answers.excluded.items(), _words(answers.excluded), strict=True)
    )
    covers: dict[frozenset[str], str] = {}
    for line in answers.covers:
        covers.setdefault(tokens(line), line)
    try:
        card = DomainCard(
            name=check_name(answers.name),
            title=answers.title,
            description=answers.description,
            covers=tuple(covers.values()),
            excluded=topics,
            greetings=GREETINGS,
        )
    except ValidationError as error:
        raise DataError(problems_of(error, 1)) from error
    for problem in card_problems(card):
        raise DataError(f"{problem}: say it otherwise, or give two --excluded of your own")
    return card


def write_domain(folder: Path, answers: DomainAnswers) -> list[Path]:
    """Write the card, starter rows for every split, and a page on what to do with them.

    Raises:
        DataError: the folder exists and is not empty, another process writes it, or a card cannot hold an answer.
        OSError: it cannot be written; nothing unfinished is left to block the next try.
    """
    card = make_card(answers)
    with alone_at(folder, folder):
        return _written(folder, card)


def _written(folder: Path, card: DomainCard) -> list[Path]:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder} is there already; give another --out")
    had_it = folder.exists()
    texts = {
        CARD_FILE: card_toml(card, _CARD_COMMENT),
        "README.md": _PAGE.format(title=card.title, folder=quote(str(folder))),
    }
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        for split, rows in starter_rows(card).items():
            write_rows(folder / f"{split}.jsonl", rows)
    except OSError:
        with suppress(OSError):
            for path in folder.iterdir():  # it was empty, so all of this is what was written just now
                path.unlink()
            if not had_it:
                folder.rmdir()
        raise
    return sorted(folder.iterdir())


def _words(kinds: Iterable[str]) -> list[str]:
    """An answer word for each kind, for a language model: its first word, or all of it if that is taken."""
    words: list[str] = []
    for kind in (kinds := list(kinds)):
        short = kind.split("_")[0]
        words.append(kind if short in words or (short != kind and short in kinds) else short)
    return words


_CARD_COMMENT = (
    "What the planner knows about this domain; `queryplan data check` says what is wrong with it.\n"
    "# Names that users type go below as [[names]] with name, type and aliases. With a graph (its schema as\n"
    "# [[graph.nodes]] and [[graph.edges]], its files in graph/), names_from_graph = [types] takes them from there."
)
_PAGE = """# {title}

Begun by `queryplan new-domain`. **Every row here is a starter, made from a template: replace them.** Rows
tagged `starter` show the form of a label and teach nothing about your users.

1. Mend `domain.toml`: what the domain covers, what it does not, the names users type.
2. Collect real queries with their conversations, `{{"id", "query", "history"}}` a line. Have them planned and correct
   what the plans say: `queryplan plan --batch queries.jsonl --out plans.jsonl --domain {folder} --lm none`, then
   `queryplan label plans.jsonl --domain {folder} --out labelled.jsonl`. A few hundred is where learning begins.
3. `queryplan data split labelled.jsonl --out {folder} --replace` puts them in the starters' place.
4. `queryplan data check {folder}`, then `queryplan compile {folder} --lm none`.
"""
