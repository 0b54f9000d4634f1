"""The predictors that a query's requests are made with, kept until somebody changes what they are made from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dspy

from ..data.fingerprints import text_fingerprint
from .artifact.planner_state import predictor_state
from .stages import NOT_ALONE, REWRITTEN, SPLIT, narrowed, outputs_of

if TYPE_CHECKING:
    from .planner import QueryPlanner


@dataclass(frozen=True)
class AskedPredictors:
    """The predictors of a planner's requests. Not a module, list or dict, where DSPy would find predictors twice.

    Attributes:
        predictors: by stage, each for the outputs that the model has a say in.
        made_from: the planner's state that they were made from: its own predictors, and its combinations.
        content: hash of that state.
    """

    predictors: Mapping[str, dspy.Predict]
    made_from: tuple[dict[str, Any], dict[str, tuple[Any, ...]]]
    content: str

    def still_of(self, planner: QueryPlanner) -> bool:
        """Whether the planner is unchanged; checked before each plan, so it has to be cheap."""
        # ``vars`` goes round DSPy's attribute access, which takes longer than the comparison.
        own, (combinations, seen) = vars(planner), self.made_from
        stages = own["stage_predictors"]
        same = own["combinations"] == combinations and stages.keys() == seen.keys()
        return same and all(map(_is_as_seen, stages.values(), map(seen.__getitem__, stages)))

    def __deepcopy__(self, memo: dict[int, Any]) -> AskedPredictors:
        """The same object; ``still_of`` finds at the first plan of a copied planner that its predictors are others."""
        return self


def asked_of(planner: QueryPlanner) -> AskedPredictors:
    """The predictors that a query may ask."""
    stages = planner.stage_predictors
    heads = planner.heads
    writes = {REWRITTEN: heads.rewriter, SPLIT: heads.decomposer} if heads else {}
    known = {*(heads.heads if heads else ()), *(output for output, head in writes.items() if head is not None)}
    silent = {o for o, c in planner.combinations.items() if not c.lm_weight and o in known}
    asked = {
        name: narrowed(predictor, outputs)
        for name, predictor in stages.items()
        if (outputs := outputs_of(predictor) - silent) - NOT_ALONE
    }
    states = {name: predictor_state(one) for name, one in stages.items()}
    weighed = {name: one.model_dump() for name, one in planner.combinations.items()}
    return AskedPredictors(asked, _made_from(planner), text_fingerprint(json.dumps([states, weighed], default=str)))


def _made_from(planner: QueryPlanner) -> tuple[dict[str, Any], dict[str, tuple[Any, ...]]]:
    """A planner's combinations and the content of its predictors, copied where somebody may change it."""
    inside = ((name, one, vars(one)) for name, one in planner.stage_predictors.items())
    seen = {name: (one, own["signature"], [*own["demos"]], {**own["fields"]}) for name, one, own in inside}
    return {**planner.combinations}, seen


def _is_as_seen(predictor: dspy.Predict, seen: tuple[Any, ...]) -> bool:
    own, (same, signature, demos, fields) = vars(predictor), seen
    return predictor is same and own["signature"] is signature and own["demos"] == demos and own["fields"] == fields
