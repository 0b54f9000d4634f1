"""The planner: the DSPy module, its decisions, graph plans, retrieval, language models and the program folder."""
