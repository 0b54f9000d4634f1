"""Checks of heads that decide instead of a language model: the bound on their errors, rejections, and rivals."""
