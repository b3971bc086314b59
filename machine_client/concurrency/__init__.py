"""What runs beside the rest: tasks, threads, and calls that may take no longer than a bound."""
