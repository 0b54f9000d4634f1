"""How right graph plans are: by the answers that they return, on labelled sets, beside Cypher."""
