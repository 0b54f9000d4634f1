"""Graph plans: reading schemas, checking plans, and running them on a graph in memory, in LadybugDB or over REST."""
