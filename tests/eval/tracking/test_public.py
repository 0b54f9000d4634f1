"""No key and no path of this machine leaves for a tracking server."""

from __future__ import annotations

from typing import Any

import pytest
from queryplan.eval.tracking.public import LEFT_OUT, public_params, public_value


@pytest.mark.parametrize("name", ["api_key", "API-KEY", "apikey", "password", "client_secret", "access_token", "token"])
def test_what_is_named_like_a_key_is_left_out(name: str) -> None:
    assert public_params({name: "abc"}) == {name: LEFT_OUT}


@pytest.mark.parametrize("name", ["max_tokens", "max_bootstrapped_demos", "keyword", "monkey"])
def test_what_only_sounds_like_a_key_stays(name: str) -> None:
    assert public_params({name: 3}) == {name: "3"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("/home/me/data/train.jsonl", "train.jsonl"),
        (r"C:\Users\me\train.jsonl", "train.jsonl"),
        ("read /home/me/My Data/train.jsonl first", "read train.jsonl first"),
        ("openai/gpt-4o-mini", "openai/gpt-4o-mini"),
        ("https://host/v1/models", "https://host/v1/models"),
        ("https://me:secret@host/v1?key=abc", "https://host/v1"),
        ("data/train.jsonl", "data/train.jsonl"),
        ("sk-abcdefghijklmnop1234", LEFT_OUT),
        (["/home/me/a.json", 2], '["a.json", 2]'),
        (None, "null"),
    ],
)
def test_values_lose_folders_users_and_keys(value: Any, shown: str) -> None:
    assert public_value(value) == shown


def test_nested_arguments_become_flat_names() -> None:
    flat = public_params({"lm": {"temperature": 0.5, "api_key": "x"}, "empty": {}}, "optimizer.")
    assert flat == {"optimizer.lm.temperature": "0.5", "optimizer.lm.api_key": LEFT_OUT, "optimizer.empty": "{}"}


def test_long_values_are_cut_to_what_mlflow_takes() -> None:
    assert len(public_params({"prompt": "x" * 9000})["prompt"]) == 6000
