"""What heads promise: the bound on their error, what they reject, and how they do beside a model."""
