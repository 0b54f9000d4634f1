"""Every way of asking in one list: proposed in stages, deduplicated, ranked."""
