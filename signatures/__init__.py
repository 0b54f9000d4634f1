"""The questions put to a language model, one file each, and the vocabulary they share."""
