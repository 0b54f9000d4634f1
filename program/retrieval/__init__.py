"""From a plan to evidence: query candidates, sources, reading everything, searching, and putting results together."""
