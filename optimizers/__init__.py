"""How a program is compiled: DSPy's optimizers under one contract, and our own."""
