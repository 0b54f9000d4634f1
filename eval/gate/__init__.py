"""The gate before an alias moves: its requirements, its verdict with reasons, and moving the alias."""
