"""The events that several nodes share."""
