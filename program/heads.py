"""Learned heads: label probabilities of a query in microseconds, without a language model.

A head is a kernel ridge classifier (Saunders, Gammerman and Vovk, 1998) over the sum of three kernels: an
RBF kernel on the query's vector and surface features, which knows what words mean, and linear kernels on its
n-grams and on those of its frame, which know how it is put. The scores go through a scaled softmax (Guo et
al., 2017). On the podcast's train and dev rows, cross-validated by conversation, intent was right for 0.645
and complexity for 0.740; without frames and with names in the vectors, 0.599 and 0.725. Multinomial logistic
regression on the same kernels was as good within 0.01.

The linear part is kept as one weight a column and label but the first, so inference is two small matrix products.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..signatures.types import Turn
from .decomposing.decomposer import Decomposed, Decomposer, load_decomposer
from .encoder import Encoder
from .features import AS_TYPED, Features, Seen
from .greetings import Greetings
from .joint import Joint
from .linker import Linker
from .looks import PREFIX, agree, each_agrees
from .mending import Mending
from .ngrams import Vocabulary
from .panel import Panel, shared_rows
from .rewriting.rewriter import Rewriter, load_rewriter
from .wish_grams import WITH_WISHES, with_wishes

HEADS = ("is_follow_up", "is_relevant", "rejection_kind", "complexity", "intent", "needs_decomposition")
IDF = "ngrams.idf"
COMMON = "ngrams.common"
VOCABULARY = "ngrams.vocabulary"
NESTED = "vector.nested"
BARE = "text.bare"
WORDS = "text.words"
TYPED = "typed."
"""Heads that read a follow-up as it was typed; their names begin so."""
SOURCE = "source."
"""Heads for kinds of information of structured sources: their names begin so, and they see a card's cues, too."""
GREETS = 0.5
"""What follows a greeting is part of it from this probability: the geometric mean of what heads say of both."""
NO_GREETINGS = Greetings()
REWRITTEN = 0.25
"""Weight of what a model rewrote beside the follow-up as typed."""
# Support vectors are shared by heads that see the same: a query alone, a turn, a query with cues.
SHARED = {"query": "support.query", "turn": "support.turn", "source": "support.source"}


@dataclass(frozen=True)
class Head:
    """One trained head.

    Attributes:
        labels: in column order.
        support: dense features of the training rows, shape (n, d).
        dual: kernel coefficients, already times the RBF kernel's share, of each label but the first, less those of
            the first, since only differences matter; shape (n, labels - 1).
        linear: weight of each n-gram column, already times its share, put the same way; shape (columns, labels - 1).
        width: gamma of the RBF kernel.
        scale: multiplies the scores before the softmax.
        bias: added to the scaled scores, one a label; empty for none.
        below: of a look (``looks.py``): what it and the other must together say less than for a rejection.
        each_below: the same in programs of before: what each of them must say less than.
    """

    name: str
    labels: tuple[str, ...]
    support: np.ndarray
    dual: np.ndarray
    linear: np.ndarray
    width: float
    scale: float
    bias: tuple[float, ...] = ()
    below: float | None = None
    each_below: float | None = None

    @cached_property
    def _single(self) -> tuple[np.ndarray, np.ndarray]:
        """Support and coefficients in the type that numpy is fast with."""
        return self.support.astype(np.float32), self.dual.astype(np.float32)

    def probabilities(self, seen: Seen) -> np.ndarray:
        """Label probabilities, shape (labels,), summing to one; ``Panel`` asks several heads at once."""
        support, dual = self._single
        distance = (support**2).sum(axis=1) + float(seen.dense @ seen.dense) - 2 * (support @ seen.dense)
        scores = np.exp(-self.width * np.maximum(distance, 0.0)) @ dual
        if len(seen.grams.columns):
            scores = scores + seen.grams.values @ self.linear[seen.grams.columns].astype(np.float32)
        scores = np.concatenate([[0.0], scores])
        return softmax(self.scale * scores[None] + np.array(self.bias or 0.0, dtype=np.float32))[0]


def against_first(by_label: np.ndarray) -> np.ndarray:
    """A column a label but the first, less that of the first; a softmax of scores does not see the difference."""
    return by_label[:, 1:] - by_label[:, :1]


def softmax(scores: np.ndarray) -> np.ndarray:
    """Rows of scores as rows of probabilities."""
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def pooled(rewritten: Sequence[float], typed: Sequence[float]) -> list[float]:
    """Label probabilities of a follow-up as a model rewrote it and as it was typed, by logarithmic pooling.

    A small model leaves out and makes up. Of 116 turns of the podcast's ``dev`` and ``calibrate`` that the 0.5B model
    rewrote, heads had all labels of the text right for 0.40 by the rewrite, 0.69 by the query as typed, and 0.72 by
    both with this share; by the annotators' standalone forms for 0.74, and 0.72 with this share.
    """
    weights = [a**REWRITTEN * b ** (1 - REWRITTEN) for a, b in zip(rewritten, typed, strict=True)]
    total = sum(weights)
    return [weight / total for weight in weights]


class HeadAnswer(NamedTuple):
    """The label a head gives, and every label's probability.

    ``withheld`` where the label is not the likeliest one, because a rejection was withheld (``looks.py``).
    """

    label: str
    probabilities: Mapping[str, float]
    withheld: bool = False

    @property
    def confidence(self) -> float:
        """Probability of the label given."""
        return self.probabilities[self.label]

    @property
    def likeliest(self) -> str:
        """The label with the highest probability, withheld or not."""
        return max(self.probabilities, key=lambda label: self.probabilities[label])


class Heads:
    """The heads of a program, asked by name; ``joint`` says which labels go together.

    Attributes:
        heads: those of the decisions, by output.
        sources: those for kinds of information, by name.
        looks: those that must agree to a rejection, by name.
        greetings: of the card; what follows one is read without it (``_read``).
        rewriter: says a follow-up so that it stands alone; None in programs of before, and where rows teach none.
        decomposer: cuts a query into the searches that it needs; None likewise.
        typed: those that read a follow-up as typed, by output: "and him?" asks for what its question asked for, which
            its words hardly say. Where there are none, the others read it.
    """

    sources: Mapping[str, Head] = {}
    looks: Mapping[str, Head] = {}
    typed: Mapping[str, Head] = {}
    rewriter: Rewriter | None = None
    decomposer: Decomposer | None = None
    greetings = NO_GREETINGS
    _typed: Panel | None = None
    _source: Panel | None = None
    _sees_wishes = False

    def __init__(
        self,
        heads: Mapping[str, Head],
        features: Features,
        joint: Joint | None = None,
        greetings: Greetings = NO_GREETINGS,
        rewriter: Rewriter | None = None,
        decomposer: Decomposer | None = None,
    ) -> None:
        self.rewriter, self.decomposer = rewriter, decomposer
        self.heads = {name: head for name, head in heads.items() if not name.startswith((SOURCE, PREFIX, TYPED))}
        self.looks = {name: head for name, head in heads.items() if name.startswith(PREFIX)}
        self.sources = {name: head for name, head in heads.items() if name.startswith(SOURCE)}
        self.typed = {name.removeprefix(TYPED): head for name, head in heads.items() if name.startswith(TYPED)}
        self.features = features
        self.greetings = greetings
        self.joint = dict(joint or {})
        alone = [head for name, head in self.heads.items() if name != "is_follow_up"]
        self._alone = Panel([*alone, *self.looks.values()]) if alone else None
        read_alike = [head for head in alone if head.name in self.typed and self.typed[head.name].labels == head.labels]
        if alone and len(read_alike) == len(alone):
            self._typed = Panel([self.typed[head.name] for head in alone], beside=self._alone)
        self._turn = Panel([self.heads["is_follow_up"]]) if "is_follow_up" in self.heads else None
        self._source = Panel(list(self.sources.values())) if self.sources else None
        self._sees_wishes = any(len(head.linear) == WITH_WISHES for head in self.sources.values())

    def of_query(self, query: str, typed: str | None = None) -> dict[str, HeadAnswer]:
        """What every head but follow-up says of a query that stands alone; nothing of one they cannot read.

        Args:
            typed: of a follow-up, what the user typed; ``query`` is what a model made of it, or the same where no
                model did. Both are read then, see ``pooled``.
        """
        if self._alone is None or not (seen := self.features.of_query(self._read(query))).readable:
            return {}
        as_typed = self.features.of_query(self._read(typed)) if typed is not None else None
        if as_typed is not None and not as_typed.readable:
            as_typed = None
        read = [] if as_typed is not None and typed == query else [self._alone.probabilities(seen)]
        heads = self._alone.heads[: len(self._alone.heads) - len(self.looks)]
        given = [row[: len(heads)] for row in read]
        if as_typed is not None:
            given.append((self._typed or self._alone).probabilities(as_typed)[: len(heads)])
        said = _named(heads, given[0] if len(given) == 1 else [pooled(*rows) for rows in zip(*given, strict=True)])
        answer = said.get("is_relevant")
        if self.looks and answer is not None and answer.label == "false":
            if as_typed is not None:
                read.append(self._alone.probabilities(as_typed))
            if not self._agree(read):
                said["is_relevant"] = answer._replace(label="true", withheld=True)
        return said

    def _agree(self, read: Sequence[Sequence[Sequence[float]]]) -> bool:
        """Whether the looks agree to a rejection, of what all heads said of each text that was read."""
        looks = tuple(self.looks.values())
        ours = [
            [one[place - len(looks)][head.labels.index("true")] for place, head in enumerate(looks)] for one in read
        ]
        older = [head.each_below for head in looks if head.each_below is not None]
        return each_agrees(ours, min(older)) if older else agree(ours, min(head.below or 0.0 for head in looks))

    def of_turn(self, query: str, turns: Sequence[Turn]) -> HeadAnswer | None:
        """Whether a query after these turns is a follow-up; None where no head can say."""
        if self._turn is None or not (seen := self.features.of_turn(self._read(query), turns)).readable:
            return None
        return _answers(self._turn, seen)["is_follow_up"]

    def decomposed(self, query: str) -> Decomposed | None:
        """How a query is cut, without what greets or thanks around it; None where no likely way is known."""
        cuts, asked = self.decomposer, self.greetings.rest(query) or query
        return cuts.decompose(asked, self.features.linker) if cuts is not None else None

    def of_sources(self, query: str, cues: np.ndarray, frame: Sequence[str] = ()) -> dict[str, HeadAnswer]:
        """What the heads for sources say, by type of information, or by name where they are for several types.

        Args:
            cues: of the card, as the heads were trained with, shape (c,).
            frame: of the query (``wish_grams.py``); heads of before frames of wishes do not see it.
        """
        if self._source is None:
            return {}
        seen = with_cues(self.features.of_query(self._read(query)), cues)
        if self._sees_wishes:
            seen = seen._replace(grams=with_wishes(seen.grams, frame, self.features.common or frozenset()))
        return {name.removeprefix(SOURCE): answer for name, answer in _answers(self._source, seen).items()}

    def _read(self, text: str) -> str:
        """What is read of a text: what follows a greeting, unless heads take all of it for one.

        Of questions of the podcast's dev and calibrate rows behind a greeting, 0.02 are taken for one.
        """
        rest = self.greetings.rest(text)
        if rest == text or not rest or self._alone is None or "intent" not in self.heads:
            return text
        greets = (self._greets(self._alone, one) for one in (text, rest))
        return text if math.prod(greets) >= GREETS**2 else rest

    def _greets(self, alone: Panel, text: str) -> float:
        """How likely a text is a greeting, by the head for intents."""
        seen = self.features.of_query(text)
        said = _answers(alone, seen)["intent"].probabilities if seen.readable else {}
        return said.get("greeting", 0.0)

    def cannot_read(self, query: str) -> bool:
        """Whether heads that would have a say are silent, because the encoder knows none of the query's words."""
        return self._alone is not None and not self.features.of_query(self._read(query)).readable

    def tensors(self) -> dict[str, np.ndarray]:
        """Everything numeric, for safetensors; support vectors that heads share are kept once."""
        held: dict[str, np.ndarray] = {IDF: self.features.idf.astype(np.float16)}
        if self.features.common is not None:
            held[COMMON] = np.array(sorted(self.features.common), dtype=np.uint32)
        if self.features.vocabulary is not None:
            held[VOCABULARY] = self.features.vocabulary.packed()
        if self.features.reads:
            held[BARE] = np.array([self.features.reads], dtype=np.uint8)
        if self.features.mending is not None:
            held[WORDS] = self.features.mending.packed()
        if self.features.nested is not None:
            held[NESTED] = np.array([self.features.nested], dtype=np.uint32)
        if self.rewriter is not None:
            held |= self.rewriter.tensors()
        if self.decomposer is not None:
            held |= self.decomposer.tensors()
        # Where no n-gram speaks to a head, it has as many noughts as others have weights: they are not kept.
        with_grams = {_sees(name) for name, head in self._every().items() if head.linear.any()}
        for name, head in self._every().items():
            nought = not head.linear.any() and _sees(name) in with_grams
            held |= {f"{name}.dual": head.dual, f"{name}.linear": head.linear[:0] if nought else head.linear}
        for sees, shared in SHARED.items():
            alike = {name: head for name, head in self._every().items() if _sees(name) == sees}
            if alike:
                held[shared], rows = shared_rows([head.support for head in alike.values()])
                kind = np.uint16 if len(held[shared]) <= np.iinfo(np.uint16).max else np.uint32
                held |= {f"{name}.rows": row.astype(kind) for name, row in zip(alike, rows, strict=True)}
        return held

    def settings(self) -> dict[str, dict[str, Any]]:
        """Everything else, for the manifest."""
        return {name: _settings(head) for name, head in self._every().items()}

    def _every(self) -> dict[str, Head]:
        typed = {f"{TYPED}{name}": head for name, head in self.typed.items()}
        return {**self.heads, **self.looks, **typed, **self.sources}


def _settings(head: Head) -> dict[str, Any]:
    bias = {"bias": list(head.bias)} if head.bias else {}
    levels = {"together_below": head.below, "below": head.each_below}
    below = {name: value for name, value in levels.items() if value is not None}
    return {"labels": list(head.labels), "width": head.width, "scale": head.scale, **bias, **below}


def load_features(tensors: Mapping[str, np.ndarray], encoder: Encoder, linker: Linker) -> Features:
    """Features from what ``tensors()`` gave."""
    common = frozenset(tensors[COMMON].tolist()) if COMMON in tensors else None
    nested = int(tensors[NESTED][0]) if NESTED in tensors else None
    vocabulary = Vocabulary.unpacked(tensors[VOCABULARY]) if VOCABULARY in tensors else None
    reads = int(tensors[BARE][0]) if BARE in tensors else AS_TYPED
    mending = Mending.unpacked(tensors[WORDS], encoder.knows_whole) if WORDS in tensors else None
    return Features(encoder, linker, tensors[IDF], common, nested, vocabulary, reads, mending)


def load_heads(
    tensors: Mapping[str, np.ndarray],
    settings: Mapping[str, Mapping[str, Any]],
    features: Features,
    joint: Joint | None = None,
    greetings: Greetings = NO_GREETINGS,
) -> Heads:
    """Heads from what ``tensors()`` and ``settings()`` gave; ``features`` must be those of ``load_features``."""
    heads = {
        name: Head(
            name=name,
            labels=tuple(s["labels"]),
            support=_support(tensors, name),
            dual=_by_label(tensors[f"{name}.dual"], s["labels"]),
            linear=_linear(tensors, name, s["labels"]),
            width=float(s["width"]),
            scale=float(s["scale"]),
            bias=tuple(s.get("bias", ())),
            below=s.get("together_below"),
            each_below=s.get("below"),
        )
        for name, s in settings.items()
    }
    return Heads(heads, features, joint, greetings, load_rewriter(tensors), load_decomposer(tensors, features.encoder))


def _support(tensors: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """A head's support vectors: rows of those that are shared, or its own in programs of before."""
    if (own := tensors.get(f"{name}.support")) is not None:
        return own
    shared, rows = tensors[SHARED[_sees(name)]], tensors[f"{name}.rows"]
    return shared if np.array_equal(rows, np.arange(len(shared))) else shared[rows]


def _linear(tensors: Mapping[str, np.ndarray], name: str, labels: Sequence[str]) -> np.ndarray:
    """A head's weights of n-grams: noughts where none were kept, as many as the other heads have that see the same."""
    found = _by_label(tensors[f"{name}.linear"], labels)
    if len(found):
        return found
    others = (key.removesuffix(".linear") for key in tensors if key.endswith(".linear"))
    columns = max(len(tensors[f"{other}.linear"]) for other in others if _sees(other) == _sees(name))
    return np.zeros((columns, found.shape[1]), dtype=found.dtype)


def _by_label(given: np.ndarray, labels: Sequence[str]) -> np.ndarray:
    """As a head holds it; programs of before had a column for the first label, too."""
    return against_first(given) if given.shape[1] == len(labels) else given


def _sees(name: str) -> str:
    if name.startswith(SOURCE):
        return "source"
    return "turn" if name == "is_follow_up" else "query"


def with_cues(seen: Seen, cues: np.ndarray) -> Seen:
    """What is seen of a query, with the cues of a card beside it."""
    return seen._replace(dense=np.concatenate([seen.dense, cues]).astype(np.float32))


def _answers(panel: Panel, seen: Seen) -> dict[str, HeadAnswer]:
    return _named(panel.heads, panel.probabilities(seen))


def _named(heads: Sequence[Head], given: Sequence[list[float]]) -> dict[str, HeadAnswer]:
    return {
        head.name: HeadAnswer(head.labels[row.index(max(row))], dict(zip(head.labels, row, strict=True)))
        for head, row in zip(heads, given, strict=True)
    }
