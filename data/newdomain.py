"""Beginning a domain: a card from a few answers, and starter rows that show the form of a label.

Starter rows carry the tag ``starter``. They are made from templates, so they teach nothing about what
users type; they are there so that everything runs, and to be replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import DataError
from ..signatures.problems import problems_of
from .card import CARD_FILE, DomainCard, ExcludedTopic
from .checking import STARTER
from .converters.folder import card_toml
from .rows import SPLITS, LabelledRow, write_rows

GREETINGS = ("hi", "hello", "hey", "good morning", "thanks", "thank you", "bye", "goodbye")
EXCLUDED: Mapping[str, str] = {
    "general_knowledge": "facts about the world that have nothing to do with this domain",
    "tasks": "doing something else: translating, writing a text, booking, buying",
}
"""What a domain excludes when nothing else is said."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*")
# Words of a topic that a starter row uses.
_TOPIC_WORDS = 3
_LEADING = 3


@dataclass(frozen=True)
class DomainAnswers:
    """What a person says about a domain.

    Attributes:
        covers: what it answers, a line each.
        excluded: what it does not, as kind and description.
    """

    name: str
    title: str
    description: str
    covers: tuple[str, ...]
    excluded: Mapping[str, str]


def check_name(name: str) -> str:
    """The name, if it can be one.

    Raises:
        DataError: it cannot; says what a name looks like.
    """
    if not _NAME.fullmatch(name):
        raise DataError(f"{name!r} is no name for a domain: use small letters, digits, - and _, such as bread-help")
    return name


def parse_excluded(lines: Sequence[str]) -> dict[str, str]:
    """``KIND=DESCRIPTION`` lines; with fewer than two, ``EXCLUDED`` is added.

    Raises:
        DataError: a line without both parts.
    """
    found: dict[str, str] = {}
    for line in lines:
        kind, _, description = (part.strip() for part in line.partition("="))
        if not kind or not description:
            raise DataError(f"{line!r} is no excluded topic; say KIND=DESCRIPTION, such as weather=weather reports")
        found[re.sub(r"\W+", "_", kind.casefold())] = description
    return found if len(found) > 1 else {**found, **EXCLUDED}


def make_card(answers: DomainAnswers) -> DomainCard:
    """The card of what was said.

    Raises:
        DataError: an answer that a card cannot hold, named.
    """
    if not all(line.strip() for line in answers.covers):
        raise DataError("covers: say in some words what the domain answers")
    topics = tuple(
        ExcludedTopic(kind=kind, answer=word, description=text, reason=f"I can only help with {answers.title}.")
        for (kind, text), word in zip(answers.excluded.items(), _words(answers.excluded), strict=True)
    )
    try:
        return DomainCard(
            name=check_name(answers.name),
            title=answers.title,
            description=answers.description,
            covers=answers.covers,
            excluded=topics,
            greetings=GREETINGS,
        )
    except ValidationError as error:
        raise DataError(problems_of(error)) from error


def write_domain(folder: Path, answers: DomainAnswers) -> list[Path]:
    """Write card, starter rows of every split and a page that says what to do with them.

    Raises:
        DataError: the folder is there and not empty, or an answer that a card cannot hold.
    """
    card = make_card(answers)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder} is there already; give another --out")
    folder.mkdir(parents=True, exist_ok=True)
    texts = {CARD_FILE: card_toml(card, _CARD_COMMENT), "README.md": _PAGE.format(title=card.title, folder=folder)}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for split in SPLITS:
        write_rows(folder / f"{split}.jsonl", starter_rows(card, split))
    return sorted(folder.iterdir())


def starter_rows(card: DomainCard, split: str) -> list[LabelledRow]:
    """Rows that show each label, in other words for each split."""
    say = {key: texts[SPLITS.index(split)] for key, texts in _TEXTS.items()}
    topics = [_topic(line) for line in card.covers]
    conversations: list[list[dict[str, Any]]] = []
    other = card.title if card.title not in topics else f"{card.title} itself"
    for first, second in zip(topics, [*topics[1:], other], strict=True):
        conversations += _about(say, first, second)
    conversations += [[_turn(say[key], intent="greeting")] for key in ("hello", "thanks")]
    for excluded in card.excluded:
        away = {"is_relevant": False, "rejection_kind": excluded.kind, "intent": "out_of_scope"}
        conversations.append([_turn(say["away"].format(x=_topic(excluded.description)), **away)])
    places = ((f"{STARTER}-{split}-{n}", turns) for n, turns in enumerate(conversations, 1))
    return [row for conversation, turns in places for row in _rows(conversation, turns, say["answer"])]


def _about(say: Mapping[str, str], x: str, y: str) -> list[list[dict[str, Any]]]:
    """Two conversations about a topic: one goes on from turn to turn, one asks more at once."""
    again = say["why"].format(x=x)
    parts = [{"id": n, "text": say["define"].format(x=topic)} for n, topic in enumerate((x, y), 1)]
    both = {"complexity": "moderate", "intent": "comparison", "needs_decomposition": True, "sub_queries": parts}
    why = {"complexity": "moderate", "intent": "causal"}
    return [
        [
            _turn(say["define"].format(x=x), intent="definition", entities=[x]),
            _turn(say["and_why"], again, is_follow_up=True, referenced_entities=[x], entities=[x], **why),
            _turn(say["tell"].format(x=y), entities=[y]),
        ],
        [_turn(say["compare"].format(x=x, y=y), entities=[x, y], **both)],
    ]


def _turn(query: str, standalone: str | None = None, **labels: Any) -> dict[str, Any]:
    usual = {"is_follow_up": False, "is_relevant": True, "complexity": "simple", "intent": "factual"}
    given = {**usual, "needs_decomposition": False, **labels, "standalone_query": standalone or query}
    return {"query": query, "labels": given, "about": " and ".join(given.get("entities", [])) or query}


def _rows(conversation: str, turns: Sequence[Mapping[str, Any]], answer: str) -> list[LabelledRow]:
    rows: list[LabelledRow] = []
    history: list[dict[str, str]] = []
    for number, turn in enumerate(turns, 1):
        place = {"id": f"{conversation}.{number}", "conversation": conversation, "turn": number}
        shown = {"query": turn["query"], "labels": turn["labels"], "history": list(history), "tags": [STARTER]}
        rows.append(LabelledRow.model_validate({**place, **shown}))
        answered = {"role": "assistant", "content": answer.format(x=turn["about"])}
        history += [{"role": "user", "content": turn["query"]}, answered]
    return rows


def _topic(line: str) -> str:
    """A few words of a line that can stand in a sentence; one that is cut does not end in a word that leads on."""
    words = re.split(r"[:;,.(]", line)[0].split()
    kept = words[:_TOPIC_WORDS]
    while len(kept) < len(words) and len(kept) > 1 and _leads_on(kept[-1]):
        kept.pop()
    return " ".join(kept) or line.strip()


def _leads_on(word: str) -> bool:
    """Whether a word is as short as "of", "the" and "und" are, in small letters; "VPN" is not."""
    return len(word) <= _LEADING and word.islower()


def _words(kinds: Mapping[str, str]) -> list[str]:
    """A word for each kind that a language model can say: its first, or all of it where that is taken."""
    words: list[str] = []
    for kind in kinds:
        short = kind.split("_")[0]
        words.append(kind if short in words else short)
    return words


# By split, in the order of SPLITS; no wording is near another split's.
_TEXTS: Mapping[str, tuple[str, str, str, str]] = {
    "define": ("What is {x}?", "Explain {x} briefly", "Could you define {x}", "{x}: meaning please"),
    "and_why": ("and why does it matter?", "who needs that?", "is this important, and why", "what is it good for"),
    "why": ("Why does {x} matter?", "Who needs {x}?", "Is {x} important, and why", "What is {x} good for"),
    "tell": ("Tell me about {x}", "I'd like to read on {x}", "anything regarding {x}?", "facts concerning {x}"),
    "compare": (
        "How do {x} and {y} differ?",
        "compare {x} with {y}",
        "{x} or {y}, which one is larger",
        "what separates {x} from {y}",
    ),
    # A short query is compared with the turn before it.
    "answer": ("(your answer about {x})", "(here stands what {x} means)", "(say {x} shortly)", "({x}, as you tell it)"),
    "hello": ("hello", "hi", "good morning", "hey"),
    "thanks": ("thanks", "thank you", "many thanks, bye", "goodbye"),
    "away": (
        "I need help with {x}",
        "another matter: {x}, can you do that",
        "would you look after {x} today",
        "{x} now, quickly",
    ),
}

_CARD_COMMENT = (
    "What the planner knows about this domain; `queryplan data check` says what is wrong with it.\n"
    "# Names that users type go below as [[names]] with name, type and aliases. With a graph (its schema as\n"
    "# [[graph.nodes]] and [[graph.edges]], its files in graph/), names_from_graph = [types] takes them from there."
)
_PAGE = """# {title}

Begun by `queryplan new-domain`. **Every row here is a starter, made from a template: replace them.** Rows
tagged `starter` show the form of a label and teach nothing about your users.

1. Mend `domain.toml`: what the domain covers, what it does not, the names users type.
2. Collect real queries with their conversations; label them in one file, or from logged plans:
   `queryplan label LOGS --domain {folder} --out labelled.jsonl`. A few hundred is where learning begins.
3. `queryplan data split labelled.jsonl --out {folder} --replace` puts them in the starters' place.
4. `queryplan data check {folder}`, then `queryplan compile {folder} --lm none`.
"""
