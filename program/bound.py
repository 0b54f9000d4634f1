"""When a head may answer in the language model's place: above a certainty that is fitted with a guarantee.

**Method.** One number, the certainty a head must have, moves the thresholds of all heads together. It is fitted by
Learn then Test with fixed-sequence testing (Angelopoulos, Bates, Candès, Jordan and Lei, "Learn then Test:
Calibrating Predictive Algorithms to Achieve Risk Control", 2021) on rows that fit nothing else, in
``optimizers/bounding.py``. The loss of a query is joint: 1 if *some* head that answered it was wrong, else 0. So five
heads share one budget, and the bound is on whole queries.

**What is compared.** Relevance and complexity are asked of the model in one round, so the round is saved only if both
are certain: the product of their probabilities is compared with the required certainty. Relevance answered alone saves
a request but no round, so it may have only a quarter of the doubt (1 - certainty) that the pair may have. The table
in ``docs/cascade.md`` has what this rule saves, beside the other rules that were tried.

**What it promises.** With the stated confidence over the draw of the calibration rows, a query from a future
conversation is answered wrongly by a head with at most the stated probability. A conversation is drawn first, then
one of its queries, so each conversation weighs the same, however long it is. Where long conversations are harder, the
share of all queries may be larger. It is a share of *all* those queries, not of the answered ones.

**Assumptions.** Future conversations are drawn like those labelled for calibration, independently of each other (so
one row of each is used). The heads learned from other conversations. Where the model rewrote a follow-up, it wrote
what the labeller would have written: heads are calibrated on gold standalone forms. A follow-up that could not be
rewritten is therefore outside the bound, and so is what a model decides.

The modes: ``off`` asks the model wherever it has a say; ``bounded`` lets heads answer what the bound covers and asks
the model the rest; ``best-effort`` lets heads answer all they can, with no guarantee.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from ..errors import ConfigError
from ..signatures.types import Frozen
from .heads.heads import HeadAnswer
from .heads.joint import COMPLEXITY_OUTPUTS, Joint, likeliest_together

Mode = Literal["off", "bounded", "best-effort"]
MODES: tuple[Mode, ...] = ("off", "bounded", "best-effort")

WITHIN = "learned head, within the bound"
OUTSIDE = "learned head, outside the bound"
NO_GUARANTEE = "best effort, no guarantee"

ALONE = 4
"""A round may have this many times the doubt of relevance alone; ``docs/cascade.md`` compares 2, 4 and 8."""


def needed_alone(certainty: float) -> float:
    """The certainty required of relevance where it is answered alone, if a whole round requires ``certainty``."""
    return 1 - (1 - certainty) / ALONE


def label_stages(
    relevance: float | None, rejects: bool, complexity: float | None, certainty: float
) -> frozenset[Literal["relevance", "complexity"]]:
    """The stages of a standalone form that heads answer, if a whole round requires ``certainty``.

    Args:
        relevance, complexity: the probability of these heads' labels; None if a head says nothing.
        rejects: whether the relevance head says "not ours", so that nothing else has to be decided.
    """
    if relevance is None or complexity is None or rejects:  # only one of the two is left to decide
        stage: Literal["relevance", "complexity"] = "complexity" if relevance is None else "relevance"
        sure = complexity if relevance is None else relevance
        return frozenset({stage}) if sure is not None and sure >= certainty else frozenset()
    if relevance * complexity >= certainty:
        return frozenset({"relevance", "complexity"})
    return frozenset({"relevance"}) if relevance >= needed_alone(certainty) else frozenset()


class Bound(Frozen):
    """The certainty from which heads may answer, and the evidence for it.

    Attributes:
        error: the bound: heads answer at most this share of queries wrongly, each conversation weighing the same.
        confidence: the confidence with which that holds.
        certainty: the smallest probability with which a head may answer; None if none may, see ``reason``.
        conversations: number of rows that it was fitted on, one of each conversation.
        errors: number of these rows that some head answered wrongly at that certainty.
        supports: the smallest ``error`` that so many conversations can show, which takes that none is wrong.
        coverage: share of these rows that heads answered, by stage; ``joint`` is the share that needed no model at all.
        reason: why no head may answer, or empty.
        closely: whether heads looked closer at every query when it was fitted, as they do then (``Gate.closely``).
    """

    error: float = Field(gt=0, lt=1)
    confidence: float = Field(gt=0, lt=1)
    certainty: float | None = None
    conversations: int = Field(ge=0)
    errors: int = Field(default=0, ge=0)
    supports: float = Field(ge=0, le=1)
    coverage: dict[str, float] = {}
    reason: str = ""
    closely: bool = False

    @property
    def sentence(self) -> str:
        """The bound in one sentence, for the report and the terminal."""
        share = f"at most {self.error:.1%} of queries wrong by a head, each conversation weighing the same"
        asked = f"{share}, confidence {self.confidence:.0%}"
        shown = f"{self.conversations} conversations, which can support {self.supports:.1%} at best"
        if self.certainty is None:
            return f"bound ({asked}): no head answers, {self.reason} ({shown})"
        joint = self.coverage.get("joint", 0.0)
        return (
            f"bound ({asked}): heads answer from certainty {self.certainty:.3f}; {self.errors} wrong of {shown}; "
            f"{joint:.1%} of them needed no model to decide"
        )


@dataclass(frozen=True)
class Gate:
    """Decides which heads answer; the same for every query of a planner.

    Raises:
        ConfigError: there is no such mode.
    """

    mode: Mode = "off"
    bound: Bound | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ConfigError(f"there is no mode {self.mode!r}: give one of {', '.join(MODES)}")

    def opens(self, certainty: float | None) -> bool:
        """Whether a head with this certainty answers; None is a head that says nothing."""
        if certainty is None or self.mode == "off":
            return False
        return self.needed is not None and certainty >= self.needed

    @property
    def closely(self) -> bool:
        """Whether heads look closer at every query, which takes some milliseconds where a model takes a second.

        On the podcast's ``calibrate`` 0.488 of the queries then need no model within a bound of 5 %, and 0.317 where
        heads look closer only where they leave a doubt.
        """
        return self.mode == "bounded" and self.bound is not None and self.bound.closely

    @property
    def needed(self) -> float | None:
        """The certainty required of a round; None if no head may answer."""
        if self.mode == "best-effort":
            return 0.0
        return self.bound.certainty if self.mode == "bounded" and self.bound is not None else None

    def labels_opened(self, heads: Mapping[str, HeadAnswer], joint: Joint) -> frozenset[str]:
        """The stages of a standalone form that heads answer: ``relevance``, ``complexity``, both or none."""
        if self.needed is None:
            return frozenset()
        relevance, complexity = relevance_certainty(heads), complexity_certainty(heads, joint)
        if self.mode == "best-effort":
            known = {"relevance": relevance, "complexity": complexity}
            return frozenset(stage for stage, sure in known.items() if sure is not None)
        rejects = relevance is not None and heads["is_relevant"].label == "false"
        return label_stages(relevance, rejects, complexity, self.needed)

    @property
    def reason(self) -> str:
        """The reason given for a decision that this gate leaves to a head."""
        return WITHIN if self.mode == "bounded" else f"learned head, {NO_GUARANTEE}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for every plan on the mode in which it was made."""
        if self.mode == "best-effort":
            return (f"heads: {NO_GUARANTEE}",)
        if self.mode == "bounded" and (self.bound is None or self.bound.certainty is None):
            why = self.bound.reason if self.bound else "this program was compiled without a bound"
            return (f"heads: none answers within a bound, {why}",)
        return ()


def relevance_certainty(heads: Mapping[str, HeadAnswer]) -> float | None:
    """How certain the relevance head is of its label."""
    answer = heads.get("is_relevant")
    return answer.confidence if answer is not None else None


def kind_certainty(heads: Mapping[str, HeadAnswer]) -> float | None:
    """How certain the head is of the kind of rejection; if too little, the plan gives the card's general reason."""
    answer = heads.get("rejection_kind")
    return answer.confidence if answer is not None else None


def complexity_certainty(heads: Mapping[str, HeadAnswer], joint: Joint) -> float | None:
    """The probability that all three labels of the complexity stage are right, where they are chosen jointly.

    None if a head of the three is missing.
    """
    if any(name not in heads for name in COMPLEXITY_OUTPUTS):
        return None
    return likeliest_together(joint, [heads[name].probabilities for name in COMPLEXITY_OUTPUTS])[1]
