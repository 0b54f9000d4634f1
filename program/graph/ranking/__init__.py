"""From a question to its likeliest plans: candidate paths and endings, and the evidence for each."""
