"""The gate before an alias moves: what is asked, the answer and its reasons, and moving the alias."""
