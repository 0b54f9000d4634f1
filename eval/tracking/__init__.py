"""Tracking in MLflow: runs, registered programs, prompts, pages; kept on this disk until it has arrived."""
