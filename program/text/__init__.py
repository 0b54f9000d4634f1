"""Reads texts by their form: spelling, slips, openers, greetings, numbers in words, names of the card."""
