"""Learns how MiniLM is adapted (``program/heads/adapter.py``) from the labelled queries of all shipped domains.

One model learns every label at once, with a linear head for each (Caruana, "Multitask learning", 1997): of a query that
stands alone complexity, intent, whether it needs decomposing, and for each domain whether it is ours and which kinds of
information it wants; of a later turn as typed the first three and whether it is a follow-up. The heads are thrown away.
Only rows of ``train`` teach. What an adapter is worth is measured on conversations that are held out of its learning
(``accuracy``), and by programs that are compiled with it (docs/heads.md).

Learning takes half an hour on one core, and needs the extra ``adapt``. Running an adapted model needs neither.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors.numpy import save

from ..data.card import lending_folders
from ..data.disk import write_whole
from ..data.domain import Domain, load_domain
from ..data.fingerprints import bytes_fingerprint
from ..data.rows import LabelledRow
from ..errors import ConfigError
from ..program.heads.adapter import CHANGES
from ..program.heads.encoder import default_encoder
from ..program.heads.joint import COMPLEXITY_OUTPUTS
from ..program.heads.learning import LABELS, as_typed
from ..program.heads.minilm import MiniLm, minilm_encoder
from ..program.heads.training import features_from
from ..program.retrieval.sources.planning import MIN_CONFIDENCE

if TYPE_CHECKING:
    from torch import Tensor  # type: ignore[import-not-found]

    from .sentence_model import Sentences

RANK, ROUNDS, TOGETHER = 8, 3, 64
"""Of queries that were held out, complexity, intent and decomposition are together right for 0.768 (the mean of four
shipped domains' and of two of ``eval/sets/new-domains``) after one round through the rows, 0.807 after two and 0.814
after three. With changes of biases and scales alone, a twelfth as many numbers, it is 0.700 after one round."""
LONGEST = 64
"""The most tokens that are read of a text."""
RATE, RATE_OF_HEADS, DECAY, WARMING, LARGEST = 1e-3, 2e-3, 0.01, 0.06, 1.0
WEIGHTS = {"kinds": 0.14}
"""The weight of a task in the loss, by its first word; one for all others. There are five kinds, which count as one."""
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Example:
    """A text, and the label of each task that it teaches.

    Attributes:
        tokens: the numbers of its tokens.
        labels: the label of each task, by the task's name.
        domain: the name of the domain that it is from.
        held_out: whether it measures and does not teach.
    """

    tokens: tuple[int, ...]
    labels: Mapping[str, str]
    domain: str
    held_out: bool = False


def adapt_minilm(
    path: Path, *, held_out: float = 0.0, rounds: int = ROUNDS, seed: int = 0, report: Report | None = None
) -> dict[str, float]:
    """Learn an adapter and write it to a file; PyTorch works with one thread from then on.

    Args:
        path: the file, which is replaced when everything is learned.
        held_out: the share of each domain's conversations that measure and do not teach, below one.
        rounds: how often every row is learned from, at least once.
        seed: seed of the changes' first values and of the order of rows.
        report: called with the number of steps that were made, and of all.

    Returns:
        ``accuracy`` on what was held out, by domain.

    Raises:
        ConfigError: the extra ``adapt`` or ``minilm`` is not installed, the file cannot be written, an argument makes
            no sense, or learning went wrong.
    """
    try:
        import torch  # type: ignore[import-not-found]
    except ImportError as error:
        raise ConfigError("adapting MiniLM needs PyTorch; run: pip install 'queryplan[adapt]'") from error
    if rounds < 1 or not 0 <= held_out < 1:
        raise ConfigError("give at least one round, and hold out a share of at least 0 and below 1")
    _write(path, b"")  # half an hour later would be late to learn that it cannot be written
    from .sentence_model import Sentences

    encoder = minilm_encoder()
    model = encoder.weights()
    domains = (load_domain(folder, splits=("train",)) for folder in lending_folders())
    examples = [one for domain in domains for one in examples_of(domain, encoder, held_out)]
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    sentences = Sentences(model, RANK)
    heads = _learned(sentences, [one for one in examples if not one.held_out], rounds, seed, report)
    changes = sentences.changes()
    if not all(np.isfinite(values).all() for values in changes.values()):
        raise ConfigError("learning went astray: changes are not finite; nothing was written")
    _write(path, save(changes, metadata={CHANGES: bytes_fingerprint(model)}))
    return accuracy(sentences, heads, [one for one in examples if one.held_out])


def _write(path: Path, content: bytes) -> None:
    """Write a file whole; without content only see whether that could be done."""
    trial = path.with_name(f"{path.name}.trial")
    try:
        if path.is_dir():
            raise IsADirectoryError
        write_whole(path if content else trial, content)
        trial.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be written ({type(error).__name__}); give another --out") from error


def examples_of(domain: Domain, encoder: MiniLm, held_out: float = 0.0) -> list[Example]:
    """The examples that the training rows of a domain are.

    Args:
        held_out: the share of its conversations that do not teach.
    """
    rows = domain.rows("train")
    features = features_from(rows, domain.card, default_encoder())
    names = sorted({row.conversation for row in rows})
    random.Random(1).shuffle(names)
    measures = frozenset(names[: round(held_out * len(names))])
    kinds = tuple(rule.type for rule in domain.card.source_intents)
    found = []
    for row in rows:
        pair = [(alone_labels(row, domain.card.name, kinds), features.read_texts(row.labels.standalone_query)[0])]
        if row.history:
            typed = as_typed(row, domain.card).labels.standalone_query
            pair.append((typed_labels(row), features.read_texts(typed)[1]))
        found += [
            Example(_cut(encoder.tokens(text)), labels, domain.card.name, row.conversation in measures)
            for labels, text in pair
        ]
    return found


def _cut(tokens: Sequence[int]) -> tuple[int, ...]:
    """Tokens without those in excess before the last one, which ends a text."""
    return tuple(tokens) if len(tokens) <= LONGEST else (*tokens[: LONGEST - 1], tokens[-1])


def alone_labels(row: LabelledRow, domain: str, kinds: Sequence[str]) -> dict[str, str]:
    """The labels of a row's standalone form, by task.

    Args:
        kinds: the kinds of information of the domain's card.
    """
    labels = {f"relevance {domain}": str(row.labels.is_relevant), **_alike(row)}
    if row.gold is not None and row.gold.source_intents:
        wanted = {one.type for one in row.gold.source_intents if one.confidence >= MIN_CONFIDENCE}
        labels |= {f"kinds {domain} {kind}": str(kind in wanted) for kind in kinds}
    return labels


def typed_labels(row: LabelledRow) -> dict[str, str]:
    """The labels of a later turn as typed, by task."""
    alike = {f"typed {name}": label for name, label in _alike(row).items()}
    return {"typed is_follow_up": str(row.labels.is_follow_up), **alike}


def accuracy(
    sentences: Sentences, heads: Mapping[str, tuple[Any, Sequence[str]]], examples: Sequence[Example]
) -> dict[str, float]:
    """For each domain, the share of queries of ours, standing alone, whose ``COMPLEXITY_OUTPUTS`` are all right.

    Args:
        heads: for each task its linear head, and its labels.
        examples: those that did not teach.
    """
    import torch  # type: ignore[import-not-found]

    right, asked = Counter[str](), Counter[str]()
    judged = [one for one in examples if all(name in one.labels for name in COMPLEXITY_OUTPUTS)]
    sentences.eval()
    with torch.no_grad():
        for start in range(0, len(judged), TOGETHER):
            some = judged[start : start + TOGETHER]
            vectors = sentences(*_padded(some))
            given = {name: heads[name][0](vectors).argmax(1).tolist() for name in COMPLEXITY_OUTPUTS}
            for place, one in enumerate(some):
                asked[one.domain] += 1
                right[one.domain] += all(
                    heads[name][1][given[name][place]] == one.labels[name] for name in COMPLEXITY_OUTPUTS
                )
    return {domain: right[domain] / count for domain, count in asked.items()}


def _alike(row: LabelledRow) -> dict[str, str]:
    """The labels that are alike in every domain; a query that is not ours has none."""
    return {name: label for name in COMPLEXITY_OUTPUTS if (label := LABELS[name](row)) is not None}


def _learned(
    sentences: Sentences, examples: Sequence[Example], rounds: int, seed: int, report: Report | None
) -> dict[str, tuple[Any, Sequence[str]]]:
    """The linear head and the labels of each task, learned together with the changes of the model."""
    import torch  # type: ignore[import-not-found]

    labels: dict[str, list[str]] = {}
    for one in examples:
        for task, label in one.labels.items():
            labels.setdefault(task, []).append(label)
    known = {task: sorted(set(given)) for task, given in labels.items()}
    heads = torch.nn.ModuleDict({str(n): torch.nn.Linear(384, len(of)) for n, of in enumerate(known.values())})
    by_task = {task: heads[str(n)] for n, task in enumerate(known)}
    changes = list(sentences.parameters())
    groups = [{"params": changes, "lr": RATE}, {"params": list(heads.parameters()), "lr": RATE_OF_HEADS}]
    learner = torch.optim.AdamW(groups, weight_decay=DECAY)
    order = random.Random(seed)
    batches = [batch for _ in range(rounds) for batch in _batches(examples, order)]
    pace = torch.optim.lr_scheduler.LambdaLR(learner, lambda step: _pace(step, len(batches)))
    sentences.train()
    for done, batch in enumerate(batches, 1):
        loss = _loss(sentences(*_padded(batch)), batch, by_task, known)
        learner.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(changes, LARGEST)
        learner.step()
        pace.step()
        if report is not None:
            report(done, len(batches))
    return {task: (by_task[task], known[task]) for task in known}


def _loss(
    vectors: Tensor, batch: Sequence[Example], heads: Mapping[str, Any], known: Mapping[str, Sequence[str]]
) -> Tensor:
    """The sum of the tasks' cross-entropies, for each example of the batch."""
    import torch  # type: ignore[import-not-found]

    total = torch.zeros(())
    places: dict[str, list[int]] = {}
    for place, one in enumerate(batch):
        for task in one.labels:
            places.setdefault(task, []).append(place)
    for task, of_task in places.items():
        target = torch.tensor([known[task].index(batch[place].labels[task]) for place in of_task])
        said = torch.nn.functional.cross_entropy(heads[task](vectors[of_task]), target, reduction="sum")
        total = total + WEIGHTS.get(task.split()[0], 1.0) * said
    return total / len(batch)


def _pace(step: int, steps: int) -> float:
    """The factor of the learning rate: it rises at first, and then falls."""
    return min(1.0, (step + 1) / (WARMING * steps)) * max(0.02, 1 - step / steps)


def _batches(examples: Sequence[Example], order: random.Random) -> Iterator[list[Example]]:
    """All examples in a random order, those of a batch of about the same length."""
    mixed = order.sample(list(examples), len(examples))
    some = 20 * TOGETHER
    batches = []
    for start in range(0, len(mixed), some):
        alike = sorted(mixed[start : start + some], key=lambda one: len(one.tokens))
        batches += [alike[at : at + TOGETHER] for at in range(0, len(alike), TOGETHER)]
    yield from order.sample(batches, len(batches))


def _padded(batch: Sequence[Example]) -> tuple[Tensor, Tensor]:
    """The tokens of a batch and where they are, each of shape (texts, length)."""
    import torch  # type: ignore[import-not-found]

    tokens = np.zeros((len(batch), max(len(one.tokens) for one in batch)), dtype=np.int64)
    there = np.zeros(tokens.shape, dtype=np.float32)
    for row, mask, one in zip(tokens, there, batch, strict=True):
        row[: len(one.tokens)], mask[: len(one.tokens)] = one.tokens, 1
    return torch.from_numpy(tokens), torch.from_numpy(there)
