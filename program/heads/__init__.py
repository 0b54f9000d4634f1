"""Learned heads: what they see, how they are fitted, what is kept of them, and asking them."""
