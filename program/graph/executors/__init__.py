"""Executors of graph plans: in memory, in LadybugDB, and on a server that speaks SPOKE's protocol."""
