"""The planner: the module, its decisions, graph plans, language models and the program folder."""
