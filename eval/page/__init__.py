"""What is measured, as one HTML page: its sentences, its drawings, plans side by side."""
