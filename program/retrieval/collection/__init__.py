"""Small collections, which are read whole instead of searched."""
