"""Decision clients on the wire and in arithmetic."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import dspy
import pytest
from queryplan.errors import LMError
from queryplan.program.lm.decider import (
    TokenProbabilityClient,
    UnansweredError,
    VerbalClient,
    check_distinct,
    check_tokens,
    unanswered,
    word_probabilities,
    written_label,
)
from queryplan.program.lm.endpoint import LMHandle, LMSettings, open_lm
from queryplan.program.lm.prompt import Option
from queryplan.program.lm.warming import warm_predictor
from queryplan.signatures.assess_complexity import AssessComplexity
from queryplan.signatures.detect_follow_up import DetectFollowUp

YES_NO = (Option("true", "Yes", ""), Option("false", "No", ""))
LEVELS = (Option("simple", "simple", ""), Option("moderate", "moderate", ""), Option("complex", "complex", ""))


def decide(client: Any, signature: Any = DetectFollowUp, demos: list[Any] | None = None) -> dspy.Predict:
    predictor = dspy.Predict(signature)
    predictor.lm = client
    predictor.demos = demos or []
    return predictor


# --- arithmetic


def test_probabilities_are_divided_by_the_sum_over_the_legal_words() -> None:
    found = word_probabilities([("Yes", -1.0), ("No", -1.0), ("The", -0.1)], YES_NO)
    assert found == pytest.approx({"true": 0.5, "false": 0.5})


def test_spellings_of_a_word_add_up() -> None:
    listed = [("Yes", -1.0), (" Yes", -1.0), ("yes", -1.0), ("YES", -1.0), ("No", -1.0)]
    assert word_probabilities(listed, YES_NO)["true"] == pytest.approx(0.8)


def test_a_word_that_is_not_listed_gets_the_smallest_probability_listed() -> None:
    found = word_probabilities([("Yes", 0.0), ("The", -2.0)], YES_NO)
    assert found["false"] / found["true"] == pytest.approx(2.718281828**-2)


def test_a_word_of_several_tokens_is_found_by_how_it_begins() -> None:
    found = word_probabilities([("mod", -0.1), ("simple", -3.0), ("complex", -3.0), ("x", -9.0)], LEVELS)
    assert max(found, key=lambda label: found[label]) == "moderate"


def test_the_longest_beginning_counts() -> None:
    found = word_probabilities([("mode", -1.0), ("mo", -0.1), ("simple", -1.0), ("complex", -1.0)], LEVELS)
    assert found["moderate"] == pytest.approx(1 / 3)


def test_a_beginning_that_two_words_share_means_neither() -> None:
    options = (Option("a", "multiple", ""), Option("b", "multipart", ""), Option("c", "single", ""))
    found = word_probabilities([("multip", -0.1), ("single", -5.0)], options)
    assert found == pytest.approx(dict.fromkeys("abc", 1 / 3))


def test_one_letter_is_no_beginning() -> None:
    found = word_probabilities([("m", 0.0), ("simple", -1.0), ("complex", -1.0), ("z", -8.0)], LEVELS)
    assert found["moderate"] < 0.01


def test_where_none_of_the_words_is_listed_nothing_was_answered() -> None:
    assert word_probabilities([("The", 0.0), ("It", -9999.0)], YES_NO) == {}
    assert word_probabilities([("The", 0.0), ("Yes", -9999.0)], YES_NO) == {}


# --- on the wire


def test_a_model_that_says_nothing_legal_has_not_decided(lm: LMHandle, chat_server: Any, complete: Any) -> None:
    chat_server.reply = lambda body: (200, complete("The", {"The": -0.1, "It": -2.0}))
    with pytest.raises(UnansweredError, match="gave none of the answers Yes, No"):
        decide(lm.decider)(history="h", query="q")
    with pytest.raises(UnansweredError, match="gave none of the answers Yes, No"):
        asyncio.run(decide(lm.decider).acall(history="h", query="q"))


def silent_on_intent(complete: Any) -> Any:
    def reply(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        system = body["messages"][0]["content"]
        word = "medium" if "- medium" in system else "The" if "- compare" in system else "Yes"
        return 200, complete(word, {word: -0.1, "zz": -9.0})

    return reply


def test_one_question_that_is_not_answered_is_noted_and_the_others_count(
    lm: LMHandle, chat_server: Any, complete: Any
) -> None:
    chat_server.reply = silent_on_intent(complete)
    for ask in (
        decide(lm.decider, AssessComplexity),
        lambda **q: asyncio.run(decide(lm.decider, AssessComplexity).acall(**q)),
    ):
        with unanswered() as missed:
            answer = ask(query="q")
        assert list(missed) == ["intent"]
        assert "gave none of the answers hello, meaning" in missed["intent"]
        assert answer.complexity.value == "moderate"
        assert set(answer.intent.probabilities.values()) == {1 / 8}


@pytest.mark.parametrize("awaited", [False, True])
def test_of_what_one_stage_asks_heads_decide_only_what_the_model_did_not_answer(
    bench: Any, lm: LMHandle, chat_server: Any, complete: Any, awaited: bool
) -> None:
    chat_server.reply = silent_on_intent(complete)
    planner = bench.planner(
        lm, {"complexity": {"simple": 0.9, "complex": 0.1}, "intent": {"causal": 0.9, "factual": 0.1}}
    )
    plan = asyncio.run(planner.aplan("why?")) if awaited else planner.plan("why?")
    assert (plan.complexity, plan.intent) == ("moderate", "causal")
    assert [gap.instead for gap in plan.degraded if gap.what == "complexity"] == ["a learned head decided"]
    assert "relevance" not in {gap.what for gap in plan.degraded}, "no kind of rejection is asked for where none is"


def test_a_prefix_is_read_ahead_whatever_is_answered(lm: LMHandle, chat_server: Any, complete: Any) -> None:
    chat_server.reply = lambda body: (200, complete("The", {"The": -0.1}))
    warm_predictor(decide(lm.decider), lm)
    assert len(chat_server.requests) == 1


def test_asks_for_one_token_with_its_probabilities(lm: LMHandle, chat_server: Any) -> None:
    decide(lm.decider)(history="user: who is Nell?", query="and Dario?")
    body = chat_server.requests[0]
    assert (body["max_tokens"], body["temperature"], body["logprobs"], body["top_logprobs"]) == (1, 0.0, True, 20)
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert "- Yes: the query points back" in body["messages"][0]["content"]
    assert body["messages"][1]["content"] == "history: user: who is Nell?\nquery: and Dario?"


def test_demonstrations_are_turns_before_the_query(lm: LMHandle, chat_server: Any) -> None:
    demo = dspy.Example(history="h", query="why?", is_follow_up=True)
    decide(lm.decider, demos=[demo])(history="h2", query="q")
    roles = [(m["role"], m["content"]) for m in chat_server.requests[0]["messages"][1:]]
    assert roles == [("user", "history: h\nquery: why?"), ("assistant", "Yes"), ("user", "history: h2\nquery: q")]


def test_an_earlier_prediction_is_a_demonstration(lm: LMHandle, chat_server: Any) -> None:
    predictor = decide(lm.decider)
    earlier = predictor(history="h", query="why?")
    predictor.demos = [dspy.Example(history="h", query="why?", **earlier.toDict())]
    predictor(history="h2", query="q")
    assert chat_server.requests[-1]["messages"][2]["content"] == "Yes"


def test_the_probability_is_that_of_yes(lm: LMHandle, chat_server: Any, complete: Any) -> None:
    chat_server.reply = lambda body: (200, complete("No", {"No": -0.2, " Yes": -1.8, "It": -3.0}))
    answer = decide(lm.decider)(history="h", query="q").is_follow_up
    assert answer.probability == pytest.approx(1 / (1 + 2.718281828**1.6))
    assert answer.value is False


def test_each_question_is_asked_with_its_own_words(lm: LMHandle, chat_server: Any, complete: Any) -> None:
    def reply(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        system = body["messages"][0]["content"]
        word = "medium" if "- medium" in system else "compare" if "- compare" in system else "Yes"
        return 200, complete(word, {word: -0.01, "zz": -7.0})

    chat_server.reply = reply
    answer = decide(lm.decider, AssessComplexity)(query="q")
    assert (answer.complexity.value, answer.intent.value) == ("moderate", "comparison")
    assert answer.needs_decomposition.value is True
    assert sum(answer.intent.probabilities.values()) == pytest.approx(1)
    assert len(chat_server.requests) == 3


def test_asyncio_gives_the_same_answers(lm: LMHandle) -> None:
    direct = decide(lm.decider, AssessComplexity)(query="q")
    awaited = asyncio.run(decide(lm.decider, AssessComplexity).acall(query="q"))
    assert direct.toDict() == awaited.toDict()


def test_many_event_loops_one_after_the_other(lm: LMHandle) -> None:
    for _ in range(3):
        assert asyncio.run(decide(lm.decider).acall(history="h", query="q")).is_follow_up.value is True


def test_an_answer_without_probabilities_is_an_error(lm: LMHandle, chat_server: Any, complete: Any) -> None:
    chat_server.reply = lambda body: (200, complete("Yes"))
    with pytest.raises(LMError, match="without token probabilities"):
        decide(lm.decider)(history="h", query="q")


def test_dspy_callbacks_see_the_decision(lm: LMHandle) -> None:
    seen = []

    class Watch(dspy.utils.BaseCallback):
        def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
            seen.append(outputs)

    client = lm.decider.copy(callbacks=[Watch()])
    decide(client)(history="h", query="q")
    assert [set(o) for o in seen if isinstance(o, dict)] == [{"is_follow_up"}]


# --- what DSPy does with a client


def test_a_copied_program_keeps_its_client(lm: LMHandle) -> None:
    predictor = decide(lm.decider)
    assert copy.deepcopy(predictor).lm is lm.decider
    assert predictor.deepcopy()(history="h", query="q").is_follow_up.value is True


def test_a_rollout_copy_answers(lm: LMHandle) -> None:
    client = lm.decider.copy(rollout_id=3, temperature=1.0)
    assert decide(client)(history="h", query="q").is_follow_up.value is True


def test_saved_state_is_the_model_name_alone(lm: LMHandle) -> None:
    assert lm.decider.dump_state() == {"model": "openai/m"}
    assert "127.0.0.1" not in json.dumps(lm.writer.dump_state())


def test_history_is_kept_and_shows_no_key(chat_server: Any) -> None:
    handle = open_lm(
        LMSettings.model_validate({"model": "openai/m", "api_base": chat_server.base, "api_key": "sk-hid"})
    )
    assert handle is not None
    decide(handle.decider)(history="h", query="q")
    assert handle.decider.history
    assert "sk-hid" not in repr(handle.decider.history)


# --- answer words


def test_a_word_of_two_tokens_is_refused_by_name() -> None:
    with pytest.raises(LMError, match=r"'moderate'.*2 tokens"):
        check_tokens(LEVELS, lambda word: [1, 2] if word == "moderate" else [hash(word)])


def test_two_words_of_the_same_token_are_refused() -> None:
    with pytest.raises(LMError, match="'Yes' and 'No' are the same token"):
        check_tokens(YES_NO, lambda word: [7])


def test_two_labels_of_one_word_are_refused() -> None:
    with pytest.raises(LMError, match="'yes'"):
        check_distinct((Option("a", "Yes", ""), Option("b", "yes", "")))


def test_a_client_checks_every_question(lm: LMHandle) -> None:
    client = TokenProbabilityClient(lm.writer, tokenizer=lambda word: [len(word)] * (1 + (word == "two")))
    good = {"type": "noul", "instructions": "?"}
    bad = {"type": "choice", "instructions": "?", "criteria": {"a": "", "b": {"answer": "two", "when": ""}}}
    client.check_answer_words({"x": good})
    with pytest.raises(LMError, match="'two'"):
        client.check_answer_words({"x": good, "y": bad})


# --- endpoints without token probabilities


@pytest.fixture
def verbal(chat_server: Any, complete: Any) -> LMHandle:
    chat_server.reply = lambda body: (200, complete('{"answer": "Yes"}'))
    handle = open_lm(LMSettings(model="openai/m", api_base=chat_server.base))
    assert handle is not None
    chat_server.requests.clear()
    return handle


def test_an_endpoint_without_probabilities_gets_the_verbal_client(verbal: LMHandle) -> None:
    assert isinstance(verbal.decider, VerbalClient)


def test_the_legal_words_constrain_the_answer(verbal: LMHandle, chat_server: Any) -> None:
    decide(verbal.decider)(history="h", query="q")
    sent = chat_server.requests[0]["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["properties"]["answer"]["enum"] == ["Yes", "No"]


def test_the_written_label_gets_the_reliability_and_the_others_the_rest(verbal: LMHandle, chat_server: Any) -> None:
    assert decide(verbal.decider)(history="h", query="q").is_follow_up.probability == pytest.approx(0.9)
    chat_server.reply = lambda body: (200, _said("medium"))
    question = {"type": "choice", "instructions": "?", "criteria": {"a": "", "b": {"answer": "medium"}, "c": ""}}
    answer = VerbalClient(verbal.writer, reliability=0.8)({"inputs": {"query": "q"}}, {"x": question})["x"]
    assert answer == {"choice": "b", "confidence": 0.8, "probabilities": pytest.approx({"a": 0.1, "b": 0.8, "c": 0.1})}


def test_an_answer_that_is_no_label_is_asked_for_once_more(verbal: LMHandle, chat_server: Any) -> None:
    answers = iter(["perhaps", "No."])
    chat_server.reply = lambda body: (200, _said(next(answers)))
    assert decide(verbal.decider)(history="h", query="q").is_follow_up.value is False
    assert "Answer with exactly one of: Yes, No." in chat_server.requests[1]["messages"][-1]["content"]


def test_two_answers_that_are_no_label_are_an_error(verbal: LMHandle, chat_server: Any) -> None:
    chat_server.reply = lambda body: (200, _said("perhaps"))
    with pytest.raises(LMError, match="gave none of the answers Yes, No"):
        decide(verbal.decider)(history="h", query="q")
    with pytest.raises(LMError, match="gave none of the answers Yes, No"):
        asyncio.run(decide(verbal.decider).acall(history="h", query="q"))


@pytest.mark.parametrize("text", ['{"answer": "yes"}', "Yes.", " **Yes** ", '"Yes"'])
def test_a_label_is_read_as_json_or_plainly(text: str) -> None:
    assert written_label(text, YES_NO) == "true"


def _said(text: str) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": {}}
