"""From an accepted command to its answer: at most once, within its time."""
