"""A hand on a machine: events as they happen, in order, through the door."""
