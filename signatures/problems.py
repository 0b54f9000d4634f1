"""Pydantic's validation errors in plain words, for whoever writes JSON or TOML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

EXPECTED: Mapping[str, str] = {
    **dict.fromkeys(
        ("model_type", "dict_type", "mapping_type", "model_attributes_type", "dataclass_type"), "an object"
    ),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type", "iterable_type"), "a list"),
    **dict.fromkeys(("string_type", "string_sub_type", "string_unicode"), "text"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing", "decimal_type", "decimal_parsing"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("date_type", "date_parsing", "date_from_datetime_parsing"), "a day, YYYY-MM-DD"),
    "finite_number": "a finite number",
    "none_required": "nothing",
}
"""What stands in a place, by the type of the error."""
NAMED: Mapping[type, str] = {dict: "an object", list: "a list", tuple: "a list", str: "text", bool: "true or false"}
PATTERNS: Mapping[str, str] = {
    r"^[a-z][a-z_]*$": "small letters and _",
    r"^[a-z][a-z0-9_]*$": "small letters, digits and _, with a letter first",
    r"^[a-z][a-z0-9_-]*$": "small letters, digits, - and _, with a letter first",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "letters, digits and _, with no digit first",
    r"^[a-z]{2,3}$": "two or three small letters, such as en",
}
"""What a regular expression of ours means."""
NEAR = 0.7
"""Similarity (difflib's ratio) to a field from which a name is taken for a misspelling of it."""
BOUNDS: Mapping[str, tuple[str, str]] = {
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("below", "lt"),
    "less_than_equal": ("at most", "le"),
}


def problems_of(error: ValidationError, most: int = 10, first: str = "", model: type[BaseModel] | None = None) -> str:
    """Everything that is wrong, "place: what" with semicolons between; of a document as a whole without a place.

    Args:
        most: so many are named, the others counted.
        first: what to call the document where it is wrong as a whole.
        model: what the document should be, so that a misspelled field is told the right one.
    """
    every = error.errors(include_url=False)
    found = [one for one in every if not _follows(one, every)]
    lines = []
    for one in found[:most]:
        where, said = place_of(one) or first, f"{said_of(one)}{meant(one, model) if model else ''}"
        lines.append(f"{where}: {said}" if where else said)
    more = len(found) - most
    return "; ".join([*lines, *([f"and {more:,} more"] if more > 0 else [])])


def place_of(error: Any) -> str:
    """Where one error is, as ``steps.0.node``; empty for the whole document."""
    return ".".join(map(str, error["loc"]))


def said_of(error: Any) -> str:
    """What one error says."""
    kind, told = error["type"], error.get("ctx") or {}
    if kind in EXPECTED:
        return f"expected {EXPECTED[kind]}{'' if kind.startswith('date') else _instead(EXPECTED[kind], error)}"
    if kind in BOUNDS:
        said, key = BOUNDS[kind]
        return f"must be {said} {told[key]}"
    if kind in ("too_short", "string_too_short"):
        return f"must have at least {_counted(told['min_length'], kind)}"
    if kind in ("too_long", "string_too_long"):
        return f"must have at most {_counted(told['max_length'], kind)}"
    if kind in ("literal_error", "enum"):
        return f"must be {_plain(told['expected'])}"
    if kind == "union_tag_not_found":
        return f"{_plain(told['discriminator'])} is missing{_instead('an object', error)}"
    if kind == "union_tag_invalid":
        wanted = told["expected_tags"]
        return f"{_plain(told['discriminator'])} must be one of {_plain(wanted)}, not {_plain(told['tag']):.60}"
    return {
        "extra_forbidden": "there is no such field",
        "string_pattern_mismatch": f"must be {PATTERNS.get(told.get('pattern', ''), told.get('pattern', ''))}",
        "missing": "this field is missing",
        "json_invalid": f"not JSON ({told.get('error', '')})",
        "recursion_loop": "nested too deeply",
    }.get(kind) or error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")


def meant(error: Any, model: type[BaseModel]) -> str:
    """What is said further of a field that there is not, if one of nearly that name stands there."""
    if error["type"] != "extra_forbidden":
        return ""
    *place, name = error["loc"]
    here = {model}
    for part in place:
        fields = [one.model_fields[part] for one in here if part in one.model_fields]
        here = {inner for field in fields for inner in _models_in(field.annotation)} or here
    names = sorted({field for one in here for field in one.model_fields})
    near = get_close_matches(str(name).casefold(), names, 1, NEAR)
    return f"; is {near[0]} meant?" if near else ""


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that an annotation is made of: of a tuple, an optional field, a union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _follows(error: Any, every: Sequence[Any]) -> bool:
    """Whether a list is only said to be too short because an entry of it is wrong."""
    place = error["loc"]
    return error["type"] == "too_short" and any(
        other is not error and other["loc"][: len(place)] == place for other in every
    )


def _counted(count: int, kind: str) -> str:
    of = "sign" if kind.startswith("string") else "entry"
    return f"{count:,} {of if count == 1 else {'sign': 'signs', 'entry': 'entries'}[of]}"


def _instead(wanted: str, error: Any) -> str:
    """What stands there, in words; never the value itself, which may be secret."""
    if "input" not in error:
        return ""
    value = error["input"]
    if value is None:
        return ", not null"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    named = "a number" if number else next((word for kind, word in NAMED.items() if isinstance(value, kind)), "")
    return f", not {named}" if named and named != wanted and not (number and "number" in wanted) else ""


def _plain(quoted: str) -> str:
    return quoted.replace("'", "")
