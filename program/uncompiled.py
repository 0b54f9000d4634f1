"""A planner for a domain that nobody compiled: heads are trained from its labelled rows and kept on disk.

Training takes seconds to some minutes. The result is kept as a program folder under a name made of the fingerprints
of rows and card, so that it is made again when either changes, or when the way heads are trained does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ..data.domain import Domain, load_domain, rows_hash
from ..data.fingerprints import text_fingerprint
from ..data.learned import prints_of
from ..errors import ProgramError
from .artifact.folder import MANIFEST, Manifest, check_program
from .heads.encoder import default_encoder
from .heads.encoders import AUTO, closer_encoder
from .heads.lending import lending_counts, lending_key, lending_words, lent_rows
from .heads.minilm import MiniLm
from .heads.training import RECIPE, train_heads, training_time
from .planner import QueryPlanner
from .settle import head_alone
from .waiting import tell

KEPT = Path(".queryplan/heads")


def newest_program(domain: str, programs: Path) -> Path | None:
    """The folder of the newest compile of a domain under ``programs``, or None."""
    return next(iter(_newest_first(domain, programs)), None)


def newest_intact(domain: str, programs: Path, say: Callable[[str], None]) -> Path | None:
    """As `newest_program`, but skips damaged ones; ``say`` is called with a sentence on each of them."""
    for folder in _newest_first(domain, programs):
        try:
            check_program(folder)
        except ProgramError as error:
            say(f"the compile {folder} is not used, an older one is or none: {error}")
        else:
            return folder
    return None


def _newest_first(domain: str, programs: Path) -> list[Path]:
    found = [p.parent for p in (programs / domain).glob(f"*/{MANIFEST}")]
    return sorted(found, key=lambda p: (p / MANIFEST).stat().st_mtime, reverse=True)


def uncompiled_planner(domain: str | Path, kept: Path = KEPT, encoder: str = AUTO) -> QueryPlanner:
    """A planner with heads from the domain's training rows and nothing compiled; its plans say so.

    The heads decide and a language model only writes, as a small model without demonstrations and thresholds decides
    worse than the heads. ``planner.let_model_decide()`` changes that. Like a compiled planner, it stays as it is where
    DSPy's optimizers compile a program around it, whose examples are none of its stages'.

    Args:
        kept: folder of the heads that were trained before.
        encoder: what embeds texts, see ``heads/encoders.py``.

    Raises:
        DataError: the domain or its training rows cannot be read; it may have none.
        ConfigError: there is no such encoder, or it is not installed.
    """
    read = load_domain(domain, splits=("train",))
    rows = read.splits.get("train", ())  # a card alone is enough, since other domains lend rows
    closer = closer_encoder(encoder)
    tiers = (closer.name,) if closer else ()
    made_of = text_fingerprint(RECIPE, read.card.fingerprint, rows_hash(rows), *lending_key(rows), *tiers)
    folder = kept / f"{read.card.name}-{made_of}"
    try:
        planner = QueryPlanner.load(folder, lm=None, folder=read.folder)
        counts = planner.manifest.compiled.get("lent", {}) if planner.manifest else {}
    except ProgramError:
        planner, counts = _train(read, folder, closer)
    own = f"{len(rows)} rows of {read.card.name}" if rows else f"no row of {read.card.name}, which has none labelled"
    note = f"not compiled: heads trained from {own}{lending_words(counts)}"
    planner.notes = (note, *planner.notes)
    planner.learned = prints_of(rows)
    planner._compiled = True  # whether or not the heads were kept before
    heads = planner.heads.heads if planner.heads else {}
    return planner.use({}, {name: head_alone(head.labels) for name, head in heads.items()})


def _train(read: Domain, folder: Path, closer: MiniLm | None) -> tuple[QueryPlanner, Mapping[str, Mapping[str, int]]]:
    """Train heads, and keep the result if the disk allows; also returns how many rows each other domain lent."""
    rows = read.splits.get("train", ())
    lent = lent_rows(rows, read.card)
    counts = lending_counts(lent)
    if about := training_time(rows, lent):
        tell(f"training heads from {len(rows):,} rows of {read.card.name}{lending_words(counts)}, once{about}")
    heads = train_heads(rows, read.card, default_encoder(), lent=lent, closer=closer)
    planner = QueryPlanner(read.card, heads=heads, folder=read.folder)
    compiled = {"optimizer": "none", "rows": "train", **({"lent": counts} if counts else {})}
    try:
        planner.save(folder, Manifest(domain=read.card.name, compiled=compiled))
    except ProgramError as error:
        planner.notes += (f"the heads were not kept: {error}",)
    return planner, counts
