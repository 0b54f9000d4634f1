"""Metrics, statistics, reports and the MLflow run of an evaluation."""
