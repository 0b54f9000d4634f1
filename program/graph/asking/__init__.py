"""Requests to a language model about a graph question: to restate it, or to write graph steps."""
