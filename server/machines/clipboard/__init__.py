"""Who waits for what a machine's clipboard says."""
