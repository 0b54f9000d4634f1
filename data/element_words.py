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
from .other_words import BETWEEN, LANGUAGE

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
    where = f"{path.name} of {path.parent.name}"
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{where} cannot be read: {error}") from error
    return tuple(_read(lines, schema, where)) if lines else ()


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
        raise DataError(f"{PLANS_FILE.name} of the package cannot be read ({error}); install it again") from error


@lru_cache(maxsize=1)
def read_phrases_of_plans() -> tuple[tuple[str, str], ...]:
    """The same phrases one by one, each with its language.

    Raises:
        DataError: the table is not there or not of this version.
    """
    read_words_of_plans()
    head, *rows = (line.split("\t") for line in PLANS_FILE.read_text(encoding="utf-8").splitlines())
    cells = ((cell, language) for row in rows for language, cell in zip(head[1:], row[1:], strict=False))
    return tuple((phrase, language) for cell, language in cells for phrase in filter(None, cell.split(BETWEEN)))


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
    if not _has_kind(schema, UNSAYABLE):
        yield UNSAYABLE, ("",)


def unsayable_words(schema: GraphSchema) -> str:
    """Phrases, separated by "; ", for what people ask about a schema's subject that it cannot express."""
    if _has_kind(schema, UNSAYABLE):
        return ""
    return BETWEEN.join(line.words for line in schema.words if line.element == UNSAYABLE)


def _has_kind(schema: GraphSchema, name: str) -> bool:
    return any(kind.name == name for kind in (*schema.nodes, *schema.edges))


def _width(header: str, where: str) -> int:
    columns = header.split("\t")
    wrong = [column for column in columns[len(OWN) :] if not LANGUAGE.fullmatch(column)]
    if columns[: len(OWN)] != OWN or len(columns) == len(OWN) or wrong or len(set(columns)) < len(columns):
        raise DataError(
            f"{where}: its first line must be element, side and tags of languages such as es or hi-Latn, each once, "
            f"with tabs between them, not {header[:80]!r}"
        )
    return len(columns)


def _row(line: str, width: int, known: dict[str, tuple[Side, ...]], where: str) -> ElementWords:
    element, *cells = line.split("\t")
    if len(cells) != width - 1:
        raise DataError(f"{where}: it has {len(cells) + 1} cells under {width} headings; mend its tabs")
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
    words = BETWEEN.join(filter(None, cells))
    if not words or BETWEEN * 2 in f"{BETWEEN}{words}{BETWEEN}":
        raise DataError(f"{where}: it needs words, with '; ' between two and none left empty")
    return ElementWords(element=element, side=side, words=words)
