"""A compiled program as data: written, checked, found on this machine or in MLflow, and put back."""
