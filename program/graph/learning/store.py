"""What was learned, as arrays for safetensors: in a program folder, or kept by fingerprint. Nothing is pickled."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ....data.disk import write_whole
from ....errors import ProgramError
from ..names.hypotheses import SPAN
from ..names.roles import ROLES, RoleWeights
from ..ranking import choosing, endings, evidence
from ..ranking.combining import OTHERS, WAYS, CombineWeights
from ..ranking.endings import EndingWeights
from ..ranking.ranking import VECTOR, Weights

PREFIX = "graph."
SEAL = "seal"
"""The tensor of a stored file that is a checksum of the others."""
SURE = ("bias", "chance", "margin", "covered", "missed", "fuzzy", "unknown", "several")
"""The features that tell whether the first plan is right."""


@dataclass(frozen=True)
class Learned:
    """Everything a graph planner has learned.

    Attributes:
        paths: weights that rank paths.
        endings: weights that rank endings.
        choice: weights of the numbers ``choosing.CHOICE``, by which complete plans are compared.
        sure: logistic weights of the features ``SURE``, which give the probability that the first plan is right.
        answers_from: certainty from which no language model is asked; None if none was fitted.
        notes: what a reader should know, such as the number of questions it was learned from.
    """

    paths: Weights
    endings: EndingWeights
    choice: np.ndarray
    sure: np.ndarray
    answers_from: float | None = None
    notes: tuple[str, ...] = ()


def to_tensors(learned: Learned) -> dict[str, np.ndarray]:
    """Everything numeric and every text by name, for safetensors; ``from_tensors`` reads it."""
    paths, ends = learned.paths, learned.endings
    answers = np.nan if learned.answers_from is None else learned.answers_from
    held = {
        "common.words": _texts(list(paths.common)),
        "common.weights": np.array(list(paths.common.values()), dtype=np.float32),
        "plain.texts": _texts(list(paths.plain)),
        "plain.counts": np.array(list(paths.plain.values()), dtype=np.int32),
        "span": paths.span.astype(np.float64),
        "dense": paths.dense.astype(np.float64),
        "elements": _texts(paths.elements),
        "grams": paths.grams,
        "table": paths.table.astype(np.float16),
        "endings.dense": ends.dense.astype(np.float64),
        "endings.grams": ends.grams,
        "endings.table": ends.table.astype(np.float16),
        "choice": learned.choice.astype(np.float64),
        "sure": learned.sure.astype(np.float64),
        "roles.grams": paths.roles.grams,
        "roles.table": paths.roles.table.astype(np.float16),
        "combines.grams": paths.combines.grams,
        "combines.table": paths.combines.table.astype(np.float16),
        "twofold.grams": paths.twofold.grams,
        "twofold.table": paths.twofold.table.astype(np.float16),
        "scalars": np.array([paths.scale, answers], dtype=np.float64),
        "notes": _texts(learned.notes),
    }
    return {f"{PREFIX}{name}": tensor for name, tensor in held.items()}


def from_tensors(tensors: Mapping[str, np.ndarray]) -> Learned | None:
    """What was learned, from the tensors of ``to_tensors``; None if there are none of these.

    Raises:
        ProgramError: it is of another version.
    """
    held = {name.removeprefix(PREFIX): t for name, t in tensors.items() if name.startswith(PREFIX)}
    if not held:
        return None
    try:
        learned = _read(held)
    except (KeyError, ValueError, UnicodeDecodeError) as error:
        raise ProgramError(f"the graph ranking of the program cannot be read ({error}); compile again") from error
    fits = (len(SPAN), len(evidence.DENSE), len(endings.DENSE), len(choosing.CHOICE), len(SURE))
    parts = (learned.paths.span, learned.paths.dense, learned.endings.dense, learned.choice, learned.sure)
    if fits != tuple(map(len, parts)) or not _tables_fit(learned):
        raise ProgramError("the graph ranking of the program is of another version; compile again")
    return learned


def _tables_fit(learned: Learned) -> bool:
    """Whether each table has a row for every element and a column for every n-gram."""
    paths, ends = learned.paths, learned.endings
    return (
        paths.table.shape == (len(paths.elements), len(paths.grams) + VECTOR)
        and ends.table.shape == (len(endings.ELEMENTS), len(ends.grams) + endings.VECTOR)
        and paths.roles.table.shape == (len(ROLES), len(paths.roles.grams))
        and all(w.table.shape == (len(WAYS), len(w.grams) + OTHERS) for w in (paths.combines, paths.twofold))
    )


def _read(held: Mapping[str, np.ndarray]) -> Learned:
    scale, answers = held["scalars"]
    paths = Weights(
        common=dict(zip(_words(held["common.words"]), held["common.weights"].tolist(), strict=True)),
        plain=dict(zip(_words(held["plain.texts"]), held["plain.counts"].tolist(), strict=True)),
        span=held["span"],
        dense=held["dense"],
        elements=tuple(_words(held["elements"])),
        grams=held["grams"],
        table=held["table"].astype(np.float32),
        scale=float(scale),
        roles=RoleWeights(held["roles.grams"], held["roles.table"].astype(np.float32)),
        combines=CombineWeights(held["combines.grams"], held["combines.table"].astype(np.float32)),
        twofold=_twofold(held),
    )
    ends = EndingWeights(held["endings.dense"], held["endings.grams"], held["endings.table"].astype(np.float32))
    return Learned(
        paths,
        ends,
        held["choice"],
        held["sure"],
        None if np.isnan(answers) else float(answers),
        tuple(_words(held["notes"])),
    )


def _twofold(held: Mapping[str, np.ndarray]) -> CombineWeights:
    """The weights for two paths from one name; empty in older programs, which then plan as before."""
    if "twofold.grams" not in held:
        return CombineWeights()
    return CombineWeights(held["twofold.grams"], held["twofold.table"].astype(np.float32))


def _texts(texts: Sequence[str]) -> np.ndarray:
    """Texts without line feeds as bytes."""
    return np.frombuffer("\n".join(texts).encode("utf-8", "surrogatepass") or b"\0", dtype=np.uint8).copy()


def _words(held: np.ndarray) -> list[str]:
    content = held.tobytes()
    return [] if content == b"\0" else content.decode("utf-8", "surrogatepass").split("\n")


def _sealed(tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {**tensors, SEAL: _seal(tensors)}


def _seal(tensors: Mapping[str, np.ndarray]) -> np.ndarray:
    """SHA-256 of all tensors with their names and shapes, 32 bytes."""
    said = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        said.update(f"{name} {tensor.dtype} {tensor.shape}\n".encode())
        said.update(np.ascontiguousarray(tensor).tobytes())
    return np.frombuffer(said.digest(), dtype=np.uint8)


def keep(learned: Learned, path: Path) -> None:
    """Write to a file, whole or not at all.

    Raises:
        ProgramError: the disk does not allow it.
    """
    from safetensors.numpy import save

    try:
        write_whole(path, save(_sealed({name: np.ascontiguousarray(t) for name, t in to_tensors(learned).items()})))
    except OSError as error:
        raise ProgramError(f"what was learned of graphs was not kept in {path}: {error.strerror}") from error


def kept(path: Path) -> Learned | None:
    """What was kept in a file; None if it is not there, broken or changed since, and has to be learned again."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        tensors = load(path.read_bytes())
        whole = {name: tensor for name, tensor in tensors.items() if name != SEAL}
        return from_tensors(whole) if np.array_equal(tensors.get(SEAL, ()), _seal(whole)) else None
    except (OSError, SafetensorError, ProgramError):
        return None
