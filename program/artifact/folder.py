"""A compiled program as a folder of plain data: written atomically, checked when read.

::

    manifest.json      format, hash of every other file, fingerprints, thresholds, metrics
    card.json          the domain card the program was compiled for
    predictors.json    DSPy state of each predictor: instructions, demonstrations, thresholds
    heads.safetensors  support vectors and coefficients of the heads (absent without heads)

Nothing here is code and nothing is pickled. A file that was altered, added or removed is refused by
name, and so is a program whose signatures or encoder are not the ones it was compiled with.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, ValidationError

from ...data.card import CARD_FILE, DomainCard, shipped_domains
from ...errors import ProgramError
from ...signatures.problems import problems_of
from ...signatures.types import Frozen
from ..bound import Bound, Mode
from ..settle import Combination

FORMAT = 1
MANIFEST = "manifest.json"
CARD = "card.json"
PREDICTORS = "predictors.json"
HEADS = "heads.safetensors"

AGAIN = "remove this folder and copy it again, or compile anew"
"""What to do about a program that is damaged."""


class Manifest(Frozen):
    """What a program consists of, and how it was made.

    Attributes:
        files: SHA-256 of every other file of the folder.
        fingerprints: of data, card, schema, signatures, encoder, function words and LM.
        encoder: name of the encoder of the heads; empty for the static one in older programs.
        closer: name of the encoder of the heads that look closer; empty if there are none.
        heads: settings of each head (labels, kernel width, softmax scale).
        thresholds: the decision settings of each stage, for reading; the ones used are in
            ``predictors.json``.
        joint: how the labels of the complexity stage are chosen together, see ``program/heads/joint.py``.
        mode: whether heads answer in the model's place, see ``program/bound.py``.
        bound: the certainty from which they do.
        combinations: how model and head are weighed, for each output.
        metrics: what was measured when it was compiled.
        compiled: optimizer, arguments, seed, sample and code version.
        learned: the rows that it learned from, as `data.learned.prints_of` writes them; empty in older programs.
    """

    format: int = FORMAT
    domain: str
    files: dict[str, str] = {}
    fingerprints: dict[str, str] = {}
    lm: str = "none"
    encoder: str = ""
    closer: str = ""
    heads: dict[str, Any] = {}
    thresholds: dict[str, Any] = {}
    combinations: dict[str, Combination] = {}
    joint: dict[str, float] = {}
    mode: Mode = "off"
    bound: Bound | None = None
    metrics: dict[str, Any] = {}
    compiled: dict[str, Any] = {}
    learned: str = ""
    content_hash: str = Field(default="", description="the program's identity: SHA-256 of all of this but metrics")
    seal: str = Field(default="", description="SHA-256 of all of this, so that an altered metric is noticed too")

    def sealed(self) -> Manifest:
        """This manifest with both hashes filled in."""
        named = self.model_copy(update={"content_hash": _hash(self.plain(), "metrics", "content_hash", "seal")})
        return named.model_copy(update={"seal": _hash(named.plain(), "seal")})

    def plain(self) -> dict[str, Any]:
        """The manifest as it is written to the file, where a metric that is not a number is null."""
        return json.loads(self.model_dump_json())

    @property
    def version(self) -> str:
        """A short name of the content: the domain and twelve hex digits."""
        return f"{self.domain}-{self.content_hash[:12]}"


# Seals are of what the file says, so that a field that a later version adds breaks no older program.


def _hash(plain: Mapping[str, Any], *without: str) -> str:
    text = json.dumps({key: value for key, value in plain.items() if key not in without}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _bytes(plain: Mapping[str, Any]) -> bytes:
    return json.dumps(plain, indent=1, ensure_ascii=False).encode()


def _is_sealed(plain: Mapping[str, Any], content: bytes) -> bool:
    hashes = _hash(plain, "metrics", "content_hash", "seal"), _hash(plain, "seal")
    return hashes == (plain.get("content_hash"), plain.get("seal")) and _bytes(plain) == content


@dataclass(frozen=True)
class ProgramState:
    """The content of a program folder, in memory."""

    manifest: Manifest
    card: DomainCard
    predictors: Mapping[str, Mapping[str, Any]]
    heads: Mapping[str, np.ndarray] = field(default_factory=dict)


def save_program(state: ProgramState, folder: Path) -> Manifest:
    """Write ``state`` to ``folder``, which is replaced as a whole or not at all.

    A process that ends just between removing the old folder and placing the new one leaves the old one beside it, where
    `read_manifest` and the next save find it.

    Raises:
        ProgramError: the disk is full or not writable, or ``folder`` has something else in it; what
            was there before is intact.
    """
    folder = Path(folder)
    put_back(folder)
    check_replaceable(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise ProgramError(
            f"cannot write {folder}: {error.strerror}; let {folder.parent} be written, or free some space"
        ) from error
    try:
        manifest = _write_files(state, fresh)
        _swap(fresh, folder)
    except OSError as error:
        raise ProgramError(
            f"the program was not saved to {folder}: {error.strerror}; what was there before is unchanged"
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return manifest


def check_replaceable(folder: Path) -> None:
    """Refuse to replace anything but a program: saving must never empty a folder of the user's.

    Raises:
        ProgramError: something else is there.
    """
    if not folder.exists() or (folder / MANIFEST).is_file():
        return
    if not folder.is_dir() or any(folder.iterdir()):
        raise ProgramError(f"{folder} holds something that is no compiled program; choose another folder")


def _write_files(state: ProgramState, folder: Path) -> Manifest:
    _write(folder / CARD, state.card.model_dump_json(indent=1).encode())
    _write(folder / PREDICTORS, json.dumps(state.predictors, indent=1, ensure_ascii=False).encode())
    if state.heads:
        from safetensors.numpy import save

        _write(folder / HEADS, save({k: np.ascontiguousarray(v) for k, v in state.heads.items()}))
    files = {p.name: _sha256(p) for p in sorted(folder.iterdir())}
    manifest = state.manifest.model_copy(update={"files": files}).sealed()
    _write(folder / MANIFEST, _bytes(manifest.plain()))
    return manifest


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _swap(fresh: Path, folder: Path) -> None:
    """Replace ``folder`` by ``fresh``; the old one is removed only after that."""
    fresh.chmod(0o755)
    old = Path(tempfile.mkdtemp(prefix=_old(folder), dir=folder.parent))
    try:
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
    except BaseException:
        if (old / MANIFEST).is_file() and not folder.exists():
            old.rename(folder)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _old(folder: Path) -> str:
    return f".{folder.name}-old-"


def put_back(folder: Path) -> None:
    """Restore the old program if a save ended between moving it away and placing the new one."""
    if folder.exists() or not folder.parent.is_dir():
        return
    left = [old for old in folder.parent.glob(f"{glob.escape(_old(folder))}*") if (old / MANIFEST).is_file()]
    if left:
        with suppress(OSError):  # another process was quicker
            max(left, key=lambda old: old.stat().st_mtime).rename(folder)


def load_program(folder: Path) -> ProgramState:
    """Read and check a program folder.

    Raises:
        ProgramError: not a program, of another format, or altered; the file is named.
    """
    manifest = check_program(folder)
    try:
        card = DomainCard.model_validate_json((folder / CARD).read_bytes())
        predictors = json.loads((folder / PREDICTORS).read_text(encoding="utf-8"))
    except (OSError, ValidationError, ValueError) as error:
        said = problems_of(error) if isinstance(error, ValidationError) else error
        raise ProgramError(f"the program {folder.name} cannot be read: {said}; {AGAIN}") from error
    return ProgramState(manifest, card, predictors, _load_heads(folder, manifest))


def check_program(folder: Path) -> Manifest:
    """Check that every file of a program folder is as it was saved; returns its manifest.

    Raises:
        ProgramError: not a program, of another format, or altered; the file is named.
    """
    manifest = read_manifest(folder)
    _check_files(folder, manifest)
    return manifest


def hint_of_domain(folder: Path) -> str:
    """A hint for an error message if a domain was given where a program is needed; else empty."""
    if not (folder / CARD_FILE).is_file() and str(folder) not in shipped_domains():
        return ""
    plain = f"say --domain {folder} and no program, or zero-shot where one must be named"
    return f"it is a domain: {plain}, or compile it first: queryplan compile {folder}"


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a program folder and check its content hash.

    Raises:
        ProgramError: not a program, of another format, or the manifest was altered.
    """
    put_back(Path(folder))
    path = Path(folder) / MANIFEST
    if not path.is_file():
        what = f"it has no {MANIFEST}; run: queryplan compile DOMAIN"
        raise ProgramError(f"{folder} is not a compiled program: {hint_of_domain(Path(folder)) or what}")
    try:
        content = path.read_bytes()
        raw = json.loads(content)
        if isinstance(raw, dict) and raw.get("format") != FORMAT:
            raise ProgramError(_of_another_format(folder, raw.get("format")))
        manifest = Manifest.model_validate(raw)
    except (OSError, ValueError) as error:
        said = problems_of(error) if isinstance(error, ValidationError) else error
        raise ProgramError(f"{MANIFEST} of {folder} cannot be read: {said}; {AGAIN}") from error
    if not _is_sealed(raw, content):
        raise ProgramError(f"{MANIFEST} of {folder} was altered: its hashes are not those of its content; {AGAIN}")
    return manifest


def _of_another_format(folder: Path, found: Any) -> str:
    newer = isinstance(found, int) and found > FORMAT
    advice = "install a newer queryplan, or compile again with this one" if newer else "compile again"
    return f"{MANIFEST} of {folder} has program format {found}, this version reads {FORMAT}; {advice}"


def _check_files(folder: Path, manifest: Manifest) -> None:
    present = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir()} - {MANIFEST}
    for name in sorted(present | manifest.files.keys()):
        if name not in manifest.files:
            raise ProgramError(f"the program {folder.name} has a file it was not saved with: {name}; take it away")
        if name not in present:
            raise ProgramError(f"the program {folder.name} lacks {name}; {AGAIN}")
        if _sha256(folder / name) != manifest.files[name]:
            said = f"{name} is not the file that was saved"
            raise ProgramError(f"the program {folder.name} was altered: {said}; {AGAIN}")


def _load_heads(folder: Path, manifest: Manifest) -> dict[str, np.ndarray]:
    if HEADS not in manifest.files:
        return {}
    from safetensors.numpy import load_file

    return load_file(folder / HEADS)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
