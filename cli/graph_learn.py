"""``queryplan graph learn``: learn to rank graph plans ahead of the first question."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .progress import saying_waits


def learn(
    choice: Annotated[
        Path | None,
        typer.Option(
            help="Instead learn the weights by which complete plans are compared (ten minutes), and write them here."
        ),
    ] = None,
) -> None:
    """Learn from the shipped questions how to plan on graphs for which nobody labelled any.

    The result is kept for all projects of this user, and learned anew when the shipped questions change. Without this
    command it is learned at the first question on a graph, which then takes three to eight minutes longer.
    """
    from ..errors import ConfigError
    from ..program.graph.learning import choice as learning_choice
    from ..program.graph.learning import learning
    from ..program.graph.ranking.choosing import choice_file
    from ..program.heads.encoder import default_encoder
    from ..program.waiting import tell

    if choice is not None and not choice.absolute().parent.is_dir():
        raise ConfigError(f"there is no folder {choice.parent} to write {choice.name} in; make it first")
    with saying_waits(spinner=False):
        if choice is None:
            learned = learning.shared_knowledge()
        else:
            tell("learning how complete plans are compared: about ten minutes")
            weights = learning_choice.learn_choice(
                learning.shipped_sources(), learning.shipped_common(), default_encoder()
            )
            choice.write_text(choice_file(weights), encoding="utf-8")
            return
    for note in learned.notes:
        typer.echo(note)
