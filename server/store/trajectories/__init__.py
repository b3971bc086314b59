"""What is kept of trajectories, and how they are found among a million."""
