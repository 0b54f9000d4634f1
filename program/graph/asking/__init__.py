"""Asking a language model about a graph question: to say it again, or for steps."""
