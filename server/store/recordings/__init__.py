"""Recordings as they are stored, and what keeps their steps from being there twice."""
