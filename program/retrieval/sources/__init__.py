"""Structured sources: which kinds of information a query wants, with which filters, and asking for them."""
