"""Benchmarks of speed, each beside a rival in the same run."""
