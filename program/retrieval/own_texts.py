"""Finds what in a domain's own texts is not read as intended: files that nothing opens, headings and dates.

``queryplan data check`` calls this beside the checks of ``data.checking``, which know rows and cards alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ...data.card import DomainCard
from ...data.checking import MAX_EXAMPLES, Finding
from ...data.sources import CollectionRules, SourceContract
from ...errors import DataError
from .passages import (
    TRANSCRIPTS,
    Passage,
    collection_name,
    day_of,
    numbered,
    read_passages,
    read_records,
    read_transcript,
    record_of,
)
from .sources.records import days_of, values_of

_HOMES = ("transcripts", "transcript", "posts", "post")


def check_texts(folder: Path, card: DomainCard | None) -> tuple[Finding, ...]:
    """Find files of a domain that are not read, and parts of the others that are not.

    Args:
        card: names the store of the collection and those of sources, which are read alike.
    """
    rules = card.collection if card is not None else None
    sources = card.sources if card is not None else ()
    told = [part.store for part in (rules, *sources) if part is not None and part.store]
    missing = [f"{name} of the card is not there" for name in dict.fromkeys(told) if not (folder / name).is_file()]
    collection = collection_name(rules)
    records = [folder / name for name in dict.fromkeys((collection, *told)) if (folder / name).is_file()]
    wrong = [*(said for path in _transcripts(folder) for said in _of_transcript(path)), *_of_records(records)]
    if not wrong:
        wrong = [*_as_a_whole(folder, rules, records)]
    lacking = [] if wrong or missing else [said for source in sources for said in _no_fields(source, folder)]
    found = (
        (
            "texts that are not read",
            [*_unread(folder, collection)],
            f"only {TRANSCRIPTS}/*.md and {collection} are read: name it so, or move it away",
        ),
        ("stores that are not there", missing, "write the file, or take store = … out of the card"),
        ("filters that no record has", lacking, "name the field as the records do and write days as YYYY-MM-DD"),
        ("texts that are not read as they were meant", wrong, "data/README.md says what texts look like"),
    )
    return tuple(
        Finding(kind=kind, count=len(lines), examples=tuple(lines[:MAX_EXAMPLES]), advice=advice)
        for kind, lines, advice in found
        if lines
    )


def _transcripts(folder: Path) -> list[Path]:
    return sorted((folder / TRANSCRIPTS).glob("*.md"))


def _unread(folder: Path, collection: str) -> Iterator[str]:
    """Files in the texts' places, or with nearly their names, that nothing opens."""
    read = set(_transcripts(folder))
    inside = sorted((folder / TRANSCRIPTS).iterdir()) if (folder / TRANSCRIPTS).is_dir() else []
    yield from (f"{TRANSCRIPTS}/{path.name}" for path in inside if path not in read and not path.name.startswith("."))
    for path in sorted(folder.iterdir()):
        known = path == folder / collection or (path.name == TRANSCRIPTS and path.is_dir())
        if path.name.split(".")[0].casefold() in _HOMES and not known:
            yield path.name


def _of_transcript(path: Path) -> Iterator[str]:
    place = f"{TRANSCRIPTS}/{path.name}"
    try:
        read = read_transcript(path)
    except DataError as error:
        yield f"{TRANSCRIPTS}/{error}"
        return
    yield from (f"{place}:{line}: {said!r} is no key: value; a list is [one, another]" for line, said in read.unread)
    said = read.front.get("date", "")
    if said and not day_of(said):
        yield f"{place}: date: {said!r} is no day, YYYY-MM-DD; it is left out"
    if not read.body:
        yield f"{place}: it has no paragraphs"
    elif not read.front and read.body[0].startswith("---"):
        yield f"{place}: its front matter must begin on the first line, with three dashes and nothing else"


def _of_records(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        try:
            lines = [*numbered(path)]
        except DataError as error:
            yield str(error)
            continue
        for number, line in lines:
            place = f"{path.name}:{number}"
            try:
                read = record_of(line, path.stem, place)
            except DataError as error:
                yield str(error)
                continue
            if not read.date and (said := json.loads(line).get("date")):
                yield f"{place}: date: {said!r} is no day, YYYY-MM-DD; it is left out"


def _no_fields(source: SourceContract, folder: Path) -> Iterator[str]:
    """Fields of a contract that none of its records has, or has as something else; the provider is the source."""
    if source.store is None:
        return
    records = read_records(folder / source.store, source.name)
    for field in source.fields if records else ():
        if field.kind == "date":
            yield from _no_days(source, field.name, records)
        elif field.name != "providers" and not any(values_of(record, field.name) for record in records):
            yield f"source {source.name!r}: no record of {source.store} has {field.name!r}"


def _no_days(source: SourceContract, name: str, records: Sequence[Passage]) -> Iterator[str]:
    """What a filter of dates is compared with and is no day, so that the record never passes."""
    said = [(record.id, day) for record in records for day in days_of(record, name)]
    if not said:
        yield f"source {source.name!r}: no record of {source.store} has a day for {name!r}"
    yield from (f"source {source.name!r}: {name} of {of}: {day!r} is no day" for of, day in said if not day_of(day))


def _as_a_whole(folder: Path, rules: CollectionRules | None, records: Iterable[Path]) -> Iterator[str]:
    """Problems that no single file shows: ids that occur twice."""
    try:
        for path in records:
            read_records(path, path.stem)
        read_passages(folder, rules)
    except DataError as error:
        yield str(error)
