"""Compiling a program: DSPy's optimizers and others under one contract."""
