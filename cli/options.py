"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..eval.prices import Price as TokenPrice

Domain = Annotated[str | None, typer.Option(help="A shipped domain, or a folder with a domain.toml.")]
Program = Annotated[
    str | None,
    typer.Option(help="A program folder, models:/NAME@ALIAS, or zero-shot; default: the newest compile of the domain."),
]
History = Annotated[
    Path | None, typer.Option(help="A JSON file: messages with role and content, oldest first; a list, or one a line.")
]
Session = Annotated[
    Path | None, typer.Option(help="A JSON file: an object with now, timezone, collection, active_entity, paradigm.")
]
ActiveEntity = Annotated[str | None, typer.Option(help="What the application is showing the user now.")]
Lm = Annotated[
    str | None,
    typer.Option(help="Language model: local, local:0.5b, none, or any DSPy model name; default: the program's own."),
]
ApiBase = Annotated[str | None, typer.Option(help="Base URL of an OpenAI-compatible server.")]
Deadline = Annotated[
    float | None,
    typer.Option(
        min=0, help="Seconds after which the plan is made from what is known, even if the model is not open yet."
    ),
]
Mode = Annotated[str | None, typer.Option(help="off, bounded or best-effort: may heads answer in the model's place?")]
Graph = Annotated[bool, typer.Option("--graph", help="Also plan graph steps for queries about a known name.")]
Log = Annotated[
    Path | None, typer.Option("--log", help="Append labels, probabilities and times of each plan to this JSONL file.")
]
LogText = Annotated[
    bool, typer.Option("--log-text", help="With --log: also keep what was typed, so that it can be labelled.")
]
TrackingUri = Annotated[str | None, typer.Option(help="The MLflow server that holds models:/ programs.")]
Tracked = Annotated[
    str | None, typer.Option(help="MLflow's tracking address; default: sqlite:///.queryplan/mlflow.db.")
]
"""The same flag, ``--tracking-uri``, of commands that also write there."""
Price = Annotated[
    str | None,
    typer.Option(
        metavar="DOLLARS",
        help="Dollars for a million tokens: 3, or 0.15,0.6 for prompt and completion; default: \\[prices] in "
        "queryplan.toml.",
    ),
]


def price(text: str | None) -> TokenPrice | None:
    """The price in the option's text, or None without one.

    Raises:
        UserError: the text is not a price.
    """
    from ..eval.prices import parse_price

    return None if text is None else parse_price(text)
