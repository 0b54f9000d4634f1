"""The written parts of a plan: the standalone form of a follow-up, and the sub-queries.

A part that a model wrote is taken if it passes its check, and asked for once more with the checker's words if a
further round is left. Otherwise it is replaced, which ``degraded`` then names: a follow-up by a learned edit
(``rewriting/``), sub-queries by a learned cut (``decomposing/``), or either by the safe choice: the query as typed, or
no sub-queries. If a compile found the learned edit as good as the model's, the model is not asked to rewrite. It is not
asked for sub-queries where the certainty of the learned cut is above the share of the model's that were right on
``dev``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any

from ..signatures.types import MAX_SUB_QUERIES, Stage
from .asking import Ask, Reply, Sent
from .checks import check_rewrite, check_sub_queries
from .context import CleanInput, history_text, printable
from .decomposing.decomposer import as_asked
from .plan import Degraded
from .rewriting.edits import KEEP
from .rewriting.wording import MARKS, named_in
from .stages import SPLIT
from .text.failures import asks_again, is_failure
from .text.greetings import greetings_of
from .text.listed import shared_out

if TYPE_CHECKING:
    from ..data.card import DomainCard
    from .decomposing.decomposer import Decomposed
    from .flow import Flow
    from .rewriting.rewriter import Rewriter, Rewritten
    from .text.linker import Linker

Round = Generator[list[Ask], Mapping[Sent, Reply], Any]
GUESSED = "a learned head put what was said before into it"
WHOLE = "the query is searched whole"
CUT = "a learned head took the query apart"
LISTED = "each question that the query lists"
AGAIN = "the question before, which something went wrong with"
NO_CUT = "a learned head found no likely way to take the query apart"
NO_EDIT = "a learned head found nothing of the conversation to put into it"
NO_ROUND_LEFT = "the one further round of requests was taken by something else"
Accept = Callable[["Flow", Reply | None], list[str]]


def turn_inputs(flow: Flow) -> dict[str, str]:
    """The conversation and the query as the model is shown them."""
    return {"history": history_text(flow.clean.turns), "query": flow.clean.query}


def rewrite_inputs(flow: Flow) -> dict[str, str]:
    """The conversation, the query, and the entity that the application shows."""
    return {**turn_inputs(flow), "active_entity": flow.clean.active_entity}


def rewrite(flow: Flow, reply: Reply | None) -> Round:
    """Write the standalone form of a follow-up; a reply that was requested ahead and is not needed counts as wasted."""
    if not flow.labels.is_follow_up:
        flow.wasted += reply.calls if reply else 0
        return
    if _taken_again(flow):
        flow.wasted += reply.calls if reply else 0
        return
    if not flow.asks_lm("rewrite"):
        flow.understood = False
        if not _rewritten_by_head(flow):
            flow.without_lm("rewrite", reply, _left_as_typed(flow), NO_EDIT)
        return
    reply, problems = yield from _once_more(flow, "rewrite", rewrite_inputs(flow), _accept_rewrite, reply)
    if problems:
        flow.understood = False
        instead = GUESSED if _rewritten_by_head(flow) else _left_as_typed(flow)
        flow.without_lm("rewrite", reply, instead, problems[0])


def _rewritten_by_head(flow: Flow) -> bool:
    """Use a head's rewrite of a follow-up; False if there is none, or it would leave the query unchanged."""
    rewriter = flow.parts.heads.rewriter if flow.parts.heads else None
    found = written_by_head(rewriter, flow.clean, flow.parts.card, flow.parts.linker) if rewriter else None
    if found is None:
        return False
    first = found.referent[:1]
    named = _named(flow, found.referent) or ((found.referent,) if first.isupper() or first in MARKS else ())
    flow.labels.standalone_query, flow.heading = found.text, found.heading
    flow.labels.referenced_entities = named or _guess_references(flow)
    flow.decide("rewrite", found.text, "head", found.certainty, f"learned edit: {found.reason}")
    return True


def _taken_again(flow: Flow) -> bool:
    """Take the question before again, where something went wrong and the query only asks for another try."""
    turns, query = flow.clean.turns, flow.clean.query
    failed = bool(turns) and turns[-1].role == "assistant" and is_failure(turns[-1].content)
    asked = next((t.content for t in reversed(turns) if t.role == "user" and not asks_again(t.content)), "")
    if not (failed and asked and asks_again(query)):
        return False
    flow.labels.standalone_query = asked
    flow.labels.referenced_entities = _named(flow, asked)
    flow.decide("rewrite", asked, "rule", 1.0, AGAIN)
    return True


def written_by_head(rewriter: Rewriter, clean: CleanInput, card: DomainCard, linker: Linker) -> Rewritten | None:
    """A head's rewrite of a follow-up as a plan has it; None where a plan leaves the query as typed.

    Greetings before the query and thanks behind it are left out of what is rewritten, and rejections in the card's own
    words of what was said before, and messages that something went wrong: they say nothing that a query may point to.
    """
    said = {printable(topic.reason) for topic in card.excluded}
    told = tuple(t for t in clean.turns if t.role == "user" or not (t.content in said or is_failure(t.content)))
    asked = greetings_of(card.greetings).rest(clean.query) or clean.query
    found = rewriter.rewrite(asked, told, clean.active_entity, linker)
    return None if found.move == KEEP or check_rewrite(clean.query, found.text) else found


def written_by_model(query: str, written: object) -> tuple[str, list[str]]:
    """A model's rewrite as a plan has it, and why it cannot be used; it can where there is no reason."""
    text = printable(str(written or ""))
    return text, check_rewrite(query, text)


def _named(flow: Flow, text: str) -> tuple[str, ...]:
    """The card's names in a text, as written there."""
    return named_in(text, flow.parts.linker.surfaces(text))


def _left_as_typed(flow: Flow) -> str:
    """The fallback if nothing rewrote the query: keep it as typed, guess what it refers to, and say so in words."""
    flow.labels.referenced_entities = guessed = _guess_references(flow)
    return "the query was left as typed" + ("; what it refers to is a guess" if guessed else "")


def decompose(flow: Flow, reply: Reply | None) -> Round:
    """Write the sub-queries of a query that needs them."""
    if not flow.labels.needs_decomposition:
        flow.wasted += reply.calls if reply else 0
        return
    if flow.listed:
        _take_listed(flow)
        return
    if not flow.asks_lm("decompose"):
        if not _cut_by_head(flow):
            flow.without_lm("decompose", reply, WHOLE, NO_CUT)
        return
    if reply is None and cut_surely(flow) and _cut_by_head(flow):
        return
    inputs = {"query": flow.labels.standalone_query}
    reply, problems = yield from _once_more(flow, "decompose", inputs, _accept_sub_queries, reply)
    if problems:
        flow.without_lm("decompose", reply, CUT if _cut_by_head(flow) else WHOLE, problems[0])


def _take_listed(flow: Flow) -> None:
    """The questions that the query lists are its searches."""
    questions, heads = shared_out(flow.clean.questions, MAX_SUB_QUERIES), flow.parts.heads
    if len(questions) < (listed := len(flow.clean.questions)):
        why = f"a plan has {MAX_SUB_QUERIES} sub-queries at most, and the query lists {listed} questions"
        flow.degraded.append(Degraded(what="decompose", why=why, instead="some of them share a sub-query"))
    flow.labels.sub_queries = heads.of_questions(questions) if heads else as_asked(questions)
    flow.decide("decompose", [s.text for s in flow.labels.sub_queries], "rule", 1.0, LISTED)


def cut_surely(flow: Flow) -> bool:
    """Whether a head is surer of its sub-queries than the model was right on ``dev``, so that it is not asked."""
    combination = flow.parts.combinations.get(SPLIT)
    if combination is None or combination.surer is None or flow.unread:
        return False
    found = _cut(flow)
    return found is not None and found.certainty >= combination.surer


def _cut(flow: Flow) -> Decomposed | None:
    """A head's cut of the query, computed once."""
    query = flow.labels.standalone_query
    if flow.cut is None or flow.cut[0] != query:
        flow.cut = query, flow.parts.heads.decomposed(query, flow.heading) if flow.parts.heads else None
    return flow.cut[1]


def _cut_by_head(flow: Flow) -> bool:
    """Use a head's cut of the query; False if there is no head or no likely cut."""
    found = _cut(flow)
    if found is None:
        return False
    flow.labels.sub_queries = found.sub_queries
    flow.decide("decompose", [s.text for s in found.sub_queries], "head", found.certainty, f"learned: {found.reason}")
    return True


def _once_more(flow: Flow, stage: Stage, inputs: dict[str, Any], accept: Accept, reply: Reply | None) -> Round:
    """Accept a reply, or ask once more if a further round is left; returns the last reply and its problems."""
    problems = accept(flow, reply)
    if problems and flow.parts.has_lm and not flow.further_round_spent:
        flow.further_round_spent = True
        repair = problems[0] if reply and reply.prediction else None
        replies = yield from flow.round([flow.ask(stage, inputs, repair)])
        reply = replies[stage]
        problems = accept(flow, reply)
    return reply, problems


def _accept_rewrite(flow: Flow, reply: Reply | None) -> list[str]:
    """Use a rewrite, or return its problems."""
    if reply is None or reply.prediction is None:
        return [_why_nothing(flow, reply)]
    text, problems = written_by_model(flow.clean.query, reply.prediction.standalone_query)
    if problems:
        return problems
    flow.labels.standalone_query = text
    said = " ".join(turn.content for turn in flow.clean.turns).casefold()
    names = dict.fromkeys(str(n).strip() for n in reply.prediction.referenced_entities or ())
    flow.labels.referenced_entities = tuple(n for n in names if n and n.casefold() in said)
    flow.decide("rewrite", text, "lm", 1.0, "written from the earlier turns", reply)
    return []


def _accept_sub_queries(flow: Flow, reply: Reply | None) -> list[str]:
    """Use sub-queries, or return their problems."""
    if reply is None or reply.prediction is None:
        return [_why_nothing(flow, reply)]
    query, prediction = flow.labels.standalone_query, reply.prediction
    sub_queries, problems = check_sub_queries(query, prediction.sub_queries or ())
    if problems:
        return problems
    flow.labels.sub_queries = sub_queries
    flow.labels.entities = _present(prediction.entities, query)
    relations = (printable(str(r)) for r in prediction.relationships_needed or ())
    flow.labels.relationships_needed = tuple(r for r in dict.fromkeys(relations) if r)
    flow.decide("decompose", [s.text for s in sub_queries], "lm", 1.0, "split into searches", reply)
    return []


def _why_nothing(flow: Flow, reply: Reply | None) -> str:
    if reply is not None and reply.error:
        return reply.error
    return NO_ROUND_LEFT if flow.parts.has_lm else flow.parts.lm_missing


def _guess_references(flow: Flow) -> tuple[str, ...]:
    """A guess of the referents: what the application shows, else the names in the last turn that has any."""
    if flow.clean.active_entity:
        return (flow.clean.active_entity,)
    named = (_named(flow, turn.content) for turn in reversed(flow.clean.turns))
    return next((names for names in named if names), ())


def _present(names: Any, text: str) -> tuple[str, ...]:
    """The names that occur in the text, without duplicates."""
    folded = text.casefold()
    return tuple(n for n in dict.fromkeys(str(n).strip() for n in names or ()) if n and n.casefold() in folded)
