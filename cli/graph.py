"""``queryplan graph``: import a graph, show its schema, check a plan, answer questions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UserError
from . import graph_learn, graph_score, options
from .examples import epilog_of
from .files import check_file
from .graph_show import answer_tables, say_left_out, show_proposal
from .progress import counting, saying_waits, wide_console

if TYPE_CHECKING:
    from ..program.graph.executor import GraphExecutor
    from ..program.graph.planner import GraphPlanner, GraphProposal
    from ..signatures.graph_steps import GraphPlan, GraphSchema
    from .settings import Settings

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Import a graph, and answer questions from it.",
    epilog="[bold]Examples[/bold]\n\n"
    "queryplan graph import nodes.jsonl edges.tsv --schema schema.toml --out my.lbug\n\n"
    'queryplan graph run "which drugs treat asthma?" --domain biomedical\n\n'
    "queryplan graph run --batch questions.jsonl --out answers.jsonl --graph my.lbug",
)

Domain = Annotated[str | None, typer.Option(help="A shipped domain, or a folder with a domain.toml and a graph.")]
Graph = Annotated[
    str | None, typer.Option(help="A .lbug database, or the http(s) address of a server that speaks SPOKE's protocol.")
]
SchemaFile = Annotated[
    Path | None, typer.Option("--schema", help="A schema: TOML, JSON, a domain.toml, or SPOKE's types document.")
]


app.command("score", epilog=epilog_of("graph score"))(graph_score.score)
app.command("learn")(graph_learn.learn)


@app.command("import", epilog=epilog_of("graph import"))
def import_(
    nodes: Annotated[Path, typer.Argument(help="Nodes as JSON lines with id, name, type and properties; also .gz.")],
    edges: Annotated[
        Path, typer.Argument(help="Edges, tab-separated, with the header source, edge, target, …; also .gz.")
    ],
    schema: Annotated[Path, typer.Option(help="A schema: TOML, JSON, a domain.toml, or SPOKE's types document.")],
    out: Annotated[Path, typer.Option(help="The database to make; it must not exist.")],
) -> None:
    """Import nodes and edges into a new graph database. Nothing is written if a line is wrong."""
    from ..program.graph.exchange.importing import import_graph

    read = _schema_file(schema)
    with counting("importing") as report:
        made = import_graph(nodes, edges, read, out, report)
    say_left_out(made.left_out)
    counts = f"{sum(made.nodes.values()):,} nodes and {sum(made.edges.values()):,} edges"
    typer.echo(f"{counts} in {made.database}, {made.seconds:.1f} s; fingerprint {made.fingerprint}")


@app.command("schema")
def schema_(
    graph: Graph = None,
    domain: Domain = None,
    schema: SchemaFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the schema as JSON, which --schema reads.")] = False,
) -> None:
    """Show the schema of a graph: node types, edge types, properties."""
    from ..program.graph.schema import describe_schema, schema_fingerprint

    found = _schema(graph, domain, schema)
    if as_json:
        typer.echo(found.model_dump_json(indent=2, exclude_defaults=True))
        return
    for line in describe_schema(found):
        typer.echo(line)
    counts = f"{len(found.nodes)} node types, {len(found.edges)} edge types"
    typer.echo(f"{counts}, fingerprint {schema_fingerprint(found)}", err=True)


@app.command(epilog=epilog_of("graph check"))
def check(
    plan: Annotated[Path, typer.Argument(help="A graph plan as JSON, in queryplan's or SPOKE planning's shape.")],
    graph: Graph = None,
    domain: Domain = None,
    schema: SchemaFile = None,
    answer_type: Annotated[
        str | None, typer.Option(help="What the plan must answer with: a node type, or number.")
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Also draw the plan, as .svg or .mmd (mermaid).")] = None,
    export: Annotated[Path | None, typer.Option(help="Also write the plan in SPOKE planning's JSON shape.")] = None,
) -> None:
    """Check a graph plan against a schema, without running it. Ends with exit code 1 if anything is wrong."""
    from ..program.graph.check import check_graph_plan

    _check_targets(picture, export)
    found = _schema(graph, domain, schema)
    read = _plan(plan, found)
    if problems := check_graph_plan(read, found, answer_type):
        for problem in problems:
            typer.echo(problem)
        raise typer.Exit(1)
    _write(read, found, picture, export)
    typer.echo(_in_words(read, found))


@app.command(epilog=epilog_of("graph run"))
def run(
    query: Annotated[str | None, typer.Argument(help="The question.")] = None,
    graph: Graph = None,
    domain: Domain = None,
    schema: SchemaFile = None,
    program: Annotated[str | None, typer.Option(help="A program folder or models:/NAME@ALIAS.")] = None,
    lm: Annotated[
        str | None, typer.Option(help="Language model: local, local:0.5b, none, or any DSPy model name.")
    ] = None,
    api_base: options.ApiBase = None,
    plan: Annotated[
        Path | None, typer.Option(help="Run the graph plan in this JSON file instead of making one.")
    ] = None,
    deadline: Annotated[
        float | None,
        typer.Option(min=0, help="Seconds for planning and running a question; planning gets three fifths."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Answers at most; says how many were cut.")] = None,
    paths: Annotated[bool, typer.Option("--paths", help="Also show how each answer was reached.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Also draw the plan, as .svg or .mmd (mermaid).")] = None,
    export: Annotated[Path | None, typer.Option(help="Also write the plan in SPOKE planning's JSON shape.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON, as --batch writes it.")] = False,
    batch: Annotated[
        Path | None, typer.Option(help="Answer every row of this JSONL file; rows have id and query.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="JSONL file for the answers of --batch; run again to continue.")
    ] = None,
) -> None:
    """Answer a question from a graph: make a plan, check it, run it, and show it with its answers."""
    given = [name for name, value in (("a question", query), ("--plan", plan), ("--batch", batch)) if value is not None]
    if len(given) != 1:
        raise UserError("give one of a question, --plan FILE, or --batch FILE --out FILE")
    if query is not None and not query.strip():
        raise UserError("the question is empty; put it in quotes behind `run`")
    if (batch is None) != (out is None):
        raise UserError("--batch and --out go together: the questions and the file their answers are written to")
    if batch is not None and (paths or picture is not None or export is not None):
        raise UserError("--paths, --picture and --export are of one question or plan; leave them out with --batch")
    check_file("--out", out)
    _check_targets(picture, export)
    from ..program.graph.batch import proposed

    with _executor(graph, domain, schema) as executor:
        if plan is not None:
            _show(_plan(plan, executor.schema), executor, deadline, limit, paths, picture, export, as_json)
            return
        with saying_waits(spinner=False):
            planner = _planner(executor, domain, program, lm, api_base)
        try:
            if batch is not None and out is not None:
                _batch(planner, executor, batch, out, deadline, limit)
                return
            proposal, left = proposed(planner, query or "", deadline)
            if as_json:
                _print_row(proposal, executor, left, limit, picture, export)
                return
            show_proposal(wide_console(), proposal)
            if proposal.plan is not None:
                _show(proposal.plan, executor, left, limit, paths, picture, export, False)
        finally:
            planner.close()


def _print_row(
    proposal: GraphProposal,
    executor: GraphExecutor,
    deadline: float | None,
    limit: int | None,
    picture: Path | None,
    export: Path | None,
) -> None:
    """Run a proposal's plan and print the row that a batch writes."""
    from ..program.graph.batch import answer_row, plan_row
    from ..program.graph.executor import execute_graph

    if proposal.plan is None:
        typer.echo(json.dumps(answer_row(proposal, executor), ensure_ascii=False, indent=2))
        return
    answer = execute_graph(proposal.plan, executor, deadline, cap=limit)
    row = {**plan_row(proposal.plan, answer, tuple(proposal.degraded)), "certainty": proposal.confidence}
    typer.echo(json.dumps(row, ensure_ascii=False, indent=2))
    _write(proposal.plan, executor.schema, picture, export)
    if answer.gaps:
        raise typer.Exit(1)


def _show(
    plan: GraphPlan,
    executor: GraphExecutor,
    deadline: float | None,
    limit: int | None,
    paths: bool,
    picture: Path | None,
    export: Path | None,
    as_json: bool,
) -> None:
    """Run a plan and show its answers."""
    from ..program.graph.batch import plan_row
    from ..program.graph.executor import execute_graph

    answer = execute_graph(plan, executor, deadline, cap=limit, paths=paths)
    if as_json:
        typer.echo(json.dumps(plan_row(plan, answer), ensure_ascii=False, indent=2))
    else:
        console = wide_console()
        for table in answer_tables(plan, answer):
            console.print(table)
    _write(plan, executor.schema, picture, export)
    if answer.gaps:
        raise typer.Exit(1)


def _check_targets(picture: Path | None, export: Path | None) -> None:
    from ..program.graph.drawing import check_format

    check_file("--picture", picture)
    check_file("--export", export)
    if picture is not None:
        check_format(picture)


def _write(plan: GraphPlan, schema: GraphSchema, picture: Path | None, export: Path | None) -> None:
    """Write the plan as a picture and in SPOKE planning's shape, if asked to."""
    if picture is not None:
        from ..program.graph.drawing import draw_plan

        draw_plan(plan, picture, schema)
    if export is not None:
        from ..program.graph.exchange.export import to_spoke

        export.parent.mkdir(parents=True, exist_ok=True)
        export.write_text(json.dumps(to_spoke(plan, schema), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def _in_words(plan: GraphPlan, schema: GraphSchema) -> str:
    from ..program.graph.check import answer_type
    from ..program.graph.wording import plan_lines

    return "\n".join([*plan_lines(plan), f"well-typed; it answers with {answer_type(plan, schema)}"])


def _batch(
    planner: Any, executor: GraphExecutor, source: Path, target: Path, deadline: float | None, limit: int | None
) -> None:
    from ..program.graph.batch import graph_batch
    from .plan import say_worked

    with counting("answering") as report:
        worked = graph_batch(planner, executor, source, target, deadline, limit, report)
    say_worked(worked, "answered", target)


@contextmanager
def _executor(graph: str | None, domain: str | None, schema: Path | None) -> Iterator[GraphExecutor]:
    """Open the graph that the flags name; it is closed at the end."""
    from ..program.graph.executor import open_graph

    where = graph or domain
    if where is None:
        raise UserError("say which graph: --graph FILE.lbug or an http(s) address, or --domain NAME")
    executor = open_graph(where, _schema_file(schema) if schema else None)
    say_left_out(getattr(executor, "left_out", ()))  # only files can have it: a database has only what its schema has
    try:
        yield executor
    finally:
        executor.close()


def _planner(
    executor: GraphExecutor, domain: str | None, program: str | None, lm: str | None, api_base: str | None
) -> GraphPlanner:
    """The planner that the flags name; without --program, that of the domain's newest compile if it has graph plans."""
    from ..errors import ProgramError
    from ..program.artifact.registry import resolve
    from ..program.graph.planner import GraphPlanner
    from .settings import load_settings

    settings = load_settings(lm=lm, api_base=api_base)
    model = None if settings.lm in (None, "none") else settings.lm_settings()
    if program is not None:
        folder = resolve(program, settings.tracking_uri)
        return GraphPlanner.for_executor(executor, domain=domain, program=folder, lm=model)
    if (newest := _newest(domain, settings)) is not None:
        try:
            return GraphPlanner.for_executor(executor, domain=domain, program=newest, lm=model)
        except ProgramError as error:
            instead = "plans are ranked by what the questions that ship teach"
            typer.echo(f"the newest compile is not used: {error}; {instead}", err=True)
    return GraphPlanner.for_executor(executor, domain=domain, lm=model)


def _newest(domain: str | None, settings: Settings) -> Path | None:
    """The program folder of a domain's newest compile; None if there is none."""
    from ..data.card import domain_folder, load_card
    from ..program.uncompiled import newest_program

    return None if domain is None else newest_program(load_card(domain_folder(domain)).name, settings.programs_dir)


def _schema(graph: str | None, domain: str | None, schema: Path | None) -> GraphSchema:
    """The schema in a file, or else that of a graph."""
    if schema is not None:
        return _schema_file(schema)
    if graph is None and domain is None:
        raise UserError("say which schema: --schema FILE, --graph FILE.lbug or an http(s) address, or --domain NAME")
    with _executor(graph, domain, None) as executor:
        return executor.schema


def _schema_file(path: Path) -> GraphSchema:
    from ..program.graph.schema import read_schema

    read = read_schema(path)
    say_left_out(read.left_out)
    return read.schema


def _plan(path: Path, schema: GraphSchema) -> GraphPlan:
    from ..program.graph.batch import read_plan

    return read_plan(path, schema)
