"""Samples of MetaQA questions to learn from and to measure on, drawn once by seed, with their ids written down.

The ids are in ``eval/samples``; the questions are read from where ``QUERYPLAN_BENCHMARKS`` points. Templates repeat
inside a question type, so samples are stratified by type, and whole types can be held out instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from random import Random

from ...data.converters.sources import file_records, resolve_path
from ...errors import DataError
from ...signatures.types import Frozen
from .scores import GraphQuestion

SAMPLES = Path(__file__).parents[1] / "samples"
SEED = 20261122
HOPS = (1, 2, 3)
LEARNED = 400
SURE = 100
"""Labelled questions for calibrating certainty; with the ``LEARNED`` ones for learning plans they are 500."""
MEASURED = 150
FOLDS = 5


class PublicQuestion(Frozen):
    """A question of MetaQA.

    Attributes:
        qtype: its type in MetaQA, such as ``actor_to_movie_to_year``.
        answers: MetaQA's, without the topic entity.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    hops: int
    qtype: str

    @property
    def stratum(self) -> tuple[int, str]:
        """The number of hops and the type, by which samples are stratified."""
        return self.hops, self.qtype

    def question(self, kind: str) -> GraphQuestion:
        """This as a question to score, reported under ``kind``."""
        return GraphQuestion(id=self.id, text=self.text, answers=self.answers, kind=kind)


def metaqa_questions(source: Path | str | None = None, hops: Sequence[int] = HOPS) -> tuple[PublicQuestion, ...]:
    """Every dev question with these numbers of hops, in the order of the files.

    Args:
        source: the folder with the files; the local copy of the benchmarks if not given.

    Raises:
        DataError: the folder or a file of it is not there or cannot be read.
    """
    folder = resolve_path(source, "metaqa")
    return tuple(question for hop in hops for question in _of_hops(folder, hop))


def _of_hops(folder: Path, hops: int) -> Iterable[PublicQuestion]:
    files = sorted(folder.glob(f"{hops}hop_dev.jsonl*"))
    if not files:
        raise DataError(f"the folder {folder.name} has no {hops}hop_dev.jsonl, plain or gzipped")
    for record in file_records(files[0]):
        yield PublicQuestion(
            id=record.text("id"),
            text=record.text("question"),
            answers=tuple(record.list("answers")),
            hops=hops,
            qtype=record.text("qtype"),
        )


def stratified(
    questions: Sequence[PublicQuestion],
    count: int,
    seed: int = SEED,
    key: Callable[[PublicQuestion], Hashable] = lambda question: question.stratum,
) -> tuple[PublicQuestion, ...]:
    """``count`` of the questions, every stratum by its share (largest remainders), in the order given.

    The draw depends on ids alone, not on the order of the questions.
    """
    groups: dict[Hashable, list[PublicQuestion]] = defaultdict(list)
    for question in sorted(questions, key=lambda q: q.id):
        groups[key(question)].append(question)
    drawn = Random(seed)
    for group in groups.values():
        drawn.shuffle(group)
    shares = _shares([len(group) for group in groups.values()], min(count, len(questions)))
    chosen = {q.id for group, share in zip(groups.values(), shares, strict=True) for q in group[:share]}
    return tuple(q for q in questions if q.id in chosen)


def _shares(sizes: Sequence[int], count: int) -> list[int]:
    """Whole numbers that add up to ``count``, as near as can be to the sizes' shares."""
    if not sizes:
        return []
    exact = [count * size / sum(sizes) for size in sizes]
    shares = [int(value) for value in exact]
    order = sorted(range(len(sizes)), key=lambda i: (shares[i] - exact[i], i))
    for i in order[: count - sum(shares)]:
        shares[i] += 1
    return shares


class MetaQaSamples(Frozen):
    """Ids of the sampled questions.

    Attributes:
        learned: those that plans are learned from.
        sure: those that certainty is calibrated on.
        measured: those to measure on, by number of hops.
        types: those to measure on, out of all questions, while the type of each is held out.
    """

    learned: tuple[str, ...]
    sure: tuple[str, ...]
    measured: dict[int, tuple[str, ...]]
    types: tuple[str, ...]


def draw_samples(questions: Sequence[PublicQuestion], seed: int = SEED) -> MetaQaSamples:
    """Draw the samples anew, as those in ``eval/samples`` were drawn.

    None of ``learned`` or ``sure`` is in ``measured``. ``types`` is drawn on its own, from all questions.
    """
    taught = stratified(questions, LEARNED + SURE, seed)
    sure = stratified(taught, SURE, seed + 1)
    used = {q.id for q in taught}
    kept = {q.id for q in sure}
    rest = [q for q in questions if q.id not in used]
    measured = {hops: [q for q in rest if q.hops == hops] for hops in HOPS}
    return MetaQaSamples(
        learned=tuple(q.id for q in taught if q.id not in kept),
        sure=tuple(q.id for q in sure),
        measured={hops: tuple(q.id for q in stratified(some, MEASURED, seed)) for hops, some in measured.items()},
        types=tuple(q.id for q in stratified(questions, MEASURED, seed + 2)),
    )


def load_samples(folder: Path = SAMPLES) -> MetaQaSamples:
    """The ids that were written down.

    Raises:
        DataError: they are not there; an installed package has none, a checkout does.
    """
    return MetaQaSamples(
        learned=_ids(folder / "metaqa-learned.txt"),
        sure=_ids(folder / "metaqa-sure.txt"),
        measured={hops: _ids(folder / f"metaqa-{hops}.txt") for hops in HOPS},
        types=_ids(folder / "metaqa-types.txt"),
    )


def write_samples(samples: MetaQaSamples, folder: Path = SAMPLES) -> None:
    """Write the ids down, one a line."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {"learned": samples.learned, "sure": samples.sure, "types": samples.types}
    files |= {str(hops): ids for hops, ids in samples.measured.items()}
    for name, ids in files.items():
        (folder / f"metaqa-{name}.txt").write_text("".join(f"{one}\n" for one in ids), encoding="utf-8")


def _ids(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        raise DataError(f"{path.name} is not there: the samples of questions are in a checkout, not in the package")
    return tuple(path.read_text(encoding="utf-8").split())


def type_folds(questions: Sequence[PublicQuestion], folds: int = FOLDS, seed: int = SEED) -> list[frozenset[str]]:
    """The question types (as ``HOPS:TYPE``) in ``folds`` parts, those of each number of hops spread evenly.

    Fold by fold the types of one part are held out: no question of theirs is learned from.
    """
    parts: list[set[str]] = [set() for _ in range(folds)]
    place = 0
    for hops in sorted({q.hops for q in questions}):
        types = sorted({q.qtype for q in questions if q.hops == hops})
        Random(f"{seed} {hops}").shuffle(types)
        for qtype in types:
            parts[place % folds].add(f"{hops}:{qtype}")
            place += 1
    return [frozenset(part) for part in parts]


def held_out(
    questions: Sequence[PublicQuestion], part: frozenset[str], count: int = LEARNED + SURE, seed: int = SEED
) -> tuple[tuple[PublicQuestion, ...], tuple[PublicQuestion, ...]]:
    """A sample of ``count`` questions of other types to learn from, and every question of the held-out types."""
    seen = [q for q in questions if f"{q.hops}:{q.qtype}" not in part]
    unseen = tuple(q for q in questions if f"{q.hops}:{q.qtype}" in part)
    return stratified(seen, count, seed), unseen
