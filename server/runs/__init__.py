"""Runs: approved trajectories, done again on a machine with the values of each run."""
