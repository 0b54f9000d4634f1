"""Graphs, schemas and plans in other formats: files, databases, SPOKE's types and its JSON shape for plans."""
