"""Options that several commands have, said once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..eval.prices import Price as TokenPrice

Domain = Annotated[str | None, typer.Option(help="A shipped domain, or a folder with a domain.toml.")]
Program = Annotated[
    str | None, typer.Option(help="A program folder, models:/NAME@ALIAS, or zero-shot. Default: the newest compile.")
]
History = Annotated[
    Path | None, typer.Option(help="A JSON file: a list of messages with role and content, oldest first.")
]
Session = Annotated[
    Path | None, typer.Option(help="A JSON file: an object with now, collection, active_entity, paradigm.")
]
ActiveEntity = Annotated[str | None, typer.Option(help="What the application shows the user now.")]
Lm = Annotated[str | None, typer.Option(help="local, local:0.5b, none, or any DSPy model name.")]
ApiBase = Annotated[str | None, typer.Option(help="Root of an OpenAI-compatible server.")]
Deadline = Annotated[
    float | None,
    typer.Option(
        min=0, help="Seconds after which the plan is made from what is known, whether the model is open or not."
    ),
]
Mode = Annotated[str | None, typer.Option(help="off, bounded or best-effort: may heads answer in the model's place?")]
Graph = Annotated[bool, typer.Option("--graph", help="Also write graph steps where a known name is asked about.")]
Log = Annotated[
    Path | None, typer.Option("--log", help="Append labels, probabilities and times of each plan to this JSONL file.")
]
LogText = Annotated[
    bool, typer.Option("--log-text", help="With --log: keep what was typed too, so that it can be labelled.")
]
TrackingUri = Annotated[str | None, typer.Option(help="The MLflow server that models:/ programs are in.")]
Price = Annotated[
    str | None,
    typer.Option(
        metavar="DOLLARS",
        help="Of a million tokens: 3, or 0.15,0.6 for read and written; default: \\[prices] in queryplan.toml.",
    ),
]


def price(text: str | None) -> TokenPrice | None:
    """The price that was given, or None.

    Raises:
        UserError: no price.
    """
    from ..eval.prices import parse_price

    return None if text is None else parse_price(text)
