"""The journal of paid calls."""

from __future__ import annotations

import asyncio
import copy
import logging
import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dspy
import pytest
from queryplan.errors import ConfigError
from queryplan.program.lm.endpoint import LMHandle, LMSettings, open_lm
from queryplan.program.lm.engine import unjournaled
from queryplan.program.lm.journal import CallJournal, call_key
from queryplan.program.lm.meter import meter
from queryplan.signatures.detect_follow_up import DetectFollowUp


@pytest.fixture
def journal(tmp_path: Path) -> CallJournal:
    return CallJournal(tmp_path / "calls.sqlite")


def opened(chat_server: Any, journal: CallJournal, model: str = "openai/m") -> LMHandle:
    handle = open_lm(LMSettings(model=model, api_base=chat_server.base), journal)
    assert handle is not None
    chat_server.requests.clear()
    return handle


def decide(lm: LMHandle) -> dspy.Predict:
    predictor = dspy.Predict(DetectFollowUp)
    predictor.lm = lm.decider  # type: ignore[assignment]
    return predictor


def test_keeps_and_returns(journal: CallJournal) -> None:
    journal.put("k", {"a": "é"}, 12.5)
    entry = journal.get("k")
    assert entry is not None
    assert (entry.response, entry.milliseconds) == ({"a": "é"}, 12.5)
    assert journal.get("other") is None
    assert len(journal) == 1


def test_the_first_answer_kept_stays(journal: CallJournal) -> None:
    journal.put("k", {"n": 1}, 1)
    journal.put("k", {"n": 2}, 2)
    assert journal.get("k") == ({"n": 1}, 1.0)


def test_a_key_depends_on_model_and_request_but_not_on_the_order_of_fields() -> None:
    assert call_key("m", {"a": 1, "b": 2}) == call_key("m", {"b": 2, "a": 1})
    assert len({call_key("m", {"a": 1}), call_key("n", {"a": 1}), call_key("m", {"a": 2})}) == 3


def test_outlives_the_process_that_wrote_it(tmp_path: Path) -> None:
    with CallJournal(tmp_path / "j") as first:
        first.put("k", {}, 1)
    assert CallJournal(tmp_path / "j").get("k") is not None


def test_many_threads_write_together(journal: CallJournal) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: journal.put(str(i % 50), {"i": i}, 1), range(400)))
    assert len(journal) == 50


def _write(path: Path, start: int) -> None:
    with CallJournal(path) as journal:
        for i in range(start, start + 25):
            journal.put(str(i), {}, 1)


def test_two_processes_write_together(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_write, args=(tmp_path / "j", n)) for n in (0, 25)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(CallJournal(tmp_path / "j")) == 50


def test_a_damaged_file_is_set_aside_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "calls.sqlite"
    path.write_bytes(b"this is no database, and long enough to be looked at" * 40)
    with caplog.at_level(logging.WARNING):
        journal = CallJournal(path)
    journal.put("k", {}, 1)
    assert len(journal) == 1
    assert [p.name for p in tmp_path.glob("*.damaged-*")]
    assert "is damaged" in caplog.text
    assert str(tmp_path) not in caplog.text


def test_a_file_damaged_while_open_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    with CallJournal(path) as journal:
        for i in range(200):
            journal.put(str(i), {"long": "x" * 500}, 1)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(bytes(data))
    journal = CallJournal(path)
    assert journal.get("100") is None
    journal.put("k", {}, 1)
    assert journal.get("k") is not None


def test_another_kind_of_database_is_set_aside(tmp_path: Path) -> None:
    import sqlite3

    connection = sqlite3.connect(tmp_path / "j")
    connection.execute("CREATE TABLE calls (something TEXT)")
    connection.close()
    assert len(CallJournal(tmp_path / "j")) == 0


def test_a_folder_in_the_place_of_a_journal_is_named_with_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"journal of paid calls .* cannot be opened .* QUERYPLAN_JOURNAL"):
        CallJournal(tmp_path)
    assert tmp_path.is_dir()


def test_a_copied_program_keeps_the_same_journal(journal: CallJournal) -> None:
    assert copy.deepcopy(journal) is journal


def test_a_known_decision_sends_no_request(chat_server: Any, journal: CallJournal) -> None:
    lm = opened(chat_server, journal)
    first = decide(lm)(history="h", query="q").is_follow_up.probability
    with meter() as m:
        again = decide(lm)(history="h", query="q").is_follow_up.probability
    assert len(chat_server.requests) == 1
    assert again == first
    assert (m.calls, m.cached, m.prompt_tokens) == (1, 1, 11)


def test_a_known_decision_is_billed_nothing_by_dspy(chat_server: Any, journal: CallJournal) -> None:
    lm = opened(chat_server, journal)
    decide(lm)(history="h", query="q")
    with dspy.track_usage() as usage:
        decide(lm)(history="h", query="q")
    assert not usage.get_total_tokens().get("openai/m")


def test_a_known_written_answer_sends_no_request(chat_server: Any, journal: CallJournal) -> None:
    lm = opened(chat_server, journal)
    assert lm.writer("hello") == lm.writer("hello") == ["Yes"]
    assert asyncio.run(lm.writer.acall("hello")) == ["Yes"]
    assert len(chat_server.requests) == 1


def test_a_stopped_compile_continues_without_paying_again(chat_server: Any, journal: CallJournal) -> None:
    decide(opened(chat_server, journal))(history="h", query="q")
    decide(opened(chat_server, journal))(history="h", query="q")
    assert chat_server.requests == []


def test_another_model_is_another_call(chat_server: Any, journal: CallJournal) -> None:
    decide(opened(chat_server, journal))(history="h", query="q")
    decide(opened(chat_server, journal, model="openai/n"))(history="h", query="q")
    assert len(chat_server.requests) == 1


def test_a_rollout_is_another_call(chat_server: Any, journal: CallJournal) -> None:
    lm = opened(chat_server, journal)
    for rollout in (1, 2, 2):
        lm.writer.copy(rollout_id=rollout, temperature=1.0)("hello")
    assert len(chat_server.requests) == 2
    assert "rollout_id" not in chat_server.requests[0]


def test_a_failed_call_is_not_kept(chat_server: Any, journal: CallJournal) -> None:
    lm = opened(chat_server, journal)
    good, chat_server.reply = chat_server.reply, lambda body: (400, {"error": {"message": "no"}})
    with pytest.raises(Exception, match="refused"):
        lm.writer("hello")
    chat_server.reply = good
    assert lm.writer("hello") == ["Yes"]


def test_warming_and_probing_go_past_the_journal(chat_server: Any, journal: CallJournal) -> None:
    lm = opened(chat_server, journal)
    with unjournaled():
        lm.writer("hello")
        lm.writer("hello")
    assert len(chat_server.requests) == 2
    assert len(journal) == 0


def test_the_journal_holds_neither_key_nor_address(chat_server: Any, tmp_path: Path) -> None:
    settings = LMSettings.model_validate(
        {"model": "openai/m", "api_base": chat_server.base, "api_key": "sk-very-secret"}
    )
    with CallJournal(tmp_path / "j") as journal:
        lm = open_lm(settings, journal)
        assert lm is not None
        decide(lm)(history="h", query="q")
    data = (tmp_path / "j").read_bytes()
    assert b"sk-very-secret" not in data
    assert b"127.0.0.1" not in data
