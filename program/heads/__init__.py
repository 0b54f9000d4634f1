"""Heads, the small learned classifiers that label a query without a language model: features, fitting, storage."""
