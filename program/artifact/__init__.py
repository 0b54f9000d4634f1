"""A compiled program as data: saved, checked, found on this machine or in MLflow, and loaded."""
