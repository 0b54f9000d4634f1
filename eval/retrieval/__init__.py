"""What comes after the labels: evidence found, sources asked, complex questions answered."""
