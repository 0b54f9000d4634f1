"""Checks a labelled set: unreadable rows, leaks between splits, duplicates, labels against the annotation guide."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import combinations, islice, product
from pathlib import Path

from ..errors import DataError
from ..signatures.types import Frozen
from .card import CARD_FILE, DomainCard, domain_folder, load_card
from .card_check import card_problems
from .domain import misnamed_splits, rows_hash, split_files
from .duplicates import alike, same_words, word_sets
from .fingerprints import schema_fingerprint
from .guide import contradictions
from .loading import parse_splits
from .rows import SESSION_KEYS, SPLITS, LabelledRow
from .statistics import ASKED, SetStatistics, label_counts, set_statistics

STARTER = "starter"
"""Tag of the rows that `queryplan new-domain` writes; they show the form and teach nothing."""

INSIDE = 0.8
"""Token Jaccard above which two rows of one split are near-duplicates."""
ACROSS = (0.6, 0.7, 0.8, 0.9)
"""The same across splits; the first of these that ``BUDGET`` allows."""
# Products that the search for duplicates may make, 10 to 20 seconds; rows of one template need more.
BUDGET = 100_000_000
# Pairs counted of each kind; a set with more is spoiled whatever the number is.
MAX_PAIRS = 20_000
# Pairs of wordings looked at, some 10 seconds.
MAX_ALIKE = 1_000_000
MAX_EXAMPLES = 20
LIKE = 0.6
"""Similarity (difflib's ratio) to a known session key from which a key is taken for a misspelling of it."""


class Finding(Frozen):
    """Something that must be mended before results on the set can be trusted.

    Attributes:
        count: number of cases; a lower bound if ``more`` is true.
        examples: up to twenty rows, by split and id.
        advice: what to do.
    """

    kind: str
    count: int
    more: bool = False
    examples: tuple[str, ...]
    advice: str


class CheckReport(Frozen):
    """The findings in one set.

    Attributes:
        fingerprints: content hashes of rows, and of card and graph schema if there are any.
        known: the labels that the set has; converted sets may lack some.
        notes: remarks that are not about mistakes.
    """

    source: str
    fingerprints: dict[str, str]
    statistics: SetStatistics
    known: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    def joined(self, findings: Sequence[Finding], notes: Sequence[str]) -> CheckReport:
        """This report with the findings of another check added."""
        return self.model_copy(update={"findings": (*self.findings, *findings), "notes": (*self.notes, *notes)})


@dataclass(frozen=True)
class LabelledSet:
    """A domain, or rows without a card, as far as it can be read.

    Attributes:
        splits: rows by split.
        problems: what is wrong with the unreadable records, as ``file:line: field: …``.
        of_folder: whether it was read from a folder, which should have a card beside the rows.
        unread: a sentence for each file that is named nearly as a split and is not read.
    """

    source: str
    card: DomainCard | None
    splits: Mapping[str, Sequence[LabelledRow]]
    problems: tuple[str, ...] = ()
    known: tuple[str, ...] = tuple(ASKED)
    of_folder: bool = False
    unread: tuple[str, ...] = ()

    @property
    def fingerprints(self) -> dict[str, str]:
        """Content hashes, 16 hex digits each."""
        prints = {"data": rows_hash([row for rows in self.splits.values() for row in rows])}
        if self.card is not None:
            prints["card"] = self.card.fingerprint
        if self.card is not None and self.card.graph is not None:
            prints["schema"] = schema_fingerprint(self.card.graph)
        return prints


def open_set(source: str | Path) -> LabelledSet:
    """Read a shipped domain, a domain folder, a file or a hub data set; bad rows are kept as problems.

    Raises:
        DataError: there is no such source, or a file or card cannot be read at all.
    """
    folder = folder_of(source)
    card = load_card(folder) if folder is not None and (folder / CARD_FILE).is_file() else None
    # A card alone is enough to plan with, and can be checked.
    parts = (
        {} if folder is not None and card is not None and not split_files(folder) else parse_splits(folder or source)
    )
    problems = tuple(problem for part in parts.values() for problem in part.problems)
    splits = {name: part.rows for name, part in parts.items()}
    unread = tuple(misnamed_splits(folder).values()) if folder is not None else ()
    return LabelledSet(str(source), card, splits, problems, _known(folder), folder is not None, unread)


def folder_of(source: str | Path) -> Path | None:
    """The folder of a shipped domain, or the given folder; None for a file or a hub name."""
    if Path(source).is_dir():
        return Path(source)
    if Path(source).name != CARD_FILE and (Path(source).is_file() or "/" in str(source)):
        return None
    return domain_folder(source)


def _known(folder: Path | None) -> tuple[str, ...]:
    """The labels that a converter says its set has; for other sets all labels."""
    path = folder / "labels.json" if folder else None
    if path is None or not path.is_file():
        return tuple(ASKED)
    try:
        known = json.loads(path.read_text(encoding="utf-8"))["known"]
        return tuple(label for label in ASKED if label in known)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f'{path} must be {{"known": [names of labels]}}: {error}') from error


def check_set(labelled: LabelledSet) -> CheckReport:
    """Run every check on a set; no file is changed."""
    splits = labelled.splits
    pairs, notes = _duplicates(splits)
    checks: tuple[Iterable[Finding], ...] = (
        _card(labelled.card),
        _finding("files of rows that are not read", labelled.unread, "rename the file, or take it away"),
        _unreadable(labelled.problems),
        _empty(splits, labelled.problems),
        _sessions(splits),
        _ids(splits),
        _straddling(splits),
        pairs,
        _against_the_guide(splits),
        _unknown_kinds(splits, labelled.card),
        _told_apart(splits, labelled.known),
    )
    return CheckReport(
        source=labelled.source,
        fingerprints=labelled.fingerprints,
        statistics=set_statistics(splits, labelled.known),
        known=labelled.known,
        findings=tuple(finding for check in checks for finding in check),
        notes=(*notes, *_notes(labelled)),
    )


def _unreadable(problems: Sequence[str]) -> Iterator[Finding]:
    yield from _finding("rows that cannot be read", problems, "mend the field that is named")


def _card(card: DomainCard | None) -> Iterator[Finding]:
    found = list(card_problems(card)) if card is not None else []
    yield from _finding("the card", found, f"mend what is named in {CARD_FILE}")


def _empty(splits: Mapping[str, Sequence[LabelledRow]], problems: Sequence[str]) -> Iterator[Finding]:
    unread = {problem.split(".")[0] for problem in problems}
    found = [name for name, rows in splits.items() if not rows and name not in unread]
    yield from _finding("no rows", found, "label some queries, or take the empty file away")


def _sessions(splits: Mapping[str, Sequence[LabelledRow]]) -> Iterator[Finding]:
    """Session keys that are nearly known ones; others may be the application's own."""
    found = [
        f"{name} {row.id}: {key!r} is not read; {near[0]} is"
        for name, rows in splits.items()
        for row in rows
        for key in row.session
        if key not in SESSION_KEYS and (near := get_close_matches(key.casefold(), SESSION_KEYS, 1, LIKE))
    ]
    yield from _finding("session keys that are not read", found, f"write one of {', '.join(SESSION_KEYS)}")


def _ids(splits: Mapping[str, Sequence[LabelledRow]]) -> Iterator[Finding]:
    homes = _homes(splits, lambda row: row.id)
    found = [f"{name} in {', '.join(where)}" for name, where in homes.items() if len(where) > 1]
    yield from _finding("ids used in two splits", found, "give every row of the domain its own id")


def _straddling(splits: Mapping[str, Sequence[LabelledRow]]) -> Iterator[Finding]:
    homes = _homes(splits, lambda row: row.conversation)
    found = [f"{name} in {', '.join(where)}" for name, where in homes.items() if len(where) > 1]
    yield from _finding(
        "conversations in two splits", found, "split by conversation: queryplan data split FILE --out FOLDER"
    )


def _against_the_guide(splits: Mapping[str, Sequence[LabelledRow]]) -> Iterator[Finding]:
    found = [
        f"{name} {row.id}: {sentence}"
        for name, rows in splits.items()
        for row in rows
        for sentence in contradictions(row)
    ]
    yield from _finding("labels against the guide", found, "read data/README.md, and mend the label or drop the row")


def _unknown_kinds(splits: Mapping[str, Sequence[LabelledRow]], card: DomainCard | None) -> Iterator[Finding]:
    if card is None:
        return
    known = {None, *card.kinds}
    found = [
        f"{name} {row.id}: {row.labels.rejection_kind!r}"
        for name, rows in splits.items()
        for row in rows
        if row.labels.rejection_kind not in known
    ]
    yield from _finding("rejection kinds that the card does not have", found, f"use one of {', '.join(card.kinds)}")


def _told_apart(splits: Mapping[str, Sequence[LabelledRow]], known: Sequence[str]) -> Iterator[Finding]:
    """Rows with the same text and history but different labels."""
    seen: dict[tuple[object, ...], dict[tuple[object, ...], str]] = defaultdict(dict)
    for name, rows in splits.items():
        for row in rows:
            text = (row.query.strip().casefold(), row.history, tuple(row.session.items()) if _flat(row) else row.id)
            seen[text].setdefault(tuple(getattr(row.labels, label) for label in known), f"{name} {row.id}")
    found = [" and ".join(labels.values()) for labels in seen.values() if len(labels) > 1]
    yield from _finding("same query and history, other labels", found, "settle which labels are right")


def _flat(row: LabelledRow) -> bool:
    return all(isinstance(value, str | int | float | bool | None) for value in row.session.values())


class _Pairs:
    """Near-duplicates across splits and within one, counted separately, so that neither hides the other."""

    def __init__(self, home: Mapping[int, str], across: float) -> None:
        self.leaks: list[str] = []
        self.inside: list[str] = []
        self._home, self._across = home, across

    def add(self, first: Sequence[LabelledRow], second: Sequence[LabelledRow] | None, jaccard: float) -> None:
        """Add pairs of rows of one wording and another; with None, pairs of rows of the one wording."""
        ours = self._by_split(first)
        theirs = ours if second is None else self._by_split(second)
        for (i, split), (j, other) in product(enumerate(ours), enumerate(theirs)):
            if split != other and jaccard > self._across and (second is not None or i < j):
                self._take(self.leaks, product(ours[split], theirs[other]), jaccard)
            elif split == other and jaccard > INSIDE:
                own = combinations(ours[split], 2) if second is None else product(ours[split], theirs[other])
                self._take(self.inside, own, jaccard)

    def _by_split(self, rows: Sequence[LabelledRow]) -> dict[str, list[LabelledRow]]:
        found: dict[str, list[LabelledRow]] = {}
        for row in rows:
            found.setdefault(self._home[id(row)], []).append(row)
        return found

    def _take(self, kept: list[str], pairs: Iterable[tuple[LabelledRow, LabelledRow]], jaccard: float) -> None:
        apart = ((a, b) for a, b in pairs if a.conversation != b.conversation)
        for a, b in islice(apart, MAX_PAIRS - len(kept)):
            kept.append(f"{self._home[id(a)]} {a.id} and {self._home[id(b)]} {b.id} ({jaccard:.2f})")


def _duplicates(splits: Mapping[str, Sequence[LabelledRow]]) -> tuple[list[Finding], list[str]]:
    every = [row for rows in splits.values() for row in rows]
    home = {id(row): name for name, rows in splits.items() for row in rows}
    used, sets = word_sets(every)
    across = sets.affordable(ACROSS, BUDGET)
    pairs, last = _Pairs(home, across), None
    for n, (g, h, jaccard) in enumerate(alike(sets, min(across, INSIDE))):
        if n == MAX_ALIKE:
            last = g
            break
        pairs.add([used[m] for m in sets.groups[g]], [used[m] for m in sets.groups[h]] if g != h else None, jaccard)
    advice = "keep one of each pair, or write the other in other words"
    notes = _how_compared(sets.comparisons(ACROSS[0]), across, pairs)
    if last is not None:
        notes.append(f"stopped at wording {last + 1:,} of {len(sets.groups):,}: the others were not compared")
    return [
        *_finding(f"near-duplicates across splits (over {across})", pairs.leaks, advice, _full(pairs.leaks)),
        *_finding(f"near-duplicates inside a split (over {INSIDE})", pairs.inside, advice, _full(pairs.inside)),
        *_finding("short queries in two splits", _short_leaks(every, home), advice),
    ], notes


def _short_leaks(rows: Sequence[LabelledRow], home: Mapping[int, str]) -> list[str]:
    """Wordings too short for the search of near-duplicates that occur identically in several splits."""
    found = []
    for same in same_words(rows):
        first: dict[str, LabelledRow] = {}
        for row in same:
            first.setdefault(home[id(row)], row)
        if len(first) > 1:
            shown = " and ".join(f"{split} {row.id}" for split, row in first.items())
            found.append(f"{shown}: {same[0].query}")
    return found


def _full(found: Sequence[str]) -> bool:
    return len(found) == MAX_PAIRS


def _how_compared(products: int, across: float, pairs: _Pairs) -> list[str]:
    notes = []
    if across > ACROSS[0]:
        notes.append(
            f"queries are so alike that comparing splits at {ACROSS[0]} would take {products:,} products; "
            f"compared at {across} instead"
        )
    for found, where in ((pairs.leaks, "across splits"), (pairs.inside, "inside a split")):
        if _full(found):
            notes.append(f"stopped counting after {MAX_PAIRS:,} pairs of near-duplicates {where}; there are more")
    return notes


def _notes(labelled: LabelledSet) -> Iterator[str]:
    rows = [row for rows in labelled.splits.values() for row in rows]
    starters = sum(STARTER in row.tags for row in rows)
    if starters:
        yield f"{starters} starter rows are left from queryplan new-domain: put real queries in their place"
    if labelled.card is not None:
        missing = [name for name in SPLITS if name not in labelled.splits]
        if len(missing) == len(SPLITS):
            yield "no labelled rows yet: plans are made with the card alone; queryplan label makes rows of logged plans"
        elif missing:
            yield f"no {', '.join(missing)} rows yet"
    elif labelled.of_folder:
        yield f"there is no {CARD_FILE}, so that no row was held against a card: queryplan new-domain begins one"
    yield from _other_keys(rows)
    yield from _never_trained(labelled.splits, labelled.known)


def _other_keys(rows: Sequence[LabelledRow]) -> Iterator[str]:
    counts = Counter(key for row in rows for key in row.session if key not in SESSION_KEYS)
    far = {key: n for key, n in counts.items() if not get_close_matches(key.casefold(), SESSION_KEYS, 1, LIKE)}
    if far:
        shown = ", ".join(f"{key!r} ({n:,})" for key, n in sorted(far.items())[:MAX_EXAMPLES])
        yield f"session keys that change no plan: {shown}; read are {', '.join(SESSION_KEYS)}"


def _never_trained(splits: Mapping[str, Sequence[LabelledRow]], known: Sequence[str]) -> Iterator[str]:
    """Label values of other splits that training rows never have."""
    for label in known if splits.get("train") else ():
        for value, counts in label_counts(splits, label).items():
            if not counts["train"]:
                where = ", ".join(name for name, count in counts.items() if count)
                yield f"{label} {value} occurs in {where} and never in train"


def _homes(splits: Mapping[str, Sequence[LabelledRow]], key: Callable[[LabelledRow], str]) -> dict[str, list[str]]:
    """The splits that each key occurs in."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, rows in splits.items():
        for value in Counter(key(row) for row in rows):
            found[value].append(name)
    return found


def _finding(kind: str, found: Sequence[str], advice: str, more: bool = False) -> Iterator[Finding]:
    if found:
        yield Finding(kind=kind, count=len(found), more=more, examples=tuple(found[:MAX_EXAMPLES]), advice=advice)
