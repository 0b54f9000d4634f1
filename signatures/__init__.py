"""DSPy signatures, the questions put to a language model, one file each; and the vocabulary that everything shares."""
