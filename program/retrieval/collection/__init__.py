"""Small collections that are read whole instead of searched."""
