"""What a graph planner learns, and from where: the labelled questions of the shipped domains, and its domain's own.

What carries over to any schema is learned once from the lessons and the shipped rows with graph plans, in some
minutes, and kept for the user under a name made of their fingerprint. The weights by which complete plans are
compared are shipped (see ``choice.py``). A domain's own rows add its edges.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np
from pydantic import ValidationError
from threadpoolctl import threadpool_limits

from ....data.card import CARD_FILE, DomainCard, domain_folder, load_card, shipped_domains
from ....data.disk import user_cache
from ....data.domain import EVIDENCE_FILE
from ....data.element_words import PLANS_FILE, WORDS_FILE
from ....data.fingerprints import text_fingerprint
from ....data.graph_lessons import LESSONS, Lesson, load_lessons
from ....data.other_words import NAMES_FILE
from ....data.rows import LabelledRow, read_rows
from ....errors import DataError, ProgramError
from ....signatures.graph_steps import GraphPlan, GraphSchema, OrderStep
from ...heads.encoder import Encoder, default_encoder
from ...waiting import tell
from ..check import answer_type
from ..executor import GraphExecutor
from ..executors.memory import MemoryGraph, load_graph
from ..names.linking import NameIndex
from ..question.words import name_words, words_of
from ..ranking.answering import Answerer, Found, Probe, sure_features
from ..ranking.choosing import LEARNED, starting_choice
from ..ranking.paths import PathTable
from ..ranking.ranking import Ranker
from ..values import Values, values_of
from .fit_endings import cases_of_all, fit_endings
from .fit_names import fit_logistic
from .fit_ranking import fit_domain, fit_shared, related
from .gold import means_the_same
from .labelled import Labelled, Question, Source, common_words, some_of
from .store import SURE, Learned, keep, kept

KEPT = Path(".queryplan/heads")
RECIPE = "18"
"""Changes whenever the same rows would teach something else, so that what was kept is learned anew."""
DOMAIN_RECIPE = "1"
"""The same for what a domain's own rows teach on top of that."""
DOMAIN_HOLD = 0.5
"""The strength that holds a domain's endings to the shared ones. Of 551 ``biomedical`` questions that taught nothing,
424 were right with this, 423 with half of it, 417 with twice as much and 416 with four times."""
LEARNING_SHARED = (
    "learning from the shipped questions how to plan on any graph, once for this user: three to eight minutes"
)
FAST, SLOW = 1100, 620
"""The number of a schema's questions that are learned from in a minute, on an idle core and on a busy one."""
MOST_NAMED = 5
ORDINARY = 0.75
"""The weight below which a word counts as frequent in the questions of every domain."""
SURE_BEFORE = {"bias": -1.0, "chance": 1.0, "margin": 1.0, "covered": 1.0}


def questions_of(rows: Sequence[LabelledRow]) -> tuple[Question, ...]:
    """The labelled questions among rows: those with a plan, and those the schema cannot say."""
    return tuple(
        Question(r.labels.standalone_query, r.gold.graph_plan, r.conversation)
        for r in rows
        if r.gold is not None and (r.gold.graph_plan is not None or not r.gold.expressible)
    )


def evidence_questions(folder: Path, rows: Sequence[LabelledRow]) -> tuple[Question, ...]:
    """The questions among these rows whose plans stand in ``evidence.jsonl``, beside the rows; none without that file.

    Raises:
        DataError: a line of it cannot be read; its number is named.
    """
    path = folder / EVIDENCE_FILE
    if not path.is_file():
        return ()
    texts = {row.id: row for row in rows}
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"), 1):
        try:
            said = json.loads(line)
            plan = GraphPlan.model_validate(said["graph_plan"]) if said.get("graph_plan") else None
        except (ValueError, ValidationError, AttributeError) as error:
            raise DataError(f"{EVIDENCE_FILE}:{number}: expected an object with an id, perhaps a graph_plan") from error
        if plan is not None and (row := texts.get(said.get("id"))) is not None:
            found.append(Question(row.labels.standalone_query, plan, row.conversation))
    return tuple(found)


def graph_values(schema: GraphSchema, graph: object) -> Values:
    """The values of properties: those a schema lists, and those of a graph in memory."""
    if not isinstance(graph, MemoryGraph):
        return values_of(schema)
    nodes = [(str(node["type"]), node) for node in graph.nodes.values()]
    return values_of(schema, [*nodes, *graph.edge_properties()])


def probe_of(executor: GraphExecutor) -> Probe | None:
    """The probe of a graph; None for one behind a network, where probing takes too long."""
    if not getattr(executor, "at_hand", True):
        return None
    finds = getattr(executor, "finds", None) or (lambda plan: bool(executor.run(plan, cap=1).names))
    most_joined = lru_cache(maxsize=None)(getattr(executor, "most_joined", lambda kind, edge: math.inf))

    def probe(plan: GraphPlan) -> bool:
        last = plan.steps[-1]
        if isinstance(last, OrderStep) and last.degree_of is not None:
            return most_joined(str(answer_type(plan, executor.schema)), last.degree_of) > 1 and finds(plan)
        return finds(plan)

    return probe


def index_of(graph: MemoryGraph, card: DomainCard | None) -> NameIndex:
    """The names of a graph, the card's other spellings of them, and the values that nodes may be found by."""
    values = named_values(graph_values(graph.schema, graph), graph.schema)
    return NameIndex(graph.names(), card.names if card is not None else (), values, graph.schema.words)


def card_index(card: DomainCard, schema: GraphSchema) -> NameIndex:
    """The names that a card lists and the values that its schema does, where no graph is at hand."""
    names = ((f"{one.type}::{one.name}", one.name, one.type) for one in card.names)
    return NameIndex(names, card.names, named_values(values_of(schema), schema), schema.words)


def named_values(values: Values, schema: GraphSchema) -> dict[tuple[str, str], tuple[str, ...]]:
    """The values by which nodes can be found, by type and property."""
    found = {(node.name, field) for node in schema.nodes for field in node.anchors}
    return {key: texts for key, texts in values.texts.items() if key in found}


def _ordinary_names(lesson: Lesson, common: Mapping[str, float]) -> list[tuple[str, str]]:
    """(Name, type) for some ordinary words of the questions, since large graphs have such names: a film called "It".

    A planner has to learn that these are rarely meant. They are one word in three, by its hash, of those that are
    frequent in every domain and those of the schema.
    """
    schema = lesson.schema
    of_schema = {word for kind in (*schema.nodes, *schema.edges) for word in name_words(kind.name)}
    words = sorted({word.text for question in lesson.questions for word in words_of(question.text)})
    ordinary = [w for w in words if common.get(w, 1.0) < ORDINARY or {w, w.removesuffix("s")} & of_schema]
    kinds = [node.name for node in schema.nodes]
    return [(w, kinds[crc32(w[::-1].encode()) % len(kinds)]) for w in ordinary if crc32(w.encode()) % 3 == 0]


def labelled_source(name: str, folder: Path, splits: Sequence[str] = ("train",)) -> tuple[Source, Values] | None:
    """A domain's labelled questions and graph, and its known values; None where it has no graph or no such question."""
    card = load_card(folder)
    if card.graph is None or not (folder / "graph").is_dir():
        return None
    rows = [
        row for split in splits if (folder / f"{split}.jsonl").is_file() for row in read_rows(folder / f"{split}.jsonl")
    ]
    questions = (*questions_of(rows), *evidence_questions(folder, rows))
    if not questions:
        return None
    graph = load_graph(folder, card.graph)
    return Source(name, card.graph, index_of(graph, card), questions), graph_values(card.graph, graph)


def shipped_sources() -> list[tuple[Source, Values]]:
    """The shipped domains with labelled graph questions, and the lessons."""
    found = [labelled_source(name, domain_folder(name)) for name in shipped_domains()]
    return [*(one for one in found if one is not None), *lesson_sources(shipped_common())]


def lesson_sources(common: Mapping[str, float]) -> list[tuple[Source, Values]]:
    """The lessons as labelled domains; the nodes of each are those that its plans name."""
    return [(source_of_lesson(lesson, common), values_of(lesson.schema)) for lesson in load_lessons()]


def source_of_lesson(lesson: Lesson, common: Mapping[str, float]) -> Source:
    """A lesson as a labelled domain, with some ordinary words as names beside its own."""
    names = [*lesson.names, *_ordinary_names(lesson, common)]
    values = named_values(values_of(lesson.schema), lesson.schema)
    index = NameIndex(((f"{kind}::{name}", name, kind) for name, kind in names), values=values)
    questions = tuple(Question(q.text, q.plan, f"{lesson.name}-{i}") for i, q in enumerate(lesson.questions))
    return Source(lesson.name, lesson.schema, index, questions, counted=False)


@lru_cache(maxsize=1)
def shipped_common() -> Mapping[str, float]:
    """The weight of each word (``common_words``), from the questions of every shipped domain."""
    texts = []
    for name in shipped_domains():
        rows = [row for row in read_rows(domain_folder(name) / "train.jsonl") if row.labels.is_relevant]
        texts.append([_without_names(row) for row in rows])
    return common_words(texts)


def _without_names(row: LabelledRow) -> str:
    text = row.labels.standalone_query
    for name in sorted(row.labels.entities, key=len, reverse=True):
        text = text.replace(name, " ")
    return text


def shared_fingerprint() -> str:
    """A hash of everything that the shared knowledge is learned from; labels of other splits do not change it."""
    weights = [line for line in LEARNED.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    parts = [RECIPE, "\n".join(weights), PLANS_FILE.read_text(encoding="utf-8")]
    for name in shipped_domains():
        folder = domain_folder(name)
        splits = [file for name in ("train", "calibrate") if (file := folder / f"{name}.jsonl").is_file()]
        card = [folder / name for name in (CARD_FILE, NAMES_FILE, WORDS_FILE)]
        files = [*splits, *card, *sorted((folder / "graph").glob("*"))]
        parts += [file.read_text(encoding="utf-8") for file in files if file.is_file()]
        rows = [row for file in splits for row in read_rows(file)]
        parts += [f"{q.text}\t{q.plan.model_dump_json() if q.plan else ''}" for q in evidence_questions(folder, rows)]
    parts += [file.read_text(encoding="utf-8") for file in sorted(LESSONS.glob("*.toml"))]
    return text_fingerprint(*parts)


def kept_shared() -> Path:
    """The folder of the shared knowledge: beside the weights of language models, for every project of this user."""
    return user_cache("graph")


@lru_cache(maxsize=4)
def shared_knowledge(kept_in: Path | None = None) -> Learned:
    """What carries over to any schema: read from disk, or learned now from the shipped rows and written there.

    Args:
        kept_in: a folder instead of ``kept_shared()``.

    Raises:
        DataError: the shipped rows cannot be read.
    """
    path = (kept_in or kept_shared()) / f"shared-{shared_fingerprint()}.safetensors"
    if (found := kept(path)) is not None:
        return found
    tell(LEARNING_SHARED)
    with threadpool_limits(1):
        learned = learn_shared(shipped_sources(), shipped_common(), default_encoder())
        return _keeping(with_certainty(learned, held_out_sources(), default_encoder()), path)


def domain_knowledge(schema: GraphSchema, own: Labelled | None = None, kept_in: Path = KEPT) -> Learned:
    """What is known of a schema: what carries over, and what labels say of its edges; from disk, or learned now.

    Args:
        own: the labelled questions of the schema's own domain.
        kept_in: the folder in which what is learned of this schema is kept.
    """
    shared = shared_knowledge()
    near = related(schema, [*([own[0]] if own else []), *(source for source, _ in shipped_sources())])
    if not near:
        return shared
    path = kept_in / f"graph-{near[0].name}-{_fingerprint(schema, near)}.safetensors"
    if (found := kept(path)) is not None:
        return found
    tell(_learning(near))
    with threadpool_limits(1):
        learned = learn_domain(shared, schema, own, shipped_sources(), default_encoder())
        held = [one for one in held_out_sources() if one[0].schema == schema]
        return _keeping(with_certainty(learned, held, default_encoder()), path)


def _learning(near: Sequence[Source]) -> str:
    """The announcement that a schema's own questions are learned from now, and how long that takes."""
    counts = {source.name: len(source.questions) for source in near}  # a shipped domain's own are among them twice
    count = sum(counts.values())
    least, most = count // FAST, -(-count // SLOW)
    time = "less than a minute" if most <= 1 else f"about {max(1, least)} to {most} minutes"
    return f"learning from {count:,} labelled questions of {', '.join(counts)}, once: {time}"


def _fingerprint(schema: GraphSchema, sources: Sequence[Source]) -> str:
    said = [f"{q.text}\t{q.plan.model_dump_json() if q.plan else ''}" for s in sources for q in s.questions]
    return text_fingerprint(shared_fingerprint(), DOMAIN_RECIPE, schema.model_dump_json(exclude_defaults=True), *said)


def _keeping(learned: Learned, path: Path) -> Learned:
    """What was learned, after writing it to disk; if that fails, with a note that says so."""
    try:
        keep(learned, path)
    except ProgramError as error:
        return replace(learned, notes=(*learned.notes, str(error)))
    return learned


def learn_shared(sources: Sequence[Labelled], common: Mapping[str, float], encoder: Encoder) -> Learned:
    """Learn what carries over from labelled domains: the rankings of paths and of endings."""
    paths = fit_shared([source for source, _ in sources], encoder, common)
    cases = cases_of_all(sources, paths, encoder, some_of)
    return Learned(paths, fit_endings(cases), starting_choice(), starting_sure(), notes=(_note(sources),))


def learn_domain(
    shared: Learned,
    schema: GraphSchema,
    own: Labelled | None,
    others: Sequence[Labelled],
    encoder: Encoder,
) -> Learned:
    """Add what labels say of a schema's edges: its own domain's, and those of others that have the same edges.

    Where no domain has an edge of the schema, ``shared`` is returned unchanged.
    """
    kinds = [*([own] if own else []), *(other for other in others if own is None or other[0].name != own[0].name)]
    near = related(schema, [source for source, _ in kinds])
    if not near:
        return shared
    used = [one for one in kinds if any(one[0] is source for source in near)]
    paths = fit_domain(shared.paths, schema, near, encoder)
    cases = cases_of_all(used, paths, encoder)
    ends = fit_endings(cases, shared.endings, DOMAIN_HOLD)
    return replace(shared, paths=paths, endings=ends, sure=starting_sure(), notes=(_note(used),))


def _note(sources: Sequence[Labelled]) -> str:
    counts = [f"{len(source.questions)} of {source.name}" for source, _ in sources]
    if len(counts) > MOST_NAMED:
        total = sum(len(source.questions) for source, _ in sources)
        counts = [f"{total} of {len(sources)} shipped schemas"]
    return f"plans are ranked by what was learned from labelled questions: {', '.join(counts)}"


def starting_sure() -> np.ndarray:
    """The weights of certainty before any label is seen, shape (len(SURE),)."""
    return np.array([SURE_BEFORE.get(name, 0.0) for name in SURE])


Right = Callable[[Found | None, Question], bool]


def same_plan(found: Found | None, question: Question) -> bool:
    """Whether a plan is the labelled one; for an unsayable question, whether there is none."""
    return means_the_same(None if found is None or found.none else found.plan, question.plan)


@dataclass(frozen=True)
class Judged:
    """Held-out questions as answered: the first plan's features, shape (n, len(SURE)), and if it was right, (n,)."""

    features: np.ndarray
    right: np.ndarray

    def certainty(self, sure: np.ndarray) -> np.ndarray:
        """The certainty that these weights give each first plan, 0 to 1, shape (n,)."""
        return 1 / (1 + np.exp(-(self.features @ sure)))


def judge(answerer: Answerer, questions: Sequence[Question], right: Right = same_plan) -> Judged:
    """Answer questions and judge the first plans; questions that get no plan at all are left out."""
    features, rights = [], []
    for question in questions:
        best = answerer.best(question.text, count=2)
        if best:
            features.append(sure_features(best[0], best[1].chance if len(best) > 1 else 0.0))
            rights.append(right(best[0], question))
    return Judged(np.array(features).reshape(-1, len(SURE)), np.array(rights, dtype=bool))


def fit_sure(judged: Judged) -> np.ndarray:
    """The logistic weights of "the first plan is right", shape (SURE,), regularised towards ``starting_sure``."""
    before = starting_sure()
    return fit_logistic(judged.features, judged.right, before, 1.0) if len(judged.right) else before


def held_out_sources() -> list[tuple[Source, Values]]:
    """The shipped domains' questions in ``calibrate``, which nothing else is learned from."""
    found = [labelled_source(name, domain_folder(name), ("calibrate",)) for name in shipped_domains()]
    return [one for one in found if one is not None]


def with_certainty(learned: Learned, held: Sequence[tuple[Source, Values]], encoder: Encoder) -> Learned:
    """What was learned, with the weights of certainty fitted on held-out questions."""
    judged = []
    for source, values in held:
        ranker = Ranker(PathTable(source.schema), encoder, learned.paths)
        judged.append(judge(Answerer(ranker, learned, source.index, values, encoder), source.questions))
    if not judged:
        return learned
    features, right = (np.concatenate([getattr(j, name) for j in judged]) for name in ("features", "right"))
    return replace(learned, sure=fit_sure(Judged(features, right)))
