"""Names of a graph in a question: found, meant, unknown, or themselves what is asked about."""
