"""Trajectories and their steps on the command line."""
