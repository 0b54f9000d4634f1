"""Access to language models: weights, the embedded server, endpoints, decision clients.

Nothing is imported here: ``dspy`` takes seconds and ``xllamacpp`` is optional. Start at ``endpoint.open_lm``.
"""
