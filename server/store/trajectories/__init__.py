"""Trajectories in MongoDB, and how they are found among a million; their workflows and pictures."""
