"""Handlers of trajectories, and of the workflows and pictures that belong to them."""
