"""What a question states outright, read by form: numbers, bounds, flags, orders, denials, the type asked for."""
