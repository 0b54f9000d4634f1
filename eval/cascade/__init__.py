"""Checks of heads that answer in a model's place: the bound on their error, what they reject, and their rivals."""
