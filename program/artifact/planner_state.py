"""The state of a planner as a program folder holds it: written out, hashed, and restored."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import dspy
import numpy as np

from ...data.fingerprints import schema_fingerprint, text_fingerprint
from ...errors import ProgramError
from ..bound import Gate
from ..graph.learning.store import from_tensors, to_tensors
from ..heads.encoders import encoder_named
from ..heads.features import IN_ENGLISH
from ..heads.file import load_features, load_heads, looks_closer, settings_of, tensors_of
from ..heads.heads import Heads
from ..text.greetings import greetings_of
from ..text.in_english import VERSION
from ..text.linker import Linker
from .compatible import check_fingerprints, has_one_hop, signatures_hash
from .folder import Manifest, ProgramState

if TYPE_CHECKING:
    from ..planner import QueryPlanner


FUNCTION_WORDS = "function words"
"""The entry of the manifest's fingerprints that says how texts in other languages are read, see `text/in_english.py`;
a program that learned otherwise is not refused."""
READ_OTHERWISE = (
    "compiled before function words of other languages were read as now; compile it again to learn from them"
)


def predictor_state(predictor: dspy.Predict) -> dict[str, Any]:
    """A predictor's DSPy state without its language model, traces and training rows."""
    state = predictor.dump_state()
    return {key: value for key, value in state.items() if key not in ("lm", "traces", "train")} | {
        "traces": [],
        "train": [],
    }


def fingerprints(planner: QueryPlanner) -> dict[str, str]:
    """Hashes of what a planner depends on: card, schema, signatures, encoder."""
    card, heads = planner.card, planner.heads
    prints = {"card": card.fingerprint, "signatures": signatures_hash(planner.specs)}
    if card.graph is not None:
        prints["schema"] = schema_fingerprint(card.graph)
    if heads is not None:
        prints["encoder"] = heads.features.encoder.fingerprint()
        if heads.closer is not None:
            prints["closer"] = heads.closer.features.encoder.fingerprint()
    return prints


def content_hash(planner: QueryPlanner) -> str:
    """Hash of everything that can change a plan, 12 hex digits."""
    state = json.dumps([predictor_state(p) for p in planner.stage_predictors.values()], default=str)
    learned = {name: hashlib.sha256(tensor.tobytes()).hexdigest() for name, tensor in _tensors(planner).items()}
    settings = settings_of(planner.heads) if planner.heads else {}
    heads = json.dumps([settings, learned]) if learned else ""
    weighed = json.dumps({name: c.model_dump() for name, c in planner.combinations.items()})
    parts = (planner.card.fingerprint, state, heads, weighed, str(planner.plan_graph))
    gate = () if planner.gate == Gate() else (repr(planner.gate),)
    return text_fingerprint(*parts, *gate)[:12]


def state_of(planner: QueryPlanner, manifest: Manifest) -> ProgramState:
    """Everything that a program folder holds, with ``manifest`` completed."""
    predictors = {name: predictor_state(predictor) for name, predictor in planner.stage_predictors.items()}
    thresholds = {name: state.get("fields", {}) for name, state in predictors.items() if state.get("fields")}
    heads = planner.heads
    in_english = heads is not None and heads.features.reads >= IN_ENGLISH
    read = {FUNCTION_WORDS: manifest.fingerprints.get(FUNCTION_WORDS, VERSION)} if in_english else {}
    completed = manifest.model_copy(
        update={
            "domain": planner.card.name,
            "fingerprints": {**manifest.fingerprints, **fingerprints(planner), **read},
            "encoder": heads.features.encoder.name if heads else "",
            "closer": heads.closer.features.encoder.name if heads and heads.closer else "",
            "heads": settings_of(heads) if heads else {},
            "thresholds": thresholds,
            "combinations": planner.combinations,
            "joint": heads.joint if heads else {},
            "mode": planner.gate.mode,
            "bound": planner.gate.bound,
            "learned": manifest.learned or planner.learned,
        }
    )
    return ProgramState(completed, planner.card, predictors, _tensors(planner))


def restore(planner: QueryPlanner, state: ProgramState) -> None:
    """Restore a program's content into a new planner of its card.

    Raises:
        ProgramError: the program was compiled with another card, signatures or encoder, or has an unknown stage.
    """
    planner.graph, planner.manifest = from_tensors(state.heads), state.manifest
    planner.combinations = dict(state.manifest.combinations)
    planner.learned = state.manifest.learned
    check_fingerprints(fingerprints(planner), planner.specs, state.manifest)
    if state.manifest.fingerprints.get(FUNCTION_WORDS, VERSION) != VERSION:
        planner.notes = (*planner.notes, READ_OTHERWISE)
    one_hop = has_one_hop(planner.specs, state.manifest)
    for stage, saved in state.predictors.items():
        if stage == "graph" and one_hop:
            continue
        if stage not in planner.stage_predictors:
            raise ProgramError(f"the program has a stage that this version does not know: {stage}")
        planner.stage_predictors[stage].load_state({**saved, "lm": None})


def heads_of(state: ProgramState) -> Heads | None:
    """The heads of a program, or None if it has none.

    Raises:
        ProgramError: its tensors or tables are not those of heads.
    """
    if not state.manifest.heads:
        return None
    encoder, linker, greetings = (
        encoder_named(state.manifest.encoder),
        Linker(state.card.names),
        greetings_of(state.card.greetings),
    )
    closer = encoder_named(state.manifest.closer) if looks_closer(state.manifest.heads) else None
    try:
        features = load_features(state.heads, encoder, linker)
        return load_heads(state.heads, state.manifest.heads, features, state.manifest.joint, greetings, closer)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ProgramError(f"the heads of this program cannot be read: {error}") from error


def _tensors(planner: QueryPlanner) -> dict[str, np.ndarray]:
    heads = tensors_of(planner.heads) if planner.heads else {}
    return {**heads, **(to_tensors(planner.graph) if planner.graph else {})}
