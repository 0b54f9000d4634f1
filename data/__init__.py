"""Domain cards, labelled query sets, and the code that loads and checks them."""
