"""Accuracy of graph plans, by the answers that they return, on labelled sets, beside Cypher."""
