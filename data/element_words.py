"""Words for a schema's elements in people's own words and languages, read from a table beside the card.

The table ``words.tsv`` has the columns ``element`` and ``side`` and one for each language, headed by its tag::

    element       side  en                    de
    Disease             illness; condition    Krankheit; Leiden
    TREATS_CtD    out   indicated for         wirkt bei; Anwendungsgebiet
    TREATS_CtD    in    remedy for            hilft gegen; Mittel gegen

An element is a node type, an edge type, a property of one (``Compound.approved_year``) or a value of that
(``Disease.category=cancer``). An edge has a line for each side: ``out`` for what is said when the targets of a node
are asked for, ``in`` for the way back. The line of the element ``none`` has what people ask of the same subject that
the schema cannot say: "is it contagious".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from ..errors import DataError
from ..signatures.graph_steps import ElementWords, GraphSchema
from .word_tables import (
    BETWEEN,
    cells_of,
    columns_of,
    package_phrases,
    place_of,
    table_lines,
    unreadable,
    words_in,
    wrong_head,
)

WORDS_FILE = "words.tsv"
PLANS_FILE = Path(__file__).parent / "domains" / "graph-words.tsv"
DONE = (
    *("union", "intersect", "difference", "count", "degree desc", "degree asc", "order desc", "order asc"),
    *("gt", "lt", "none"),
)
"""What any plan may do, whatever the schema: combine sets, count, order, compare; or that there is no plan."""
UNSAYABLE = "none"
"""The element with words for what a schema cannot express, unless a node or edge type has this name."""
OWN = ["element", "side"]
Side = Literal["", "out", "in"]
SIDES: tuple[Side, ...] = ("out", "in")


def with_element_words(schema: GraphSchema, folder: Path) -> GraphSchema:
    """The schema with the words of the folder's table; unchanged if there is none.

    Raises:
        DataError: the table cannot be read, or a line is wrong, which is named.
    """
    words = read_element_words(folder / WORDS_FILE, schema)
    return schema.model_copy(update={"words": words}) if words else schema


def read_element_words(path: Path, schema: GraphSchema) -> tuple[ElementWords, ...]:
    """Read the lines of a table; empty if there is no table.

    Raises:
        DataError: it cannot be read, or a line is wrong, which is named.
    """
    lines = table_lines(path)
    return tuple(_read(lines, schema, place_of(path))) if lines else ()


@lru_cache(maxsize=1)
def read_words_of_plans() -> dict[str, str]:
    """Phrases for each of ``DONE``, in every language with "; " between them, from the package's own table.

    Raises:
        DataError: the table is not there or not of this version.
    """
    try:
        lines = PLANS_FILE.read_text(encoding="utf-8").splitlines()[1:]
        found = {cells[0]: BETWEEN.join(cells[1:]) for cells in (line.split("\t") for line in lines)}
        return {name: found[name] for name in DONE}
    except (OSError, UnicodeDecodeError, KeyError) as error:
        raise unreadable(PLANS_FILE, error) from error


@lru_cache(maxsize=1)
def read_phrases_of_plans() -> tuple[tuple[str, str], ...]:
    """The same phrases one by one, each with its language.

    Raises:
        DataError: the table is not there or cannot be read.
    """
    return tuple((phrase, language) for _, phrase, language in package_phrases(PLANS_FILE))


def _read(lines: Sequence[str], schema: GraphSchema, where: str) -> Iterator[ElementWords]:
    width, seen = _width(lines[0], where), set[tuple[str, str]]()
    known = dict(elements_of(schema))
    for number, line in enumerate(lines[1:], 2):
        if line:
            row = _row(line, width, known, f"{where}, line {number}")
            if (row.element, row.side) in seen:
                raise DataError(f"{where}, line {number}: {row.element!r} has this side twice; write it in one line")
            seen.add((row.element, row.side))
            yield row


def with_words_of(schema: GraphSchema, other: GraphSchema) -> GraphSchema:
    """A schema without words, such as a database's, with another schema's words for the same types and edges."""
    if schema.words or not other.words:
        return schema
    ends = {edge.name: (edge.source, edge.target) for edge in schema.edges}
    apart = {edge.name for edge in other.edges if ends.get(edge.name) != (edge.source, edge.target)}
    known = dict(elements_of(schema))
    words = [
        line
        for line in other.words
        if (element := line.element.partition("=")[0]) in known and element.partition(".")[0] not in apart
    ]
    return schema.model_copy(update={"words": tuple(words)})


def elements_of(schema: GraphSchema) -> Iterator[tuple[str, tuple[Side, ...]]]:
    """Each element of a schema that may have words, with its sides."""
    for kind in (*schema.nodes, *schema.edges):
        for name in kind.properties:
            yield f"{kind.name}.{name}", ("",)
    for node in schema.nodes:
        yield node.name, ("",)
    for edge in schema.edges:
        # A schema may call an edge type as it does a node type: then the side tells which is meant.
        yield edge.name, (("", *SIDES) if schema.node(edge.name) else SIDES)
    if not _has_unsayable(schema):
        yield UNSAYABLE, ("",)


def unsayable_words(schema: GraphSchema) -> str:
    """Phrases, separated by "; ", for what people ask about a schema's subject that it cannot express."""
    if _has_unsayable(schema):
        return ""
    return BETWEEN.join(line.words for line in schema.words if line.element == UNSAYABLE)


def _has_unsayable(schema: GraphSchema) -> bool:
    """Whether a type has the name that is otherwise for what the schema cannot express."""
    return any(kind.name == UNSAYABLE for kind in (*schema.nodes, *schema.edges))


def _width(header: str, where: str) -> int:
    told = ", ".join(OWN)
    columns = columns_of(header, OWN, told, where)
    if len(columns) == len(OWN):
        raise wrong_head(header, told, where)
    return len(columns)


def _row(line: str, width: int, known: dict[str, tuple[Side, ...]], where: str) -> ElementWords:
    element, *cells = cells_of(line, width, where)
    sides = known.get(element.partition("=")[0]) if "." in element else known.get(element)
    if sides is None:
        raise DataError(
            f"{where}: the schema has no {element!r}; give a node type, an edge type, Type.property, "
            "Type.property=value or none"
        )
    said = cells.pop(0)
    side: Side | None = next((one for one in sides if one == said), None)
    if side is None:
        expected = " or ".join(sides) or "nothing"
        raise DataError(f"{where}: the side of {element!r} must be {expected}, not {said!r}")
    words = words_in(cells)
    if not words:
        raise DataError(f"{where}: it needs words, with '; ' between two and none left empty")
    return ElementWords(element=element, side=side, words=words)
