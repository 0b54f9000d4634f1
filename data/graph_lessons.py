r"""Lessons, from which graph planners learn: hand-written questions over small invented schemas, with their plans.

They teach a graph planner what carries over from schema to schema: which words ask for a count or for what two sets
share, and how a chain of edges is put into words. A lesson is one TOML file with a schema, further names, and lines
``question => plan`` in a short notation::

    Type:name >EDGE <EDGE ~EDGE     follow an edge out, in, or either way; ! takes the start out again
    >EDGE[PROP OP VALUE]            only edges that pass; ! goes behind the bracket
    A & B   A | B   A \ B           what both have, what either has, what only the first has; ( ) group
    count; if PROP OP VALUE; max PROP N; min PROP N; most EDGE N; fewest EDGE N     before all else
    none                             the schema cannot say it

A value that is a number or ``true`` is one, unless it stands in quotation marks.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import DataError
from ..signatures.graph_steps import GraphPlan, GraphSchema
from ..signatures.problems import problems_of, said_of
from .card import SHIPPED

LESSONS = SHIPPED / "lessons"
TOKEN = re.compile(
    r"\s*(?:(?P<mark>[()&|\\])|(?P<way>[<>~])(?P<edge>\w+)(?:\[(?P<test>[^\]]*)\])?(?P<back>!?)"
    r"|(?P<name>\w+:[^()&|\\<>~]+))"
)
NUMERAL = re.compile(r"-?\d+(\.\d+)?")
WAYS = {">": "out", "<": "in", "~": "any"}
TRUTH = {"true": True, "false": False}
SETS = {"&": "intersect", "|": "union", "\\": "difference"}


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    schema_: GraphSchema
    names: dict[str, list[str]] = {}
    questions: dict[str, str]


@dataclass(frozen=True)
class LessonQuestion:
    """A question and its plan, which is None if the schema cannot express the question."""

    text: str
    plan: GraphPlan | None


@dataclass(frozen=True)
class Lesson:
    """A schema with labelled questions.

    Attributes:
        names: (name, type) of all nodes named in a plan, and of further ones.
    """

    name: str
    schema: GraphSchema
    names: tuple[tuple[str, str], ...]
    questions: tuple[LessonQuestion, ...]


def load_lessons(folder: Path = LESSONS) -> tuple[Lesson, ...]:
    """Load every lesson of a folder, by name.

    Raises:
        DataError: a file cannot be read; file and question are named.
    """
    return tuple(read_lesson(path) for path in sorted(folder.glob("*.toml")))


def read_lesson(path: Path) -> Lesson:
    """Read one lesson.

    Raises:
        DataError: it cannot be read; file and question are named.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        given = _File.model_validate({**{k: v for k, v in raw.items() if k != "schema"}, "schema_": raw.get("schema")})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
        said = problems_of(error) if isinstance(error, ValidationError) else error
        raise DataError(f"the lesson {path.name} cannot be read: {said}") from error
    lines = [line for line in given.questions.get("lines", "").splitlines() if line.strip()]
    questions = tuple(_question(line, f"{path.name}: {line.partition(' => ')[0]!r:.60}") for line in lines)
    named = {(name, kind): None for kind, names in given.names.items() for name in names}
    for question in questions:
        steps = question.plan.steps if question.plan else ()
        named.update({(step.node.name, step.node.type): None for step in steps if step.kind == "anchor"})
    return Lesson(path.stem, given.schema_, tuple(named), questions)


def _question(line: str, where: str) -> LessonQuestion:
    text, arrow, said = line.partition(" => ")
    if not arrow:
        raise DataError(f"{where}: expected question => plan")
    return LessonQuestion(text.strip(), None if said.strip() == "none" else read_plan(said, where))


def read_plan(said: str, where: str = "plan") -> GraphPlan:
    """Parse a plan in the short notation.

    Raises:
        DataError: it does not follow the notation.
    """
    *endings, core = said.split(";")
    reader = _Reader(core, where)
    now = reader.set()
    if reader.token is not None:
        raise DataError(f"{where}: {core[reader.place :]!r} cannot be read")
    for ending in reversed(endings):
        now = reader.end(ending.split(), now)
    try:
        return GraphPlan.model_validate({"steps": reader.steps})
    except ValidationError as error:
        raise DataError(f"{where}: {said_of(error.errors()[0])}") from error


class _Reader:
    """Reads the notation from left to right and writes steps."""

    def __init__(self, text: str, where: str) -> None:
        self.text, self.where, self.place = text, where, 0
        self.steps: list[dict[str, Any]] = []
        self.token: re.Match[str] | None = None
        self._next()

    def _next(self) -> None:
        rest = self.text[self.place :]
        match = TOKEN.match(self.text, self.place)
        if match is None and rest.strip():
            raise DataError(f"{self.where}: {rest.strip()!r} cannot be read")
        self.token = match
        self.place = match.end() if match else len(self.text)

    def _add(self, kind: str, **fields: Any) -> str:
        name = f"s{len(self.steps) + 1}"
        self.steps.append({"kind": kind, "store_as": name, **fields})
        return name

    def set(self) -> str:
        """Read terms joined by marks."""
        now = self._term()
        while self.token is not None and (mark := self.token["mark"]) in SETS:
            inputs = [now]
            while self.token is not None and self.token["mark"] == mark:
                self._next()
                inputs.append(self._term())
            now = self._add(SETS[mark], inputs=inputs)
        return now

    def _term(self) -> str:
        token = self.token
        if token is None or not (token["name"] or token["mark"] == "("):
            raise DataError(f"{self.where}: expected Type:name or ( in {self.text.strip()!r}")
        self._next()
        if token["name"]:
            kind, _, name = token["name"].partition(":")
            start = self._add("anchor", node={"type": kind, "name": name.strip()})
        else:
            start = self.set()
            if self.token is None or self.token["mark"] != ")":
                raise DataError(f"{self.where}: a parenthesis is not closed in {self.text.strip()!r}")
            self._next()
        return self._hops(start)

    def _hops(self, start: str) -> str:
        now = start
        while self.token is not None and self.token["way"]:
            now = self._hop(self.token, now, start)
            self._next()
        return now

    def _hop(self, token: re.Match[str], now: str, start: str) -> str:
        """Read one edge; ``start`` is what ``!`` excludes."""
        fields: dict[str, Any] = {"exclude": [start]} if token["back"] else {}
        if token["test"] is not None:
            fields["where"] = [self._test(token["test"].split())]
        return self._add("expand", start=now, edge=token["edge"], direction=WAYS[token["way"]], **fields)

    def _test(self, words: list[str]) -> dict[str, Any]:
        match words:
            case [name, op, *value] if value:
                return _condition(name, op, " ".join(value))
        raise DataError(f"{self.where}: {' '.join(words)!r} is not a property, a comparison and a value")

    def end(self, words: list[str], start: str) -> str:
        """Read an ending, which is done with a set."""
        match words:
            case ["count"]:
                return self._add("count", start=start)
            case ["if", name, op, *value]:
                return self._add("filter", start=start, conditions=[_condition(name, op, " ".join(value))])
            case [("max" | "min") as way, name, limit]:
                return self._add("order", start=start, property=name, descending=way == "max", limit=limit)
            case [("most" | "fewest") as way, edge, limit]:
                return self._add("order", start=start, degree_of=edge, descending=way == "most", limit=limit)
        raise DataError(f"{self.where}: {' '.join(words)!r} is none of count, if, max, min, most, fewest")


def _condition(name: str, op: str, value: str) -> dict[str, Any]:
    return {"property": name, "op": op, "value": _value(value)}


def _value(text: str) -> int | float | bool | str:
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    if NUMERAL.fullmatch(text):
        return float(text) if "." in text else int(text)
    return TRUTH.get(text, text)
