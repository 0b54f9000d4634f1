"""Planning a domain that nobody compiled: heads trained from its labelled rows, kept on disk.

Training takes some seconds. The result is kept as a program folder under a name made of the
fingerprints of rows and card, so that it is made again when either changes, or how heads are trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..data.domain import Domain, load_domain, rows_hash
from ..data.learned import prints_of
from ..errors import ProgramError
from .encoder import default_encoder
from .folder import MANIFEST, Manifest, text_fingerprint
from .lending import Lent, lending_counts, lending_print, lending_words, lent_rows
from .planner import QueryPlanner
from .settle import head_alone
from .train_heads import RECIPE, train_heads

KEPT = Path(".queryplan/heads")


def newest_program(domain: str, programs: Path) -> Path | None:
    """The folder of the newest compile of a domain under ``programs``, or None."""
    found = [p.parent for p in (programs / domain).glob(f"*/{MANIFEST}")]
    return max(found, key=lambda p: (p / MANIFEST).stat().st_mtime, default=None)


def uncompiled_planner(domain: str | Path, kept: Path = KEPT) -> QueryPlanner:
    """A planner with heads from the domain's training rows and nothing compiled; its plans say so.

    The heads decide and a language model only writes: a small model asked without demonstrations
    and thresholds decides worse than the heads. ``planner.let_model_decide()`` gives it the say.

    Raises:
        DataError: the domain or its training rows cannot be read.
    """
    read = load_domain(domain, splits=("train",))
    lent = lent_rows(read.rows("train"), read.card)
    note = f"not compiled: heads trained from {len(read.rows('train'))} rows of {read.card.name}{lending_words(lent)}"
    made_of = text_fingerprint(RECIPE, read.card.fingerprint, rows_hash(read.rows("train")), *lending_print(lent))
    folder = kept / f"{read.card.name}-{made_of}"
    try:
        planner = QueryPlanner.load(folder, lm=None, notes=(note,), folder=read.folder)
    except ProgramError:
        planner = _train(read, folder, note, lent)
    planner.learned = prints_of(read.rows("train"))
    heads = planner.heads.heads if planner.heads else {}
    return planner.use({}, {name: head_alone(head.labels) for name, head in heads.items()})


def _train(read: Domain, folder: Path, note: str, lent: Sequence[Lent]) -> QueryPlanner:
    """Train, and keep the result where the disk allows."""
    heads = train_heads(read.rows("train"), read.card, default_encoder(), lent=lent)
    planner = QueryPlanner(read.card, heads=heads, notes=(note,), folder=read.folder)
    try:
        planner.save(
            folder,
            Manifest(domain=read.card.name, compiled={"optimizer": "none", "rows": "train", **lending_counts(lent)}),
        )
    except ProgramError as error:
        planner.notes += (f"the heads were not kept: {error}",)
    return planner
