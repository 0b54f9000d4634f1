"""An agent's retrieval as a LangGraph graph that the query plan steers; runs without a language model.

pip install 'queryplan[langgraph]'
python docs/examples/langgraph_agent.py
python docs/examples/langgraph_agent.py "and Rosalind?" --flag on --fraction 0.2 --key user-17
"""

from __future__ import annotations

import argparse

from queryplan.program.integrations.langgraph import build_graph
from queryplan.program.retrieval.feature_flag import PlannerFlag
from queryplan.program.retrieval.stores import open_stores
from queryplan.program.uncompiled import uncompiled_planner

QUESTIONS = (
    "hello",
    "what is the capital of Peru?",
    "what is the two-minute doorway?",
    "How do Aoife Tarrant and Rosalind Achterberg differ on naming a feeling, and did either change her mind?",
)


def main() -> None:
    """Send questions through the graph and print the way that each went."""
    arguments = read_arguments()
    # A compiled program in its place: QueryPlanner.load("models:/queryplan-podcast@champion")
    planner = uncompiled_planner("podcast")
    flag = PlannerFlag(mode=arguments.flag, fraction=arguments.fraction)
    graph = build_graph(planner, open_stores("podcast"), flag=flag)
    for question in arguments.question or QUESTIONS:
        state = graph.invoke({"query": question, "key": arguments.key or question})
        print(f"\n=== {question}\n    went by: {state['route']}")
        print(state["answer"])


def read_arguments() -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", nargs="*")
    parser.add_argument("--flag", choices=("off", "shadow", "on"), default="on")
    parser.add_argument("--fraction", type=float, default=1.0, help="share of keys that the flag holds for")
    parser.add_argument("--key", help="what the fraction is drawn by; the question if left out")
    return parser.parse_args()


if __name__ == "__main__":
    main()
