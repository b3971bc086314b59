"""What crosses a border: inputs, keys, outcomes, wire messages, problems, trajectories, tokens.

Pydantic models and pure functions only.  Both sides import this package; it imports neither.
"""
