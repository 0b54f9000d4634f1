"""Opening language models, and what is said when that fails."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import dspy
import pytest
from pydantic import BaseModel, Field
from queryplan.errors import ConfigError, LMError, WeightsError
from queryplan.program.lm.endpoint import LMHandle, LMSettings, open_lm
from queryplan.program.lm.engine import JournaledLM, portable
from queryplan.program.lm.routes import endpoint_route, wire_name
from queryplan.signatures.plan_graph_steps import plan_graph_steps
from queryplan.signatures.types import EdgeType, GraphSchema, NodeType

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Gene"), NodeType(name="Disease")),
    edges=(EdgeType(name="CAUSES", source="Gene", target="Disease"),),
)


def route_of(lm: LMHandle) -> object:
    """Where the handle's requests go."""
    return vars(lm.writer.engine)["route"]


def settings(chat_server: Any, **changes: Any) -> LMSettings:
    return LMSettings.model_validate({"model": "openai/m", "api_base": chat_server.base, **changes})


def opened(chat_server: Any, **changes: Any) -> LMHandle:
    handle = open_lm(settings(chat_server, **changes))
    assert handle is not None
    return handle


# --- what goes over the wire


class Cup(BaseModel):
    """A cup."""

    size: Literal["small", "large"]
    name: str = Field(min_length=1, max_length=40, description="what it is called")


class Pour(dspy.Signature):
    """Pour."""

    query: str = dspy.InputField()
    cups: list[Cup] = dspy.OutputField()
    default: str = dspy.OutputField(desc="a field that is called like a keyword")


def test_the_writer_sends_the_whole_schema_strictly(chat_server: Any, complete: Any) -> None:
    lm = opened(chat_server)
    chat_server.reply = lambda body: (200, complete('{"cups": [{"size": "large", "name": "a"}], "default": "x"}'))
    with dspy.context(lm=lm.writer, adapter=lm.adapter):
        answer = dspy.Predict(Pour)(query="tea")
    sent = chat_server.requests[-1]["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["strict"] is True
    schema = sent["json_schema"]["schema"]
    assert schema["required"] == ["cups", "default"]
    assert schema["$defs"]["Cup"]["properties"]["size"]["enum"] == ["small", "large"]
    assert schema["$defs"]["Cup"]["additionalProperties"] is False
    assert answer.cups == [Cup(size="large", name="a")]


def test_hosted_servers_get_no_keyword_that_strict_mode_refuses(chat_server: Any, complete: Any) -> None:
    lm = opened(chat_server)
    chat_server.reply = lambda body: (200, complete('{"cups": [], "default": "x"}'))
    with dspy.context(lm=lm.writer, adapter=lm.adapter):
        dspy.Predict(Pour)(query="tea")
    name = chat_server.requests[-1]["response_format"]["json_schema"]["schema"]["$defs"]["Cup"]["properties"]["name"]
    assert set(name) == {"description", "title", "type"}


def test_asyncio_sends_the_same(chat_server: Any, complete: Any) -> None:
    lm = opened(chat_server)
    chat_server.reply = lambda body: (200, complete('{"cups": [], "default": "x"}'))
    with dspy.context(lm=lm.writer, adapter=lm.adapter):
        dspy.Predict(Pour)(query="tea")
        asyncio.run(dspy.Predict(Pour).acall(query="tea"))
    assert chat_server.requests[-1] == chat_server.requests[-2]


def test_the_graph_schema_constrains_edges_and_types(chat_server: Any, complete: Any) -> None:
    lm = opened(chat_server)
    chat_server.reply = lambda body: (400, {"error": {"message": "enough seen"}})
    with dspy.context(lm=lm.writer, adapter=lm.adapter), pytest.raises(LMError, match="enough seen"):
        dspy.Predict(plan_graph_steps(SCHEMA))(query="q")
    sent = str(chat_server.requests[-1]["response_format"]["json_schema"]["schema"])
    assert "CAUSES" in sent
    assert "Disease" in sent


def test_portable_keeps_properties_that_are_called_like_keywords() -> None:
    schema = {
        "properties": {"default": {"type": "string", "default": "x", "minLength": 1}},
        "anyOf": [{"maxLength": 2}],
    }
    assert portable(schema) == {"properties": {"default": {"type": "string"}}, "anyOf": [{}]}


def test_the_key_is_sent_and_never_shown(chat_server: Any) -> None:
    lm = opened(chat_server, api_key="sk-quiet-please")
    lm.writer("hello")
    assert set(chat_server.keys) == {"Bearer sk-quiet-please"}
    shown = [lm, lm.writer, lm.decider, lm.writer.engine, route_of(lm), settings(chat_server, api_key="sk-q")]
    assert not any("sk-q" in f"{thing!r} {thing!s} {vars(thing)}" for thing in shown)


def test_the_key_of_the_environment_is_used(chat_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERYPLAN_API_KEY", "sk-env")
    opened(chat_server)
    assert chat_server.keys[0] == "Bearer sk-env"


def test_a_providers_key_never_goes_to_an_address_given_by_hand(
    chat_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    opened(chat_server).writer("hello")
    assert "sk-of-openai" not in str(chat_server.keys)


@pytest.mark.parametrize(
    ("model", "wire"),
    [
        ("openai/m", "m"),
        ("hosted_vllm/Qwen/Qwen2.5-7B", "Qwen/Qwen2.5-7B"),
        ("ollama_chat/l", "l"),
        ("Qwen/Q", "Qwen/Q"),
    ],
)
def test_a_server_is_asked_by_its_own_name_for_the_model(model: str, wire: str) -> None:
    assert wire_name(model) == wire


def test_a_server_on_this_machine_is_reached_past_the_proxy(chat_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    lm = opened(chat_server)
    assert lm.writer("hello") == asyncio.run(lm.writer.acall("hello there")) == ["Yes"]
    lm.close()


def test_none_is_no_language_model() -> None:
    assert open_lm(LMSettings(model="none")) is None


def test_the_fingerprint_has_no_address(chat_server: Any) -> None:
    assert opened(chat_server).fingerprint == "openai/m"


def test_dspys_cache_is_not_used_and_stays_as_others_have_it(chat_server: Any) -> None:
    dspy.configure_cache(enable_disk_cache=False)
    theirs = dspy.cache
    lm = opened(chat_server)
    before = len(chat_server.requests)
    for writer in (lm.writer, lm.writer, lm.writer.copy(rollout_id=1, temperature=1.0)):
        writer("hello")
        asyncio.run(writer.acall("hello"))
    assert len(chat_server.requests) == before + 6
    assert dspy.cache is theirs
    assert theirs.enable_memory_cache
    assert len(theirs.memory_cache) == 0


def test_a_server_with_a_tokenizer_is_asked_for_it(chat_server: Any, complete: Any) -> None:
    def reply(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if "prompt" in body:
            return 200, {"tokens": [1] * len(body["prompt"].split("_"))}
        return 200, complete("Yes", {"Yes": -0.1, "No": -1.0})

    chat_server.reply = reply
    decider = opened(chat_server).decider
    two = {"type": "choice", "instructions": "?", "criteria": {"multi_part": "", "other": ""}}
    with pytest.raises(LMError, match="'multi_part' of 'multi_part' is 2 tokens"):
        decider.check_answer_words({"x": two})


def test_warming_a_hosted_endpoint_costs_nothing(chat_server: Any) -> None:
    lm = opened(chat_server)
    before = len(chat_server.requests)
    lm.warm([dspy.Predict(Pour)])
    assert len(chat_server.requests) == before


def test_closing_twice_is_harmless(chat_server: Any) -> None:
    with opened(chat_server) as lm:
        pass
    lm.close()


# --- what is said


@pytest.mark.parametrize("page", ["<html>\n<body>nginx 10.1.2.3</body></html>", "<!DOCTYPE html><p>10.1.2.3"])
def test_no_page_of_a_gateway_is_quoted(page: str) -> None:
    route = endpoint_route(LMSettings(model="openai/m", api_base="http://127.0.0.1:9/v1"))
    assert route.scrubbed(page) == "a web page, as of a gateway"
    said = route.scrubbed(f"the reply is not JSON.\nBody starts: '{page}'. A gateway is the usual cause")
    assert said == "the reply is not JSON. Body starts: a web page, as of a gateway"
    assert route.scrubbed("no <|im_start|>\n\n in\ta prompt") == "no <|im_start|> in a prompt"


@pytest.mark.parametrize(
    ("status", "error", "kind", "words"),
    [
        (401, {"message": "bad key"}, ConfigError, "key for openai/m was refused; set QUERYPLAN_API_KEY"),
        (403, {"message": "no"}, ConfigError, "key for openai/m was refused"),
        (404, {"message": "x", "code": "model_not_found"}, ConfigError, "does not know the model openai/m"),
        (429, {"message": "slow"}, LMError, "over its rate limit"),
        (500, {"message": "oops"}, LMError, "server of openai/m failed"),
    ],
)
def test_a_refusal_is_one_sentence_with_its_remedy(
    chat_server: Any, status: int, error: dict[str, str], kind: type[Exception], words: str
) -> None:
    chat_server.reply = lambda body: (status, {"error": error})
    with pytest.raises(kind, match=words) as caught:
        opened(chat_server)
    assert "127.0.0.1" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_failure_while_planning_is_an_lm_error_even_when_the_key_is_at_fault(chat_server: Any) -> None:
    lm = opened(chat_server)
    chat_server.reply = lambda body: (401, {"error": {"message": "expired"}})
    with pytest.raises(LMError, match="key"):
        lm.writer("hello")


def test_what_a_server_says_is_repeated_without_key_and_address(chat_server: Any) -> None:
    lm = opened(chat_server, api_key="sk-quiet-please")
    said = f"no minLength here; key sk-quiet-please at {chat_server.base}"
    chat_server.reply = lambda body: (400, {"error": {"message": said}})
    with pytest.raises(LMError, match="no minLength here") as caught:
        lm.writer("hello")
    assert "sk-quiet" not in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)


def test_a_dead_server_is_named_without_its_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(LMError, match="cannot be reached; start it, or check --api-base") as caught:
        open_lm(LMSettings(model="hosted_vllm/m", api_base=f"http://127.0.0.1:{port}/v1"))
    assert str(port) not in str(caught.value)


def test_an_embedded_server_that_gives_up_on_a_request_is_not_to_be_started() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    route = endpoint_route(LMSettings(model="hosted_vllm/m", api_base=f"http://127.0.0.1:{port}/v1"))
    lm = JournaledLM(replace(route, embedded=True), num_retries=0)
    with pytest.raises(LMError, match=r"too little of this machine to answer; .* run the same again to go on"):
        lm("hello")


def test_a_server_that_never_answers_times_out(chat_server: Any) -> None:
    release = threading.Event()
    chat_server.reply = lambda body: (200 if release.wait(5) else 500, {})
    try:
        with pytest.raises(LMError, match=r"did not answer in time|cannot be reached"):
            opened(chat_server, timeout_s=0.2)
    finally:
        release.set()


def test_a_missing_key_says_which_variable() -> None:
    with pytest.raises(ConfigError, match="set QUERYPLAN_API_KEY"):
        open_lm(LMSettings(model="openai/gpt-4o-mini"))


@pytest.mark.parametrize("model", ["whatever", "nobody/knows"])
def test_an_unknown_provider_is_a_users_mistake(model: str) -> None:
    with pytest.raises(ConfigError, match="No provider goes by the name"):
        open_lm(LMSettings(model=model))


def test_missing_weights_say_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERYPLAN_CACHE", str(tmp_path))
    with pytest.raises(WeightsError, match=r"run `queryplan models pull 0\.5b`") as caught:
        open_lm(LMSettings(model="local:0.5b"))
    assert str(tmp_path) not in str(caught.value)


def test_a_missing_llama_cpp_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from queryplan.program.lm.embedded import EmbeddedServer

    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ConfigError, match=r'pip install "queryplan\[local\]"'):
        EmbeddedServer(tmp_path / "m.gguf", "m", "0" * 64)


def test_importing_the_package_loads_neither_dspy_nor_llama_cpp() -> None:
    code = (
        "import sys, queryplan.program.lm.endpoint, queryplan.program.lm.journal, queryplan.program.lm.meter;"
        "assert not {'dspy', 'openai', 'xllamacpp', 'litellm'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
