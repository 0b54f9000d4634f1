"""``queryplan plan`` without a language model: tree, JSON, batch, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.cli import main
from queryplan.cli.plan import read_history
from queryplan.cli.show import plan_tree
from queryplan.program.plan import Degraded, QueryPlan, RetrievalStrategy
from queryplan.signatures.types import AnchorStep, ExpandStep, GraphPlan, NodeRef, SubQuery
from rich.console import Console
from typer.testing import CliRunner

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def program(heads_kept: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program folder, so that no test trains."""
    from queryplan.program.uncompiled import uncompiled_planner

    planner = uncompiled_planner("podcast", heads_kept("podcast"))
    folder = tmp_path_factory.mktemp("programs") / "podcast"
    planner.save(folder)
    return str(folder)


@pytest.fixture
def plan(program: str) -> Run:
    """Run ``queryplan plan … --lm none`` on that program."""

    def run(*args: str, program: str | None = program) -> tuple[int, str, str]:
        given = ["--program", program] if program else []
        result = CliRunner().invoke(main.app, ["plan", *args, *given, "--lm", "none"])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


def one_sentence(text: str) -> bool:
    return text.startswith("error: ") and text.strip().count("\n") == 0 and "Traceback" not in text


# --- one query


def test_a_query_is_shown_as_a_tree(plan: Run) -> None:
    code, out, _ = plan("Which book did Leilani write?")
    assert code == 0
    assert out.splitlines()[0] == "Which book did Leilani write?"
    assert "stands alone" in out
    assert "names: Leilani" in out
    assert "why (0 LM requests in 0 rounds" in out


def test_json_is_the_plan_itself(plan: Run) -> None:
    code, out, _ = plan("Which book did Leilani write?", "--json")
    assert code == 0
    found = QueryPlan.model_validate_json(out)
    assert found.entities == ("Leilani",)
    assert found.trace.requests == 0


def test_a_refusal_shows_the_cards_words(plan: Run) -> None:
    code, out, _ = plan("solve 3x + 4 = 19 for x")
    assert code == 0
    assert "not ours" in out
    assert "I can only help with the podcast." in out


def test_without_a_program_it_plans_and_says_that_nothing_was_compiled(
    plan: Run, heads_kept: Callable[[str], Path]
) -> None:
    Path(".queryplan").mkdir()
    Path(".queryplan/heads").symlink_to(heads_kept("podcast"))
    code, out, _ = plan("Which book did Leilani write?", "--domain", "podcast", "--json", program=None)
    assert code == 0
    assert re.match(r"not compiled: heads trained from \d{4} rows", json.loads(out)["trace"]["notes"][0])


def test_history_comes_from_a_file(plan: Run) -> None:
    turns = [{"role": "user", "content": "Who wrote Cone Ten?"}, {"role": "assistant", "content": "Leilani did."}]
    Path("history.json").write_text(json.dumps(turns))
    found = json.loads(plan("and what else did she write?", "--history", "history.json", "--json")[1])
    assert found["conversation_context"] == "Who wrote Cone Ten? / Leilani did."
    assert found["previous_topics"] == ["Leilani Kaneshiro-Park", "Cone Ten"]
    assert found["is_follow_up"]


def test_history_may_begin_with_a_mark_of_its_bytes(plan: Run) -> None:
    Path("h.json").write_text(json.dumps([{"role": "user", "content": "Who is Nell?"}]), encoding="utf-8-sig")
    code, out, err = plan("and why?", "--history", "h.json", "--json")
    assert code == 0, err
    assert json.loads(out)["conversation_context"] == "Who is Nell?"


TURNS = [{"role": "user", "content": "Who wrote Cone Ten?"}, {"role": "assistant", "content": "Leilani did."}]
FORMS = {
    "request": json.dumps({"model": "m", "messages": [{"role": "system", "content": "Be brief."}, *TURNS]}),
    "lines": "".join(json.dumps(turn) + "\n" for turn in TURNS),
    "lines with empty ones": "\n\n".join(json.dumps(turn) for turn in TURNS),
    "lines of another system": "\ufeff" + "\r\n".join(json.dumps(turn) for turn in TURNS),
    "a list over lines": json.dumps(TURNS, indent=2),
}


@pytest.mark.parametrize("form", FORMS)
def test_messages_are_read_in_every_form(form: str) -> None:
    Path("h.json").write_text(FORMS[form], encoding="utf-8", newline="")
    assert [turn for turn in read_history(Path("h.json")) or () if turn["role"] != "system"] == TURNS


def test_one_message_by_itself_is_a_history() -> None:
    Path("h.json").write_text(json.dumps(TURNS[0]))
    assert read_history(Path("h.json")) == TURNS[:1]


@pytest.mark.parametrize("text", ["", "  \n", "\ufeff"])
def test_an_empty_file_says_what_to_write(plan: Run, text: str) -> None:
    Path("e.json").write_text(text, encoding="utf-8")
    code, _, err = plan("and why?", "--history", "e.json")
    assert (code, err) == (2, "error: e.json is empty: write a JSON list of messages, [] for none into it\n")
    code, _, err = plan("and why?", "--session", "e.json")
    assert (code, err) == (2, "error: e.json is empty: write a JSON object into it\n")


@pytest.mark.parametrize("text", ['{"messages": {}}', '{"messages": ["a"]}', '{"a": 1}\n{"b": ', "3", '"text"', "null"])
def test_what_has_no_messages_is_refused(plan: Run, text: str) -> None:
    Path("n.json").write_text(text)
    code, _, err = plan("and why?", "--history", "n.json")
    assert code == 2
    assert "a JSON list of messages" in err


def test_the_active_entity_is_passed_on(plan: Run) -> None:
    asked = "and why did he say so?"
    Path("history.json").write_text(json.dumps([{"role": "user", "content": "Tell me about him"}]))
    found = json.loads(plan(asked, "--history", "history.json", "--active-entity", "Kwabena", "--json")[1])
    assert found["referenced_entities"] == ["Kwabena"]
    Path("session.json").write_text('{"active_entity": "Kwabena"}')
    same = json.loads(plan(asked, "--history", "history.json", "--session", "session.json", "--json")[1])
    assert same["referenced_entities"] == ["Kwabena"]
    Path("session.json").write_text("[]")
    assert "must hold a JSON object" in plan(asked, "--session", "session.json")[2]


@pytest.mark.parametrize("query", ["", "  ", "[bold]x[/]", "\\", "你好", "a\x1b[31mb", "x" * 5000])
def test_any_query_is_shown(plan: Run, query: str) -> None:
    code, out, _ = plan(query)
    assert code == 0
    assert out
    assert "\x1b" not in out


# --- many


def test_a_batch_is_planned_and_continued(plan: Run) -> None:
    rows = [{"id": "a", "query": "hi"}, {"id": "b", "query": "Who is Nell?"}, {"id": "c"}]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, err = plan("--batch", "in.jsonl", "--out", "out.jsonl")
    assert (code, out) == (2, "")
    assert (
        "2 queries planned, all of them in out.jsonl; rows that are no query: 1, each with its error there; mend" in err
    )
    lines = Path("out.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["a", "b", "c"]
    assert "error" in json.loads(lines[2])
    Path("in.jsonl").write_text("".join(json.dumps({"query": "hi", **row}) + "\n" for row in rows))
    Path("out.jsonl").write_text("\n".join(lines[:1]) + "\n" + lines[1][:30])
    code, _, err = plan("--batch", "in.jsonl", "--out", "out.jsonl")
    assert (code, "2 queries planned" in err) == (0, True)
    assert len(Path("out.jsonl").read_text().splitlines()) == 3
    assert (
        "nothing is left to do: every query is in out.jsonl already"
        in plan("--batch", "in.jsonl", "--out", "out.jsonl")[2]
    )


# --- mistakes


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "give a query or --batch FILE --out FILE"),
        (("hi", "--batch", "in.jsonl", "--out", "out.jsonl"), "and not both"),
        (("--batch", "in.jsonl"), "--batch and --out go together"),
        (("hi", "--out", "out.jsonl"), "--batch and --out go together"),
        (
            ("--batch", "in.jsonl", "--out", "out.jsonl", "--active-entity", "x", "--session", "s.json"),
            "--session and --active-entity cannot be given with --batch",
        ),
        (("--batch", "nowhere.jsonl", "--out", "out.jsonl"), "nowhere.jsonl cannot be read"),
        (("--batch", "bad.jsonl", "--out", "out.jsonl"), "bad.jsonl:1: not JSON"),
        (("--batch", "one.json", "--out", "out.jsonl"), "one.json is one JSON document over several lines: write one"),
        (("--batch", "good.jsonl", "--out", "notes.txt"), "choose another --out"),
        (("hi", "--history", "nowhere.json"), "nowhere.json cannot be read as a JSON list of messages"),
        (("hi", "--history", "bad.jsonl"), "bad.jsonl is not a JSON list of messages"),
        (("hi", "--history", "object.json"), "object.json must hold a JSON list of messages"),
        (("hi", "--history", "texts.json"), "texts.json must hold a JSON list of messages"),
        (("hi", "--history", "binary.json"), "binary.json:1: the line cannot be read as UTF-8 text"),
        (("hi", "--domain", "cooking"), "there is no domain 'cooking': give one of"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_two(plan: Run, args: tuple[str, ...], said: str) -> None:
    files: dict[str, Any] = {"bad.jsonl": "nonsense", "good.jsonl": '{"query": "q"}\n', "notes.txt": "my notes\n"}
    files |= {"one.json": '[\n {"query": "a"},\n {"query": "b"}\n]\n', "object.json": "{}", "texts.json": '["a"]'}
    for name, text in files.items():
        Path(name).write_text(text)
    Path("binary.json").write_bytes(b"\xff\xfe\x00")
    code, out, err = plan(*args)
    assert (code, out) == (2, "")
    assert said in err
    assert one_sentence(err)
    assert Path("notes.txt").read_text() == "my notes\n"


def test_a_program_that_is_none_is_exit_code_three(plan: Run) -> None:
    for name in ("nowhere", "."):
        code, _, err = plan("hi", program=name)
        assert code == 3
        assert one_sentence(err)


def test_an_altered_program_is_named(plan: Run, program: str, tmp_path: Path) -> None:
    import shutil

    copy = Path(shutil.copytree(program, tmp_path / "copy"))
    (copy / "card.json").write_text((copy / "card.json").read_text().replace("Lantern", "Lamp"))
    code, _, err = plan("hi", program=str(copy))
    assert code == 3
    assert "card.json is not the file that was saved; remove this folder and copy it again, or compile anew" in err


def test_a_damaged_newest_compile_is_passed_over(plan: Run, program: str) -> None:
    import os
    import shutil

    kept = Path(".queryplan/programs/podcast")
    for age, name in ((20, "old"), (10, "new")):
        shutil.copytree(program, kept / name)
        os.utime(kept / name / "manifest.json", (1_700_000_000 - age, 1_700_000_000 - age))
    (kept / "new" / "card.json").write_text("{")
    code, out, err = plan("Who is Nell?", "--domain", "podcast", program=None)
    assert (code, "not compiled" in out) == (0, False)
    assert err.count("\n") == 1
    assert "the compile .queryplan/programs/podcast/new is not used" in err
    assert "card.json is not the file that was saved" in err


# --- the tree


def shown(made: QueryPlan) -> str:
    console = Console(file=StringIO(), width=200, force_terminal=False)
    console.print(plan_tree(made))
    return console.file.getvalue()  # type: ignore[attr-defined]


def made(query: str = "q", **fields: Any) -> QueryPlan:
    base: dict[str, Any] = {"query": query, "standalone_query": query, "is_follow_up": False, "is_relevant": True,
            "complexity": "complex", "intent": "multi_part", "needs_decomposition": True,
            "retrieval_strategy": RetrievalStrategy(use_rag=True, use_kg=True, kg_query_type="multi_hop")}  # fmt: skip
    return QueryPlan(**{**base, **fields})


def test_every_part_of_a_plan_is_in_the_tree() -> None:
    hop = (AnchorStep(store_as="a", node=NodeRef(name="Yusuf", type="Guest")),
           ExpandStep(store_as="b", start="a", edge="WROTE", direction="out"))  # fmt: skip
    text = shown(
        made(
            is_follow_up=True,
            standalone_query="What did Yusuf write?",
            referenced_entities=("Yusuf",),
            sub_queries=(SubQuery(id=1, text="one"), SubQuery(id=2, text="two [x]", depends_on=(1,))),
            entities=("Yusuf",),
            graph_plan=GraphPlan(steps=hop),
            degraded=(Degraded(what="rewrite", why="no model", instead="as typed"),),
        )
    )
    for part in (
        "follow-up (points to Yusuf): What did Yusuf write?",
        "ours: complex, multi_part",
        "search: text and graph, multi_hop",
        "1. one",
        "2. two [x] after 1",
        "names: Yusuf",
        "WROTE",
        "not done: rewrite – no model; as typed",
    ):
        assert part in text


def test_a_refusal_without_a_topic_names_none() -> None:
    nothing = RetrievalStrategy(use_rag=False, use_kg=False)
    labels = {"complexity": "simple", "intent": "out_of_scope", "needs_decomposition": False}
    text = shown(made(is_relevant=False, rejection_reason="Outside.", retrieval_strategy=nothing, **labels))
    assert "not ours: Outside." in text


@settings(deadline=None, max_examples=50)
@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=80))
def test_any_text_can_be_shown(text: str) -> None:
    gap = Degraded(what=text, why=text, instead=text)
    sub = (SubQuery(id=1, text=f"a{text}"), SubQuery(id=2, text=f"b{text}"))
    assert shown(made(text, sub_queries=sub, entities=(text,), degraded=(gap,), program_version=text))


def test_brackets_in_different_parts_of_a_line_are_no_markup() -> None:
    assert "a [/b – c] d; [e" in shown(made(degraded=(Degraded(what="a [/b", why="c] d", instead="[e"),)))


def test_a_query_is_shown_as_it_was_typed() -> None:
    assert shown(made("what of :heart: and [red]roses[/red]?")).startswith("what of :heart: and [red]roses[/red]?")


def test_graph_steps_of_a_plan_are_run_on_the_domains_graph() -> None:
    from queryplan.cli.plan import _answers

    steps = (
        AnchorStep(store_as="start", node=NodeRef(name="Leilani Kaneshiro-Park", type="Guest")),
        ExpandStep(store_as="answers", start="start", edge="WROTE", direction="out"),
    )
    plan = QueryPlan(
        query="which book did Leilani write?",
        standalone_query="which book did Leilani write?",
        is_follow_up=False,
        is_relevant=True,
        complexity="simple",
        intent="factual",
        needs_decomposition=False,
        retrieval_strategy=RetrievalStrategy(use_rag=True, use_kg=True, kg_query_type="entity_centric"),
        graph_plan=GraphPlan(steps=steps),
    )
    assert _answers("podcast", plan) == "Cone Ten"


# --- writing plans down


def test_nothing_is_logged_unless_asked_and_then_no_word_of_the_user(plan: Run, tmp_path: Path) -> None:
    plan("Who is Nell and why does she weep?")
    assert list(tmp_path.iterdir()) == []
    path = tmp_path / "plans.jsonl"
    plan("Who is Nell and why does she weep?", "--log", str(path))
    record = json.loads(path.read_text())
    assert record["text"] is False
    assert "weep" not in path.read_text()


def test_with_text_what_was_typed_can_be_labelled(plan: Run, tmp_path: Path) -> None:
    path, rows = tmp_path / "plans.jsonl", tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"id": "1", "query": "Who is Nell?", "history": [], "session": {"now": "2025-01-01"}}))
    plan("--batch", str(rows), "--out", str(tmp_path / "out.jsonl"), "--log", str(path), "--log-text")
    record = json.loads(path.read_text())
    assert (record["query"], record["session"]) == ("Who is Nell?", {"now": "2025-01-01"})


@pytest.mark.parametrize("args", [("--log-text",), ("--log", "/dev/null/plans.jsonl")])
def test_a_log_that_cannot_be_is_one_sentence(plan: Run, args: tuple[str, ...]) -> None:
    code, _, err = plan("Who is Nell?", *args)
    assert code == 2
    assert one_sentence(err)
