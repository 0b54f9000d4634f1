"""Names of a graph's nodes in a question: which are found, which of these are meant, and which the graph lacks."""
