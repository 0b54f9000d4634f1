"""The tree of errors that a caller may meet.

::

    QueryPlanError                 everything of ours; one sentence, and what to do next
    ├── UserError                  a wrong command, file, name or setting: exit code 2
    │   ├── DataError              a labelled file, a card or a store that cannot be read
    │   ├── ConfigError            a setting, key or model name
    │   └── WeightsError           model weights that are missing or not the ones expected
    ├── SourcePlanError            the source planner was called without what it plans from
    │   ├── NoIntentsError         without a kind of information that is wanted
    │   └── NoHypothesesError      without a reasoning structure
    ├── ProgramError               a compiled program that cannot be loaded or trusted
    └── LMError                    a language model that did not answer as it must

``planner.plan()`` raises none of them for any input text: it returns a degraded plan instead. What pydantic says of a
file that a user wrote is put in plain words here, too (`plain_sentences`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any


class QueryPlanError(Exception):
    """Base of every error that queryplan raises on purpose."""


class UserError(QueryPlanError):
    """What the user gave cannot be used; the message says what to change."""


class DataError(UserError):
    """A labelled set, card or store cannot be read."""


class ConfigError(UserError):
    """A setting, key or model name is missing or wrong."""


class WeightsError(UserError):
    """Model weights are missing or are not the file that was expected."""


class SourcePlanError(QueryPlanError):
    """The source planner was called without what it plans from."""


class NoIntentsError(SourcePlanError):
    """There is no intent to plan for."""


class NoHypothesesError(SourcePlanError):
    """There is no reasoning structure to plan within."""


class ProgramError(QueryPlanError):
    """A compiled program is missing, altered or of another version."""


class LMError(QueryPlanError):
    """A language model is unreachable or did not answer as it must."""


def plain_words(problem: Mapping[str, Any]) -> str:
    """What one of pydantic's ``ValidationError.errors()`` says, in words of somebody who writes a file.

    Begins small, so that it can stand behind ``field: ``. A kind that is not listed keeps pydantic's words.
    """
    say = _PLAIN.get(problem["type"])
    if isinstance(say, str):
        return say
    try:
        return say(problem.get("ctx", {})) if say else _small(problem["msg"])
    except KeyError:  # a library's own error of that type, which says nothing further
        return _small(problem["msg"])


def plain_sentences(problems: Sequence[Mapping[str, Any]], most: int = 20) -> str:
    """``field: what is wrong`` of each with "; " between them, and how many more there are than ``most``.

    Args:
        problems: what ``ValidationError.errors()`` gives; where a field is of the whole, its name is left out.
    """
    told = [problem for problem in problems if not _echoes(problem, problems)]
    fields = (".".join(map(str, problem["loc"])) for problem in told)
    lines = [
        f"{field}: {plain_words(one)}" if field else plain_words(one) for field, one in zip(fields, told, strict=True)
    ]
    more = [f"and {len(lines) - most} more"] if len(lines) > most else []
    return "; ".join([*lines[:most], *more])


def _echoes(problem: Mapping[str, Any], problems: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a list is called too short only because some of its items are wrong, which is said of them."""
    where = problem["loc"]
    within = (len(other["loc"]) > len(where) and other["loc"][: len(where)] == where for other in problems)
    return problem["type"] == "too_short" and any(within)


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]


def _length(what: str, bound: str, most: bool) -> Callable[[Mapping[str, Any]], str]:
    def say(context: Mapping[str, Any]) -> str:
        number = int(context[bound])
        if number == 1 and not most:
            return "it must not be empty"
        return f"it must have {'at most' if most else 'at least'} {number:,} {what}{'s' * (number != 1)}"

    return say


_PATTERNS = {
    r"^[a-z][a-z_]*$": "small letters and _",
    r"^[a-z][a-z0-9_]*$": "small letters, digits and _, with a letter first",
    r"^[a-z][a-z0-9_-]*$": "small letters, digits, - and _, with a letter first",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "letters, digits and _, with no digit first",
    r"^[a-z]{2,3}$": "two or three small letters, such as en",
}
_OBJECT, _DAY = "it must be an object with named fields", "it must be a day, YYYY-MM-DD"
_PLAIN: Mapping[str, str | Callable[[Mapping[str, Any]], str]] = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such field",
    "value_error": lambda context: str(context["error"]),
    "json_invalid": lambda context: f"it is no JSON: {context['error']}",
    "literal_error": lambda context: f"it must be {context['expected']}",
    "union_tag_invalid": lambda context: f"{context['discriminator']} must be one of {context['expected_tags']}",
    "union_tag_not_found": lambda context: f"{context['discriminator']} is missing",
    "string_pattern_mismatch": lambda context: (
        f"it must be {_PATTERNS.get(context['pattern'], 'of the form ' + context['pattern'])}"
    ),
    "string_too_short": _length("character", "min_length", most=False),
    "string_too_long": _length("character", "max_length", most=True),
    "too_short": _length("item", "min_length", most=False),
    "too_long": _length("item", "max_length", most=True),
    "greater_than": lambda context: f"it must be more than {context['gt']:g}",
    "greater_than_equal": lambda context: f"it must be {context['ge']:g} or more",
    "less_than": lambda context: f"it must be less than {context['lt']:g}",
    "less_than_equal": lambda context: f"it must be {context['le']:g} or less",
    "finite_number": "it must be a number",
    **{f"string_{kind}": "it must be text" for kind in ("type", "unicode")},
    **{f"bool_{kind}": "it must be true or false" for kind in ("type", "parsing")},
    **{f"int_{kind}": "it must be a whole number" for kind in ("type", "parsing", "from_float", "parsing_size")},
    **{f"float_{kind}": "it must be a number" for kind in ("type", "parsing")},
    **{f"{kind}_type": "it must be a list" for kind in ("tuple", "list", "set", "frozen_set")},
    **{f"{kind}_type": _OBJECT for kind in ("dict", "model", "model_attributes", "mapping")},
    **{f"date_{kind}": _DAY for kind in ("type", "parsing", "from_datetime_parsing", "from_datetime_inexact")},
}
