"""Labelling from use: logged plans, the least certain first, corrected answer by answer into labelled rows.

A logged plan is what production recorded: ``{"query", "history", "plan"}``, one on each line. Each question proposes
what the plan says, so that a right plan costs one key and a wrong one only the answers that are wrong. Finished rows
are appended at once; the answers of an unfinished one are kept beside the file and not asked for again.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import DataError
from ..signatures.problems import problems_of, said_of
from ..signatures.types import COMPLEXITIES, IN_DOMAIN_INTENTS, Turn
from .card import DomainCard
from .guide import contradictions
from .label_file import LOGGED, Answers
from .lines import numbered_lines
from .rows import MAX_ERRORS_SHOWN, LabelledRow, not_utf8

PARTS = (2, 4)
"""Sub-queries of a query that needs some: at least and at most."""

NOT_THERE = "that are not there: write history into each line, or plan the same queries again into a new --out"
"""What is said of plans without their conversation."""

PLAN_FIRST = "plan its queries first, with queryplan plan --batch FILE --out PLANS, and label the plans"
"""What is said of a file of queries that was given for a file of plans."""

_VERSION = re.compile(r"([a-z][a-z0-9_-]*)-[0-9a-f]{12}(?![0-9a-f])")

Kind = Literal["yes_no", "choice", "text", "list", "parts"]


class LoggedPlan(BaseModel):
    """One line of a log; further fields are ignored.

    Attributes:
        query: what was typed; the plan's own if the line has none, as `plan --batch` and `run --batch` write it.
        plan: a ``QueryPlan`` as JSON; that of the line's ``run`` if the line has none itself.
        conversation: an id that keeps turns of one conversation together; by default made from its first message.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    query: str
    history: tuple[Turn, ...] = ()
    session: dict[str, Any] = {}
    conversation: str | None = Field(default=None, min_length=1)
    plan: dict[str, Any]

    @property
    def key(self) -> str:
        """A key that is the same for the same query in the same conversation."""
        return _hash(self.query, *(f"{turn.role}:{turn.content}" for turn in self.history))

    @property
    def lacks_history(self) -> bool:
        """Whether it was planned in a conversation that the line does not contain."""
        planned = self.plan.get("is_follow_up") or self.plan.get("conversation_context")
        return bool(planned) and "history" not in self.model_fields_set

    @property
    def compiled_for(self) -> str:
        """The domain of the compiled program that made it; empty where nothing was compiled, or nobody says."""
        found = _VERSION.match(str(self.plan.get("program_version", "")))
        return "" if found is None or found[1] == "uncompiled" else found[1]

    @property
    def certainty(self) -> float:
        """The probability that all decisions are right, if they are independent; 0 if none is traced."""
        trace = self.plan.get("trace") or {}
        made = trace.get("decisions") or []
        return math.prod(float(d.get("confidence", 0.0)) for d in made) if made else 0.0


def read_logged(path: Path) -> list[LoggedPlan]:
    """Read every plan of a log; lines that hold only an error are skipped.

    Raises:
        DataError: names file, line and field of up to twenty bad lines; or no line has a plan, or all were logged
            without their text.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    return logged_plans((f"{path.name}:{number}", line) for number, line in numbered_lines(text))


def logged_plans(records: Iterable[tuple[str, str | Mapping[str, Any]]]) -> list[LoggedPlan]:
    """Read the plans of records; those that hold only an error, or were logged without text, are skipped.

    Args:
        records: (place, record) pairs; a record is JSON text or the parsed value.

    Raises:
        DataError: names place and field of up to twenty bad records; or all were logged without their text.
    """
    found: list[LoggedPlan] = []
    problems: list[str] = []
    silent = lacking = 0
    for place, given in records:
        try:
            record = json.loads(given) if isinstance(given, str) else given
            if not isinstance(record, Mapping):
                raise ValueError("expected an object with query, history and plan")
            if record.get("text") is False:
                silent += 1
            elif "plan" in record or "run" in record:
                found.append(_logged(record))
            elif "error" not in record:
                lacking += 1
                raise ValueError("plan: this field is missing")
        except (ValueError, RecursionError) as error:
            problems.append(f"{place}: {_said(error)}")
    if lacking > 1 and lacking == len(problems) and not found:
        raise DataError(f"{problems[0].partition(':')[0]} has no plans: {PLAN_FIRST}")
    if problems:
        raise DataError("\n".join(problems[:MAX_ERRORS_SHOWN]))
    if silent and not found:
        raise DataError(
            f"all {silent} plans were logged without what users typed, and cannot be labelled: log with text=True"
        )
    return found


def in_their_conversation(logged: Sequence[LoggedPlan], place: str) -> tuple[list[LoggedPlan], int]:
    """The plans that can be labelled, and the number of the others.

    The others lack their conversation, and would pass for first turns.

    Args:
        place: where they were read from, for the error message.

    Raises:
        DataError: none of them can be labelled for this reason.
    """
    found = [plan for plan in logged if not plan.lacks_history]
    lost = len(logged) - len(found)
    if lost and not found:
        raise DataError(f"all {lost} plans of {place} were made in conversations {NOT_THERE}")
    return found, lost


def least_certain_first(logged: Iterable[LoggedPlan], done: Iterable[str] = ()) -> list[LoggedPlan]:
    """The plans still to be labelled, least certain first, without duplicates; ties in the order of the log."""
    waiting = {plan.key: plan for plan in logged}
    for key in done:
        waiting.pop(key, None)
    return sorted(waiting.values(), key=lambda plan: plan.certainty)


# -- questions


@dataclass(frozen=True)
class Question:
    """One question to whoever labels.

    Attributes:
        field: the label that is asked for.
        proposed: the plan's answer, which an empty reply accepts; None if the plan has none that could be chosen.
        choices: the permitted replies.
    """

    field: str
    text: str
    kind: Kind
    proposed: Any
    choices: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The proposed answer as one would type it."""
        if self.kind == "yes_no":
            return "yes" if self.proposed else "no"
        if self.kind == "parts":
            return " | ".join(part["text"] for part in self.proposed or ()) or "-"
        return "; ".join(self.proposed) or "-" if self.kind == "list" else str(self.proposed or "-")


def next_question(
    logged: LoggedPlan, answers: Answers, card: DomainCard, before: Mapping[str, Any] | None = None
) -> Question | None:
    """The first unanswered question that applies; None if there is none.

    Args:
        before: answers that contradicted each other; each is proposed in the place of the plan's.
    """
    left = next((q for q in _questions(logged, answers, card) if q.field not in answers), None)
    if left is None or not before or left.field not in before:
        return left
    said = before[left.field]
    return left if left.kind == "parts" and not _so_many(said) else replace(left, proposed=said)


def read_answer(question: Question, typed: str) -> Any:
    """Parse a reply; an empty one means the proposed answer, ``-`` means nothing.

    Raises:
        ValueError: the reply is not permitted; the message says what is.
    """
    text = typed.strip()
    if not text and question.proposed is not None:
        return question.proposed
    if question.kind == "yes_no":
        if text.casefold()[:1] not in ("y", "n"):
            raise ValueError("reply y or n")
        return text.casefold()[0] == "y"
    if question.kind == "choice":
        found = [c for c in question.choices if c == text] or [c for c in question.choices if c.startswith(text)]
        if len(found) != 1 or not text:
            raise ValueError(f"reply one of {', '.join(question.choices)}")
        return found[0]
    if question.kind == "text":
        return text
    split = [] if text == "-" else text.split("|" if question.kind == "parts" else ";")
    listed = [part.strip() for part in split if part.strip()]
    return _parts_of_some(listed, text) if question.kind == "parts" else listed


def make_row(logged: LoggedPlan, answers: Mapping[str, Any]) -> LabelledRow:
    """Make the labelled row from complete answers.

    Raises:
        DataError: the answers contradict the annotation guide; the message says how.
    """
    labels = {"is_follow_up": False, "complexity": "simple", "intent": "out_of_scope", "needs_decomposition": False}
    first = logged.history[0].content if logged.history else logged.query
    row = {
        "id": f"{LOGGED}-{logged.key}",
        "conversation": logged.conversation or f"{LOGGED}-{_hash(first)}",
        "turn": 1 + sum(turn.role == "user" for turn in logged.history),
        "query": logged.query,
        "history": logged.history,
        "session": logged.session,
        "labels": {**labels, "standalone_query": logged.query, **answers},
        "tags": (LOGGED,),
    }
    try:
        made = LabelledRow.model_validate(row)
    except ValidationError as error:
        raise DataError("; ".join(map(said_of, error.errors()))) from error
    if against := contradictions(made):
        raise DataError("; ".join(against))
    return made


def _questions(logged: LoggedPlan, answers: Answers, card: DomainCard) -> list[Question]:
    """All questions that apply given the answers so far, in order."""
    plan = logged.plan

    def ask(field: str, text: str, kind: Kind, choices: tuple[str, ...] = ()) -> Question:
        proposed = _proposed(plan, field, kind, choices)
        if field == "entities":
            proposed = [name for name in proposed if name in answers.get("standalone_query", logged.query)]
        return Question(field, text, kind, proposed, choices)

    asked = [ask("is_follow_up", "does it need an earlier turn?", "yes_no")] if logged.history else []
    if answers.get("is_follow_up"):
        asked += [
            ask("standalone_query", "the query with every reference resolved", "text"),
            ask("referenced_entities", "names it points to, as earlier turns say them; ; between", "list"),
        ]
    asked.append(ask("is_relevant", f"is it for {card.title}?", "yes_no"))
    if answers.get("is_relevant") is False:
        asked.append(ask("rejection_kind", "which excluded topic", "choice", card.kinds))
    if answers.get("is_relevant"):
        asked += [
            ask("complexity", "how hard", "choice", COMPLEXITIES),
            ask("intent", "intent", "choice", IN_DOMAIN_INTENTS),
            ask("needs_decomposition", "more than one retrieval?", "yes_no"),
        ]
        if answers.get("needs_decomposition"):
            asked.append(ask("sub_queries", "sub-queries; | between, {1} for an answer", "parts"))
        asked += [
            ask("entities", "names in the standalone query; ; between", "list"),
            ask("relationships_needed", "relations it turns on; ; between", "list"),
        ]
    return asked


def _proposed(plan: Mapping[str, Any], field: str, kind: Kind, choices: Sequence[str]) -> Any:
    empty: dict[Kind, Any] = {"yes_no": False, "text": "", "list": [], "parts": [], "choice": ""}
    value = plan.get(field) or empty[kind]
    unusable = (kind == "choice" and value not in choices) or (kind == "parts" and not _so_many(value))
    return None if unusable else value


def _so_many(parts: Sequence[Any]) -> bool:
    return PARTS[0] <= len(parts) <= PARTS[1]


def _parts_of_some(texts: Sequence[str], typed: str) -> list[dict[str, Any]]:
    """Sub-queries as they were typed; none for ``-``, where the question before it was answered wrongly.

    Raises:
        ValueError: too few or too many.
    """
    if typed != "-" and not _so_many(texts):
        raise ValueError(f"write {PARTS[0]} to {PARTS[1]} with | between, or - if one retrieval is enough")
    return _parts(texts)


def _parts(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Sub-queries from texts; one that contains ``{1}`` depends on the first."""
    found = []
    for number, text in enumerate(texts, 1):
        needs = [n for n in range(1, len(texts) + 1) if f"{{{n}}}" in text]
        found.append({"id": number, "text": text, "depends_on": needs})
    return found


# -- records


def _logged(record: Mapping[str, Any]) -> LoggedPlan:
    run = record.get("run")
    plan = record["plan"] if "plan" in record else run.get("plan") if isinstance(run, dict) else None
    query = record.get("query", plan.get("query") if isinstance(plan, dict) else None)
    return LoggedPlan.model_validate({**record, "plan": plan, "query": query})


def _said(error: ValueError | RecursionError) -> str:
    if isinstance(error, ValidationError):
        return problems_of(error)
    return f"not JSON: {error}" if isinstance(error, json.JSONDecodeError) else str(error)


def _hash(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode(errors="surrogatepass")).hexdigest()[:12]
