"""Integrations with other frameworks. Nothing is imported here: each needs its own extra."""
