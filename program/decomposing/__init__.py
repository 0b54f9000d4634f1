"""Sub-queries without a language model: the query cut at its joints, by a learned choice among all cuts."""
