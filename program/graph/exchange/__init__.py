"""Graphs, schemas and plans in other forms: files, databases, SPOKE's types and JSON shape."""
