"""Two small lessons that tests of learning share."""

from __future__ import annotations

from pathlib import Path

from queryplan.data.graph_lessons import read_lesson
from queryplan.program.graph.learning.labelled import Labelled
from queryplan.program.graph.learning.learning import source_of_lesson
from queryplan.program.graph.values import values_of

LESSON = """
[schema]
nodes = [{ name = "Boat" }, { name = "Skipper", description = "who steers" }, { name = "Quay" }]
edges = [
  { name = "STEERED_BY", source = "Boat", target = "Skipper" },
  { name = "TIED_TO", source = "Boat", target = "Quay", description = "where the boat lies" },
]
[names]
Boat = ["Petrel", "Dunlin"]
[questions]
lines = '''
who steers the Petrel => Boat:Petrel >STEERED_BY
skipper of the Dunlin => Boat:Dunlin >STEERED_BY
which boats are tied to Cork => Quay:Cork <TIED_TO
how many boats are tied to Cork => count; Quay:Cork <TIED_TO
skippers of boats tied to Galway => Quay:Galway <TIED_TO >STEERED_BY
what did the Petrel cost => none
'''
"""
OTHER = """
[schema]
nodes = [{ name = "Song" }, { name = "Singer" }, { name = "Album" }]
edges = [
  { name = "SUNG_BY", source = "Song", target = "Singer" },
  { name = "APPEARS_ON", source = "Song", target = "Album" },
]
[questions]
lines = '''
who sang Hallelujah => Song:Hallelujah >SUNG_BY
songs of Nina => Singer:Nina <SUNG_BY
on which album is Hallelujah => Song:Hallelujah >APPEARS_ON
how many songs are on Grace => count; Album:Grace <APPEARS_ON
singers on Grace => Album:Grace <APPEARS_ON >SUNG_BY
when was Grace mixed => none
'''
"""


def lesson(folder: Path, name: str, text: str) -> Labelled:
    """A lesson written for one test."""
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    source = source_of_lesson(read_lesson(path), {"which": 0.3, "of": 0.2})
    return source, values_of(source.schema)
