"""Fitting the ranking of graph plans to labelled questions, and storing what was learned."""
