"""Stores that hang, fail or come too late: what they leave out is named, and the others are used."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from queryplan.data.card import DomainCard
from queryplan.program.plan import QueryPlan, RetrievalStrategy
from queryplan.program.retrieval.calls import Limits
from queryplan.program.retrieval.execute import RunSettings, execute
from queryplan.program.retrieval.run_result import RunResult
from queryplan.program.retrieval.speaking import Speakers
from queryplan.program.retrieval.stores import Stores, open_stores
from queryplan.signatures.types import GraphPlan

from .running import Fake, kinds, plan_of, with_providers

# -- stores that do wrong ---------------------------------------------------------------------------


def test_a_provider_that_hangs_leaves_the_others(podcast: Stores, hang: Callable[..., Any]) -> None:
    start = time.perf_counter()
    result = execute(plan_of("the two-minute doorway"), with_providers(podcast, Fake(hang), podcast.providers[0]))
    assert time.perf_counter() - start < 5
    assert result.evidence
    assert "provider" in kinds(result)


def test_providers_that_all_fail_leave_gaps_and_the_graph(podcast: Stores) -> None:
    def fail(query: str) -> Any:
        raise OSError("disk")

    result = execute(plan_of("what of Dario", entities=("Dario",)), with_providers(podcast, Fake(fail)))
    assert result.evidence == ()
    assert result.facts
    assert {"provider", "coverage"} <= kinds(result)


@dataclass(eq=False)
class BrokenGraph:
    answer: Callable[[Any], Any]

    def run(self, plan: GraphPlan) -> Any:
        return self.answer(plan)


def test_a_graph_that_fails_leaves_the_texts(podcast: Stores) -> None:
    def fail(plan: Any) -> Any:
        raise TimeoutError("graph")

    result = execute(plan_of("Dario", entities=("Dario",)), replace(podcast, graph=BrokenGraph(fail)))
    assert result.evidence
    assert ("graph", "TimeoutError: graph") in {(gap.kind, gap.why) for gap in result.gaps}


def test_a_graph_that_hangs_does_not_hold_up_the_search(podcast: Stores, hang: Callable[..., Any]) -> None:
    quick = RunSettings(side=Limits(timeout_s=0.05))
    result = execute(plan_of("Dario", entities=("Dario",)), replace(podcast, graph=BrokenGraph(hang)), settings=quick)
    assert result.evidence
    assert "graph" in kinds(result)


def test_the_deadline_is_kept_and_named(podcast: Stores, hang: Callable[..., Any]) -> None:
    slow = Fake(hang, limits=Limits(timeout_s=30))
    start = time.perf_counter()
    result = execute(plan_of("the doorway"), with_providers(podcast, slow, podcast.providers[0]), deadline_s=0.3)
    assert time.perf_counter() - start < 5
    assert "deadline" in kinds(result)
    assert result.evidence


def test_a_deadline_that_is_over_still_gives_a_result(podcast: Stores) -> None:
    result = execute(plan_of("the doorway", ("a", ()), ("b {1}", (1,))), podcast, deadline_s=0.0)
    assert result.evidence == ()
    assert "deadline" in kinds(result)


def test_a_domain_without_texts_says_so_and_what_was_asked_instead() -> None:
    biomedical = open_stores("biomedical")
    asked = execute(plan_of("what treats HIV infection?", entities=("HIV infection",)), biomedical).gaps
    assert [gap.instead for gap in asked if "has no texts" in gap.why] == ["the graph alone was asked"]
    nothing = execute(
        plan_of("what treats HIV infection?", entities=("HIV infection",)), replace(biomedical, graph=None)
    ).gaps
    assert [gap.instead for gap in nothing if "has no texts" in gap.why] == ["nothing was asked"]


def test_a_synthesis_that_fails_is_replaced_by_the_evidence(podcast: Stores) -> None:
    def fail(run: RunResult) -> str:
        raise ValueError("no words")

    result = execute(plan_of("the doorway"), podcast, settings=RunSettings(speakers=Speakers(synthesise=fail)))
    assert "transcripts" in result.text
    assert any(gap.what == "the synthesis" for gap in result.gaps)


@pytest.mark.parametrize(
    ("changed", "what", "said"),
    [
        ({"is_relevant": False, "rejection_kind": "math"}, "the rejection", "calculation"),
        (
            {"retrieval_strategy": RetrievalStrategy(use_rag=False, use_kg=False, direct_answer=True)},
            "the direct answer",
            "Slow Lantern",
        ),
    ],
    ids=("rejection", "direct answer"),
)
def test_a_text_that_cannot_be_made_is_the_cards(
    podcast: Stores, changed: dict[str, Any], what: str, said: str
) -> None:
    def fail(card: DomainCard, plan: QueryPlan) -> str:
        raise ValueError("no words")

    settings = RunSettings(speakers=Speakers(reject=fail, answer=fail))
    result = execute(plan_of("q").model_copy(update=changed), podcast, settings=settings)
    assert said in result.text
    assert [(gap.what, gap.why) for gap in result.gaps] == [(what, "it failed (ValueError: no words)")]


def test_speakers_of_ones_own_speak(podcast: Stores) -> None:
    mine = RunSettings(speakers=Speakers(synthesise=lambda run: f"{len(run.evidence)} passages"))
    assert execute(plan_of("the doorway"), podcast, settings=mine).text == "10 passages"
