"""Example command lines at the end of each command's ``--help``; a test parses every one.

``./cellar`` stands for a domain folder of one's own, as ``queryplan new-domain cellar`` writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "compile": (
        "queryplan compile podcast --optimizer bootstrap --lm local",
        "queryplan compile ./cellar --optimizer cascade --lm none",
        "queryplan compile biomedical --optimizer cascade --lm none --stages follow_up,relevance,complexity,graph",
    ),
    "evaluate": (
        "queryplan evaluate models:/queryplan-podcast@champion",
        "queryplan evaluate zero-shot --domain podcast --lm openai/gpt-4o-mini --sample 100",
        "queryplan evaluate .queryplan/programs/cellar/cascade-1a2b3c4d5e --domain ./cellar --data held.jsonl",
    ),
    "score": (
        "queryplan score sources --domain engineering --split dev",
        "queryplan score recall --domain podcast --split dev --labels",
    ),
    "compare": (
        "queryplan compare models:/queryplan-podcast@champion models:/queryplan-podcast@challenger --html page.html",
        "queryplan compare zero-shot .queryplan/programs/cellar/cascade-1a2b3c4d5e --domain ./cellar --lm none",
    ),
    "promote": (
        "queryplan promote @challenger --domain podcast --dry-run",
        'queryplan promote 3 --domain ./cellar --accept-inconclusive --why "the first one; 40 rows so far"',
        "queryplan promote --rollback --domain podcast",
    ),
    "plan": (
        'queryplan plan "who talked about meditation?" --domain podcast --lm none',
        'queryplan plan "and the second one?" --domain ./cellar --history messages.json --json',
        "queryplan plan --batch queries.jsonl --out plans.jsonl --program models:/queryplan-podcast@champion",
    ),
    "explain": (
        'queryplan explain "what is the price of bitcoin?" --domain podcast --lm none',
        'queryplan explain "why?" --domain ./cellar --history messages.json',
    ),
    "run": (
        'queryplan run "what did Leilani say about sleep?" --domain podcast --lm none',
        'queryplan run "failed pipelines of last week" --domain engineering --lm none --session session.json',
        "queryplan run --batch queries.jsonl --out results.jsonl --domain ./cellar --limit 5",
    ),
    "new-domain": (
        'queryplan new-domain cellar --covers "wines and where they lie" --covers "growers and their years" '
        '--excluded "health=what wine does to health"',
    ),
    "label": (
        "queryplan label plans.jsonl --domain podcast --out labelled.jsonl",
        "queryplan label --traces plans --domain ./cellar --out labelled.jsonl --limit 20",
    ),
    "bench": (
        "queryplan bench",
        "queryplan bench plans --domain ./cellar --json",
        "queryplan bench lending",
    ),
    "graph import": ("queryplan graph import nodes.jsonl edges.tsv --schema schema.toml --out my.lbug",),
    "graph check": ("queryplan graph check plan.json --graph my.lbug --answer-type Disease --picture plan.svg",),
    "graph score": (
        "queryplan graph score unseen",
        "queryplan graph score biomedical hetionet --lm local --json",
    ),
    "graph run": (
        'queryplan graph run "which drugs treat asthma?" --domain biomedical --lm none --paths',
        "queryplan graph run --plan plan.json --graph my.lbug --picture plan.svg",
    ),
    "data check": ("queryplan data check podcast", "queryplan data check labelled.jsonl --picture labels.svg"),
    "data convert": ("queryplan data convert clinc150 --out clinc --from data_full.json",),
    "data split": ("queryplan data split labelled.jsonl --out ./cellar --shares train=0.6,dev=0.2,test=0.2 --replace",),
}
"""Example command lines by command; those of a group of commands are in its own file."""


def epilog_of(command: str) -> str | None:
    """A command's examples for the end of its help; None if it has none here."""
    return shown(EXAMPLES[command]) if command in EXAMPLES else None


def shown(examples: Iterable[str]) -> str:
    """Examples under a heading, one in each paragraph."""
    return "\n\n".join(("[bold]Examples[/bold]", *(line.replace("[", "\\[") for line in examples)))
