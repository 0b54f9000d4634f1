"""The HTML page of an evaluation: its sentences, its drawings, plans side by side."""
