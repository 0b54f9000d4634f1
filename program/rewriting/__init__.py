"""Follow-ups rewritten to stand alone by one learned edit of the words, without a language model."""
