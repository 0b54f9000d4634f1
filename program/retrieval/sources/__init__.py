"""Structured sources: the kinds of information that a query wants, their filters, and the queries for each source."""
