"""Steps of trajectories: what one is, what values stand in its text, and how one is changed."""
