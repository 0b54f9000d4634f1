"""Compares graph plans made with a language model to Cypher by the same model, on the same questions in the same run.

Both are shown the schema in the same words, the same demonstrations' questions (with gold steps, or gold in Cypher),
and the names of the graph that were found in the question. Cypher is judged kindly: any column that equals the answer
counts. What does not run is wrong, and what looks like a change is refused, not run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random
from typing import Any

import dspy

from ...data.graph_lessons import load_lessons
from ...program.asking import Ask, Clock, send_round
from ...program.graph.asking.steps import Name, WrittenPlan, ask_steps, new_steps_predictor, with_names
from ...program.graph.check import check_graph_plan
from ...program.graph.executor import execute_graph
from ...program.graph.executors.ladybug import LadybugGraph
from ...program.graph.planner import GraphPlanner
from ...program.lm.endpoint import LMHandle
from ...signatures.graph_steps import AnchorStep, GraphPlan, GraphSchema
from ...signatures.plan_graph_steps import written
from ...signatures.types import Frozen
from ...signatures.write_cypher import write_cypher
from ..significance import PairedDifference, paired_difference
from ..statistics import Estimate, clustered_interval
from .cypher import best_column, plan_as_cypher, run_cypher
from .metrics import set_f1
from .scores import ALL, GraphQuestion, kind_of
from .sets import GraphSet

DEMONSTRATIONS = 6
"""How many examples the prompt has. With six, that of a graph with fifteen edge types takes two thirds of a server's
slot of 3,072 tokens."""
MAX_TOKENS = 200
STEPS_TOKENS = 160
"""The most tokens of a written plan. The longest demonstration has 120; a small model that writes more than this
repeats itself."""
RANKING, STEPS, TOGETHER, CYPHER = "ranking alone", "steps by the model", "ranking and model", "Cypher by the model"


class Attempt(Frozen):
    """How one question was answered in each way.

    Attributes:
        right, f1: by way of answering: ``ranking alone``, ``ranking and model``, ``Cypher by the model``, and, only
            where the model was asked for steps, ``steps by the model``.
        decided_by: whether the plan of ``ranking and model`` is the ranking's or the model's.
        certainty: the probability that the ranking gives its plan.
        asked: whether the model was asked for steps.
        restated: whether it was asked to rephrase the question.
        problem: why the model's steps were no plan.
        error: why its Cypher returned nothing.
        refused: ill-typed plans that the model wrote; none was run.
        ill_typed: ill-typed plans that were about to be run.
    """

    id: str
    kind: str
    right: dict[str, bool]
    f1: dict[str, float]
    decided_by: str
    certainty: float
    asked: bool
    restated: bool = False
    problem: str = ""
    error: str = ""
    cypher: str = ""
    refused: int = 0
    ill_typed: int = 0
    cluster: str = ""


class Beside(Frozen):
    """The results of one model on one set of questions.

    Attributes:
        right, f1: means by way of answering, over all questions; for ``steps by the model`` over those on which it
            was asked for steps.
        more: share right of ``ranking and model`` minus that of Cypher, on the same questions.
        gained: share right of ``ranking and model`` minus that of the ranking alone.
    """

    name: str
    model: str
    attempts: tuple[Attempt, ...]
    right: dict[str, Estimate]
    f1: dict[str, Estimate]
    more: PairedDifference
    gained: PairedDifference
    cypher_errors: int
    refused: int
    ill_typed: int
    asked: int
    restated: int = 0

    def sentences(self) -> list[str]:
        """Paired differences and counts that the table leaves out, as lines of text."""
        return [
            f"more right answers than Cypher by the same model: {_interval(self.more)}",
            f"more than the ranking alone: {_interval(self.gained)}",
            f"the model said {self.restated} questions again and was asked for steps {self.asked} times; "
            f"{self.refused} of its plans were refused by the check, {self.ill_typed} ill-typed ones reached an "
            f"executor; {self.cypher_errors} Cypher queries did not run",
        ]

    def rows(self) -> list[dict[str, Any]]:
        """A table with one row per way of answering."""
        return [
            {
                "set": self.name,
                "by": name,
                "n": estimate.n,
                "right": round(estimate.value, 4),
                "low": round(estimate.low, 4),
                "high": round(estimate.high, 4),
                "f1": round(self.f1[name].value, 4),
            }
            for name, estimate in self.right.items()
        ]


def _interval(found: PairedDifference) -> str:
    value = found.difference
    return f"{value.value:+.3f} ({value.low:+.3f} to {value.high:+.3f}, p {found.p_value:.2g}, n {value.n})"


class Rivals:
    """The planner with a model, and the same model asked for Cypher."""

    def __init__(self, measured: GraphSet, database: LadybugGraph, lm: LMHandle, ask_all: bool = False) -> None:
        """Rivals on one set.

        Args:
            ask_all: ask the model for steps even where the ranking is certain enough to answer.
        """
        self.set, self.database, self.lm, self.ask_all = measured, database, lm, ask_all
        schema = measured.graph.schema
        demos = demonstrations(measured)
        self.steps = new_steps_predictor(schema)
        self.steps.config["max_tokens"] = STEPS_TOKENS
        self.steps.demos = [dspy.Example(query=query, steps=written(plan)) for query, plan, _ in demos]
        self.cypher = dspy.Predict(write_cypher(schema), max_tokens=MAX_TOKENS)
        self.cypher.demos = [
            dspy.Example(query=query, cypher=plan_as_cypher(plan, known)) for query, plan, known in demos
        ]

    def attempt(self, question: GraphQuestion) -> Attempt:
        """Answer one question in every way."""
        planner: GraphPlanner = self.set.planner
        ranked = planner.ranked(question.text)
        names = [(e.name, e.type) for e in ranked.entities if e.how != "unknown"]
        both = ranked if planner.is_sure(ranked) else planner.again(question.text, ranked, self.lm)
        wanting = both is ranked and not ranked.likeliest
        asked = self.ask_all or wanting
        wrote = WrittenPlan(None)
        if asked:
            wrote = ask_steps(question.text, planner.schema, self.lm, self.steps, names=names)
        together = replace(both, plan=wrote.plan, decided_by="lm") if wanting and wrote.plan is not None else both
        found = {
            RANKING: self._run(ranked.plan),
            **({STEPS: self._run(wrote.plan)} if asked else {}),
            TOGETHER: self._run(together.plan),
        }
        gold = frozenset(question.answers)
        text, failed = self._cypher(question.text, names)
        answer = run_cypher(text, self.database)
        found[CYPHER] = best_column(answer, gold)
        error = failed or answer.error
        right = {name: values == gold for name, values in found.items()}
        plans = [plan for plan in (ranked.plan, wrote.plan, together.plan) if plan is not None]
        return Attempt(
            id=question.id,
            kind=question.kind,
            cluster=question.cluster or question.id,
            right={**right, CYPHER: right[CYPHER] and not error},
            f1={name: set_f1(gold, values) for name, values in found.items()},
            decided_by=together.decided_by,
            certainty=ranked.confidence,
            asked=asked,
            restated=both is not ranked,
            problem=wrote.problem,
            error=error,
            cypher=text,
            refused=len(wrote.refused),
            ill_typed=sum(bool(check_graph_plan(plan, planner.schema)) for plan in plans),
        )

    def _run(self, plan: GraphPlan | None) -> frozenset[str]:
        return frozenset() if plan is None else frozenset(execute_graph(plan, self.set.graph).names)

    def _cypher(self, query: str, names: Sequence[Name]) -> tuple[str, str]:
        """The Cypher that the model wrote and the error of the request; either is empty if there is none."""
        ask = Ask("graph", self.cypher, {"query": with_names(query, names)}, False)
        with ThreadPoolExecutor(1) as pool:
            reply = send_round([ask], self.lm, Clock(None), pool)["graph"]
        return (str(getattr(reply.prediction, "cypher", "") or ""), reply.error or "")


def demonstrations(measured: GraphSet) -> list[tuple[str, GraphPlan, GraphSchema]]:
    """Labelled questions that both rivals are shown, one of each kind and six at most, with their plans and schemas.

    For a set without labels they are the shipped lessons on other schemas, which teach the form.
    """
    schema = measured.graph.schema
    if measured.taught:
        of_rows = ((r.labels.standalone_query, r.gold.graph_plan) for r in measured.taught if r.gold is not None)
        known = [(text, plan, schema) for text, plan in of_rows if plan is not None]
    else:
        known = [(q.text, q.plan, le.schema) for le in load_lessons() for q in le.questions if q.plan is not None]
    Random(0).shuffle(known)
    chosen: dict[str, tuple[str, GraphPlan, GraphSchema]] = {}
    for text, plan, own in known:
        fits = not check_graph_plan(plan, own) and written(plan) is not None and plan_as_cypher(plan, own) is not None
        if fits:
            names = [(s.node.name, s.node.type) for s in plan.steps if isinstance(s, AnchorStep)]
            chosen.setdefault(kind_of(plan), (with_names(text, names), plan, own))
    return [chosen[kind] for kind in sorted(chosen)][:DEMONSTRATIONS]


def measure_beside(
    measured: GraphSet,
    database: LadybugGraph,
    lm: LMHandle,
    ask_all: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Beside:
    """Answer every question of a set in every way."""
    rivals = Rivals(measured, database, lm, ask_all)
    attempts = []
    for done, question in enumerate(measured.questions, 1):
        attempts.append(rivals.attempt(question))
        if progress is not None:
            progress(done, len(measured.questions))
    return summed_up(measured.name, lm.name, attempts)


def summed_up(name: str, model: str, attempts: Sequence[Attempt]) -> Beside:
    """The means and paired differences over some attempts."""

    def estimate(by: str, what: str) -> Estimate | None:
        some = [a for a in attempts if by in a.right]
        values = [getattr(a, what)[by] for a in some]
        return clustered_interval(values, [a.cluster or a.id for a in some]) if some else None

    def less(by: str) -> PairedDifference:
        ids = [a.cluster or a.id for a in attempts]
        return paired_difference([a.right[TOGETHER] for a in attempts], [a.right[by] for a in attempts], ids)

    who = (RANKING, STEPS, TOGETHER, CYPHER)
    right, f1 = ({by: e for by in who if (e := estimate(by, what)) is not None} for what in ("right", "f1"))
    return Beside(
        name=name,
        model=model,
        attempts=tuple(attempts),
        right=right,
        f1=f1,
        more=less(CYPHER),
        gained=less(RANKING),
        cypher_errors=sum(bool(a.error) for a in attempts),
        refused=sum(a.refused for a in attempts),
        ill_typed=sum(a.ill_typed for a in attempts),
        asked=sum(a.asked for a in attempts),
        restated=sum(a.restated for a in attempts),
    )


__all__ = ["ALL", "Attempt", "Beside", "Rivals", "demonstrations", "measure_beside", "summed_up"]
