"""The planner inside other frameworks. Nothing is imported here: each needs its own extra."""
