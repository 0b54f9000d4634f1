"""Sub-queries without a language model: every way to cut the query at its joints, and a learned choice among them."""
