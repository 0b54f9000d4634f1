"""Learning to rank plans from labelled questions, and keeping what was learned."""
