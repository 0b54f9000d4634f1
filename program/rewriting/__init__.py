"""A follow-up said so that it stands alone, by an edit that labelled rows have taught; without a language model."""
