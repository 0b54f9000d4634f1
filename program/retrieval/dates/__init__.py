"""Dates in a text, in many languages, resolved to days."""
