"""Query candidates, the texts to search for: proposed in stages, deduplicated, ranked."""
