"""Metrics of retrieval with a plan: evidence found, sources asked, complex questions answered."""
