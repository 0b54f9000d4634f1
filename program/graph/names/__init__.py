"""Names of a graph's nodes in a question: which are found, which are meant, which are unknown."""
