"""What a question states outright, read by rules of form: numbers, bounds, true-or-false properties, orders, negations,
and the type asked for."""
