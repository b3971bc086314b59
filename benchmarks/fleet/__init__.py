"""Very many machines that are connected and wait, and come back all at once."""
