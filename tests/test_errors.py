"""What pydantic says of a user's file is said in plain words, whatever the mistake is."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator
from queryplan.errors import plain_sentences, plain_words

JARGON = re.compile(r"Input|valid (string|tuple|dict)|Field required|Value error|String should|Tuple|discriminator")


class Apple(BaseModel):
    kind: Literal["apple"]


class Pear(BaseModel):
    kind: Literal["pear"]


class Basket(BaseModel):
    """A field of each kind that users write."""

    model_config = ConfigDict(extra="forbid")

    owner: str = Field(default="x", min_length=1, max_length=5)
    code: str = Field(default="a", pattern=r"^[a-z][a-z0-9_]*$")
    full: bool = False
    number: int = Field(default=1, ge=1, le=9)
    weight: float = Field(default=1.0, gt=0, lt=10)
    labels: tuple[str, ...] = Field(default=("a",), min_length=1, max_length=2)
    more: dict[str, Any] = {}
    day: date = date(2025, 1, 1)
    size: Literal["small", "large"] = "small"
    fruit: tuple[Annotated[Apple | Pear, Field(discriminator="kind")], ...] = ()

    @field_validator("owner")
    @classmethod
    def _no_thief(cls, value: str) -> str:
        if value == "thief":
            raise ValueError("a thief owns nothing")
        return value


def problems(given: Any) -> Any:
    with pytest.raises(ValidationError) as caught:
        Basket.model_validate_json(given) if isinstance(given, str) else Basket.model_validate(given)
    return caught.value.errors()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{", "it is no JSON: EOF while parsing an object at line 1 column 1"),
        ("[1]", "it must be an object with named fields"),
        ({"owner": 3}, "owner: it must be text"),
        ({"owner": ""}, "owner: it must not be empty"),
        ({"owner": "abcdef"}, "owner: it must have at most 5 characters"),
        ({"owner": "thief"}, "owner: a thief owns nothing"),
        ({"code": "My Code"}, "code: it must be small letters, digits and _, with a letter first"),
        ({"full": "perhaps"}, "full: it must be true or false"),
        ({"number": "many"}, "number: it must be a whole number"),
        ({"number": 1.5}, "number: it must be a whole number"),
        ({"number": 0}, "number: it must be 1 or more"),
        ({"number": 10}, "number: it must be 9 or less"),
        ({"weight": "heavy"}, "weight: it must be a number"),
        ({"weight": 0}, "weight: it must be more than 0"),
        ({"weight": 10}, "weight: it must be less than 10"),
        ({"labels": "a"}, "labels: it must be a list"),
        ({"labels": []}, "labels: it must not be empty"),
        ({"labels": ["a", "b", "c"]}, "labels: it must have at most 2 items"),
        ({"labels": [1]}, "labels.0: it must be text"),
        ({"more": 3}, "more: it must be an object with named fields"),
        ({"day": "2022-13-45"}, "day: it must be a day, YYYY-MM-DD"),
        ({"size": "huge"}, "size: it must be 'small' or 'large'"),
        ({"fruit": [{"kind": "plum"}]}, "fruit.0: 'kind' must be one of 'apple', 'pear'"),
        ({"fruit": [{}]}, "fruit.0: 'kind' is missing"),
        ({"fruit": [3]}, "fruit.0: it must be an object with named fields"),
        ({"colour": 1}, "colour: there is no such field"),
    ],
)
def test_a_mistake_is_said_plainly(given: Any, said: str) -> None:
    found = plain_sentences(problems(given))
    assert found == said
    assert not JARGON.search(found)


def test_a_missing_field_is_one() -> None:
    with pytest.raises(ValidationError) as caught:
        Apple.model_validate({})
    assert plain_sentences(caught.value.errors()) == "kind: it is missing"


def test_only_so_many_are_said_and_the_others_counted() -> None:
    wrong = problems({"owner": 3, "number": "x", "full": 7, "colour": 1})
    assert plain_sentences(wrong, most=1) == "owner: it must be text; and 3 more"
    assert plain_sentences(wrong).count("; ") == 3


def test_a_kind_that_is_not_listed_keeps_its_words() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(complex).validate_python("x")
    (problem,) = caught.value.errors()
    assert plain_words(problem) == problem["msg"][:1].lower() + problem["msg"][1:]
    assert plain_words({"type": "value_error", "loc": (), "msg": "Bare"}) == "bare"
