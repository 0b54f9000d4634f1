"""What pydantic finds wrong is said in plain words, and without what was given."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from queryplan.signatures.graph_steps import GraphPlan
from queryplan.signatures.problems import problems_of, said_of


class Cat(BaseModel):
    """One of two."""

    kind: Literal["cat"]


class Dog(BaseModel):
    """The other."""

    kind: Literal["dog"]


class Thing(BaseModel):
    """Something of every kind."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field("a", min_length=1, max_length=3)
    count: int = Field(1, ge=0, lt=9)
    code: str = Field("a", pattern=r"^[a-z][a-z0-9_]*$")
    day: date = date(2025, 1, 1)
    share: float = 0.0
    flag: bool = False
    names: tuple[str, ...] = Field(("a",), min_length=1, max_length=2)
    colour: Literal["red", "blue"] = "red"
    inner: dict[str, int] = {}
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None

    @field_validator("name")
    @classmethod
    def plain(cls, name: str) -> str:
        """A rule of our own."""
        if name == "no":
            raise ValueError("give another name")
        return name


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "expected an object, not a list"),
        ({"name": 3}, "name: expected text, not a number"),
        ({"name": None}, "name: expected text, not null"),
        ({"name": ""}, "name: must have at least 1 sign"),
        ({"name": "abcd"}, "name: must have at most 3 signs"),
        ({"name": "no"}, "name: give another name"),
        ({"count": "x"}, "count: expected a whole number, not text"),
        ({"count": 1.5}, "count: expected a whole number"),
        ({"count": -1}, "count: must be at least 0"),
        ({"count": 9}, "count: must be below 9"),
        ({"share": "x"}, "share: expected a number, not text"),
        ({"flag": []}, "flag: expected true or false, not a list"),
        ({"names": "a"}, "names: expected a list, not text"),
        ({"names": []}, "names: must have at least 1 entry"),
        ({"names": ["a", "b", "c"]}, "names: must have at most 2 entries"),
        ({"names": [3]}, "names.0: expected text, not a number"),
        ({"colour": "green"}, "colour: must be red or blue"),
        ({"inner": []}, "inner: expected an object, not a list"),
        ({"pet": {}}, "pet: kind is missing"),
        ({"pet": {"kind": "cow"}}, "pet: kind must be one of cat, dog, not cow"),
        ({"pet": "cow"}, "pet: expected an object, not text"),
        ({"code": "My Code"}, "code: must be small letters, digits and _, with a letter first"),
        ({"day": "2022-13-45"}, "day: expected a day, YYYY-MM-DD"),
        ({"other": 1}, "other: there is no such field"),
    ],
)
def test_each_error_is_said_in_plain_words(given: Any, said: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Thing.model_validate(given)
    assert problems_of(raised.value) == said


class Whole(BaseModel):
    """Things in every place."""

    model_config = ConfigDict(extra="forbid")
    first: Thing | None = None
    many: tuple[Thing, ...] = ()
    by_name: dict[str, Thing] = {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"firts": {}}, "firts: there is no such field; is first meant?"),
        ({"MANY": []}, "MANY: there is no such field; is many meant?"),
        ({"first": {"colours": "red"}}, "first.colours: there is no such field; is colour meant?"),
        ({"many": [{}, {"shar": 1}]}, "many.1.shar: there is no such field; is share meant?"),
        ({"by_name": {"a": {"cuont": 1}}}, "by_name.a.cuont: there is no such field; is count meant?"),
        ({"first": {"whole": {}}}, "first.whole: there is no such field"),
        ({"zzz": 1}, "zzz: there is no such field"),
    ],
)
def test_a_misspelled_field_is_told_the_one_that_is_meant(given: Any, said: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Whole.model_validate(given)
    assert problems_of(raised.value, model=Whole) == said
    assert problems_of(raised.value) == said.split(";")[0]


def test_many_errors_are_counted_and_a_whole_document_may_be_called_something() -> None:
    with pytest.raises(ValidationError) as raised:
        Thing.model_validate({"name": 1, "count": "x", "share": "x"})
    assert problems_of(raised.value, 1) == "name: expected text, not a number; and 2 more"
    with pytest.raises(ValidationError) as raised:
        GraphPlan.model_validate_json("{")
    assert problems_of(raised.value, first="the plan").startswith("the plan: not JSON (")


def test_what_was_given_is_not_said() -> None:
    with pytest.raises(ValidationError) as raised:
        Thing.model_validate({"colour": "hunter2", "count": "hunter2"})
    assert not any("hunter2" in said_of(error) for error in raised.value.errors())


def test_nothing_is_said_of_what_was_given_where_that_is_kept_back() -> None:
    with pytest.raises(ValidationError) as raised:
        Thing.model_validate({"share": "x"})
    told = [said_of(error) for error in raised.value.errors(include_input=False) if error["loc"] == ("share",)]
    assert told == ["expected a number"]
