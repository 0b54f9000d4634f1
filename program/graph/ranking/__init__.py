"""From a question to its likeliest plans: paths, endings, and what speaks for each."""
