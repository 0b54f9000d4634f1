"""Measuring programs: metrics, statistics, reports, comparisons, and the MLflow runs of evaluations."""
