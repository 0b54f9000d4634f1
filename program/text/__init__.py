"""What is read of a text by its form: spelling, slips, openers, greetings, numbers in words, names of the card."""
