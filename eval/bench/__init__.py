"""How fast: each thing beside a rival in the same run."""
